"""Prefetches of the pixels that the next tile of a convolution reads beside those of this one, spread over this one's blocks.

Asked for together, before the first of them is read (tile_prefetch.py), pixels come from memory while nothing is multiplied. So every
block of results asks for its share of what lies behind the tile's pixels, some at each step of its sums:

    tiles of one line of results, windows 3 × 3, two apart:    reads lines 0 1 2 of the pixels, asks for lines 3 4

Tiles that read the same pixels, for other features, each ask for a part. Must hold: a tile's pixels lie in one piece, as lines with all
their channels do, and those that the next tile reads beside them follow. Declined: pixels along the lanes, which are multiplied by one
weight each: such a block is over before its share has come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod

from torch_mlir.dialects import arith, memref

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .lanes import KEEP_IN_ALL_CACHES
from .tile_prefetch import is_far, prefetch_tile, steps_over_pixels
from .work import Work, stride_along


@dataclass(frozen=True)
class NextTile:
    """`count` elements of `pixels`, from `start` on, of which each of so many `tiles` asks for a part: this one is `number`.

    A tile's parallel loops are `vector`, `jam` and others, its sums go over `reduced` loops; `extents` are those of all.
    """

    pixels: Storage
    start: LinearIndex
    count: int
    number: LinearIndex
    tiles: int
    extents: Sequence[int]
    vector: int
    jam: int
    others: Sequence[int]
    reduced: Sequence[int]

    @staticmethod
    def of(work: Work, vector: int, jam: int) -> NextTile | None:
        """None where the next tile's pixels do not follow this one's."""
        pixels, number, tiles, step = work.inputs[0], LinearIndex(), 1, 0
        if not isinstance(pixels, Storage) or stride_along(work.maps[0], pixels, vector) != 0:
            return None
        for tile, count in work.tiles:
            step = pixels.offset.coefficient(tile)
            if step:
                break
            number, tiles = number + LinearIndex({tile: tiles}), tiles * count
        length = _length(pixels)
        if length is None or not 0 < step <= length:
            return None
        others = [d for d, parallel in enumerate(work.parallel) if parallel and d not in (vector, jam)]
        reduced = [d for d, parallel in enumerate(work.parallel) if not parallel]
        extents = [size_bound(extent) for extent in work.extents]
        return NextTile(pixels, pixels.offset + length, step, number, tiles, extents, vector, jam, others, reduced)

    def prefetch(self, at: Sequence[LinearIndex], rows: int, columns: int, target: TargetView) -> None:
        """What a block of results prefetches at a step of its sums: `at` is where all loops are, at its first row and column."""
        points = self.tiles * prod(self.extents[d] for d in (*self.others, self.vector, self.jam))
        each = Fraction(self.count, points)
        place = self.number
        for d in self.others:
            place = place * self.extents[d] + at[d]
        place = (place * self.extents[self.vector] + at[self.vector].uniform()) * self.extents[self.jam] + at[self.jam] * columns
        first = place * each.numerator
        if each.denominator > 1:
            first = LinearIndex.of(arith.divui(first.value(), LinearIndex(constant=each.denominator).value()))
        step = LinearIndex()
        for d in self.reduced:
            step = step * self.extents[d] + at[d]
        share = ceil(rows * columns * each / prod(self.extents[d] for d in self.reduced))
        begin = self.start + first + step * share
        for behind in range(0, share, target.cache_line_bytes // element_bytes(self.pixels.element)):
            memref.prefetch(self.pixels.base, [(begin + behind).address_in(self.pixels.base)], False, KEEP_IN_ALL_CACHES, True)


def prefetch_pixels(work: Work, vector: int | None, jam: int | None, target: TargetView) -> NextTile | None:
    """Asks for pixels that a tile reads and that lie far away: all together, where blocks are not to ask for those of the next tile, which
    is returned."""
    if vector is None or jam is None or not steps_over_pixels(work):
        return None
    pixels = work.inputs[0]
    if not isinstance(pixels, Storage) or not is_far(pixels, target):
        return None
    found = NextTile.of(work, vector, jam)
    if found is None:
        prefetch_tile(pixels, target)
    return found


def _length(pixels: Storage) -> int | None:
    """How far a slice reaches that leaves no element out; None of others."""
    length = 1
    for size, stride in zip(map(size_bound, pixels.sizes[::-1]), pixels.strides[::-1]):
        if size > 1 and stride > length:
            return None
        length += (size - 1) * stride
    return length
