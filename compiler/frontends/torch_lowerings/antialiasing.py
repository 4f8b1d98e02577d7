"""Resizes without aliases: where an image shrinks, an element is a weighted sum of all elements that it stands for."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering
from .resize import Places, cubic, ratio, real_of, resized

_CUBIC = -0.5
"""The slope of the cubic kernel at its ends, another than that of resizes with aliases."""


@torch_lowering("aten._upsample_bilinear2d_aa.vec")
def linear(op: TorchOp, x: ir.Value, size: Sequence[int] | None, align_corners: bool, scales: Sequence[float] | None) -> ir.Value:
    return _filtered(op, x, align_corners, scales, 1, lambda distance: np.maximum(1 - distance, 0))


@torch_lowering("aten._upsample_bicubic2d_aa.vec")
def bicubic(op: TorchOp, x: ir.Value, size: Sequence[int] | None, align_corners: bool, scales: Sequence[float] | None) -> ir.Value:
    return _filtered(op, x, align_corners, scales, 2, lambda distance: cubic(distance, _CUBIC))


def _filtered(
    op: TorchOp,
    x: ir.Value,
    align_corners: bool,
    scales: Sequence[float] | None,
    reach: int,
    kernel: Callable[[np.ndarray], np.ndarray],
) -> ir.Value:
    """The kernel, 0 at a distance of `reach` and beyond, is as much wider as the image shrinks."""
    if not isinstance(build.element_of(x), ir.FloatType):
        raise op.refused("of integers eager rounds the weights to 16 bits", "resize a float image")
    real = real_of(x)

    def places(extent: int, count: int, scale: float | None) -> Places:
        between = real(extent - 1) / real(count - 1) if count > 1 else real(0)
        step = between if align_corners else ratio(extent, count, scale, real)
        wide = max(step, real(1))
        centre = step * (np.arange(count, dtype=real) + real(0.5))
        first = np.maximum((centre - reach * wide + real(0.5)).astype(np.int64), 0)
        behind = np.minimum((centre + reach * wide + real(0.5)).astype(np.int64), extent)
        at = first + np.arange(math.ceil(2 * reach * wide) + 1)[:, None]
        weights = np.where(at < behind, kernel(np.abs(at - centre + real(0.5)) / wide), 0)
        used = weights.any(1)
        return Places(np.minimum(at[used], extent - 1), (weights / weights.sum(0))[used])

    return resized(op, x, scales, places)
