"""The loops of a convolution with a transformed filter: what moves a window over images, lines and pixels, and what is summed."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.affine import used_dims
from ...common.control_flow import LoopBound
from ...common.linear_index import LinearIndex
from ...common.storage import Bounds, Storage
from ...common.tiled_function import size_bound
from ...common.winograd import FilterLoops
from ...errors import PassFailure
from .work import Work, starts_from_zero


def has_transform(work: Work) -> bool:
    """Whether the work is a convolution with a filter that is in memory as its transform."""
    return len(work.inputs) > 1 and isinstance(work.inputs[1], Storage) and work.inputs[1].transformed is not None


@dataclass(frozen=True)
class Depth:
    """The third dimension: plane z of a tile's results is a sum over `taps` of its planes z + t, of which those between `bounds` exist.

    `loop` is the loop of z, unless the tile has one plane.
    """

    tap: int
    taps: int
    loop: int | None
    bounds: Bounds | None

    @property
    def first(self) -> int:
        """A plane before which none exists."""
        return max(0, self.bounds[0].constant) if self.bounds and self.bounds[0].is_constant else 0

    def planes(self, results: int) -> int:
        """How many planes so many planes of results may read."""
        behind = results + self.taps - 1
        if self.bounds and self.bounds[1].is_constant:
            behind = min(behind, self.bounds[1].constant)
        return behind - self.first

    def existing(self, results: int | ir.Value) -> tuple[LoopBound, LoopBound]:
        """The first plane that exists, and the one behind the last."""
        behind = LinearIndex.of(results) + (self.taps - 1)
        if self.bounds is None:
            return 0, behind.constant if behind.is_constant else behind.value()
        low, high = self.bounds
        if low.is_constant and high.is_constant and behind.is_constant:
            return self.first, min(high.constant, behind.constant)
        first = arith.maxsi(low.value(), LinearIndex().value())
        return first, arith.minsi(high.value(), behind.value())


@dataclass(frozen=True)
class WinogradLoops:
    """The loops of lines and of pixels, with the first index of the input that exists along them and the one behind the last, and how far
    apart the taps of a column and of a line are; of channels, of features, of the images or planes that a tile has together, if any; and
    those around them."""

    high: int
    wide: int
    row_bounds: Bounds
    column_bounds: tuple[int, int]
    apart: tuple[int, int]
    channel: int
    feature: int
    group: int | None
    depth: Depth | None
    image: int | None
    outer: list[int]

    @staticmethod
    def of(work: Work) -> WinogradLoops:
        """Raises PassFailure where the loops are not those of a 3 × 3 window over whole lines."""
        taps, found = FilterLoops.of(work.maps[1], work.parallel), _windows(work)
        (high, rows, _), (wide, columns, _) = found[taps.high], found[taps.wide]
        whole = all(bound.is_constant for bound in columns) and wide is not None and isinstance(work.extents[wide], int)
        if high is None or wide is None or not whole or len(taps.deep) > 1 or not starts_from_zero(work):
            where = {"op": work.op.name, "loc": str(work.op.location), "stage": "vector"}
            raise PassFailure("a transformed filter is read otherwise than by a 3 x 3 window over whole lines", **where)
        depth = None
        for tap in taps.deep:
            loop, bounds, surrounded = found[tap]
            depth = Depth(tap, size_bound(work.extents[tap]), loop, bounds if surrounded else None)
        outer = [d for d, parallel in enumerate(work.parallel) if parallel and d not in (high, wide, taps.feature)]
        images = [d for d in outer if d != taps.group]
        image = depth.loop if depth is not None else images[-1] if images else None
        ends, apart = (columns[0].constant, columns[1].constant), taps.apart(work.maps[0])
        outer = [d for d in outer if d != image]
        return WinogradLoops(high, wide, rows, ends, apart, taps.channel, taps.feature, taps.group, depth, image, outer)


def _windows(work: Work) -> dict[int | None, tuple[int | None, Bounds, bool]]:
    """For each loop over taps: the loop of results that it goes with, if they are several, the bounds of what exists, and whether there are
    zeros beyond them."""
    x = work.inputs[0]
    assert isinstance(x, Storage)
    found: dict[int | None, tuple[int | None, Bounds, bool]] = {}
    for dim, expr in enumerate(work.maps[0].results):
        results = [d for d in used_dims(expr) if work.parallel[d]]
        bounds = x.bounds[dim] if x.bounds else None
        for tap in used_dims(expr):
            if not work.parallel[tap]:
                found[tap] = results[0] if results else None, bounds or (LinearIndex(), LinearIndex.of(x.sizes[dim])), bounds is not None
    return found


def pieces(extent: LinearIndex, size: int) -> LoopBound:
    """How many pieces of `size` make an extent, the last perhaps less."""
    if extent.is_constant:
        return ceil(extent.constant / size)
    return arith.divui((extent + (size - 1)).value(), LinearIndex(constant=size).value())
