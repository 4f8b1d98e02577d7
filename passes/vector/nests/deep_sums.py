"""Sums over so many elements that no near cache holds what one column reads: sums over images and pixels, or over all rows of a batch, as
in the gradients of convolutions and matrix products by their weights.

    dw[kh, kw, ci, co] = sum over n, h, w of x[n, h + kh, w + kw, ci] * dy[n, h, w, co]
    dw[i, o] = sum over m of x[m, i] * dy[m, o]
    y[m, o] = sum over k of x[m, k] * w[k, o]           thousands of k, for several panels of columns

The first summed loop then goes outside the blocks of results, whose partial sums wait in the cache. All blocks read one image of both
operands, some rows, or some steps of all rows of a tile, before any block goes on to the next.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import dim_position, used_dims
from ...common.contraction import DEEP, PANEL_STEPS, block_columns, sums_in_parts
from ...common.control_flow import nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .body import Captured
from .lanes import Lanes
from .nests import chunks, point_indices
from .windows import windows_of
from .work import Point, Work, stride_along

_FEW = 4
"""The lines of one part have at least this many times the bytes of the results, which each part loads and stores."""
_INSIDE = 128
"""With fewer elements, a part of a sum is not worth loading and storing its result."""


def steps_inside(work: Work, jam: int | None, target: TargetView) -> int | None:
    """How many steps of the first reduced loop stay inside the blocks of results, if that loop should be split and run outside them; None
    if it should not, or moves a window.
    """
    first = loop_outside(work)
    if jam is None or first is None:
        return None
    others = [d for d, parallel in enumerate(work.parallel) if not parallel and d != first]
    extent = work.extents[first]
    assert isinstance(extent, int)
    inside = prod(size_bound(work.extents[d]) for d in others)
    if extent * inside <= DEEP:
        return None
    if not others:
        if not _is_contiguous(work, jam, first):
            return _INSIDE
        return PANEL_STEPS if _reads_again(work, jam, extent, target) else None
    return 1 if inside > _INSIDE else None


def lines_inside(work: Work, jam: int | None, target: TargetView) -> int | None:
    """How many lines of an image are summed at a time, for sums over images, lines and pixels with few results; None for other works, and
    where L2 holds a whole image of both operands. Each tap of a column reads the same lines again."""
    loops = [d for d, parallel in enumerate(work.parallel) if not parallel]
    inputs = work.inputs_in_memory()
    if len(loops) != 3 or steps_inside(work, jam, target) != 1 or len(inputs) != 2:
        return None
    if any(window.tap == loops[1] and window.step(jam) for window in windows_of(work)):
        return None  # the jammed taps each have lines of their own
    lines = work.extents[loops[1]]
    size = element_bytes(inputs[0][1].element)
    line = size * sum(stride_along(m, s, loops[1]) or 0 for m, s in inputs)
    results = size * prod(size_bound(extent) for extent, alone in zip(work.extents, work.parallel) if alone)
    if not isinstance(lines, int) or line <= 0 or lines * line <= target.l2_bytes // 2:
        return None
    together = max(1, target.l2_bytes // 4 // line)
    return together if together < lines and _FEW * results <= together * line else None


def loop_outside(work: Work) -> int | None:
    """The first reduced loop of a product, which may run in parts outside the blocks of results. None where it moves a window, or tells
    which elements lanes pick: it is unrolled then."""
    first = next((d for d, parallel in enumerate(work.parallel) if not parallel), None)
    if first is None or len(work.outputs) != 1:
        return None
    extent = work.extents[first]
    unrolled = any(picked.loop == first for picked in work.picked.values())
    return None if moves_window(work, first) or unrolled or not isinstance(extent, int) or extent == 1 else first


def moves_window(work: Work, loop: int) -> bool:
    """Whether a loop shares an index of an operand with another."""
    return any(loop in used_dims(e) and dim_position(e) is None for m in work.maps for e in m.results)


def _reads_again(work: Work, jam: int, depth: int, target: TargetView) -> bool:
    """Whether the jammed rows are read for several blocks of columns, and L2 does not hold all of their steps."""
    columns = prod(size_bound(extent) for d, extent in enumerate(work.extents) if work.parallel[d] and d != jam)
    element = next(source.element for source in work.inputs if isinstance(source, Storage))
    return columns > block_columns(target, element) and sums_in_parts(size_bound(work.extents[jam]), depth, element_bytes(element), target)


def _is_contiguous(work: Work, jam: int, summed: int) -> bool:
    """Whether what the jammed loop moves through lies along the summed loop: its lines are read from end to end as it is."""
    inputs = work.inputs_in_memory()
    return any(stride_along(m, s, jam) != 0 and stride_along(m, s, summed) == 1 for m, s in inputs)


def store_inits(work: Work, vector: int, one: int, captured: Captured, fixed: Mapping[int, LinearIndex] = MappingProxyType({})) -> None:
    """Stores the initial values where the parts of a sum will be added up, `one` lanes of the loop `vector` at a time at least; those of
    the indices `fixed`."""
    rank = len(work.extents)
    others = [d for d in range(rank) if work.parallel[d] and d != vector and d not in fixed]

    def at(indices: list[LinearIndex]) -> None:
        def chunk(start: LinearIndex, lanes: Lanes) -> None:
            point = Point(lanes, point_indices(rank, {**fixed, **dict(zip(others, indices))}, vector, start, lanes), captured)
            point.store(work, 0, point.init(work, 0))

        chunks(work.extents[vector], one, one, chunk)

    nest_each([work.extents[d] for d in others], at)
