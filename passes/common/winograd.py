"""Winograd's algorithm for 3 × 3 windows of stride 1: F(m × m, 3 × 3) makes m × m outputs of (m + 2)² products, each with all channels.

    y = Aᵀ [(G w Gᵀ) ⊙ (Bᵀ d B)] A        d: (m + 2)² inputs, w: 3 × 3 weights

By Toom and Cook from the products of polynomials at points: 0, ±1 and ∞ for m = 2; 0, ±√½, ±√2 and ∞ for m = 4, whose error is a direct
sum's (the textbook's 0, ±1, ±2, ∞ have four times that). A. Lavin, S. Gray: Fast Algorithms for Convolutional Neural Networks, 2015.

The pass that transforms weights and the one that makes the kernel meet here: `stablehlo.custom_call @hloom.winograd_filter(%t)` is the
filter [depth…, 3, 3, channels, features] whose transform, in blocks of features, is %t: [blocks, m + 2, m + 2, depth × channels, block].
Of several groups these are a dim of the filter, [depth…, 3, 3, channels, groups, features], and the transform's first. Nothing computes the
filter. The taps of a third dimension, the depth, are summed as the channels are.

Where taps are d apart, lines and pixels in steps of d are convolved alone: d × d *phases*, each with windows of neighbours.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, prod
from typing import TypeVar

import numpy as np
from torch_mlir import ir

from hloom.dialects.target import TargetView

from .affine import used_dims
from .linear_index import LinearIndex, linear_results
from .rewriting import defining_op, is_custom_call, producer, shape_of

TARGET = "hloom.winograd_filter"
TAPS = 3
_FLOAT = 4
_BLOCK = 64
"""Output channels whose products have room beside a tile's transformed inputs."""
_LEAST_TILES = 16
"""Tiles for which weights that lie in no near cache are read."""
_FAR = 1.5
"""Times as much as a tile may keep else: reading weights from memory once more takes longer than what L2 does not hold of the tile."""
NEAR, FAR = (float(np.float32(np.sqrt(value))) for value in (0.5, 2.0))
"""The points for m = 4, as the kernel has them."""

Value = TypeVar("Value")
Scaled = Callable[[Value, float, Value], Value]
"""(x, c, y) → x + c * y."""


def is_transformed(value: ir.Value) -> bool:
    """Whether a tensor is a filter of which only the transform is in memory."""
    op = defining_op(value)
    return op is not None and is_custom_call(op, TARGET)


def outputs_of(value: ir.Value) -> int:
    """m of such a filter."""
    return _transform(value)[-3] - TAPS + 1


def _transform(value: ir.Value) -> list[int]:
    """The shape of such a filter's transform."""
    op = defining_op(value)
    assert op is not None
    return shape_of(op.operands[0])


def winograd_products(value: ir.Value, images: Sequence[int], apart: Sequence[int]) -> int | None:
    """Multiplications with such a filter, or one that is reshaped, for results of a number of images and their extents, taps so far `apart`
    in the last two; None of other filters."""
    reshape = producer(value, "stablehlo.reshape")
    value = value if reshape is None else reshape.operands[0]
    if not is_transformed(value):
        return None
    outputs, weights = outputs_of(value), prod(_transform(value))
    return weights * prod(images[:-2]) * prod(tiles_along(extent, step, outputs) for extent, step in zip(images[-2:], apart))


@dataclass(frozen=True)
class FilterLoops:
    """The loops of a convolution that its filter [depth…, 3, 3, channels, groups?, features] moves along."""

    deep: list[int]
    high: int
    wide: int
    channel: int
    group: int | None
    feature: int

    @staticmethod
    def of(filters: ir.AffineMap, parallel: Sequence[bool]) -> FilterLoops:
        loops = [d for e in filters.results for d in used_dims(e)]
        *group, feature = (d for d in loops if parallel[d])
        *deep, high, wide, channel = (d for d in loops if not parallel[d])
        return FilterLoops(deep, high, wide, channel, group[0] if group else None, feature)

    def apart(self, pixels: ir.AffineMap) -> tuple[int, int]:
        """How far apart the taps of a column and of a line are, by the convolution's map of its input."""
        indices = linear_results(pixels, [LinearIndex({dim: 1}) for dim in range(pixels.n_dims)])
        assert indices is not None
        high, wide = (sum(index.coefficient(tap) for index in indices) for tap in (self.high, self.wide))
        return high, wide


