"""Prefetches of the panel of columns behind the one that a product reads: a near cache has it when its turn comes.

The rows of the other operand pass over a panel again and again, and find it in L2. But the first rows of each panel wait for memory,
which is idle while the others are multiplied. So every block of rows asks for its share of what lies behind the panel, a line or less at
each step of depth. The rows of a convolution are the pixels of all lines of a tile, its depth is the taps and the channels.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from math import ceil, prod

from torch_mlir import ir
from torch_mlir.dialects import memref

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .body import LanesBody
from .lanes import KEEP_IN_ALL_CACHES
from .windows import Taps
from .work import Point, Work, stride_along

_IN_L2 = 2
"""Asking for lines takes buffers of the first cache from the loads of a panel that lies in the second."""
_WITH_PIXELS = 4
"""Panels of a convolution's taps that L2 has room for, beside the lines of pixels that are read for each."""


def prefetch_behind(work: Work, jam: int, rows: int, point: Point, summed: Mapping[int, Taps], target: TargetView, inside: int = 0) -> None:
    """What a block of `rows` rows of the loop `jam`, of which `point` is one, prefetches at a step of the `summed` loops, and what these
    run over. Of a sum that is done part by part, `inside` steps of its one loop each, the same part of that panel. What lies behind taps
    that a block leaves out nobody asks for.
    Declined: panels that are not in one piece, or leave no room for a second one in L2, of several taps for three; parts of sums over
    several loops, what is on the stack."""
    loops = [d for d, taps in summed.items() if taps != (0, 1)]
    if inside and len(loops) > 1:
        return
    for m, source, total in panels_of(work, jam, point, summed):
        wide, size, steps = point.lanes.count, element_bytes(source.element), inside or total
        panels = 2 if len(loops) == 1 else _WITH_PIXELS
        if panels * steps * wide * size > target.l2_bytes or (here := place_in_panel(m, source, point)) is None:
            continue
        height, row = _rows(work, m, source, jam, point)
        share = ceil(steps * wide / height)
        each = ceil(rows * wide / height)
        near = KEEP_IN_ALL_CACHES if 2 * steps * wide * size <= target.l1_bytes else _IN_L2
        place = sum((_passed(point, d, summed[d], inside) * (stride_along(m, source, d) or 0) for d in loops), LinearIndex())
        first = here + total * wide + row * share + place // wide * (each - wide)
        for behind in range(0, each, target.cache_line_bytes // size):
            memref.prefetch(source.base, [(first + behind).address_in(source.base)], False, near, True)


def panels_of(work: Work, jam: int, point: Point, summed: Iterable[int]) -> Iterator[tuple[ir.AffineMap, Storage, int]]:
    """The inputs of which all rows of the loop `jam` read one panel, in one piece, and its steps."""
    for m, source in zip(work.maps, work.inputs):
        if not isinstance(source, Storage) or source.writable or stride_along(m, source, jam) != 0:
            continue
        steps = _steps_of_panel(work, m, source, summed, point.lanes.count)
        if steps is not None:
            yield m, source, steps


def place_in_panel(m: ir.AffineMap, source: Storage, point: Point) -> LinearIndex | None:
    """Where the point's lanes begin, if they are neighbours."""
    address = source.address(LanesBody(point.lanes, point.indices, point.captured).at(m))
    return address.uniform() if isinstance(address, LinearIndex) and address.lanes == 1 else None


def _steps_of_panel(work: Work, m: ir.AffineMap, source: Storage, summed: Iterable[int], wide: int) -> int | None:
    """How many lines of `wide` elements the loops pass over, which lie one behind the other; None where they do not."""
    along = {d: stride_along(m, source, d) or 0 for d in summed if work.extents[d] != 1}
    steps = 1
    for d in sorted(along, key=along.__getitem__):
        extent = work.extents[d]
        if along[d] != steps * wide or not isinstance(extent, int):
            return None
        steps *= extent
    return steps


def _passed(point: Point, loop: int, taps: Taps, inside: int) -> LinearIndex:
    """The steps of a loop since its first, or since that of its part."""
    return point.indices[loop] - taps[0] if inside and isinstance(taps, tuple) else point.indices[loop]


def _rows(work: Work, m: ir.AffineMap, source: Storage, jam: int, point: Point) -> tuple[int, LinearIndex]:
    """How many rows pass over a panel before the next, at most, and which of them the point is: those of the loop `jam` are neighbours, and
    lines of them go on where the tile has no other panel."""
    height, row = 1, LinearIndex()
    others = [d for d, parallel in enumerate(work.parallel) if parallel and d != jam]
    columns = prod(size_bound(work.extents[d]) for d in others if stride_along(m, source, d) != 0)
    lines = [d for d in others if stride_along(m, source, d) == 0] if columns <= point.lanes.count else []
    for d in (*lines, jam):
        extent = size_bound(work.extents[d])
        height, row = height * extent, row * extent + point.indices[d]
    return height, row
