"""Reads at an index along the lanes that is clamped, which only lanes take in which it lies inside: neighbours, masked. No gather.

    %i = arith.subi %lane, %start;  %c = clamp %i to [0, 99];  %inside = arith.cmpi eq, %i, %c
    arith.select %inside, (extract %x[%c]), %y        →        m = lanes from -%start to 100 - %start
                                                               arith.select m, (vector.maskedload %x[-%start], m), %y

So are updates of a part that begins where an index tells, gradients of slices from there on, and paddings that are not cut (segments.py).

Must hold: every use of what is read is a select's first choice, under a condition of which `%inside` is part.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from ...common.linear_index import LinearIndex
from ...common.rewriting import defining_op, integer
from ...common.scalars import INTEGER_PREDICATES
from ...common.vectors import splat, vector_of
from .lanes import Lanes, Rep


@dataclass(frozen=True)
class Clamp:
    """What was clamped, which goes on by one from lane to lane, and to where."""

    index: LinearIndex
    low: int | None
    high: int | None

    @staticmethod
    def of(op: ir.Operation, operands: list[Rep], known: dict[ir.Value, Clamp]) -> Clamp | None:
        """What an op makes of an index, or of one that is clamped on the other side."""
        if op.name not in ("arith.maxsi", "arith.minsi") or not isinstance(operands[1], LinearIndex) or not operands[1].is_constant:
            return None
        first, bound = operands[0], operands[1].constant
        before = Clamp(first, None, None) if isinstance(first, LinearIndex) and first.lanes == 1 else None
        if isinstance(first, ir.Value):
            before = known.get(first)
        if before is None:
            return None
        if op.name == "arith.maxsi":
            return replace(before, low=bound) if before.low is None and before.high is None else None
        return replace(before, high=bound) if before.high is None and (before.low is None or before.low <= bound) else None

    def inside(self, lanes: Lanes) -> ir.Value:
        """A mask of the lanes in which nothing was clamped."""
        kind = vector_of(lanes.count, ir.IntegerType.get_signless(1))
        start, mask = self.index.uniform(), None
        if self.high is not None:
            mask = vector.create_mask(kind, [(LinearIndex(constant=self.high + 1) - start).value()])
        if self.low is not None:
            before = vector.create_mask(kind, [(LinearIndex(constant=self.low) - start).value()])
            behind = arith.xori(before, splat(kind, 1))
            mask = behind if mask is None else arith.andi(mask, behind)
        assert mask is not None
        return mask


def is_guarded(extract: ir.Operation, clamped: ir.Value) -> bool:
    """Whether what is read at `clamped` is taken only where it is what was clamped."""
    uses = list(extract.results[0].uses)
    selects = [use.owner.operation for use in uses if use.owner.operation.name == "arith.select" and use.operand_number == 1]
    return 0 < len(selects) == len(uses) and all(_asks(select.operands[0], clamped) for select in selects)


def _asks(condition: ir.Value, clamped: ir.Value) -> bool:
    """Whether a condition holds only where the clamped index is what was clamped."""
    op = defining_op(condition)
    if op is None or op.name not in ("arith.andi", "arith.cmpi"):
        return False
    if op.name == "arith.andi":
        return any(_asks(each, clamped) for each in op.operands)
    return integer(op, "predicate") == INTEGER_PREDICATES["eq"] and clamped in list(op.operands) and _origin(clamped) in list(op.operands)


def _origin(clamped: ir.Value) -> ir.Value:
    """What was clamped."""
    op = defining_op(clamped)
    return _origin(op.operands[0]) if op is not None and op.name in ("arith.maxsi", "arith.minsi") else clamped