def tiles_along(extent: int, apart: int, outputs: int) -> int:
    """How many tiles of `outputs` results a column or a line of results has, whose taps are so far apart."""
    return apart * ceil(ceil(extent / apart) / outputs)


def room_beside(outputs: int, channels: int, features: int, target: TargetView) -> int:
    """What is left of L2 beside the transformed weights, in bytes; none or less where it does not hold them."""
    return target.l2_bytes * 4 // 5 - _FLOAT * (outputs + TAPS - 1) ** 2 * channels * features


def tiles_kept(outputs: int, channels: int, target: TargetView) -> int:
    """Tiles whose transformed inputs and products a kernel may keep."""
    return target.tile_bytes // (_FLOAT * (outputs + TAPS - 1) ** 2 * (channels + _BLOCK))


def tiles_together(outputs: int, channels: int, features: int, target: TargetView) -> int:
    """For how many tiles at most the weights are read at once: so many that L2 has room for them beside the weights; where it does not hold
    these, that their inputs fill half of it; where the weights come from memory each time, more than are kept else."""
    inputs = _FLOAT * (outputs + TAPS - 1) ** 2 * channels
    room, kept = room_beside(outputs, channels, features, target), tiles_kept(outputs, channels, target)
    if room <= 0 and inputs * features > target.llc_bytes // 2:
        return int(kept * _FAR)
    return min(kept, max(_LEAST_TILES, (room if room > 0 else target.l2_bytes // 2) // inputs))


def filter_matrix(outputs: int) -> np.ndarray:
    """G, [m + 2, 3] in f64."""
    if outputs == 2:
        return np.array([[1, 0, 0], [0.5, 0.5, 0.5], [0.5, -0.5, 0.5], [0, 0, 1]])
    near, far = NEAR**2, FAR**2
    norms = {0.0: near * far}
    norms |= {point: 2 * near * (near - far) for point in (NEAR, -NEAR)} | {point: 2 * far * (far - near) for point in (FAR, -FAR)}
    return np.array([*([1 / n, p / n, p * p / n] for p, n in norms.items()), [0, 0, 1]])


def transform_inputs(d: Sequence[Value], outputs: int, scaled: Scaled[Value]) -> list[Value]:
    """Bᵀ d of m + 2 values."""
    if outputs == 2:
        return [scaled(d[0], -1, d[2]), scaled(d[1], 1, d[2]), scaled(d[2], -1, d[1]), scaled(d[1], -1, d[3])]
    near, far = NEAR**2, FAR**2
    even_near, odd_near = scaled(d[4], -far, d[2]), scaled(d[3], -far, d[1])
    even_far, odd_far = scaled(d[4], -near, d[2]), scaled(d[3], -near, d[1])
    parts = ((even_near, NEAR, odd_near), (even_far, FAR, odd_far))
    pairs = [scaled(even, sign * point, odd) for even, point, odd in parts for sign in (1, -1)]
    first, last = (scaled(scaled(d[n + 4], -(near + far), d[n + 2]), near * far, d[n]) for n in (0, 1))
    return [first, *pairs, last]


def transform_outputs(m: Sequence[Value], outputs: int, scaled: Scaled[Value], times: Callable[[Value, float], Value]) -> list[Value]:
    """Aᵀ m of m + 2 values: m of them."""
    if outputs == 2:
        return [scaled(scaled(m[0], 1, m[1]), 1, m[2]), scaled(scaled(m[1], -1, m[2]), -1, m[3])]
    sums = [scaled(m[1], 1, m[2]), scaled(m[3], 1, m[4])]
    differences = [scaled(m[1], -1, m[2]), scaled(m[3], -1, m[4])]
    y = [scaled(scaled(m[0], 1, sums[0]), 1, sums[1])]
    y += [scaled(times(pair[1], FAR**power), NEAR**power, pair[0]) for power, pair in ((1, differences), (2, sums), (3, differences))]
    return [*y[:3], scaled(y[3], 1, m[5])]
