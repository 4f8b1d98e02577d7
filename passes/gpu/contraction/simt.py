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

from ...common.control_flow import for_loop
from ...common.linear_index import LinearIndex
from ...common.vectors import broadcast, elements, extract, from_elements, part, splat, vector_of
from ...tiled.schedules.gpu_contraction import TileSchedule, simt_schedule
from ..support.emit import digits, divide, load, remainder
from ..support.layout import Factor, Layout
from .contraction import ContractionGroup, Operand
from .cp_async import TileShape, tile_shape
from .factors import factor_of, multiply_add
from .pipeline import emit_tiled
from .tile_results import Results, warp_places

_LANES = (4, 8)
_INNER_VECTOR = 4
_UNIT, _UNIT_BYTES = 8, 32
"""Steps of the inner loop that are unrolled, and the bytes of a line that they are at most."""
_FREE_VECTOR = 4


def emit(contraction: ContractionGroup, target: TargetView) -> None:
    """The kernel of `contraction`."""
    schedule = simt_schedule(contraction.sizes, widest(contraction), target)
    rows, cols = (contraction.rows, contraction.inner), (contraction.cols, contraction.inner)
    left = tile_shape(contraction.left, rows, schedule.rows, schedule.depth, schedule.threads)
    right = tile_shape(contraction.right, cols, schedule.cols, schedule.depth, schedule.threads)

    def multiplier(schedule: TileSchedule, shapes: tuple[TileShape, TileShape], thread: ir.Value) -> _Fma:
        return _Fma(contraction, schedule, shapes, thread)

    emit_tiled(contraction, schedule, (left, right), multiplier, _accumulators(schedule, (left, right)), target)


def widest(contraction: ContractionGroup) -> int:
    """Bytes of an element of the operand whose elements are the wider."""
    return max(element_bytes(each.element) for each in (contraction.left, contraction.right))


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

    def factors(self, ring: ir.Value, stage: ir.Value, number: int, first: _Inner, length: int) -> list[ir.Value]:
        """For each of `length` steps of the inner loop from `first` on, the factors of the thread's vector of that number."""
        if self.shape.along_inner:
            line = self._line(ring, stage, number, first, length)
            return [from_elements([extract(line, k)]) for k in range(length)]
        return [self._along_free(ring, stage, number, first.plus(k)) for k in range(length)]

    def _line(self, ring: ir.Value, stage: ir.Value, number: int, first: _Inner, length: int) -> ir.Value:
        shape, line = self.shape, (self.origin + self.stride * number).value()
        position = shape.position(first.chunk(shape.chunk), shape.swizzle(line)) + first.offset % shape.chunk
        return factor_of(self.operand, _load(ring, [stage, line, position.value()], length))

    def _along_free(self, ring: ir.Value, stage: ir.Value, number: int, inner: _Inner) -> ir.Value:
        shape, line = self.shape, inner.value()
        chunk, within = digits((self.origin + self.stride * number).value(), [0, shape.chunk])
        position = shape.position(chunk, shape.swizzle(line)) + within
        return factor_of(self.operand, _load(ring, [stage, line, position.value()], self.vector))


@dataclass(frozen=True)
class _Inner:
    """An index of a tile's inner loop, `unit * trip + offset`; chunks do not straddle units."""

    trip: LinearIndex
    unit: int
    offset: int

    def plus(self, more: int) -> _Inner:
        return _Inner(self.trip, self.unit, self.offset + more)

    def value(self) -> ir.Value:
        return (self.trip * self.unit + self.offset).value()

    def chunk(self, size: int) -> ir.Value:
        """The number of the chunk of that size that it lies in."""
        return (self.trip * (self.unit // size) + self.offset // size).value()


class _Fma:
    """Multiplier of pipeline.py: accumulators are one vector along the columns for each of the thread's rows."""

    def __init__(self, contraction: ContractionGroup, schedule: TileSchedule, shapes: tuple[TileShape, TileShape], thread: ir.Value):
        self.contraction, self.depth, self.slices = contraction, schedule.depth, schedule.warp_inner
        lane = remainder(thread, 32)
        self.warp_inner, *warp = warp_places(schedule, thread)
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
        """A loop over units of the inner loop: unrolled whole, the assembler would load far ahead, for which there are no registers."""
        length = min(_INNER_VECTOR, self.left.shape.chunk, self.right.shape.chunk)
        widest = max(element_bytes(side.operand.element) for side in (self.left, self.right))
        unit = min(self.depth, max(min(_UNIT, _UNIT_BYTES // widest), self.left.shape.chunk, self.right.shape.chunk))

        def body(trip: LinearIndex, sums: list[ir.Value]) -> list[ir.Value]:
            for first in range(0, unit, length):
                sums = self._multiply(left, right, stage, _Inner(trip, unit, first), length, sums)
            return sums

        trips = self.depth // self.slices // unit
        start = LinearIndex() if self.warp_inner is None else LinearIndex.of(self.warp_inner) * trips
        return for_loop(0, trips, 1, accumulators, lambda trip, sums: body(start + trip, sums))

    def _multiply(
        self, left: ir.Value, right: ir.Value, stage: ir.Value, first: _Inner, length: int, accumulators: list[ir.Value]
    ) -> list[ir.Value]:
        """All columns of `length` steps are held, the rows read one vector after the other."""
        sums = list(accumulators)
        vectors = [self.right.factors(right, stage, number, first, length) for number in range(self.right.count)]
        rights = [from_elements([each for vector in vectors for each in elements(vector[k])]) for k in range(length)]
        for number in range(self.left.count):
            for rows, cols in zip(self.left.factors(left, stage, number, first, length), rights):
                for i in range(self.left.vector):
                    row = number * self.left.vector + i
                    sums[row] = multiply_add(broadcast(extract(rows, i), self.cols), cols, sums[row])
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
