"""Prefetches of the rows that the next block of a product reads: a panel of columns passes over rows that no near cache holds.

A block of rows reads as many lines of addresses at once, each an element a step. The processor follows fewer lines than that, and starts
anew with each block. So a block asks for the rows of the next one, which lie in one piece: as many elements as it has rows at each step.
Of windows along a line, which share pixels, it asks for those that the next block reads first.
"""

from __future__ import annotations

from collections.abc import Mapping
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


def prefetch_rows(
    work: Work, vector: int | None, jam: int, rows: int, point: Point, summed: Mapping[int, Taps], target: TargetView
) -> None:
    """What a block of `rows` rows of the loop `jam`, of which `point` is the first, prefetches at a step of the `summed` loops.
    Declined: inputs of which half of L2 holds all, rows that do not follow each other, sums over several loops that are not walked as one,
    or over a part of one."""
    loops = [d for d, taps in summed.items() if taps != (0, 1)]
    steps = prod(size_bound(work.extents[d]) for d in summed)
    if len(loops) != 1 or vector is None or summed[loops[0]] != (0, steps):
        return
    (depth,) = loops
    for m, source in zip(work.maps, work.inputs):
        if not isinstance(source, Storage) or source.writable or stride_along(m, source, vector) != 0:
            continue
        apart = stride_along(m, source, jam)
        if stride_along(m, source, depth) != 1 or apart is None or not 0 < apart <= steps:
            continue
        if ir.MemRefType(source.base.type).shape[0] * element_bytes(source.element) < target.l2_bytes // 2:
            continue
        address = source.address(LanesBody(point.lanes, point.indices, point.captured).at(m))
        if not isinstance(address, LinearIndex) or address.lanes:
            continue
        each = ceil(rows * apart / steps)
        ahead = address + (rows * apart + steps - apart) + point.indices[depth] * (each - 1)
        memref.prefetch(source.base, [ahead.address_in(source.base)], False, KEEP_IN_ALL_CACHES, True)
