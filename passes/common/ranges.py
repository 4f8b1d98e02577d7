"""Between which numbers a float lies, as the ops that compute it tell: what a clamp, a square or an exponential leaves.

A range says nothing of NaN, which any float may be. Where nothing is known of a value it is everything. Roundings move an end by a little,
so whoever asks must leave that much room.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product

from torch_mlir import ir

from .rewriting import defining_op, is_block_argument

Range = tuple[float, float]
EVERYTHING: Range = (-math.inf, math.inf)
_DEPTH = 48
"""How many ops back one looks."""


class Ranges:
    """The ranges of values, each found once."""

    def __init__(self) -> None:
        self._known: dict[ir.Value, Range] = {}

    def of(self, value: ir.Value, depth: int = _DEPTH) -> Range:
        """The least and the greatest number that a float, or an element of a vector of floats, may be."""
        if value not in self._known:
            self._known[value] = self._found(value, depth)
        return self._known[value]

    def _found(self, value: ir.Value, depth: int) -> Range:
        op = None if is_block_argument(value) else defining_op(value)
        if op is None or not depth:
            return EVERYTHING
        if op.name == "arith.constant":
            return _constant(op.attributes["value"])
        if op.name == "arith.mulf" and op.operands[0] == op.operands[1]:
            return _square(self.of(op.operands[0], depth - 1))
        rule = _RULES.get(op.name)
        return EVERYTHING if rule is None else rule(*(self.of(each, depth - 1) for each in op.operands))


def _constant(value: ir.Attribute) -> Range:
    if isinstance(value, ir.DenseElementsAttr) and value.is_splat:
        value = value.get_splat_value()
    if not isinstance(value, ir.FloatAttr) or math.isnan(value.value):
        return EVERYTHING
    return value.value, value.value


def _square(a: Range) -> Range:
    ends = [end * end for end in a]
    return (0.0 if a[0] <= 0 <= a[1] else min(ends)), max(ends)


def _sum(a: Range, b: Range) -> Range:
    return _ends([a[0] + b[0], a[1] + b[1]])


def _product(a: Range, b: Range) -> Range:
    return _ends([x * y for x, y in product(a, b)])


def _ends(found: list[float]) -> Range:
    """0 times infinity and infinity less infinity are at no end: all that is left of them is NaN, or anything."""
    return EVERYTHING if any(map(math.isnan, found)) else (min(found), max(found))


def _absolute(a: Range) -> Range:
    ends = [abs(end) for end in a]
    return (0.0 if a[0] <= 0 <= a[1] else min(ends)), max(ends)


def _power(base: float) -> Callable[[Range], Range]:
    def power(a: Range) -> Range:
        low, high = ((base ** min(max(end, -1e3), 200.0)) for end in a)
        return low if low > 2.0**-100 else 0.0, high if high < 2.0**100 else math.inf

    return power


_RULES: dict[str, Callable[..., Range]] = {
    "arith.addf": _sum,
    "arith.subf": lambda a, b: _sum(a, (-b[1], -b[0])),
    "arith.mulf": _product,
    "math.fma": lambda a, b, c: _sum(_product(a, b), c),
    "arith.negf": lambda a: (-a[1], -a[0]),
    "math.absf": _absolute,
    "math.exp": _power(math.e),
    "math.exp2": _power(2.0),
    "math.tanh": lambda a: (-1.0, 1.0),
    "arith.maximumf": lambda a, b: (max(a[0], b[0]), max(a[1], b[1])),
    "arith.minimumf": lambda a, b: (min(a[0], b[0]), min(a[1], b[1])),
    "arith.extf": lambda a: a,
    "vector.broadcast": lambda a: a,
}
