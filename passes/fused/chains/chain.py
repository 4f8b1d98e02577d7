"""Two contractions with reductions of rows between them, found by where values lie: the second sums over the columns of the first.

s = q · k;  w = f(s, reductions of s along its columns);  o = w · v        as three groups, each read by the next alone
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.storage import byte_size, element_bytes
from hloom.dialects.target import TargetView

from ...common.rewriting import (
    callee_of,
    defining_op,
    functions,
    integers,
    is_block_argument,
    kind_of,
    ops_in,
    shape_of,
    symbol_name,
    walk,
)
from ..planner.codes import Code, DecisionCode

CONTRACTION_KINDS, _ROWS, _ELEMENTWISE = ("matmul", "library"), "multi_reduce", "loop"
_LEAST_ROWS = 8
"""Fewer rows read their matrices from memory once: there is nothing to keep in a cache for them."""
_KEPT = 3
"""Values between the two contractions that a tile keeps: the first result, the exponentials and the quotients."""

Groups = Mapping[str, ir.Operation]
"""The group functions by name."""


def groups_of(module: ir.Operation, libraries: bool = False) -> dict[str, ir.Operation]:
    """The group functions that are generated, by name; with `libraries`, those that a library computes too."""
    groups = [f for f in functions(module) if "hloom.kind" in f.attributes]
    return {symbol_name(f): f for f in groups if libraries or "hloom.library" not in f.attributes}


@dataclass(frozen=True)
class Chain:
    """The calls of the three groups, and the two contractions in the first and the last."""

    calls: tuple[ir.Operation, ir.Operation, ir.Operation]
    first: ir.Operation
    second: ir.Operation

    @property
    def between(self) -> ir.Value:
        """The first contraction's result."""
        return self.first.results[0]

    def leaked(self) -> list[ir.Value]:
        """The values between the two contractions that others read."""
        one, two, three = self.calls
        inside = [(value, reader) for call, reader in ((one, two), (two, three)) for value in call.results]
        return [value for value, reader in inside if any(use.owner.operation != reader for use in value.uses)]

    def leaks(self) -> bool:
        """Whether others read a value between the two contractions that is no number of each row."""
        numbers = prod(ir.RankedTensorType(self.between.type).shape[:-1])
        return any(prod(ir.RankedTensorType(value.type).shape) > numbers for value in self.leaked())

    def with_left(self, groups: Groups) -> list[ir.Operation]:
        """The calls, and before them that of a group that computes the left operand of the first contraction element by element, for it
        alone, if there is one: a tile computes its own rows (queries that are scaled)."""
        one = self.calls[0]
        made = _caller(self.first.operands[0], one)
        if made is None or made.block != one.block or len(made.results) != 1 or len(list(made.results[0].uses)) != 1:
            return [*self.calls]
        function = groups.get(callee_of(made))
        computed = function is not None and kind_of(function) == _ELEMENTWISE
        return [made, *self.calls] if computed else [*self.calls]

    @property
    def row_extents(self) -> list[int]:
        """Of the first contraction's result those of its rows, in its order."""
        batches = len(dimensions(self.first).lhs_batching_dimensions)
        return shape_of(self.between)[batches:-1]

    def obstacle(self, target: TargetView) -> tuple[DecisionCode, str] | None:
        """Why the three should stay apart on a CPU."""
        kind = ir.RankedTensorType(self.between.type)
        batches = len(dimensions(self.first).lhs_batching_dimensions)
        rows, columns = prod(self.row_extents), kind.shape[-1]
        if rows < _LEAST_ROWS:
            return Code.NO_GAIN, f"{rows} rows read each matrix once"
        count = max(1, prod(kind.shape[:batches]))
        read = sum(byte_size(op.operands[1].type) for op in (self.first, self.second)) // count
        kept = _KEPT * _LEAST_ROWS * columns * max(4, element_bytes(kind.element_type))
        if read + kept > target.tile_bytes:
            return Code.ROW_TOO_LARGE, f"{read} bytes of both right operands and {kept} of rows do not stay in the cache"
        return None


def chain_ending_at(call: ir.Operation, groups: Groups) -> Chain | None:
    """The chain whose second contraction is in the group that `call` calls."""
    second = _contraction(call, groups)
    if second is None or not _sums_last(second):
        return None
    rows = _caller(second.operands[0], call)
    function = groups.get(callee_of(rows)) if rows is not None else None
    if rows is None or function is None or kind_of(function) != _ROWS or rows.block != call.block:
        return None
    for value in rows.operands:
        one = defining_op(value)
        first = _contraction(one, groups) if one is not None and one.name == "func.call" and one.block == call.block else None
        if one is not None and first is not None and _fits(first, second, function):
            return Chain((one, rows, call), first, second)
    return None


def _contraction(call: ir.Operation, groups: Groups) -> ir.Operation | None:
    """The contraction of the group that is called, if it has one."""
    function = groups.get(callee_of(call))
    if function is None or kind_of(function) not in CONTRACTION_KINDS:
        return None
    found = walk(function, "stablehlo.dot_general")
    return found[0] if len(found) == 1 else None


def dimensions(dot: ir.Operation) -> _stablehlo.DotDimensionNumbers:
    return _stablehlo.DotDimensionNumbers(dot.attributes["dot_dimension_numbers"])


def summed(dot: ir.Operation) -> int:
    """How many products a contraction adds."""
    return prod(ir.RankedTensorType(dot.operands[0].type).shape[d] for d in dimensions(dot).lhs_contracting_dimensions)


def _sums_last(dot: ir.Operation) -> bool:
    """Whether it sums over the last dimension of its left operand."""
    last = len(ir.RankedTensorType(dot.operands[0].type).shape) - 1
    return list(dimensions(dot).lhs_contracting_dimensions) == [last]


def _caller(operand: ir.Value, call: ir.Operation) -> ir.Operation | None:
    """The call that makes what a group reads as `operand`, through reshapes, where it is called by `call`."""
    while (op := defining_op(operand)) is not None and op.name == "stablehlo.reshape":
        operand = op.operands[0]
    if not is_block_argument(operand):
        return None
    made = defining_op(call.operands[ir.BlockArgument(operand).arg_number])
    return made if made is not None and made.name == "func.call" else None


def _fits(first: ir.Operation, second: ir.Operation, rows: ir.Operation) -> bool:
    """Whether the columns of the first are what the second sums over, and what all rows between are reduced along."""
    made, read = (ir.RankedTensorType(v.type) for v in (first.results[0], second.operands[0]))
    numbers = dimensions(first)
    right = len(ir.RankedTensorType(first.operands[1].type).shape)
    free = right - len(numbers.rhs_batching_dimensions) - len(numbers.rhs_contracting_dimensions)
    reduced = [(integers(op, "dimensions"), shape_of(op.operands[0])) for op in walk(rows, "stablehlo.reduce")]
    if free != 1 or not reduced or any(along != [len(shape) - 1] for along, shape in reduced):
        return False
    columns = {made.shape[-1], read.shape[-1], *(shape[-1] for _, shape in reduced)}
    return len(columns) == 1 and prod(made.shape) == prod(read.shape)


def returned(function: ir.Operation) -> ir.Operation:
    """The op that ends a function."""
    return ops_in(function.regions[0].blocks[0])[-1]
