"""Sums over so many elements that no near cache holds what one column of them reads: over images and pixels, or over all rows of a batch,
as the gradients of convolutions and products by their weights.

    dw[kh, kw, ci, co] = sum over n, h, w of x[n, h + kh, w + kw, ci] * dy[n, h, w, co]
    dw[i, o] = sum over m of x[m, i] * dy[m, o]

The first loop then goes outside the blocks of results, which wait in the cache: an image of both operands, or some rows, are read by all of
them.
"""

from __future__ import annotations

from math import prod

from ...common.affine import dim_position, used_dims
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .work import Work, stride_along

_INSIDE = 128
"""A sum of fewer elements is too short to be worth the loads and stores of its result."""
_DEEP = 1024


def steps_inside(work: Work, jam: int | None) -> int | None:
    """Of a product, of which the first reduced loop should run outside the blocks of results: how many of its steps inside them. None of
    others, and where that loop moves a window.
    """
    first = loop_outside(work)
    if jam is None or first is None:
        return None
    others = [d for d, parallel in enumerate(work.parallel) if not parallel and d != first]
    extent = work.extents[first]
    assert isinstance(extent, int)
    inside = prod(size_bound(work.extents[d]) for d in others)
    if extent * inside <= _DEEP:
        return None
    if not others:
        return None if _is_contiguous(work, jam, first) else _INSIDE
    return 1 if inside > _INSIDE else None


def loop_outside(work: Work) -> int | None:
    """The first reduced loop of a product, which may run in parts outside the blocks of results. None where it moves a window."""
    first = next((d for d, parallel in enumerate(work.parallel) if not parallel), None)
    if first is None or len(work.outputs) != 1:
        return None
    extent = work.extents[first]
    moves_window = any(first in used_dims(e) and dim_position(e) is None for m in work.maps for e in m.results)
    return None if moves_window or not isinstance(extent, int) or extent == 1 else first


def _is_contiguous(work: Work, jam: int, summed: int) -> bool:
    """Whether what the jammed loop moves through lies along the summed loop: its lines are read from end to end as it is."""
    inputs = [(m, s) for m, s in zip(work.maps, work.inputs) if isinstance(s, Storage)]
    return any(stride_along(m, s, jam) != 0 and stride_along(m, s, summed) == 1 for m, s in inputs)
