"""Which contractions LLVM can leave nearly as vectorize-tiles writes them (spare-llvm-passes).

Dense blocks of registers compute much more than they load: one operand is broadcast to many columns, a column of the other serves many
rows. Others load rows of registers; of windows, some twice, which LLVM finds.
"""

from __future__ import annotations

from ...common.tiled_function import size_bound
from .few_rows import is_shallow
from .windows import windows_of
from .work import Work, stride_along

_LEAST_ROWS = 8
"""With fewer rows, a block waits for its loads."""
_MOST_TAPS = 16
"""In a longer window each row of a block has other taps: much is loaded twice, and LLVM's passes remove that."""


def is_dense_block(work: Work, vector: int | None, jam: int | None) -> bool:
    """Whether one operand is broadcast along the vector loop, and another is loaded once for many rows of the jam loop.

    Declined: depthwise and grouped convolutions and batches, where all operands move along a loop of the result's; short sums; long
    windows along the rows.
    """
    if vector is None or jam is None or size_bound(work.extents[jam]) < _LEAST_ROWS or is_shallow(work, jam):
        return False
    if any(window.step(jam) and window.taps > _MOST_TAPS for window in windows_of(work)):
        return False
    read = work.inputs_in_memory()
    loops = [d for d, parallel in enumerate(work.parallel) if parallel and work.extents[d] != 1]
    if any(all(stride_along(m, s, dim) != 0 for m, s in read) for dim in loops):
        return False
    return all(any(stride_along(m, s, dim) == 0 for m, s in read) for dim in (vector, jam))


def loads_rows(work: Work, vector: int | None) -> bool:
    """Whether each operand is one number for all lanes, or lies in a row along them: depthwise and grouped convolutions, and short sums."""
    read = work.inputs_in_memory()
    return vector is not None and all(stride_along(m, s, vector) in (0, 1) for m, s in read)
