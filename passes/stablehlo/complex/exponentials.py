"""Exponentials and logarithms of complex numbers.

Against arithmetic of 200 bits they are within a few units in the last place of the magnitude of the result (docs/ops.md); a part that is
small beside the other may have fewer digits. Limits at infinity are C99's (Annex G).
"""

from __future__ import annotations

import math

from .numbers import Complex, Real, larger, pick, smaller


def exponential(z: Complex) -> Complex:
    """e^a·cos b + i·e^a·sin b, e^a in two factors where it is large."""
    a, b = z
    b = (a.is_infinite() & ~b.is_finite()).pick(0.0, b)
    size, factor = growth(a)
    real, imaginary = size * b.function("cosine") * factor, size * b.function("sine") * factor
    return real, z[1].equals(0.0).pick(z[1], imaginary)


def growth(a: Real) -> tuple[Real, Real]:
    """e^a as a product of two: the first is no infinity where the product times a sine or cosine is none."""
    limit, part = (700.0, 300.0) if a.is_double else (80.0, 40.0)
    large = a > limit
    size = large.pick(a - part, a).function("exponential")
    return size, large.pick(math.exp(part), a.like(1.0))


def exponential_minus_one(z: Complex) -> Complex:
    """(e^a - 1)·cos b - 2·sin²(b/2) + i·e^a·sin b: nothing cancels where both are small."""
    a, b = z
    half = b * 0.5
    sine, cosine = half.function("sine"), half.function("cosine")
    limit, part = (700.0, 300.0) if a.is_double else (80.0, 40.0)
    large = a > limit
    less = large.pick(a - part, a).function("exponential_minus_one")
    factor = large.pick(math.exp(part), a.like(1.0))
    square = sine * sine * 2.0
    whole = less * (1.0 - square)
    real = large.pick(whole * factor, whole - square)
    imaginary = (less + 1.0) * (sine * cosine * 2.0) * factor
    return real, b.equals(0.0).pick(b, imaginary)


def log(z: Complex) -> Complex:
    """log |z| + i·atan2(b, a)."""
    return log_size(z), z[1].function("atan2", z[0])


def log_size(z: Complex) -> Real:
    """log |z|, which near 1 is half the log1p of (m - 1)·(m + 1) + n², m the larger part and n the other."""
    a, b = abs(z[0]), abs(z[1])
    most, least = larger(a, b), smaller(a, b)
    near = (most > 0.5) & (most < 2.0)
    ratio = most.equals(least).pick(1.0, least / most)
    beyond = near.pick((most - 1.0) * (most + 1.0) + least * least, ratio * ratio)
    size = near.pick(0.0, most.function("log")) + beyond.function("log_plus_one") * 0.5
    return (a.equals(math.inf) | b.equals(math.inf)).pick(math.inf, size)


def log_plus_one(z: Complex) -> Complex:
    """log(1 + z); where z is small, its real part is half the log1p of a·(2 + a) + b²."""
    a, b = z
    small = larger(abs(a), abs(b)) < 0.25
    shifted = a + 1.0
    near = (a * (a + 2.0) + b * b).function("log_plus_one") * 0.5
    return small.pick(near, log_size((shifted, b))), b.function("atan2", shifted)


def logistic(z: Complex) -> Complex:
    """1/(1 + e^-z) by e = e^-|a| of at most one, its distance m from one, and half the angle, so that the denominator cancels nowhere.

    |1 + w|² = m² + 4·e·cos²(b/2) for w = e^∓z.
    """
    a, b = z
    half = b * 0.5
    sine, cosine = half.function("sine"), half.function("cosine")
    minus = -abs(a)
    e, m = minus.function("exponential"), -minus.function("exponential_minus_one")
    square = cosine * cosine * 2.0
    size = m * m + e * square * 2.0
    real = (a >= 0.0).pick(m + e * square, e * (square - m))
    return real / size, e * sine * cosine * 2.0 / size


def power(x: Complex, y: Complex) -> Complex:
    """|x|^c·e^(-d·θ) at the angle d·log |x| + c·θ, for y = c + di and the angle θ of x.

    x^0 is 1 for any x, 0^y is 0 for a positive real part of y, and of +inf a real power is real: inf or 0.
    """
    c, d = y
    angle, log_of = x[1].function("atan2", x[0]), log_size(x)
    size, factor = growth(c * log_of - d * angle)
    turn = d.equals(0.0).pick(0.0, d * log_of) + c * angle  # log |x| may be infinite, and so may the size
    whole = size * turn.function("cosine") * factor, turn.equals(0.0).pick(turn, size * turn.function("sine") * factor)
    one = c.equals(0.0) & d.equals(0.0)
    vanishes = x[0].equals(0.0) & x[1].equals(0.0) & (c > 0.0)
    real, imaginary = pick(vanishes, (c.like(0.0), c.like(0.0)), whole)
    return one.pick(1.0, real), one.pick(0.0, imaginary)
