"""Which contractions are dense blocks of registers: one operand is broadcast to many columns, a column of the other serves many rows.

Their kernels compute much more than they load, so LLVM can leave them as vectorize-tiles writes them (spare-llvm-passes).
"""

from __future__ import annotations

from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .few_rows import is_shallow
from .windows import windows_of
from .work import Work, stride_along

_LEAST_ROWS = 8
"""Fewer rows wait for what they load."""
_MOST_TAPS = 16
"""Blocks of rows of which each has other taps of a longer window load much twice, which LLVM's passes find."""


def is_dense_block(work: Work, vector: int | None, jam: int | None) -> bool:
    """Whether one operand is broadcast along the vector loop, and another is loaded once for many rows of the jam loop.

    Declined: depthwise and grouped convolutions and batches, where all operands move along a loop of the result's; short sums; long
    windows along the rows.
    """
    if vector is None or jam is None or size_bound(work.extents[jam]) < _LEAST_ROWS or is_shallow(work, jam):
        return False
    if any(window.step(jam) and window.taps > _MOST_TAPS for window in windows_of(work)):
        return False
    read = [(m, s) for m, s in zip(work.maps, work.inputs) if isinstance(s, Storage)]
    loops = [d for d, parallel in enumerate(work.parallel) if parallel and work.extents[d] != 1]
    if any(all(stride_along(m, s, dim) != 0 for m, s in read) for dim in loops):
        return False
    return all(any(stride_along(m, s, dim) == 0 for m, s in read) for dim in (vector, jam))
