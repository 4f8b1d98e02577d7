"""Prefetches of the panel of columns behind the one that a product reads: a near cache has it when its turn comes.

The rows of the other operand pass over a panel again and again, and find it in L2. But the first rows of each panel wait for memory,
which is idle while the others are multiplied. So every block of rows asks for its share of what lies behind the panel, a line or less at
each step of depth.
"""

from __future__ import annotations

from math import ceil

from torch_mlir.dialects import memref

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from .body import LanesBody
from .windows import Taps
from .work import Point, Work, stride_along

_KEEP_IN_ALL_CACHES = 3


def prefetch_behind(
    work: Work, jam: int, rows: int, point: Point, summed: dict[int, tuple[Taps, LinearIndex]], target: TargetView, inside: int = 0
) -> None:
    """What a block of `rows` rows of the loop `jam`, of which `point` is one, prefetches at a step of the `summed` loops: what each runs
    over, and where it is. Of a sum that is done part by part, `inside` steps each, the same part of that panel.
    Declined: sums over several loops, panels that leave no room for a second one in L2, what is on the stack."""
    height = work.extents[jam]
    loops = {d: (taps, at) for d, (taps, at) in summed.items() if taps != (0, 1)}
    if len(loops) != 1 or not isinstance(height, int):
        return
    ((depth, (taps, step)),) = loops.items()
    total = work.extents[depth]
    if not isinstance(taps, tuple) or not isinstance(total, int):
        return
    steps = inside or taps[1]
    if not isinstance(steps, int) or (not inside and taps[0] != 0):
        return
    place = step - taps[0]
    for m, source in zip(work.maps, work.inputs):
        if not isinstance(source, Storage) or source.writable or stride_along(m, source, jam) != 0:
            continue
        wide, size = point.lanes.count, element_bytes(source.element)
        if stride_along(m, source, depth) != wide or 2 * steps * wide * size > target.l2_bytes:
            continue
        body = LanesBody(point.lanes, point.indices, point.captured)
        address = source.address(body.at(m))
        if not isinstance(address, LinearIndex) or address.lanes != 1:
            continue
        share = ceil(steps * wide / height)
        each = ceil(rows * wide / height)
        first = address.uniform() + total * wide + point.indices[jam] * share + place * (each - wide)
        for behind in range(0, each, target.cache_line_bytes // size):
            memref.prefetch(source.base, [(first + behind).address_in(source.base)], False, _KEEP_IN_ALL_CACHES, True)
