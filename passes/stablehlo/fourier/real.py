"""Transforms of real signals along the last dimension: of an even number of reals, as those of half as many complex numbers; of an odd
number, two rows at once.
"""

from __future__ import annotations

from math import prod

import numpy as np
from torch_mlir import ir

from ...common.roots_of_unity import roots_of_unity
from ..support import build
from .kernels import SHORT
from .planar import Planar, real_table, scaled
from .transform import Engine, transform


def from_real(engine: Engine, x: ir.Value) -> Planar:
    """The first half of the forward transform along the last dimension, n // 2 + 1 elements."""
    *outer, length = build.shape_of(x)
    last = len(outer)
    if length % 2:
        return _odd_from_real(engine, x)
    half = length // 2
    pairs = build.reshape(x, [*outer, half, 2])
    even, odd = (build.reshape(build.slice_dim(pairs, last + 1, i, i + 1), [*outer, half]) for i in range(2))
    evens, odds = _apart(transform(engine, Planar(even, odd), last, extended=True))
    odds = odds.times(roots_of_unity(length, np.arange(half + 1)), [last])
    return Planar(build.add(evens.re, odds.re), build.add(evens.im, odds.im))


def _odd_from_real(engine: Engine, x: ir.Value) -> Planar:
    """The first half of the rows are real parts, the others imaginary ones; of an odd number of rows the one in the middle is both.

    Short rows are transformed as columns, which leave less to gain than taking them apart costs.
    """
    *outer, length = build.shape_of(x)
    count, half = prod(outer), length // 2 + 1
    if count == 1 or length <= SHORT:
        return transform(engine, Planar(x, build.zero(build.shape_of(x), build.element_of(x))), len(outer)).part(len(outer), 0, half)
    rows, most = build.reshape(x, [count, length]), (count + 1) // 2
    first, second = (build.slice_dim(rows, 0, start, start + most) for start in (0, count - most))
    both = _apart(transform(engine, Planar(first, second), 1, extended=True))
    first_part, second_part = (each.part(1, 0, half) for each in both)
    return first_part.joined(second_part.part(0, 2 * most - count, most), 0).reshaped([*outer, half])


def _apart(z: Planar) -> tuple[Planar, Planar]:
    """The transforms of the real and of the imaginary parts, of that of both, whose first element stands at its end again."""
    r = z.reversed(len(z.shape) - 1)
    re = Planar(scaled(build.add(z.re, r.re), 0.5), scaled(build.subtract(z.im, r.im), 0.5))
    return re, Planar(scaled(build.add(z.im, r.im), 0.5), scaled(build.subtract(r.re, z.re), 0.5))


def to_real(engine: Engine, z: Planar, length: int, factor: float) -> ir.Value:
    """The inverse transform along the last dimension, times `factor`, of a spectrum whose second half would be the conjugate of the first.

    What is no such half is read as one: the imaginary parts of the first element and, of an even length, of the last do not count.
    """
    *outer, count = z.shape
    last = len(outer)
    z = real_ends(z, length)
    if length % 2:
        rest = z.part(last, 1, count).reversed(last)
        re = build.concatenate([z.re, rest.re], last)
        im = build.concatenate([z.im, build.elementwise("negate", rest.im)], last)
        return transform(engine, Planar(im, re), last, factor).im
    half = length // 2
    a, b = z.part(last, 0, half), z.part(last, 1, count).reversed(last)
    evens = Planar(build.add(a.re, b.re), build.subtract(a.im, b.im))
    odds = Planar(build.subtract(a.re, b.re), build.add(a.im, b.im)).times(roots_of_unity(length, -np.arange(half)), [last])
    packed = Planar(build.subtract(evens.re, odds.im), build.add(evens.im, odds.re))
    made = transform(engine, packed.swapped, last, factor).swapped
    parts = [build.reshape(part, [*outer, half, 1]) for part in (made.re, made.im)]
    return build.reshape(build.concatenate(parts, last + 1), [*outer, length])


def real_ends(z: Planar, length: int) -> Planar:
    """Half a spectrum of so many reals without what does not count: the imaginary parts of its first element and, where there is one in the
    middle of the whole, of its last."""
    shape, element, last = z.shape, z.element, len(z.shape) - 1
    counts = np.ones(shape[-1])
    counts[[0, -1] if length % 2 == 0 else 0] = 0
    zero = build.zero(shape, element)
    chosen = build.compare("NE", real_table(counts, element, shape, [last]), zero)
    return Planar(z.re, build.select(chosen, z.im, zero))
