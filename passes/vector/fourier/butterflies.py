"""Transforms of a few complex numbers in registers: each number is a vector of real and one of imaginary parts, a transform a lane."""

from __future__ import annotations

import math
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from ...common.vectors import splat

Complex = tuple[ir.Value, ir.Value]


def butterfly(values: Sequence[Complex]) -> list[Complex]:
    """The forward transform."""
    count = len(values)
    if count == 1:
        return list(values)
    if count == 2:
        return [plus(*values), minus(*values)]
    first = next(d for d in (4, 2, 3, 5, 7, 11, 13, count) if count % d == 0 and (d < count or d != 4))
    if count == 4:
        first = 2
    return _prime(values) if first == count else _product(values, first, count // first)


def plus(x: Complex, y: Complex) -> Complex:
    return arith.addf(x[0], y[0]), arith.addf(x[1], y[1])


def minus(x: Complex, y: Complex) -> Complex:
    return arith.subf(x[0], y[0]), arith.subf(x[1], y[1])


def times(x: Complex, y: Complex) -> Complex:
    """Each part is rounded once less by a fused multiplication."""
    re = vector.fma(x[0], y[0], arith.negf(arith.mulf(x[1], y[1])))
    return re, vector.fma(x[0], y[1], arith.mulf(x[1], y[0]))


def _product(values: Sequence[Complex], n1: int, n2: int) -> list[Complex]:
    """Transforms of n1 numbers each, a multiplication by roots of unity, transforms of n2."""
    count = n1 * n2
    columns = [butterfly(values[i::n2]) for i in range(n2)]
    found: list[Complex | None] = [None] * count
    for k in range(n1):
        made = butterfly([_turned(columns[i][k], k * i, count) for i in range(n2)])
        found[k::n1] = made
    return [each for each in found if each is not None]


def _prime(values: Sequence[Complex]) -> list[Complex]:
    """Sums and differences of what stands opposite: the first meet cosines, the others sines."""
    count, first = len(values), values[0]
    half = count // 2
    sums = [plus(values[k], values[count - k]) for k in range(1, half + 1)]
    differences = [minus(values[k], values[count - k]) for k in range(1, half + 1)]
    found = [first] * count
    for each in sums:
        found[0] = plus(found[0], each)
    for j in range(1, half + 1):
        angles = [2 * math.pi * (j * k % count) / count for k in range(1, half + 1)]
        a = tuple(_weighted([math.cos(t) for t in angles], [s[part] for s in sums], first[part]) for part in range(2))
        b = tuple(_weighted([math.sin(t) for t in angles], [d[part] for d in differences]) for part in range(2))
        found[j] = arith.addf(a[0], b[1]), arith.subf(a[1], b[0])
        found[count - j] = arith.subf(a[0], b[1]), arith.addf(a[1], b[0])
    return found


def _weighted(weights: Sequence[float], values: Sequence[ir.Value], total: ir.Value | None = None) -> ir.Value:
    for weight, value in zip(weights, values):
        factor = splat(value.type, weight)
        total = arith.mulf(factor, value) if total is None else vector.fma(factor, value, total)
    assert total is not None
    return total


def _turned(z: Complex, power: int, order: int) -> Complex:
    """z times the root of unity exp(-2πi power / order)."""
    re, im = z
    quarters, rest = divmod(power % order * 8, order)
    if rest:
        angle = 2 * math.pi * power / order
        c, s = splat(re.type, math.cos(angle)), splat(re.type, -math.sin(angle))
        return times(z, (c, s))
    if quarters % 2:
        half = splat(re.type, math.sqrt(0.5))
        re, im = arith.mulf(arith.addf(re, im), half), arith.mulf(arith.subf(im, re), half)
    for _ in range(quarters // 2):
        re, im = im, arith.negf(re)
    return re, im
