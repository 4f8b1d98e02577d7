"""Prefetches of the pixels that the next tile of a convolution reads beside those of this one, spread over this one's blocks.

Asked for together, before the first of them is read (tile_prefetch.py), pixels come from memory while nothing is multiplied. So every
block of results asks for its share. Where a tile's pixels lie in one piece, as lines with all their channels do, that is a share of what
lies behind them, some at each step of its sums:

    tiles of one line of results, windows 3 × 3, two apart:    reads lines 0 1 2 of the pixels, asks for lines 3 4

Where pixels are left out between those that are read, as by 1 × 1 windows two apart, a block asks for the pixels of its rows in the next
tile, for each of its columns for some of their channels.

Tiles that read the same pixels, for other features, each ask for a part. Must hold: the pixels are in no near cache; windows are pixels
apart, or each channel has its own: these are read a cache line of each pixel at a time, which no processor follows. Declined: lanes that
pick channels, which the processor's own prefetching serves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod

from torch_mlir.dialects import arith, memref

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.control_flow import for_each
from ...common.linear_index import LinearIndex, linear_results
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .lanes import KEEP_IN_ALL_CACHES
from .tile_prefetch import is_far, prefetch_tile, steps_over_pixels
from .work import Work, stride_along


class Asked:
    """What blocks of results ask for."""

    def before_sums(self, at: Sequence[LinearIndex], rows: int, columns: int) -> None:
        """What a block asks for before its sums; `at` is where its loops are, at its first row and column."""

    def at_step(self, at: Sequence[LinearIndex], rows: int, columns: int) -> None:
        """What it asks for at a step of them."""

    def at_once(self, at: Sequence[LinearIndex], rows: int, columns: int) -> None:
        """What a block asks for whose sums have no loop."""


@dataclass(frozen=True)
class NextTile(Asked):
    """The next tile's pixels are `ahead` elements further on in the first input of `work`. So many `tiles` read the same: this is `number`.

    Blocks are rows of the loop `jam` and columns of the loop `vector`.
    """

    work: Work
    pixels: Storage
    ahead: int
    number: LinearIndex
    tiles: int
    vector: int
    jam: int
    line: int
    """Elements of a cache line."""

    def _extent(self, loop: int) -> int:
        return size_bound(self.work.extents[loop])

    def _others(self) -> list[int]:
        """The parallel loops around blocks."""
        return [d for d, parallel in enumerate(self.work.parallel) if parallel and d not in (self.vector, self.jam)]

    def _reduced(self) -> list[int]:
        return [d for d, parallel in enumerate(self.work.parallel) if not parallel]

    def _place(self, at: Sequence[LinearIndex], loops: Sequence[int]) -> tuple[LinearIndex, int]:
        """The number of a point among those of all `loops` of the tiles, and how many there are."""
        place, count = self.number, self.tiles
        for d in loops:
            place, count = place * self._extent(d) + at[d].uniform(), count * self._extent(d)
        return place, count

    def _prefetch(self, place: LinearIndex) -> None:
        memref.prefetch(self.pixels.base, [place.address_in(self.pixels.base)], False, KEEP_IN_ALL_CACHES, True)


@dataclass(frozen=True)
class _Behind(NextTile):
    """A tile's pixels lie in one piece of `length` elements, those of the next follow."""

    length: int = 0

    def at_step(self, at: Sequence[LinearIndex], rows: int, columns: int) -> None:
        step = LinearIndex()
        for d in self._reduced():
            step = step * self._extent(d) + at[d]
        self._ask(at, rows, columns, step, prod(map(self._extent, self._reduced())))

    def at_once(self, at: Sequence[LinearIndex], rows: int, columns: int) -> None:
        self._ask(at, rows, columns, LinearIndex(), 1)

    def _ask(self, at: Sequence[LinearIndex], rows: int, columns: int, step: LinearIndex, steps: int) -> None:
        columns_before, count = self._place(at, [*self._others(), self.vector])
        each = Fraction(self.ahead, count * self._extent(self.jam))
        first = _times(columns_before * self._extent(self.jam) + at[self.jam] * columns, each)
        share = ceil(rows * columns * each / steps)
        begin = self.pixels.offset + self.length + first + step * share
        for place in range(0, share, self.line):
            self._prefetch(begin + place)


