"""Contractions by fused multiply-adds, for every type that tensor cores do not take: f32, f64, integers, mixed and computed operands.

A warp's lanes lie 4 x 8 over its part of the tile; a thread holds up to 8 x 8 accumulators, rows as vectors along the columns. An operand
that is contiguous along the inner loop is read four elements of a line at a time, the lines of neighbouring lanes next to each other;
otherwise neighbouring elements of one line make a thread's rows (columns). Either way a warp's reads fall into different banks.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.vectors import broadcast, elements, extract, from_elements, part, splat, vector_of
from ...tiled.schedules.gpu_contraction import TileSchedule, simt_schedule
from ..support.emit import digits, divide, load, remainder
from ..support.layout import Factor, Layout
from .contraction import ContractionGroup, Operand
from .cp_async import TileShape, tile_shape
from .factors import factor_of, multiply_add
from .pipeline import emit_tiled
from .tile_results import Results

_LANES = (4, 8)
_INNER_VECTOR = 4
_FREE_VECTOR = 4


def emit(contraction: ContractionGroup, target: TargetView) -> None:
    """The kernel of `contraction`."""
    widest = max(element_bytes(o.element) for o in (contraction.left, contraction.right))
    schedule = simt_schedule(contraction.sizes, widest, target)
    rows, cols = (contraction.rows, contraction.inner), (contraction.cols, contraction.inner)
    left = tile_shape(contraction.left, rows, schedule.rows, schedule.depth, schedule.threads)
    right = tile_shape(contraction.right, cols, schedule.cols, schedule.depth, schedule.threads)

    def multiplier(schedule: TileSchedule, shapes: tuple[TileShape, TileShape], thread: ir.Value) -> _Fma:
        return _Fma(contraction, schedule, shapes, thread)

    emit_tiled(contraction, schedule, (left, right), multiplier, _accumulators(schedule, (left, right)))


def _accumulators(schedule: TileSchedule, shapes: tuple[TileShape, TileShape]) -> Layout:
    strips = schedule.rows // schedule.warp_rows, schedule.cols // schedule.warp_cols
    held, vectors = zip(*(_held(*of) for of in zip(shapes, strips, _LANES)))
    warps = Factor("w", schedule.warp_rows, schedule.warp_cols), Factor("w", schedule.warp_cols)
    lanes = Factor("l", _LANES[0], _LANES[1]), Factor("l", _LANES[1])
    rows = warps[0], Factor("r", held[0]), lanes[0], Factor("r", vectors[0])
    return Layout((rows, (warps[1], Factor("r", held[1]), lanes[1], Factor("v", vectors[1]))))


def _held(shape: TileShape, strip: int, lanes: int) -> tuple[int, int]:
    """How many vectors of a warp's strip of rows (columns) a thread holds, and their length."""
    vector = 1 if shape.along_inner else min(shape.chunk, strip // lanes, _FREE_VECTOR)
    return strip // (lanes * vector), vector


@dataclass(frozen=True)
class _Side:
    """A thread's elements of one operand along its rows (columns): `origin + stride * i + j`, i over `count`, j over `vector`."""

    operand: Operand
    shape: TileShape
    origin: LinearIndex
    stride: int
    count: int
    vector: int

    def fragments(self, ring: ir.Value, stage: ir.Value, first: int, length: int) -> list[ir.Value]:
        """For each of `length` steps of the inner loop from `first` on, the factors of all the thread's elements as one vector."""
        if self.shape.along_inner:
            lines = [self._line(ring, stage, i, first, length) for i in range(self.count)]
            return [from_elements([extract(line, k) for line in lines]) for k in range(length)]
        return [self._along_free(ring, stage, first + k) for k in range(length)]

    def _line(self, ring: ir.Value, stage: ir.Value, number: int, first: int, length: int) -> ir.Value:
        shape, line = self.shape, (self.origin + self.stride * number).value()
        position = shape.position(index_constant(first // shape.chunk), shape.swizzle(line)) + first % shape.chunk
        return factor_of(self.operand, _load(ring, [stage, line, position.value()], length))

    def _along_free(self, ring: ir.Value, stage: ir.Value, inner: int) -> ir.Value:
        shape, found = self.shape, []
        line = index_constant(inner)
        for number in range(self.count):
            chunk, within = digits((self.origin + self.stride * number).value(), [0, shape.chunk])
            position = shape.position(chunk, shape.swizzle(line)) + within
            found += elements(_load(ring, [stage, line, position.value()], self.vector))
        return factor_of(self.operand, from_elements(found))


class _Fma:
    """Multiplier of pipeline.py: accumulators are one vector along the columns for each of the thread's rows."""

    def __init__(self, contraction: ContractionGroup, schedule: TileSchedule, shapes: tuple[TileShape, TileShape], thread: ir.Value):
        self.contraction, self.depth = contraction, schedule.depth
        lane = remainder(thread, 32)
        warp = digits(divide(thread, 32), [0, schedule.warp_cols])
        sizes = schedule.rows // schedule.warp_rows, schedule.cols // schedule.warp_cols
        places = divide(lane, _LANES[1]), remainder(lane, _LANES[1])
        sides = []
        for operand, shape, lanes, place, at, size in zip((contraction.left, contraction.right), shapes, _LANES, places, warp, sizes):
            count, vector = _held(shape, size, lanes)
            sides.append(_Side(operand, shape, LinearIndex.of(at) * size + LinearIndex.of(place) * vector, lanes * vector, count, vector))
        self.left, self.right = sides
        self.warp_row, self._lane_row = warp[0], LinearIndex.of(places[0]) * self.left.vector
        self.rows, self.cols = (side.count * side.vector for side in sides)

    def zeros(self) -> list[ir.Value]:
        return [splat(vector_of(self.cols, self.contraction.accumulator), 0)] * self.rows

    def step(self, left: ir.Value, right: ir.Value, stage: ir.Value, accumulators: list[ir.Value]) -> list[ir.Value]:
        sums = list(accumulators)
        length = min(_INNER_VECTOR, self.left.shape.chunk, self.right.shape.chunk)
        for first in range(0, self.depth, length):
            lefts = self.left.fragments(left, stage, first, length)
            rights = self.right.fragments(right, stage, first, length)
            for row_factors, col_factors in zip(lefts, rights):
                for i in range(self.rows):
                    sums[i] = multiply_add(broadcast(extract(row_factors, i), self.cols), col_factors, sums[i])
        return sums

    def results(self, accumulators: list[ir.Value]) -> list[Results]:
        found = []
        for i, sums in enumerate(accumulators):
            row = self._lane_row + (i // self.left.vector * self.left.stride + i % self.left.vector)
            for j in range(self.right.count):
                values = part(sums, j * self.right.vector, self.right.vector)
                values = extract(values, 0) if self.right.vector == 1 else values
                found.append(Results(row, self.right.origin + j * self.right.stride, values))
        return found


def _load(ring: ir.Value, at: list[ir.Value], length: int) -> ir.Value:
    """Always a vector, of at most 16 bytes an access."""
    loaded = load(ring, at, length)
    return loaded if length > 1 else from_elements([loaded])
