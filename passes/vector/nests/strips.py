"""What a block of a strip of pixels (common/strips.py) asks for: what the block below it, on the next line of results, reads first.

    block of 4 results of 3 × 3 taps, two apart, of a cache line of channels:    asks for 8 pixels of each of two lines

It is less than the first cache holds, and so the cache line is there when it is read. Beyond the last line of a tile it is the next tile's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import product

from torch_mlir import ir
from torch_mlir.dialects import memref

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.linear_index import LinearIndex, linear_results
from ...common.storage import Storage
from ...common.strips import Strip, strip_of
from ...common.tiled_function import size_bound
from .lanes import KEEP_IN_ALL_CACHES
from .next_tile import Asked
from .work import Work, stride_along


def strip_of_work(work: Work, vector: int | None, jam: int | None, target: TargetView) -> Strip | None:
    """The strips of a convolution of one for each channel, whose channels are lanes and whose pixels of a line are jammed. A tile has all
    channels, and several lines."""
    if vector is None or jam is None or len(work.inputs) != 2 or work.picked:
        return None
    pixels, weights = work.inputs
    if not isinstance(pixels, Storage) or not isinstance(weights, Storage) or pixels.writable:
        return None
    if stride_along(work.maps[0], pixels, vector) != 1 or stride_along(work.maps[1], weights, vector) != 1:
        return None
    if stride_along(work.maps[1], weights, jam) != 0 or size_bound(pixels.sizes[-1]) != size_bound(work.extents[vector]):
        return None
    (whole,), channels = ir.MemRefType(pixels.base.type).shape, size_bound(pixels.sizes[-1])
    kind = ir.RankedTensorType.get([whole // channels, channels], pixels.element)
    strip = strip_of(work.maps[0], work.parallel, work.extents, kind, target)
    if strip is None or strip.pixels.loop != jam or size_bound(work.extents[strip.lines.loop]) == 1:
        return None
    return strip


def registers_of_a_line(work: Work, target: TargetView) -> int:
    """Registers whose channels fill a cache line, at least one."""
    (pixels, *_) = work.inputs
    assert isinstance(pixels, Storage)
    return max(1, target.cache_line_bytes // (work.lanes(target) * element_bytes(pixels.element)))


def asks_for_pixels_alone(work: Work) -> Work:
    """The same, which does not ask for its results: so many requests at once keep the pixels waiting."""
    return replace(work, outputs=[None if s is None else replace(s, ahead=0) for s in work.outputs])


@dataclass(frozen=True)
class PixelsBelow(Asked):
    """Asks for the pixels of the lines that the block below adds; of those that its neighbours read too, each block for as many as it has
    of its own. `line` is a cache line's elements."""

    work: Work
    strip: Strip
    line: int

    @staticmethod
    def of(work: Work, strip: Strip, target: TargetView) -> PixelsBelow:
        (pixels, *_) = work.inputs
        assert isinstance(pixels, Storage)
        return PixelsBelow(work, strip, target.cache_line_bytes // element_bytes(pixels.element))

    def before_sums(self, at: Sequence[LinearIndex], rows: int, columns: int) -> None:
        pixels, lines, along = self.work.inputs[0], self.strip.lines, self.strip.pixels
        results = linear_results(self.work.maps[0], [index.uniform() for index in at])
        assert results is not None and isinstance(pixels, Storage)
        step, down = (stride_along(self.work.maps[0], pixels, window.loop) or 0 for window in (along, lines))
        begin = pixels.address(results) + lines.taps * (down // lines.step) + (along.taps - along.step) * (step // along.step)
        for line, pixel, place in product(range(lines.step), range(rows * along.step), range(0, columns, self.line)):
            address = begin + line * (down // lines.step) + pixel * (step // along.step) + place
            memref.prefetch(pixels.base, [address.address_in(pixels.base)], False, KEEP_IN_ALL_CACHES, True)
