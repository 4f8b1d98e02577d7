"""Between which numbers the elements of a tensor of integers lie, as the ops that compute them tell: what a mask, a shift or a constant
leaves.

A range that would leave the numbers of its type is all of them: the ops wrap around.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

from torch_mlir import ir

from hloom.dialects.storage import is_i1

from ...common.rewriting import defining_op
from ...common.trip_count import integer_range
from . import build, constants

Range = tuple[int, int]
_DEPTH = 32
"""How many ops back one looks."""
_READ = 4096
"""Elements of constants that are read one by one."""
_MOVES = frozenset(f"stablehlo.{name}" for name in ("reshape", "transpose", "broadcast_in_dim", "slice", "reverse", "optimization_barrier"))


def element_range(value: ir.Value, depth: int = _DEPTH) -> Range:
    """The least and the greatest number that an element may be."""
    everything = _of_type(build.element_of(value))
    op = defining_op(value)
    if op is None or not depth:
        return everything
    if op.name == "stablehlo.constant":
        return _of_constant(value) or everything
    if op.name in _MOVES:
        return element_range(op.operands[0], depth - 1)
    if op.name == "stablehlo.concatenate":
        ranges = [element_range(operand, depth - 1) for operand in op.operands]
        return min(low for low, _ in ranges), max(high for _, high in ranges)
    rule = _RULES.get(op.name)
    if rule is None or not all(isinstance(build.element_of(operand), ir.IntegerType) for operand in op.operands):
        return everything
    found = rule(everything, *(element_range(operand, depth - 1) for operand in op.operands))
    return found if found is not None and everything[0] <= found[0] <= found[1] <= everything[1] else everything


def _of_type(element: ir.Type) -> Range:
    return (0, 1) if is_i1(element) else integer_range(element)


def _of_constant(value: ir.Value) -> Range | None:
    array = constants.read(value, _READ)
    return None if array is None or not array.size else (int(array.min()), int(array.max()))


def _and(everything: Range, a: Range, b: Range) -> Range | None:
    """No more than either that is not negative."""
    most = [high for low, high in (a, b) if low >= 0]
    return (0, min(most)) if most else None


def _or(everything: Range, a: Range, b: Range) -> Range | None:
    """Of numbers that are not negative: as many bits as the larger one has."""
    return (0, (1 << max(a[1], b[1]).bit_length()) - 1) if min(a[0], b[0]) >= 0 else None


def _corners(combine: Callable[[int, int], int]) -> Callable[[Range, Range, Range], Range]:
    """Of an op that rises or falls with each operand."""

    def found(everything: Range, a: Range, b: Range) -> Range:
        ends = [combine(x, y) for x, y in product(a, b)]
        return min(ends), max(ends)

    return found


def _shifted_left(everything: Range, a: Range, b: Range) -> Range | None:
    """What leaves the type at its upper end wraps: what is left has zeros below, and as many steps as that leaves."""
    bits = (everything[1] - everything[0]).bit_length()
    if b[0] != b[1] or not 0 <= b[0] < bits:
        return None
    step = 1 << b[0]
    exact = a[0] * step, a[1] * step
    return exact if everything[0] <= exact[0] and exact[1] <= everything[1] else (everything[0], everything[1] + 1 - step)


def _shifted_right(everything: Range, a: Range, b: Range) -> Range | None:
    """Zeros come in from above: a negative number becomes a large one."""
    bits = (everything[1] - everything[0]).bit_length()
    if b[0] != b[1] or not 0 <= b[0] < bits:
        return None
    return (a[0] >> b[0], a[1] >> b[0]) if a[0] >= 0 or not b[0] else (0, (1 << bits - b[0]) - 1)


def _shifted_with_sign(everything: Range, a: Range, b: Range) -> Range | None:
    bits = (everything[1] - everything[0]).bit_length()
    return (a[0] >> b[0], a[1] >> b[0]) if b[0] == b[1] and 0 <= b[0] < bits and everything[0] < 0 else None


_RULES: dict[str, Callable[..., Range | None]] = {
    "stablehlo.add": _corners(lambda x, y: x + y),
    "stablehlo.subtract": _corners(lambda x, y: x - y),
    "stablehlo.multiply": _corners(lambda x, y: x * y),
    "stablehlo.maximum": _corners(max),
    "stablehlo.minimum": _corners(min),
    "stablehlo.clamp": lambda everything, low, a, high: (min(max(a[0], low[0]), high[0]), min(max(a[1], low[1]), high[1])),
    "stablehlo.convert": lambda everything, a: a,
    "stablehlo.and": _and,
    "stablehlo.or": _or,
    "stablehlo.xor": _or,
    "stablehlo.shift_left": _shifted_left,
    "stablehlo.shift_right_logical": _shifted_right,
    "stablehlo.shift_right_arithmetic": _shifted_with_sign,
}
