"""Convolutions by Winograd's algorithm (passes/common/winograd.py), for filters that are in memory as their transform.

For each image of a tile of the convolution, of TB Winograd tiles of m × m outputs, with side = m + 2:

    for channels by cache lines: copy the window of inputs, with the zeros around it, and transform: V[side²][TB][channels] = Bᵀ d B
    for blocks of features:
        for ξ in side²: M[ξ][TB][block] = V[ξ] · W[block][ξ]        a product of matrices (contraction.py)
        y = Aᵀ M A, of the pixels and features that exist

What follows the convolution is computed on the tile afterwards, as after any other. Lines of pixels are whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from math import ceil

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from hloom.dialects.target import TargetView

from ...common.affine import dim_position, used_dims
from ...common.control_flow import LoopBound, for_each, if_else, if_then, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Bounds, Storage
from ...common.tiled_function import size_bound
from ...common.vectors import splat
from ...common.winograd import TAPS, transform_inputs, transform_outputs
from ...errors import PassFailure
from .access import Access
from .body import Captured
from .contraction import emit_contraction
from .lanes import Lanes
from .nests import chunks, dynamic_mask
from .packing import Scratch
from .work import Work, starts_from_zero

_LINE_BYTES = 64


def has_transform(work: Work) -> bool:
    """Whether the work is a convolution with a filter that is in memory as its transform."""
    return len(work.inputs) > 1 and isinstance(work.inputs[1], Storage) and work.inputs[1].transformed is not None


def emit_winograd(work: Work, captured: Captured, target: TargetView, scratch: Scratch) -> None:
    """Emits such a convolution; `scratch` makes buffers on the stack.

    Raises PassFailure where its loops are not those of a 3 × 3 window over whole lines.
    """
    _Winograd(work, captured, target, scratch).emit()


class _Winograd:
    def __init__(self, work: Work, captured: Captured, target: TargetView, scratch: Scratch):
        self.work, self.captured, self.target = work, captured, target
        x, filters = work.inputs[:2]
        assert isinstance(x, Storage) and isinstance(filters, Storage) and filters.transformed is not None
        self.filter: Storage = filters
        self.outputs, self.block = filters.transformed.outputs, filters.transformed.block
        self.side = self.outputs + TAPS - 1
        (self.high, self.row_bounds), (self.wide, columns), self.channel, self.feature = self._loops(x)
        self.column_bounds = [bound.constant for bound in columns]
        loops = len(work.extents)
        source, result = Access.of(work.maps[0], x, loops), Access.of(work.output_maps[0], work.outputs[0], loops)
        assert source is not None and result is not None
        self.source, self.result = source, result
        self.channels = size_bound(work.extents[self.channel])
        self.one = work.lanes(target)
        self.line = max(self.one, _LINE_BYTES // 4)
        self.columns = ceil(size_bound(work.extents[self.wide]) / self.outputs)
        self.rows = ceil(size_bound(work.extents[self.high]) / self.outputs)
        self.element = self.filter.element
        depth = ceil(self.channels / self.line) * self.line
        self.window = scratch((self.rows * self.outputs + 2, self.columns * self.outputs + 2, self.line), self.element)
        self.inputs = scratch((self.side**2, self.rows * self.columns, depth), self.element)
        self.products = scratch((self.side**2, self.rows * self.columns, self.block), self.element)
        self.scratch = scratch

    def _loops(self, x: Storage) -> tuple[tuple[int, Bounds], tuple[int, Bounds], int, int]:
        """The loops of lines and of pixels, each with the first index of the input that exists and the one behind the last; of channels,
        of features."""
        taps_high, taps_wide, channel, feature = (dim_position(e) for e in self.work.maps[1].results)
        found: dict[int | None, tuple[list[int], Bounds]] = {}
        for dim, expr in enumerate(self.work.maps[0].results):
            loops = used_dims(expr)
            for tap in {taps_high, taps_wide} & set(loops):
                bounds = x.bounds[dim] if x.bounds else None
                found[tap] = [d for d in loops if d != tap], bounds or (LinearIndex(), LinearIndex.of(x.sizes[dim]))
        (high, rows), (wide, columns) = found[taps_high], found[taps_wide]
        whole = all(bound.is_constant for bound in columns) and isinstance(self.work.extents[wide[0]], int)
        if len(high) != 1 or len(wide) != 1 or not whole or not starts_from_zero(self.work):
            where = {"op": self.work.op.name, "loc": str(self.work.op.location), "stage": "vector"}
            raise PassFailure("a transformed filter is read otherwise than by a 3 x 3 window over whole lines", **where)
        assert channel is not None and feature is not None
        return (high[0], rows), (wide[0], columns), channel, feature

    def emit(self) -> None:
        work = self.work
        outer = [d for d, parallel in enumerate(work.parallel) if parallel and d not in (self.high, self.wide, self.feature)]
        nest_each([work.extents[d] for d in outer], lambda indices: self._image(dict(zip(outer, indices))))

    def _image(self, fixed: dict[int, LinearIndex]) -> None:
        height = LinearIndex.of(self.work.extents[self.high])
        rows = _pieces(height, self.outputs)
        chunks(self.channels, self.line, self.line, lambda start, lanes: self._transform_inputs(fixed, rows, start, lanes))
        for_each(0, _pieces(LinearIndex.of(self.work.extents[self.feature]), self.block), 1, partial(self._block, fixed, rows, height))

    def _transform_inputs(self, fixed: dict[int, LinearIndex], rows: LoopBound, start: LinearIndex, lanes: Lanes) -> None:
        """V of a line of channels. Lanes of channels that do not exist are zeros."""
        lanes = Lanes(self.line, lanes.mask)
        zero = splat(lanes.type(self.element), 0.0)
        first, behind = self.column_bounds
        last = min(behind, self.window.sizes[1])
        line = Lanes(self.line)

        def row(r: LinearIndex) -> None:
            def place(c: LinearIndex) -> LinearIndex:
                return self.window.address([r, c, LinearIndex().along_lanes()])

            def zeros(lower: int, upper: int) -> None:
                for_each(lower, upper, 1, lambda c: line.store(zero, self.window, place(c)))

            def copy(c: LinearIndex) -> None:
                address = self.source.at({**fixed, self.high: r, self.wide: c, self.channel: start})
                line.store(lanes.load(self.source.storage, address.along_lanes()), self.window, place(c))

            def inside() -> list[ir.Value]:
                zeros(0, first)
                for_each(first, last, 1, copy)
                zeros(last, self.window.sizes[1])
                return []

            def outside() -> list[ir.Value]:
                zeros(0, self.window.sizes[1])
                return []

            low, high = self.row_bounds
            after = arith.cmpi(arith.CmpIPredicate.sge, r.value(), low.value())
            before = arith.cmpi(arith.CmpIPredicate.slt, r.value(), high.value())
            if_else(arith.andi(after, before), [], inside, outside)

        for_each(0, self.window.sizes[0], 1, row)
        nest_each([rows, self.columns, self.line // self.one], lambda at: self._transform_input(at, start))

    def _transform_input(self, at: list[LinearIndex], start: LinearIndex) -> None:
        row, column, part = at
        lanes, scaled = Lanes(self.one), self._scaled(self.one)
        channel, high, wide = (part * self.one).along_lanes(), row * self.outputs, column * self.outputs
        corner = self.window.address([high, wide, channel])
        pixels = self._square(lanes, self.window, corner, self.window.strides[:2])
        half = [transform_inputs(line, self.outputs, scaled) for line in pixels]
        tile = row * self.columns + column
        for i in range(self.side):
            whole = transform_inputs([line[i] for line in half], self.outputs, scaled)
            for j, value in enumerate(whole):
                place = self.inputs.address([LinearIndex(constant=i * self.side + j), tile, (start + part * self.one).along_lanes()])
                lanes.store(value, self.inputs, place)

    def _block(self, fixed: dict[int, LinearIndex], rows: LoopBound, height: LinearIndex, block: LinearIndex) -> None:
        """The outputs of a block of features."""
        for_each(0, self.side**2, 1, partial(self._product, block))
        parts = self.block // self.one
        width = self.work.extents[self.wide]
        assert isinstance(width, int)
        whole = width // self.outputs
        nest_each([rows, whole, parts], lambda at: self._transform_output(fixed, height, block, at, self.outputs))
        if width % self.outputs:
            edge = LinearIndex(constant=whole)
            nest_each([rows, parts], lambda at: self._transform_output(fixed, height, block, [at[0], edge, at[1]], width % self.outputs))

    def _product(self, block: LinearIndex, point: LinearIndex) -> None:
        """M[ξ] of a block of features."""
        tiles, depth = self.rows * self.columns, self.inputs.strides[1]
        whole = self.filter.offset + block * (self.side**2 * self.channels * self.block) + point * (self.channels * self.block)
        inputs = self.inputs.offset + point * self.inputs.strides[0]
        left = replace(self.inputs, offset=inputs, strides=(depth, 1), sizes=(tiles, self.channels))
        right = replace(self.filter, offset=whole, strides=(self.block, 1), sizes=(self.channels, self.block), transformed=None)
        products = self.products.offset + point * self.products.strides[0]
        total = replace(self.products, offset=products, strides=(self.block, 1), sizes=(tiles, self.block))
        row, column, k = (ir.AffineDimExpr.get(d) for d in range(3))
        work = replace(
            self.work,
            maps=[ir.AffineMap.get(3, 0, results) for results in ([row, k], [k, column], [row, column])],
            inputs=[left, right],
            inits=[None],
            outputs=[total],
            parallel=[True, True, False],
            extents=[tiles, self.block, self.channels],
        )
        emit_contraction(work, 1, self.captured, self.target, self.scratch)

    def _transform_output(
        self, fixed: dict[int, LinearIndex], height: LinearIndex, block: LinearIndex, at: list[LinearIndex], width: int
    ) -> None:
        row, column, part = at
        features = self.work.extents[self.feature]
        first = block * self.block + part * self.one
        lanes, scaled = Lanes(self.one), self._scaled(self.one)
        tile, lane = row * self.columns + column, (part * self.one).along_lanes()
        step = self.products.strides[0]
        products = self._square(lanes, self.products, self.products.address([LinearIndex(), tile, lane]), (self.side * step, step))
        half = [transform_outputs(line, self.outputs, scaled, self._times) for line in products]
        wide = [transform_outputs([line[i] for line in half], self.outputs, scaled, self._times)[:width] for i in range(self.outputs)]
        if not isinstance(features, int) or features % self.block:
            left = arith.maxsi((LinearIndex.of(features) - first).value(), LinearIndex().value())
            lanes = Lanes(self.one, dynamic_mask(self.one, left))
        whole_rows = height.is_constant and height.constant % self.outputs == 0
        for i, line in enumerate(wide):
            y = row * self.outputs + i
            condition = None if whole_rows else arith.cmpi(arith.CmpIPredicate.ult, y.value(), height.value())
            with if_then(condition):
                for j, value in enumerate(line):
                    place = self.result.at({**fixed, self.high: y, self.wide: column * self.outputs + j, self.feature: first})
                    lanes.store(value, self.result.storage, place.along_lanes())

    def _square(self, lanes: Lanes, storage: Storage, corner: LinearIndex, steps: Sequence[int]) -> list[list[ir.Value]]:
        """side² values, columns of lines; `steps` are those between lines and between columns."""
        sides = range(self.side)
        return [[lanes.load(storage, corner + (i * steps[0] + j * steps[1])) for i in sides] for j in sides]

    def _scaled(self, count: int) -> Callable[[ir.Value, float, ir.Value], ir.Value]:
        def scaled(x: ir.Value, factor: float, y: ir.Value) -> ir.Value:
            if factor in (1, -1):
                return arith.addf(x, y) if factor == 1 else arith.subf(x, y)
            return math.fma(splat(Lanes(count).type(self.element), factor), y, x)

        return scaled

    def _times(self, x: ir.Value, factor: float) -> ir.Value:
        return arith.mulf(x, splat(x.type, factor))


def _pieces(extent: LinearIndex, size: int) -> LoopBound:
    """How many pieces of `size` make an extent, the last perhaps less."""
    if extent.is_constant:
        return ceil(extent.constant / size)
    return arith.divui((extent + (size - 1)).value(), LinearIndex(constant=size).value())
