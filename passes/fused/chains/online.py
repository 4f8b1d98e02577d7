"""Rows that are reduced tile by tile, in one pass: a sum that can be rescaled when a maximum grows, found by algebra on the group's ops.

    m = max(x);  e = exp(x - m);  l = sum(e);  o = (e / l) · v      becomes      o = (e · v) / l

Let m be the maximum of the columns seen so far. What is summed is a multiple of exp(-m) then: when more columns make it m', all sums so
far are multiplied by exp(m - m'). That holds of e, of e times or over what does not depend on m, and of a choice of e and 0. It does not
hold of what is divided by l, which nobody knows before the last column. So factors of whole rows move behind the second contraction; they
are multiplied, divided and chosen there in f32. Constants do, too (a dropout's 1 / 0.9): in halves the largest weight, exp(0), would be
rounded the same way in each row.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from torch_mlir import ir

from ...common.rewriting import clone_with, defining_op, element_of, erase_unused, integers, ops_in
from ...stablehlo.support.build import broadcast, convert, elementwise, full_like, reshape, shape_of, tensor
from ...stablehlo.support.constants import splat_value
from ...stablehlo.support.dimensions import DotDims

_MAXIMUM, _SUM = ("stablehlo.maximum", -inf), ("stablehlo.add", 0.0)


@dataclass(frozen=True)
class Step:
    """An op between e and the weights that multiplies its operand `scaled`, by the operand `row`, which is a row's, where there is one."""

    op: ir.Operation
    scaled: int
    row: int | None


@dataclass(frozen=True)
class Online:
    """The second contraction of a group, what its left operand is a multiple of, and the ops that multiply it, innermost first."""

    second: ir.Operation
    inner: ir.Value
    steps: tuple[Step, ...]


def online(function: ir.Operation, second: ir.Operation) -> Online | None:
    """How the rows that `second` sums over can be reduced tile by tile; None where that is not found."""
    reduced = [op for op in ops_in(function.regions[0].blocks[0]) if op.name == "stablehlo.reduce"]
    kinds = [_kind(op) for op in reduced]
    if kinds != [_MAXIMUM, _SUM]:
        return None
    largest, total = reduced
    rows = _Rows(largest, function)
    steps: list[Step] = []
    inner = second.operands[0]
    while (op := defining_op(inner)) is not None and not rows.rescales(inner):
        step = rows.step(op)
        if step is None:
            return None
        steps.append(step)
        inner = op.operands[step.scaled]
    if op is None or not rows.rescales(total.operands[0]):
        return None
    return Online(second, inner, tuple(reversed(steps)))


def apply(found: Online) -> None:
    """Has the second contraction sum what can be rescaled; the factors of rows follow it."""
    second = found.second
    left, made = second.operands[0], second.results[0]
    f32 = ir.F32Type.get()
    with ir.InsertionPoint(second), second.location:
        summed = found.inner
        for step in found.steps:
            if step.row is None and not _keeps(step.op):
                scaled = step.op.operands[step.scaled]
                summed = clone_with(step.op, {scaled: convert(reshape(summed, shape_of(scaled)), element_of(scaled))}).results[0]
        summed = convert(reshape(summed, shape_of(left)), element_of(left))
        copy = clone_with(second, {left: summed})
        copy.results[0].set_type(tensor(shape_of(made), f32))
        value = copy.results[0]
        for step in found.steps:
            value = value if step.row is None else _applied(step.op, step.row, step.scaled, value, second)
        made.replace_all_uses_with(convert(value, element_of(made)))
    function = second.parent.operation
    second.erase()
    *ops, _ = ops_in(function.regions[0].blocks[0])
    erase_unused(ops)


def _applied(op: ir.Operation, row: int, scaled: int, value: ir.Value, second: ir.Operation) -> ir.Value:
    """What an op makes of the results of whole rows of the second contraction; in the op's own shape, where the rows lie as its do."""
    number = splat_value(op.operands[row])
    if number is not None:
        return elementwise(op.name.removeprefix("stablehlo."), value, full_like(value, number))
    spread = defining_op(op.operands[row])
    assert spread is not None
    own = shape_of(op.results[0])[:-1]
    dims, rows, made = DotDims.of(second), shape_of(second.operands[0])[:-1], shape_of(value)
    order = [*dims.batch[0], *dims.free(0)]
    if order == sorted(order):
        value = reshape(value, [*own, *made[len(rows) :]])
        each = broadcast(spread.operands[0], shape_of(value), integers(spread, "broadcast_dimensions"))
    else:
        each = broadcast(spread.operands[0], own, integers(spread, "broadcast_dimensions"))
        each = broadcast(reshape(each, rows), made, [order.index(d) for d in range(len(rows))])
    if op.name != "stablehlo.select":
        return reshape(elementwise(op.name.removeprefix("stablehlo."), value, convert(each, element_of(value))), made)
    zero = full_like(value, 0.0)
    return reshape(elementwise("select", each, *((value, zero) if scaled == 1 else (zero, value)), result=value.type), made)


