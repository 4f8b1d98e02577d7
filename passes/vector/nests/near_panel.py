"""Prefetches of the lines of a panel that a product reads a few steps later, from L2 into the first cache.

    k: load panel[k, …], prefetch panel[k + ahead, …], then the products of the block's rows

A panel that is larger than the first cache comes from L2 again with every block of rows, a cache line a load. Processors that start late
with such streams, or follow few, let each block wait: its loads come once in six or seven cycles, and L2 answers after fourteen or more.
"""

from __future__ import annotations

from collections.abc import Mapping

from torch_mlir.dialects import memref

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from .lanes import KEEP_IN_ALL_CACHES
from .next_panel import panels_of, place_in_panel
from .windows import Taps
from .work import Point, Work

_AHEAD = 1024
"""Bytes: four steps or more, the time that L2 takes."""


def prefetch_near(work: Work, jam: int, point: Point, summed: Mapping[int, Taps], target: TargetView, inside: int = 0) -> None:
    """What a block of rows of the loop `jam`, one of which is `point`, prefetches at a step of the `summed` loops, of which there are
    `inside` in a part of the sum.
    Declined: panels that the first cache holds or that are not in one piece, registers smaller than a cache line, whose loads find every
    other line there."""
    for m, source, steps in panels_of(work, jam, point, summed):
        wide, size = point.lanes.count, element_bytes(source.element)
        line = target.cache_line_bytes // size
        if target.lanes(8 * size) < line or (inside or steps) * wide * size <= target.l1_bytes:
            continue
        if (here := place_in_panel(m, source, point)) is None:
            continue
        for first in range(_AHEAD // size, _AHEAD // size + wide, line):
            memref.prefetch(source.base, [(here + first).address_in(source.base)], False, KEEP_IN_ALL_CACHES, True)
