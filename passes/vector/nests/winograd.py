"""Convolutions by Winograd's algorithm (passes/common/winograd.py), for filters that are in memory as their transform.

For the images of a tile of the convolution, of TB Winograd tiles of m × m outputs each, with side = m + 2:

    for images: for channels by cache lines:
        V[side²][image][TB][channels] = Bᵀ d B, with zeros around the image        (winograd_inputs.py)
    for blocks of features:
        for ξ in side²: M[ξ][image][TB][block] = V[ξ] · W[block][ξ]        a product of matrices (contraction.py)
        for images: y = Aᵀ M A, of the pixels and features that exist

Where taps are d apart, lines in steps of d are one pass of that, and the pixels in steps of d of these lines lie side by side in V and M.

Groups are convolutions one after the other. Their channels are a part of a pixel, which the processor does not follow: a tile asks for its
pixels first.

In three dimensions an image is a plane, and the taps along the depth are summed with the channels: the products of plane z read the planes
z + t of V, each transformed once for the tile.

What follows the convolution is computed of y in registers, if it is short (results.py). Lines of pixels are whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from math import ceil, prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView

from ...common.control_flow import LoopBound, for_each, if_then, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Panels, Storage, row_major
from ...common.tiled_function import last_rest, size_bound
from ...common.vectors import splat
from ...common.winograd import tiles_along, transform_outputs
from .access import Access
from .body import Captured
from .contraction import emit_contraction
from .lanes import Lanes
from .narrow_instructions import add_product, step_of
from .nests import chunks, dynamic_mask, point_indices
from .packing import Scratch
from .results import store_results
from .tile_prefetch import prefetch_tile
from .winograd_inputs import InputsTransform, Tiles, scaled_sums, square
from .winograd_loops import WinogradLoops, pieces
from .work import Point, Work

_LINE_BYTES = 64
_BLOCK = 32
"""Features whose products a tile has together, in whole panels."""


def emit_winograd(work: Work, after: Sequence[Work], captured: Captured, target: TargetView, scratch: Scratch) -> None:
    """Emits such a convolution, and at its results the works `after` it; `scratch` makes buffers on the stack.

    Raises PassFailure where its loops are not those of a 3 × 3 window over whole lines.
    """
    _Winograd(work, after, captured, target, scratch).emit()


class _Winograd:
    def __init__(self, work: Work, after: Sequence[Work], captured: Captured, target: TargetView, scratch: Scratch):
        self.work, self.after, self.captured, self.target = work, after, captured, target
        x, filters = work.inputs[:2]
        assert isinstance(x, Storage) and isinstance(filters, Storage) and filters.transformed is not None
        self.filter: Storage = filters
        self.outputs, self.panel = filters.transformed.outputs, filters.transformed.block
        self.loops = loops = WinogradLoops.of(work)
        source, weights = (Access.of(m, storage, len(work.extents)) for m, storage in zip(work.maps, (x, filters)))
        assert source is not None and weights is not None
        self.weights = weights
        self.channels = size_bound(work.extents[loops.channel])
        self.features = work.extents[loops.feature]
        self.block = self._panels_together() * self.panel
        self.one = work.lanes(target)
        self.apart, phases = loops.apart
        columns = tiles_along(size_bound(work.extents[loops.wide]), phases, self.outputs) // phases
        rows = tiles_along(size_bound(work.extents[loops.high]), self.apart, self.outputs) // self.apart
        self.tiles = Tiles(self.outputs, rows, columns, phases, self.one, max(self.one, _LINE_BYTES // 4))
        self.side = self.tiles.side
        self.narrow, self.element = x.element, self.filter.element
        depth = ceil(self.channels / self.tiles.line) * self.tiles.line
        self.images: int | ir.Value = 1 if loops.image is None else work.extents[loops.image]
        images = size_bound(self.images) if loops.depth is None else loops.depth.planes(size_bound(self.images))
        self.scratch = scratch
        self.inputs = self._points((images, self.tiles.count, depth))
        self.transform = InputsTransform(source, loops, self.tiles, self.inputs, scratch)
        self.products = self._points((size_bound(self.images), self.tiles.count, self.block))

    def _panels_together(self) -> int:
        """Panels of the transformed weights that a point of V is multiplied by at once."""
        most = max(1, _BLOCK // self.panel)
        if isinstance(self.features, int):
            panels = ceil(self.features / self.panel)
            return max(n for n in range(1, most + 1) if panels % n == 0)
        rest = last_rest(self.features, most * self.panel)
        return most if rest == 0 else 1

    def _points(self, shape: tuple[int, ...]) -> Storage:
        """A buffer of so many elements for each ξ, an odd number of cache lines apart: a transform touches all of them, and would find them
        in few sets of a near cache."""
        line, points = _LINE_BYTES // 4, self.side**2
        step = (ceil(prod(shape) / line) | 1) * line
        return replace(self.scratch((points, step), self.element), strides=(step, *row_major(shape)), sizes=(points, *shape))

    def emit(self) -> None:
        if self.loops.group is not None:
            prefetch_tile(self.work.inputs[0], self.target)
        extents = [*(self.work.extents[d] for d in self.loops.outer), self.apart]
        nest_each(extents, lambda indices: self._images(dict(zip(self.loops.outer, indices)), indices[-1]))

    def _images(self, fixed: dict[int, LinearIndex], top: LinearIndex) -> None:
        """The results in the lines `top`, and in steps of `apart` behind it, of the images of a tile."""
        height = LinearIndex.of(self.work.extents[self.loops.high])
        rows = pieces(height, self.apart * self.outputs)
        fixed = {**fixed, self.loops.high: top}

        def transform(image: LinearIndex) -> None:
            moving, plane = self.loops.image, image
            if self.loops.depth is not None:
                moving, plane = self.loops.depth.tap, image - self.loops.depth.first
            around = fixed if moving is None else {**fixed, moving: image}

            def line(start: LinearIndex, lanes: Lanes) -> None:
                for_each(0, self.tiles.phases, 1, lambda phase: self.transform.emit(around, plane, rows, phase, start, lanes))

            chunks(self.channels, self.tiles.line, self.tiles.line, line)

        first, behind = (0, self.images) if self.loops.depth is None else self.loops.depth.existing(self.images)
        for_each(first, behind, 1, transform)
        for_each(0, pieces(LinearIndex.of(self.features), self.block), 1, partial(self._block, fixed, rows, height))

    def _block(self, fixed: dict[int, LinearIndex], rows: LoopBound, height: LinearIndex, block: LinearIndex) -> None:
        """The outputs of a block of features."""
        for_each(0, self.side**2, 1, partial(self._product, fixed, block))
        parts = self.block // self.one
        width = self.work.extents[self.loops.wide]
        assert isinstance(width, int)
        longer = width % self.tiles.phases  # so many phases have a pixel more than the others

        def tiles(there: dict[int, LinearIndex], image: LinearIndex, pixels: int, phase: LinearIndex) -> None:
            whole, rest = divmod(pixels, self.outputs)
            edge = LinearIndex(constant=whole)
            nest_each([rows, whole, parts], lambda at: self._transform_output(there, height, block, [image, phase, *at], self.outputs))
            if rest:
                nest_each([rows, parts], lambda at: self._transform_output(there, height, block, [image, phase, at[0], edge, at[1]], rest))

        def transform(image: LinearIndex) -> None:
            there = fixed if self.loops.image is None else {**fixed, self.loops.image: image}
            for first, behind in ((0, longer), (longer, self.tiles.phases)):
                pixels = ceil((width - first) / self.tiles.phases)
                for_each(first, behind, 1, partial(tiles, there, image, pixels))

        for_each(0, self.images, 1, transform)

    def _product(self, fixed: dict[int, LinearIndex], block: LinearIndex, point: LinearIndex) -> None:
        """M[ξ] of a block of features: the sum over taps of the depth, and channels. Images that lie one behind the other are one."""
        tiles, (_, plane, line, _) = self.tiles.count, self.inputs.strides
        images, taps, reach, first = self.images, 1, None, 0
        if self.loops.depth is not None:
            taps, reach, first = self.loops.depth.taps, self.loops.depth.bounds, self.loops.depth.first
        elif isinstance(images, int):
            images, tiles = 1, images * tiles
        image, row, column, tap, k = (ir.AffineDimExpr.get(d) for d in range(5))
        depth, panels = taps * self.channels * self.panel, self.block // self.panel
        left = replace(
            self.inputs,
            offset=self.inputs.offset + point * self.inputs.strides[0] - first * plane,
            strides=(plane, line, 1),
            sizes=(self.inputs.sizes[1], tiles, self.channels),
            bounds=(reach, None, None) if reach else (),
        )
        right = replace(
            self.filter,
            offset=self.weights.at({d: fixed[d] for d in self.loops.outer}) + block * (panels * self.side**2 * depth) + point * depth,
            strides=(self.channels * self.panel, self.panel, 1),
            sizes=(taps, self.channels, self.block),
            transformed=None,
            panels=Panels(self.panel, self.side**2 * depth) if panels > 1 else None,
        )
        total = replace(
            self.products,
            offset=self.products.offset + point * self.products.strides[0],
            strides=self.products.strides[1:],
            sizes=(images, tiles, self.block),
        )
        work = replace(
            self.work,
            maps=[ir.AffineMap.get(5, 0, results) for results in ([image + tap, row, k], [tap, k, column], [image, row, column])],
            inputs=[left, right],
            inits=[None],
            outputs=[total],
            parallel=[True, True, True, False, False],
            extents=[images, tiles, self.block, taps, self.channels],
        )
        step = None if self.narrow == self.element else step_of(work, self.captured, add_product)
        emit_contraction(work, 2, self.captured, self.target, self.scratch, step)

    def _transform_output(
        self, fixed: dict[int, LinearIndex], height: LinearIndex, block: LinearIndex, at: list[LinearIndex], width: int
    ) -> None:
        image, phase, row, column, part = at
        first = block * self.block + part * self.one
        lanes = Lanes(self.one)
        scaled = scaled_sums(lanes.type(self.element))
        tile, lane = self.tiles.number(row, phase, column), (part * self.one).along_lanes()
        step = self.products.strides[0]
        corner = self.products.address([LinearIndex(), image, tile, lane])
        products = square(self.side, lanes, self.products, corner, (self.side * step, step))
        half = [transform_outputs(line, self.outputs, scaled, self._times) for line in products]
        wide = [transform_outputs([line[i] for line in half], self.outputs, scaled, self._times)[:width] for i in range(self.outputs)]
        if not isinstance(self.features, int) or self.features % self.block:
            left = arith.maxsi((LinearIndex.of(self.features) - first).value(), LinearIndex().value())
            lanes = Lanes(self.one, dynamic_mask(self.one, left))
        whole_rows = height.is_constant and height.constant % (self.apart * self.outputs) == 0
        for i, line in enumerate(wide):
            y = (row * self.outputs + i) * self.apart + fixed[self.loops.high]
            condition = None if whole_rows else arith.cmpi(arith.CmpIPredicate.ult, y.value(), height.value())
            with if_then(condition):
                for j, value in enumerate(line):
                    x = (column * self.outputs + j) * self.tiles.phases + phase
                    there = {**fixed, self.loops.high: y, self.loops.wide: x}
                    indices = point_indices(len(self.work.extents), there, self.loops.feature, first, lanes)
                    store_results([Point(lanes, indices, self.captured)], self.work, [[value]], self.after)

    def _times(self, x: ir.Value, factor: float) -> ir.Value:
        return arith.mulf(x, splat(x.type, factor))
