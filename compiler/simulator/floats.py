"""Floating-point arithmetic as PTX defines it, for both simulators: each rounding mode, fused multiply-add, subnormals flushed to zero.

A result is first computed in f64, *rounded to odd* (where it is inexact its last bit is set). From that any narrower type can be rounded in
any way as if from the exact value: f64 has more than twice the bits of f32 and two.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np

Array = Any
f32, f64 = np.float32, np.float64
_SPLIT = 134217729.0
_SAFE = 2.0**400
_TINY = {np.dtype(np.float16): 2.0**-14, np.dtype(ml_dtypes.bfloat16): 2.0**-126, np.dtype(f32): 2.0**-126, np.dtype(f64): 2.0**-1022}


def add(a: Array, b: Array, mode: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    kind = a.dtype
    if mode == "rn":
        return finish(flush(a, ftz) + flush(b, ftz), ftz, sat)
    if kind == f64:
        return finish(fma(a, f64(1), b, mode), ftz, sat)
    return finish(narrow(odd_sum(flush(a, ftz).astype(f64), flush(b, ftz).astype(f64)), kind, mode), ftz, sat)


def sub(a: Array, b: Array, mode: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    return add(a, -b, mode, ftz, sat)


def mul(a: Array, b: Array, mode: str = "rn", ftz: bool = False, sat: bool = False) -> Array:
    kind = a.dtype
    if mode == "rn":
        return finish(flush(a, ftz) * flush(b, ftz), ftz, sat)
    if kind == f64:
        return fma(a, b, -np.copysign(f64(0), a) * np.copysign(f64(1), b), mode)
    return finish(narrow(flush(a, ftz).astype(f64) * flush(b, ftz).astype(f64), kind, mode), ftz, sat)


def fma(a: Array, b: Array, c: Array, mode: str = "rn", ftz: bool = False, sat: bool = False, relu: bool = False) -> Array:
    """a * b + c, rounded once."""
    kind = a.dtype
    if kind == f64:
        return _fma_f64(a, b, c, mode)
    wide = [flush(x, ftz).astype(f64) for x in (a, b, c)]
    product = wide[0] * wide[1]
    if kind == f32 and mode == "rn":
        total = _sum_for_f32(product, wide[2])
    else:
        total = odd_sum(product, wide[2])
    result = finish(narrow(total, kind, mode), ftz, sat)
    return np.where(result > 0, result, kind.type(0)) if relu else result


def _sum_for_f32(product: Array, c: Array) -> Array:
    """Their sum, rounded to odd where a second rounding, to f32, would show it: half-way between two, and below the normal ones."""
    total = np.asarray(product + c)
    doubtful = (total.view(np.uint64) & np.uint64(0x1FFFFFFF)) == np.uint64(0x10000000)
    doubtful |= (np.abs(total) < 2.0**-125) & (total != 0)
    return odd_sum(product, c) if doubtful.any() else total


def odd_sum(a: Array, b: Array) -> Array:
    """a + b in f64, rounded to odd."""
    total = np.asarray(a + b)
    part = total - a
    error = (a - (total - part)) + (b - part)
    return _to_odd(total, error)


def _to_odd(total: Array, error: Array) -> Array:
    """What the exact total + error is, rounded to odd, if total is it rounded to the nearest."""
    total = np.asarray(total)
    bits = total.view(np.uint64)
    wrong = np.isfinite(total) & (error != 0) & ((bits & np.uint64(1)) == 0)
    if not wrong.any():
        return total
    away = (error > 0) == (total > 0)
    return np.where(wrong, np.where(away, bits + np.uint64(1), bits - np.uint64(1)), bits).view(f64)


def narrow(x: Array, kind: Any, mode: str = "rn") -> Array:
    """An f64 rounded to a type that is no wider."""
    kind, x = np.dtype(kind), np.asarray(x)
    if kind == f64:
        return x
    if mode != "rn":
        return _directed(x, kind, mode)
    return _odd_f32(x).astype(kind) if kind.itemsize < 4 and kind != np.float16 else x.astype(kind)


def _odd_f32(x: Array) -> Array:
    """An f64 rounded to odd, in f32."""
    found = _directed(x, np.dtype(f32), "rz")
    inexact = (found.astype(f64) != x) & np.isfinite(x)
    return np.where(inexact, found.view(np.uint32) | np.uint32(1), found.view(np.uint32)).view(f32)


def _directed(x: Array, kind: np.dtype, mode: str) -> Array:
    found = narrow(x, kind)
    back = found.astype(f64)
    down, up = (np.nextafter(found, kind.type(limit)) for limit in (-np.inf, np.inf))
    too_high, too_low = back > x, back < x
    if mode == "rz":
        too_high, too_low = too_high & (x > 0), too_low & (x < 0)
    return np.where(too_high & (mode != "rp"), down, np.where(too_low & (mode != "rm"), up, found)).astype(kind)


def flush(x: Array, ftz: bool = True) -> Array:
    """Subnormal values become zeros of their sign."""
    if not ftz:
        return x
    small = np.abs(x) < x.dtype.type(_TINY[x.dtype])
    return np.where(small, np.copysign(x.dtype.type(0), x), x)


def finish(x: Array, ftz: bool, sat: bool) -> Array:
    x = flush(x, ftz)
    return np.fmin(np.fmax(x, x.dtype.type(0)), x.dtype.type(1)) if sat else x


def _fma_f64(a: Array, b: Array, c: Array, mode: str) -> Array:
    """By Boldo and Melquiond: exact product and sums, the tails added rounded to odd. Extreme exponents by exact fractions."""
    a, b, c = (np.asarray(x) for x in np.broadcast_arrays(a, b, c))
    high = a * b
    low = _product_error(a, b, high)
    upper, tail = _two_sum(c, low)
    head, rest = _two_sum(high, upper)
    z = odd_sum(tail, rest)
    result = np.asarray(head + z)
    extreme = np.zeros(a.shape, np.bool_)
    for x in (a, b, c, high):
        extreme |= ((np.abs(x) > _SAFE) | (np.abs(x) < 1 / _SAFE)) & (x != 0)
    extreme |= (high == 0) & (a != 0) & (b != 0)
    finite = np.isfinite(a) & np.isfinite(b) & np.isfinite(c)
    result = np.where(finite, result, high + c)
    result = np.where((high == 0) | (result == 0), high + c, result)
    if mode != "rn":
        extreme = finite & ~((high == 0) & ~extreme)
    chosen = np.argwhere(extreme & finite)
    for where in map(tuple, chosen):
        result[where] = _exact(float(a[where]), float(b[where]), float(c[where]), mode)
    return result


def _exact(a: float, b: float, c: float, mode: str) -> float:
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    if not exact:
        return a * b + c
    try:
        found = float(exact)
    except OverflowError:
        found = np.inf if exact > 0 else -np.inf
    above = found == np.inf or (found != -np.inf and Fraction(found) > exact)
    below = found == -np.inf or (found != np.inf and Fraction(found) < exact)
    if above and (mode == "rm" or (mode == "rz" and exact > 0)):
        return float(np.nextafter(found, -np.inf))
    if below and (mode == "rp" or (mode == "rz" and exact < 0)):
        return float(np.nextafter(found, np.inf))
    return found


def _product_error(a: Array, b: Array, product: Array) -> Array:
    (ah, al), (bh, bl) = _halves(a), _halves(b)
    return al * bl - (((product - ah * bh) - al * bh) - ah * bl)


def _halves(x: Array) -> tuple[Array, Array]:
    scaled = x * _SPLIT
    high = scaled - (scaled - x)
    return high, x - high


def _two_sum(a: Array, b: Array) -> tuple[Array, Array]:
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


def by_f64(function: Any, x: Array, ftz: bool = False) -> Array:
    """A function computed in f64 and rounded once: what `.approx` computes to within some units in the last place."""
    return finish(narrow(np.asarray(function(flush(x, ftz).astype(f64))), x.dtype), ftz, False)


def divide(a: Array, b: Array, mode: str = "rn", ftz: bool = False) -> Array:
    kind = a.dtype
    if mode == "rn":
        return finish(flush(a, ftz) / flush(b, ftz), ftz, False)
    quotient = np.asarray(flush(a, ftz).astype(f64) / flush(b, ftz).astype(f64))
    return finish(narrow(quotient, kind, mode), ftz, False)


def maximum(a: Array, b: Array, nan: bool = False) -> Array:
    """+0 is greater than -0; NaN wins if `nan`, else the other."""
    found = np.maximum(a, b) if nan else np.fmax(a, b)
    return np.where((a == 0) & (b == 0), a + b, found) if not np.all(found) else found


def minimum(a: Array, b: Array, nan: bool = False) -> Array:
    found = np.minimum(a, b) if nan else np.fmin(a, b)
    return np.where((a == 0) & (b == 0), -((-a) + (-b)), found) if not np.all(found) else found


def rsqrt(x: Array) -> Array:
    return 1.0 / np.sqrt(x)
