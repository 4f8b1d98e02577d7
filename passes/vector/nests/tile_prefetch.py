"""Pixels that a tile reads by short lines, prefetched together before the first of them is read.

A kernel of windows reads pieces of many lines in turn, which lie further apart than a processor's own prefetching follows. So it would wait
for one cache line after the other, where the picture is in no near cache:

    for rows of the tile's pixels: for x in cache lines of the row: prefetch row[x]

Where windows overlap by most of their lines, with the channels last, most of a tile's pixels are in the cache from the tile before. Where
lines with all their channels, or planes of a channel, are a page or more, the processor follows them, and what the last-level cache holds
is there in time: no other prefetch pays then, as nothing is multiplied while a tile is asked for.
"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.control_flow import for_each, nest_each
from ...common.linear_index import LinearIndex, linear_results
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .lanes import Lanes
from .work import Work

PAGE_BYTES = 4096
"""Where the processor's own prefetching stops, and has run far ahead before."""


def steps_over_pixels(work: Work) -> bool:
    """Whether the first input is read through windows that are two pixels or more apart; or by pieces of the lines of a patch, where these
    are as far apart as they are wide: the loop of patches is between those that are summed."""
    results = linear_results(work.maps[0], [LinearIndex({dim: 1}) for dim in range(work.maps[0].n_dims)]) if work.inputs else None
    for index in results or ():
        steps = [step for loop, step in index.terms.items() if work.parallel[loop]]
        if len(steps) < len(index.terms) and any(step > 1 for step in steps):
            return True
    order = [work.parallel[loop] for index in results or () for loop in index.terms]
    return bool(order) and not order[-1] and True in order[order.index(False) :]


def prefetch_tile(pixels: Storage | ir.Value | None, target: TargetView) -> bool:
    """Prefetches a tile's slice of an input that is far. Of others it emits nothing, nor of slices that would fill half of the second-level
    cache. Whether it emitted something."""
    if not isinstance(pixels, Storage) or not is_far(pixels, target):
        return False
    nbytes = element_bytes(pixels.element)
    if prod(map(size_bound, pixels.sizes)) * nbytes > target.l2_bytes // 2:
        return False
    line = Lanes(target.cache_line_bytes // nbytes)
    here, inside, length = replace(pixels, ahead=0), *_row(pixels)
    zeros = [LinearIndex()] * inside

    def row(at: list[LinearIndex]) -> None:
        for_each(0, length, line.count, lambda x: line.prefetch(here, pixels.address([*at, *zeros, x])))

    nest_each(pixels.sizes[: -1 - inside], row)
    return True


def is_far(pixels: Storage, target: TargetView) -> bool:
    """Whether the second-level cache does not hold an input; one of long pieces, whether the last-level cache does not beside much else."""
    nbytes = element_bytes(pixels.element)
    (whole,) = ir.MemRefType(pixels.base.type).shape
    piece_bytes = prod(map(size_bound, pixels.sizes[-2:])) * nbytes
    near = target.llc_bytes // 4 if piece_bytes >= PAGE_BYTES else target.l2_bytes
    return not pixels.writable and whole * nbytes > near


def _row(pixels: Storage) -> tuple[int, int | ir.Value]:
    """How many dims beside the last lie in one piece with it, and the elements of such a piece: a pixel may be a part of a cache line."""
    inside, length = 0, pixels.sizes[-1]
    for size, stride in zip(pixels.sizes[-2::-1], pixels.strides[-2::-1]):
        if not isinstance(length, int) or not isinstance(size, int) or stride != length:
            break
        inside, length = inside + 1, length * size
    return inside, length
