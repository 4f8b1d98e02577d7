"""Circular and hyperbolic functions of complex numbers, with real ones that do not overflow before the result does."""

from __future__ import annotations

import math

from .exponentials import log
from .numbers import Complex, Mask, Real


def sine(z: Complex) -> Complex:
    """sin a·cosh b + i·cos a·sinh b."""
    a, b = z
    cosh, sinh, factor = _hyperbolic(b)
    real, imaginary = a.function("sine") * cosh * factor, a.function("cosine") * sinh * factor
    return a.equals(0.0).pick(a, real), imaginary


def cosine(z: Complex) -> Complex:
    """cos a·cosh b - i·sin a·sinh b."""
    a, b = z
    cosh, sinh, factor = _hyperbolic(b)
    flat = b.is_nan().pick(a, -(a * b.function("sign")))
    return a.function("cosine") * cosh * factor, a.equals(0.0).pick(flat, -(a.function("sine") * sinh * factor))


def _hyperbolic(b: Real) -> tuple[Real, Real, Real]:
    """cosh b and sinh b, both to be multiplied by the third, which is 1 unless they are large."""
    limit, part = (700.0, 300.0) if b.is_double else (80.0, 40.0)
    size = abs(b)
    large = size > limit
    less = large.pick(size - part, size).function("exponential_minus_one")
    whole = less + 1.0
    cosh, sinh = (whole + 1.0 / whole) * 0.5, (less + _quotient(less, whole)) * 0.5
    return cosh, sinh * b.function("sign"), large.pick(math.exp(part), b.like(1.0))


def _quotient(less: Real, whole: Real) -> Real:
    """(e^b - 1)/e^b, 1 at infinity."""
    return less.equals(math.inf).pick(1.0, less / whole)


def tanh(z: Complex) -> Complex:
    """(sinh a·cosh a + i·sin b·cos b)/(sinh² a + cos² b): nothing cancels. Where a is large, ±1 and what the imaginary part tends to."""
    a, b = z
    limit = 350.0 if a.is_double else 40.0
    sine, cosine = b.function("sine"), b.function("cosine")
    cosh, sinh, _ = _hyperbolic(a.function("minimum", limit).function("maximum", -limit))
    size = sinh * sinh + cosine * cosine
    far: Mask = abs(a) > limit
    turn = sine * cosine
    vanishing = (a.is_infinite() & ~b.is_finite()).pick(0.0, turn) * 0.0
    return far.pick(a.function("sign") + vanishing, sinh * cosh / size), b.equals(0.0).pick(b, far.pick(vanishing, turn / size))


def tan(z: Complex) -> Complex:
    """-i·tanh(i·z)."""
    real, imaginary = tanh((-z[1], z[0]))
    return imaginary, -real


def atan2(y: Complex, x: Complex) -> Complex:
    """-i·log((x + i·y)/√(x² + y²))."""
    from .arithmetic import add, divide, multiply
    from .roots import sqrt

    numerator = (x[0] - y[1], x[1] + y[0])
    real, imaginary = log(divide(numerator, sqrt(add(multiply(x, x), multiply(y, y)))))
    return imaginary, -real