@dataclass(frozen=True)
class _Apart(NextTile):
    """Of each pixel the tile reads `depth` elements, side by side."""

    depth: int = 0

    def before_sums(self, at: Sequence[LinearIndex], rows: int, columns: int) -> None:
        still = [d for d in self._others() if stride_along(self.work.maps[0], self.pixels, d) == 0]
        before, count = self._place(at, [*still, self.vector])
        each = Fraction(self.depth, count)
        results = linear_results(self.work.maps[0], [index.uniform() for index in at])
        assert results is not None  # strides are known
        begin = self.pixels.address(results) + self.ahead + _times(before, each)
        apart = stride_along(self.work.maps[0], self.pixels, self.jam) or 0

        def pixel(row: LinearIndex) -> None:
            for place in range(0, ceil(columns * each), self.line):
                self._prefetch(begin + row * apart + place)

        for_each(0, rows, 1, pixel)


def prefetch_pixels(work: Work, vector: int | None, jam: int | None, target: TargetView) -> NextTile | None:
    """What blocks ask for, for the next tile. Where that is nothing, asks for what this one reads, if its windows are pixels apart."""
    found = next_tile(work, vector, jam, target)
    if found is None and None not in (vector, jam) and work.inputs and steps_over_pixels(work):
        prefetch_tile(work.inputs[0], target)
    return found


def next_tile(work: Work, vector: int | None, jam: int | None, target: TargetView) -> NextTile | None:
    """What blocks ask for of the first input, where that is far; None where it is in no piece with the next tile's."""
    pixels = work.inputs[0] if work.inputs else None
    if vector is None or jam is None or not isinstance(pixels, Storage) or not is_far(pixels, target):
        return None
    number, tiles, ahead = LinearIndex(), 1, 0
    for tile, count in work.tiles:
        ahead = pixels.offset.coefficient(tile)
        if ahead:
            break
        number, tiles = number + LinearIndex({tile: tiles}), tiles * count
    strides = [stride_along(work.maps[0], pixels, d) for d in range(len(work.extents))]
    if ahead <= 0 or work.picked or None in strides:
        return None
    alone, nbytes = strides[vector] != 0, element_bytes(pixels.element)
    room, line = target.l2_bytes // 2 // nbytes, target.cache_line_bytes // nbytes
    moved = prod(size_bound(extent) for extent, stride in zip(work.extents, strides) if stride)
    length, depth = _length(pixels), _depth(work, strides)
    if (alone or steps_over_pixels(work)) and length is not None and ahead <= min(length, room):
        return _Behind(work, pixels, ahead, number, tiles, vector, jam, line, length)
    if depth is not None and not alone and depth < (strides[jam] or 0) and _leaves_pixels_out(work) and moved <= room:
        return _Apart(work, pixels, ahead, number, tiles, vector, jam, line, depth)
    return None


def _times(index: LinearIndex, factor: Fraction) -> LinearIndex:
    """Rounded down; by a division where it is not known."""
    product = index * factor.numerator
    if factor.denominator == 1 or product.is_constant:
        return product // factor.denominator
    return LinearIndex.of(arith.divui(product.value(), LinearIndex(constant=factor.denominator).value()))


def _depth(work: Work, strides: Sequence[int | None]) -> int | None:
    """The steps of the one loop that is summed, along which elements of the first input lie side by side; None where there is no such."""
    loops = [d for d, parallel in enumerate(work.parallel) if not parallel and work.extents[d] != 1]
    depth = work.extents[loops[0]] if len(loops) == 1 and strides[loops[0]] == 1 else None
    return depth if isinstance(depth, int) else None


def _leaves_pixels_out(work: Work) -> bool:
    """Whether a loop of results goes on by more than one element of a dim of the first input."""
    results = linear_results(work.maps[0], [LinearIndex({d: 1}) for d in range(work.maps[0].n_dims)])
    return any(step > 1 for index in results or () for loop, step in index.terms.items() if work.parallel[loop])


def _length(pixels: Storage) -> int | None:
    """How far a slice reaches that leaves no element out; None of others."""
    length = 1
    for size, stride in zip(map(size_bound, pixels.sizes[::-1]), pixels.strides[::-1]):
        if size > 1 and stride > length:
            return None
        length += (size - 1) * stride
    return length
