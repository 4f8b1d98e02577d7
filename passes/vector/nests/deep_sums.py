"""Sums over so many elements that no near cache holds what one column of them reads: over images and pixels, as the gradient of a
convolution by its weights.

    dw[kh, kw, ci, co] = sum over n, h, w of x[n, h + kh, w + kw, ci] * dy[n, h, w, co]

The first loop, of images, then goes outside the blocks of results, which wait in the cache: an image of both operands is read by all of
them.
"""

from __future__ import annotations

from math import prod

from ...common.affine import dim_position, used_dims
from ...common.tiled_function import size_bound
from .work import Work

_INSIDE = 128
"""A sum of fewer elements is too short to be worth the loads and stores of its result."""
_DEEP = 1024


def is_deep(work: Work, jam: int | None) -> bool:
    """Whether the first reduced loop of a product, which is of no window, should run outside the blocks of results."""
    first, *others = (d for d, parallel in enumerate(work.parallel) if not parallel)
    extent = work.extents[first]
    moves_window = any(first in used_dims(e) and dim_position(e) is None for m in work.maps for e in m.results)
    if jam is None or not others or moves_window or len(work.outputs) != 1 or not isinstance(extent, int) or extent == 1:
        return False
    inside = prod(size_bound(work.extents[d]) for d in others)
    return inside > _INSIDE and extent * inside > _DEEP
