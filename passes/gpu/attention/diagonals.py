"""Conditions that hold on one side of a diagonal: of a causal mask's `row >= column` all is known of tiles that do not cross it.

    select(row + 3 >= column, x, -inf)      is x where a tile's last column is not behind its first row + 3
    select(column + 3 >= row, x, -inf)      is x where a tile's last row is not behind its first column + 3

Declined: conditions that are no comparison of a row with a column, of signed integers that are indices but for a constant, or a
conjunction of such.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from ...common.axes import TileOp
from ...common.linear_index import LinearIndex, linear_results
from ...common.rewriting import defining_op, is_block_argument, ops_in
from ..contraction.contraction import loops_of, result_number

_LEAST_BITS = 32
_MOST_CONSTANT = 1 << 24
"""So that no sum of a few of them and an index wraps."""
_SIGNED = {2: (-1, -1), 3: (-1, 0), 4: (1, -1), 5: (1, 0)}
"""By the predicate (slt, sle, sgt, sge): the condition is sign * (left - right) + constant >= 0."""


@dataclass(frozen=True)
class Diagonal:
    """Where sign * (column - row) <= ahead; the sign is 1 or -1."""

    sign: int
    ahead: int


def diagonals(
    row: int | None, column: int | None, loops_by_op: Mapping[ir.Operation, Sequence[LinearIndex]], ops: Mapping[ir.Value, TileOp]
) -> dict[ir.Operation, Diagonal]:
    """Choices between the contractions that are their first value on one side of a diagonal of these two loops, and that side.

    Among them those of masks, which depend on no contraction, where all that read a mask have it at the same rows and columns.
    """
    reader = _Reader(row, column, ops)
    found: dict[ir.Operation, set[Diagonal | None]] = {}
    places = [(ops[op.results[0]], loops) for op, loops in loops_by_op.items() if op.name == "linalg.generic"]
    while places:
        tile, loops = places.pop()
        for choice in ops_in(tile.op.regions[0].blocks[0]):
            if choice.name == "arith.select":
                found.setdefault(choice, set()).add(reader.side(tile, loops, choice.operands[0]))
        for number, operand in enumerate(tile.inputs):
            source, at = reader.source(tile, loops, number)
            if source is not None and source.op not in loops_by_op:
                places.append((source, loops_of(source, operand, at)))
    return {choice: side for choice, (side, *others) in found.items() if side is not None and not others}


class _Reader:
    def __init__(self, row: int | None, column: int | None, ops: Mapping[ir.Value, TileOp]):
        self._ops, self._row, self._column = ops, row, column

    def side(self, tile: TileOp, loops: Sequence[LinearIndex], value: ir.Value) -> Diagonal | None:
        """Where the condition holds."""
        maker = self._maker(tile, loops, value)
        if maker is None:
            return None
        tile, loops, op = maker
        if op.name == "arith.andi":
            both = [self.side(tile, loops, each) for each in op.operands]
            known = [each for each in both if each is not None]
            if len(known) < len(both) or known[0].sign != known[1].sign:
                return None
            return min(known, key=lambda each: each.ahead)
        predicate = ir.IntegerAttr(op.attributes["predicate"]).value if op.name == "arith.cmpi" else None
        if predicate not in _SIGNED:
            return None
        left, right = (self._index(tile, loops, each) for each in op.operands)
        if left is None or right is None:
            return None
        sign, constant = _SIGNED[predicate]
        difference = (left - right) * sign + constant
        row = difference.coefficient(self._row)
        if row == 0 or difference.terms != {self._row: row, self._column: -row} or difference.lanes:
            return None
        return Diagonal(1 if row > 0 else -1, difference.constant // abs(row))

    def _maker(
        self, tile: TileOp, loops: Sequence[LinearIndex], value: ir.Value
    ) -> tuple[TileOp, Sequence[LinearIndex], ir.Operation] | None:
        """The scalar op that makes a value, in the body that it stands in; None where that is no op of the group."""
        while is_block_argument(value):
            if value.owner != tile.op.regions[0].blocks[0]:
                return None
            number = ir.BlockArgument(value).arg_number
            operand = [*tile.inputs, *tile.inits][number]
            source, at = self.source(tile, loops, number)
            if source is None:
                return None
            tile, loops = source, loops_of(source, operand, at)
            value = ops_in(tile.op.regions[0].blocks[0])[-1].operands[result_number(tile, operand)]
        op = defining_op(value)
        return None if op is None else (tile, loops, op)

    def source(self, tile: TileOp, loops: Sequence[LinearIndex], number: int) -> tuple[TileOp | None, Sequence[LinearIndex]]:
        """The elementwise op that makes an operand, and where it is read; None of others."""
        operand = [*tile.inputs, *tile.inits][number]
        at = linear_results(tile.maps[number], loops) if isinstance(operand.type, ir.RankedTensorType) else None
        source = self._ops.get(operand)
        if at is None or source is None or source.op.name != "linalg.generic" or not all(source.parallel):
            return None, []
        return source, at

    def _index(self, tile: TileOp, loops: Sequence[LinearIndex], value: ir.Value) -> LinearIndex | None:
        """An integer as a linear index of the group's loops."""
        maker = self._maker(tile, loops, value)
        if maker is None:
            return None
        tile, loops, op = maker
        kind = op.results[0].type
        if not isinstance(kind, ir.IndexType) and not (isinstance(kind, ir.IntegerType) and kind.width >= _LEAST_BITS):
            return None
        if op.name == "linalg.index":
            return loops[ir.IntegerAttr(op.attributes["dim"]).value]
        if op.name == "arith.constant":
            number = op.attributes["value"]
            small = isinstance(number, ir.IntegerAttr) and abs(ir.IntegerAttr(number).value) < _MOST_CONSTANT
            return LinearIndex(constant=ir.IntegerAttr(number).value) if small else None
        if op.name in ("arith.index_cast", "arith.extsi"):
            return self._index(tile, loops, op.operands[0])
        if op.name not in ("arith.addi", "arith.subi"):
            return None
        left, right = (self._index(tile, loops, each) for each in op.operands)
        if left is None or right is None:
            return None
        return left + right if op.name == "arith.addi" else left - right
