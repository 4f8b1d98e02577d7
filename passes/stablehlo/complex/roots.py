"""Roots of complex numbers. The branch cut is the negative real axis, on which the sign of the imaginary part decides, as in C99."""

from __future__ import annotations

import math

from .numbers import Complex, Real, larger, smaller


def sqrt(z: Complex) -> Complex:
    """t = √((|a| + |z|)/2), and b/(2t): the larger part is the real one for a ≥ 0, else the imaginary one."""
    (a, b), root = _scaled(z)
    most, least = larger(abs(a), abs(b)), smaller(abs(a), abs(b))
    ratio = least / most
    size = most * (ratio * ratio + 1.0).function("sqrt")
    main = ((abs(a) + size) * 0.5).function("sqrt")
    other = abs(b) / (main * 2.0)
    right = z[0] >= 0.0
    real, imaginary = right.pick(main, other) * root, (right.pick(other, main) * root).sign_like(z[1])
    return _limits(z, real, imaginary)


def _limits(z: Complex, real: Real, imaginary: Real) -> Complex:
    """At zero and at the infinities."""
    zero = z[0].equals(0.0) & z[1].equals(0.0)
    upward, forward, backward = z[1].is_infinite(), z[0].equals(math.inf), z[0].equals(-math.inf)
    real = zero.pick(0.0, (upward | forward).pick(math.inf, backward.pick(z[1].is_nan().pick(z[1], 0.0), real)))
    flat = z[1].is_nan().pick(z[1], z[1].like(0.0).sign_like(z[1]))
    endless = z[1].like(math.inf).sign_like(z[1])
    imaginary = zero.pick(z[1], (upward | backward).pick(endless, forward.pick(flat, imaginary)))
    return real, imaginary


def _scaled(z: Complex) -> tuple[Complex, Real]:
    """z with no part whose square matters and vanishes, or that is near the largest; and the root of what it must be multiplied by."""
    steps = 8 if z[0].is_double else 1
    most = larger(abs(z[0]), abs(z[1]))
    large, small = most >= 2.0 ** (100 * steps), most < 2.0 ** (-80 * steps)
    scale = large.pick(2.0 ** (-40 * steps), small.pick(2.0 ** (80 * steps), most.like(1.0)))
    root = large.pick(2.0 ** (20 * steps), small.pick(2.0 ** (-40 * steps), most.like(1.0)))
    return (z[0] * scale, z[1] * scale), root


def rsqrt(z: Complex) -> Complex:
    """conj(u)/|u|² of u = √z; 0 at the infinities, infinite at 0."""
    real, imaginary = sqrt(z)
    most = larger(abs(real), abs(imaginary))
    a, b = real / most, imaginary / most
    size = most * (a * a + b * b)
    infinite, zero = z[0].is_infinite() | z[1].is_infinite(), most.equals(0.0)
    return infinite.pick(0.0, zero.pick(math.inf, a / size)), infinite.pick(z[1].like(0.0).sign_like(-z[1]), -b / size)


def cbrt(z: Complex) -> Complex:
    """The cube root whose angle is a third of that of z."""
    a, b = abs(z[0]), abs(z[1])
    most, least = larger(a, b), smaller(a, b)
    ratio = most.equals(0.0).pick(0.0, most.equals(least).pick(1.0, least / most))
    size = most.function("cbrt") * (ratio * ratio + 1.0).function("cbrt").function("sqrt")
    third = z[1].function("atan2", z[0]) * (1 / 3)
    return size * third.function("cosine"), size * third.function("sine")