def _kind(op: ir.Operation) -> tuple[str, float | int | bool | None] | None:
    """(body, start) of a reduction of one f32 array."""
    body = ops_in(op.regions[0].blocks[0])
    if len(op.results) != 1 or len(body) != 2 or not isinstance(element_of(op.results[0]), ir.F32Type):
        return None
    return body[0].name, splat_value(op.operands[1])


def _keeps(op: ir.Operation) -> bool:
    """Whether an op leaves floats what they are, but for rounding."""
    return op.name == "stablehlo.reshape" or (op.name == "stablehlo.convert" and isinstance(element_of(op.operands[0]), ir.FloatType))


def _kept(value: ir.Value) -> ir.Value:
    """The value that another is, but for its shape and the type of its floats."""
    while (op := defining_op(value)) is not None and _keeps(op):
        value = op.operands[0]
    return value


def _unshaped(value: ir.Value) -> ir.Value:
    """What a value is a reshape of."""
    while (op := defining_op(value)) is not None and op.name == "stablehlo.reshape":
        value = op.operands[0]
    return value


def _is_zero(value: ir.Value) -> bool:
    return splat_value(value) == 0.0


class _Rows:
    """Which values of a group depend on the maximum of the rows, and how."""

    def __init__(self, largest: ir.Operation, function: ir.Operation):
        self.largest = largest
        self.dependent = set(largest.results)
        for op in ops_in(function.regions[0].blocks[0]):
            if any(value in self.dependent for value in op.operands):
                self.dependent.update(op.results)

    def rescales(self, value: ir.Value) -> bool:
        """Whether the value is a multiple of exp(-m)."""
        op = defining_op(value)
        if op is None:
            return False
        operands = list(op.operands)
        if op.name == "stablehlo.exponential":
            return self._is_difference(operands[0])
        if _keeps(op):
            return self.rescales(operands[0])
        if op.name == "stablehlo.multiply":
            return any(self.rescales(a) and b not in self.dependent for a, b in (operands, operands[::-1]))
        if op.name == "stablehlo.divide":
            return self.rescales(operands[0]) and operands[1] not in self.dependent
        if op.name == "stablehlo.select" and operands[0] not in self.dependent:
            return any(self.rescales(a) and _is_zero(b) for a, b in (operands[1:], operands[:0:-1]))
        return False

    def _is_difference(self, value: ir.Value) -> bool:
        """Whether the value is x - m: then exp of it never exceeds 1, whatever columns were seen."""
        op = defining_op(value)
        if op is None or op.name != "stablehlo.subtract":
            return False
        x, maximized, spread = op.operands[0], self.largest.operands[0], defining_op(op.operands[1])
        if spread is None or spread.name != "stablehlo.broadcast_in_dim" or _kept(x) != _kept(maximized):
            return False
        *rows, columns = shape_of(value)
        in_order = shape_of(spread.operands[0]) == rows and integers(spread, "broadcast_dimensions") == list(range(len(rows)))
        return in_order and columns == shape_of(maximized)[-1] and self._is_maximum(spread.operands[0])

    def _is_maximum(self, value: ir.Value) -> bool:
        """Whether the value is the maximum of the rows, to the last bit: in halves, where that is of halves which are widened."""
        value = _unshaped(value)
        op, widened = defining_op(value), defining_op(_unshaped(self.largest.operands[0]))
        if op is not None and op.name == "stablehlo.convert" and widened is not None and widened.name == op.name:
            value = _unshaped(op.operands[0]) if element_of(widened.operands[0]) == element_of(op.results[0]) else value
        return value == self.largest.results[0]

    def step(self, op: ir.Operation) -> Step | None:
        """The op as one that multiplies an operand; None of others."""
        if _keeps(op):
            return Step(op, 0, None)
        operands = list(op.operands)
        for scaled, by in {"stablehlo.divide": [(0, 1)], "stablehlo.multiply": [(0, 1), (1, 0)]}.get(op.name, []):
            if self._is_of_rows(operands[by]) or splat_value(operands[by]) is not None:
                return Step(op, scaled, by)
            if operands[by] not in self.dependent:
                return Step(op, scaled, None)
        if op.name == "stablehlo.select" and any(_is_zero(v) for v in operands[1:]):
            scaled = 2 if _is_zero(operands[1]) else 1
            if self._is_of_rows(operands[0]):
                return Step(op, scaled, 0)
            return Step(op, scaled, None) if operands[0] not in self.dependent else None
        return None

    def _is_of_rows(self, value: ir.Value) -> bool:
        """Whether the value is the same along each row."""
        op = defining_op(value)
        last = len(shape_of(value)) - 1
        return op is not None and op.name == "stablehlo.broadcast_in_dim" and last not in integers(op, "broadcast_dimensions")
