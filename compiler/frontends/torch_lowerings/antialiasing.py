"""Resizes without aliases: where an image shrinks, an element is a weighted sum of all elements that it stands for."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hloom.passes.stablehlo.support.weighted_places import Places

from .resize import Along, cubic, resize

_CUBIC = -0.5
"""The slope of the cubic kernel at its ends, another than that of resizes with aliases."""


@resize("aten._upsample_bilinear2d_aa", of_integers=False)
def linear(along: Along) -> Places:
    return _filtered(along, 1, lambda distance: np.maximum(1 - distance, 0))


@resize("aten._upsample_bicubic2d_aa", of_integers=False)
def bicubic(along: Along) -> Places:
    return _filtered(along, 2, lambda distance: cubic(distance, _CUBIC))


def _filtered(along: Along, reach: int, kernel: Callable[[np.ndarray], np.ndarray]) -> Places:
    """The kernel, 0 at a distance of `reach` and beyond, is as much wider as the image shrinks."""
    if along.extent == along.count:
        return Places(np.arange(along.count)[None])  # as in eager, whatever the factor
    real, step = along.real, along.step
    wide = max(step, real(1))
    centre = step * (np.arange(along.count, dtype=real) + real(0.5))
    first = np.maximum((centre - reach * wide + real(0.5)).astype(np.int64), 0)
    behind = np.minimum((centre + reach * wide + real(0.5)).astype(np.int64), along.extent)
    at = first + np.arange(math.ceil(2 * reach * wide) + 1)[:, None]
    weights = np.where(at < behind, kernel(np.abs(at - centre + real(0.5)) / wide), 0)
    used = weights.any(1)
    return Places(np.minimum(at[used], along.extent - 1), (weights / weights.sum(0))[used])
