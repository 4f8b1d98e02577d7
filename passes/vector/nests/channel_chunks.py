"""Depthwise convolutions: the loop over chunks of channels goes outside the lines of a tile where a chunk's windows stay in the first
cache.

    for c in chunks of channels: for lines of the tile: for u in blocks of pixels: the sums of the block

Pixels and weights both lie along the lanes, so more registers of channels load as much for each product, and leave fewer pixels to a
block, which its weights serve. A chunk is a cache line of channels, and the windows of a line of results are read from the first cache,
most of them again for the next line; where pixels are so far apart that the processor does not follow single lines, or these would share
the sets of the cache, a chunk is two cache lines, whose windows are half of what the first cache holds: more of them come from L2 too
often. Windows that the first cache does not hold come from L2: many pixels of a block share what they load.
"""

from __future__ import annotations

from math import gcd, prod

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.contraction import block_registers, block_rows
from ...common.linear_index import LinearIndex, linear_results
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .deep_sums import lines_inside, steps_inside
from .work import Work, stride_along

_FOLLOWED_BYTES = 1024
"""Pixels at most this far apart are read a cache line at a time: the first cache's own prefetcher follows strides of less than 2 KB."""
_APART_BYTES = 2048
"""Where pixels are this far apart, the prefetcher follows neither one line of each nor two."""
_SHARE = 0.75
"""The share of the first cache that the lines of windows may take; weights and results need the rest."""
LEAST_SUMS = 8
"""Independent sums of a block: with fewer, each multiply-add waits for the one before."""
_SETS = 64
"""Sets of the first cache: as many as a page has cache lines."""


def registers_of_channels(work: Work, vector: int | None, jam: int | None, target: TargetView) -> int | None:
    """The registers of a chunk of channels that goes over all lines of a tile, fewer than of other blocks; None where it is no such
    convolution, or where L2 does not hold the pixels of a tile beside the next one's. Where lanes pick
    channels (lane_groups.py) no two registers share what they load: one, or as many as make enough sums of the channels of a group."""
    picked = next(iter(work.picked.values()), None)
    if picked is not None:
        return max(1, LEAST_SUMS // picked.width) if work.parallel[picked.loop] else 1
    if vector is None or jam is None or len(work.inputs) != 2 or len(work.outputs) != 1:
        return None
    pixels, weights = work.inputs
    if not all(isinstance(s, Storage) and stride_along(m, s, vector) == 1 for m, s in zip(work.maps, work.inputs)):
        return None
    assert isinstance(pixels, Storage) and isinstance(weights, Storage)
    if steps_inside(work, jam, target) is not None and reads_again(work, vector, jam):
        return _registers_of_images(work, jam, target)
    found = _window(work, pixels, jam) if stride_along(work.maps[1], weights, jam) == 0 else None
    if found is None:
        return None
    window, apart = found
    line, near = target.cache_line_bytes, _SHARE * target.l1_bytes
    shared = gcd(apart // line, _SETS) if apart % line == 0 else 1
    in_l2 = prod(map(size_bound, pixels.sizes)) * element_bytes(pixels.element) <= target.l2_bytes // 2
    if apart <= _FOLLOWED_BYTES and window * line <= near / shared:
        lines = 1
    elif 2 * window * line <= (near / 2 if apart < _APART_BYTES and in_l2 else near):
        lines = 2
    elif in_l2:
        lines = 1
    else:
        return None
    registers = max(1, lines * line // (work.lanes(target) * element_bytes(pixels.element)))
    return registers if registers < block_registers(target, 1) else None


def reads_again(work: Work, vector: int, jam: int | None) -> bool:
    """Whether a loop of results is outside the columns: what is summed is read for each of its steps."""
    return any(
        alone and size_bound(extent) > 1 for d, (alone, extent) in enumerate(zip(work.parallel, work.extents)) if d not in (vector, jam)
    )


def _registers_of_images(work: Work, jam: int, target: TargetView) -> int:
    """Of a gradient by weights, which sums one image after the other, or some lines of it: as many as leave all taps of a line their sums,
    while L2 holds the channels of both operands of that."""
    pixels = next(s for s in work.inputs if isinstance(s, Storage))
    _, *inside = (size_bound(extent) for extent, alone in zip(work.extents, work.parallel) if not alone)
    if (lines := lines_inside(work, jam, target)) is not None:
        inside[0] = lines
    register = work.lanes(target) * element_bytes(pixels.element)
    most = max(1, target.l2_bytes // 2 // (2 * prod(inside) * register))
    return next((n for n in (4, 2) if n <= most and block_rows(target, n) >= size_bound(work.extents[jam])), 1)


def _window(work: Work, pixels: Storage, jam: int) -> tuple[int, int] | None:
    """How many pixels the windows of a line of results read, of all their lines, and the bytes between two of a line. None where the jammed
    loop moves no window."""
    results = linear_results(work.maps[0], [LinearIndex({dim: 1}) for dim in range(work.maps[0].n_dims)])
    moved = [place for place in zip(results or (), pixels.sizes, pixels.strides) if jam in place[0].terms]
    if len(moved) != 1:
        return None
    ((index, size, stride),) = moved
    reduced = {d for d, parallel in enumerate(work.parallel) if not parallel}
    if not reduced & set(index.terms):
        return None
    lines = prod(size_bound(work.extents[d]) for d in reduced - set(index.terms))
    return lines * size_bound(size), stride * element_bytes(pixels.element)
