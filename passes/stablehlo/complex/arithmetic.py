"""Arithmetic on complex numbers: the four operations, magnitude and sign, order, parts and conversions."""

from __future__ import annotations

import math

from torch_mlir import ir

from ...common.rewriting import element_of, keyword
from ..support import build
from ..support.type_conversion import Parts
from .numbers import Complex, Mask, Real, larger, pick, smaller


def add(x: Complex, y: Complex) -> Complex:
    return x[0] + y[0], x[1] + y[1]


def subtract(x: Complex, y: Complex) -> Complex:
    return x[0] - y[0], x[1] - y[1]


def multiply(x: Complex, y: Complex) -> Complex:
    """As XLA does: no recovery of infinities from NaN (C99, Annex G)."""
    return x[0] * y[0] - x[1] * y[1], x[0] * y[1] + x[1] * y[0]


def negate(x: Complex) -> Complex:
    return -x[0], -x[1]


def absolute(x: Complex) -> Real:
    """hypot: the larger part times a root that neither overflows nor vanishes; infinite if a part is, whatever the other."""
    a, b = abs(x[0]), abs(x[1])
    most, least = larger(a, b), smaller(a, b)
    ratio = most.equals(0.0).pick(0.0, least / most)
    size = most * (ratio * ratio + 1.0).function("sqrt")
    return (a.equals(math.inf) | b.equals(math.inf)).pick(math.inf, size)


def sign(x: Complex) -> Complex:
    """z/|z|, of parts that are at most one; 0 of 0."""
    most = larger(abs(x[0]), abs(x[1]))
    zero = most.equals(0.0)
    a, b = x[0] / most, x[1] / most
    size = (a * a + b * b).function("sqrt")
    return zero.pick(x[0], a / size), zero.pick(x[1], b / size)


def divide(x: Complex, y: Complex) -> Complex:
    """x·conj(y)/|y|², both scaled by powers of two so that no product overflows or vanishes where the quotient does not.

    Zeros and infinities as in C99's Annex G: beside an infinity a finite part counts as 0, and an infinity as 1; the quotient of these is
    times infinity, or 0 for an infinite divisor; division by 0 is division by 1 (with the sign of its real part), times infinity.
    """
    (a, b), grow, infinite = _scaled(x, 1.0)
    (c, d), shrink, boxed = _scaled(y, -1.0)
    zero = larger(abs(c), abs(d)).equals(0.0)
    c = zero.pick(c.like(1.0).sign_like(c), c)
    size = c * c + d * d
    factor = grow * shrink
    factor = infinite.pick(math.inf, factor) * boxed.pick(0.0, zero.pick(math.inf, factor.like(1.0)))
    return _twice((a * c + b * d) / size, factor), _twice((b * c - a * d) / size, factor)


def _twice(x: Real, factor: Real) -> Real:
    """The factor is a root of what the scaling left out: its square may be no number."""
    return x * factor * factor


def _scaled(x: Complex, power: float) -> tuple[Complex, Real, Mask]:
    """Parts that are not far from 1 for x, the root to that power of what they must be multiplied by, and where x is infinite.

    What is large becomes smaller by 2^84 (f64: 2^672), what is small larger by 2^100 (2^800); magnitudes within 2^±40 (2^±320) stay.
    """
    steps = 8 if x[0].is_double else 1
    a, b = abs(x[0]), abs(x[1])
    most = larger(a, b)
    large, small = most >= 2.0 ** (40 * steps), most < 2.0 ** (-40 * steps)
    root = large.pick(2.0 ** (-42 * steps), small.pick(2.0 ** (50 * steps), most.like(1.0)))
    back = large.pick(2.0 ** (42 * steps * power), small.pick(2.0 ** (-50 * steps * power), most.like(1.0)))
    scale = root * root
    over = a.equals(math.inf), b.equals(math.inf)
    infinite = over[0] | over[1]
    parts = [infinite.pick(mask.pick(part.function("sign"), 0.0), part * scale) for part, mask in zip(x, over)]
    return (parts[0], parts[1]), back, infinite


def equal(x: Complex, y: Complex) -> Mask:
    return x[0].equals(y[0]) & x[1].equals(y[1])


def maximum(x: Complex, y: Complex) -> Complex:
    """The larger by real parts, then by imaginary parts; x where a real part is NaN, or imaginary parts are compared and one is."""
    return pick(_before(x, y), y, x)


def minimum(x: Complex, y: Complex) -> Complex:
    return pick(_before(y, x), y, x)


def clamp(low: Complex, x: Complex, high: Complex) -> Complex:
    """Bounds may be of rank 0."""
    shape = build.shape_of(x[0].value)

    def spread(bound: Real) -> Real:
        return Real(build.broadcast(bound.value, shape, range(len(build.shape_of(bound.value)))))

    low, high = (spread(low[0]), spread(low[1])), (spread(high[0]), spread(high[1]))
    return minimum(maximum(x, low), high)


def _before(x: Complex, y: Complex) -> Mask:
    return (x[0] < y[0]) | (x[0].equals(y[0]) & (x[1] < y[1]))


def compare(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """Lexicographic: real parts, and where they are equal imaginary ones."""
    direction = keyword(op, "comparison_direction")
    x, y = ((Real(parts[0]), Real(parts[1])) for parts in operands)
    if direction in ("EQ", "NE"):
        same = equal(x, y)
        return [[(same if direction == "EQ" else ~same).value]]
    strict = direction[0] + "T"
    found = x[0].compare(strict, y[0]) | (x[0].equals(y[0]) & x[1].compare(direction, y[1]))
    return [[found.value]]


def convert(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """From complex numbers the imaginary part is dropped; other numbers get an imaginary part of 0."""
    (parts,) = operands
    element = element_of(op.results[0])
    if isinstance(element, ir.ComplexType):
        real = build.convert(parts[0], element.element_type)
        imaginary = (
            build.convert(parts[1], element.element_type) if len(parts) == 2 else build.zero(build.shape_of(real), element.element_type)
        )
        return [[real, imaginary]]
    return [[build.convert(parts[0], element)]]
