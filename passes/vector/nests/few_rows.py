"""Products of few rows, or of few steps, wait for memory: which of them are not computed by blocks in registers."""

from __future__ import annotations

from math import prod

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.contraction import SHALLOW
from ...common.tiled_function import size_bound
from .windows import windows_of
from .work import Work, stride_along

STREAMED_ROWS = 8
"""Where few rows are multiplied by a large matrix, this many rows of the matrix are read at a time."""


def is_shallow(work: Work, jam: int | None) -> bool:
    """Whether so few steps are summed that results are stored about as often as operands are loaded."""
    depth = _depth(work)
    return jam is not None and depth is not None and depth <= SHALLOW and not any(window.step(jam) for window in windows_of(work))


def streams(work: Work, vector: int, jam: int | None, target: TargetView) -> bool:
    """Whether few rows are multiplied by a matrix that no near cache holds, stored by rows along the vector loop: then some rows of it at
    a time are read to their ends, as memory wants it, and the sums of all columns wait in the cache."""
    depth, reduced = _depth(work), [d for d, parallel in enumerate(work.parallel) if not parallel]
    read = work.inputs_in_memory()
    if depth is None or depth < 2 * STREAMED_ROWS or len(reduced) != 1 or len(read) != 2 or len(work.outputs) != 1 or windows_of(work):
        return False
    if jam is not None and size_bound(work.extents[jam]) > STREAMED_ROWS:
        return False
    sizes = [(stride_along(m, s, reduced[0]) or 0) * depth * element_bytes(s.element) for m, s in read if stride_along(m, s, vector) == 1]
    return max(sizes, default=0) > target.l2_bytes


def _depth(work: Work) -> int | None:
    """The steps of each sum, where they are known."""
    extents = [extent for extent, parallel in zip(work.extents, work.parallel) if not parallel]
    known = [extent for extent in extents if isinstance(extent, int)]
    return prod(known) if len(known) == len(extents) else None
