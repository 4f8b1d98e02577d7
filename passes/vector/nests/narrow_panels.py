"""Operands of dots of small integers, copied to panels of 32-bit lanes: a lane holds as many neighbours in depth as one lane of an
instruction multiplies, two of 16 bits or four of 8.

    rows       A[m, k]              [m][k / 2] lanes: copied
    columns    B[k, n]              [k / 2][n] lanes: rows of k interleaved
               B[n, k]              [k / 2][n] lanes: squares of lanes transposed in registers
    either     other strides        lane by lane

The depth is filled up with zeros to whole lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from ...common.control_flow import for_each, nest_each
from ...common.linear_index import LinearIndex, least
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from ...common.vectors import is_vector, splat, vector_of
from .lanes import Lanes
from .nests import chunks
from .packing import Scratch, transpose_square


@dataclass(frozen=True)
class Grouping:
    """How elements of an operand become lanes: `count` of them, each `bits` wide after it is extended, with its sign or not (a float is its
    bits); `flips` moves them by half of their range, which exchanges signed and unsigned ones."""

    count: int
    bits: int
    signed: bool
    lanes: int
    """Lanes of a register."""
    flips: bool = False

    def grouped(self, value: ir.Value) -> ir.Value:
        """Vectors of elements as lanes; the elements of a lane are neighbours."""
        kind = ir.VectorType(value.type)
        wide = vector_of(kind.shape[0], ir.IntegerType.get_signless(self.bits))
        if isinstance(kind.element_type, ir.FloatType):
            value = vector.bitcast(wide, value)
        elif wide != kind:
            value = (arith.extsi if self.signed else arith.extui)(wide, value)
        if self.flips:
            value = arith.xori(value, splat(wide, -1 << self.bits - 1))
        return vector.bitcast(vector_of(kind.shape[0] // self.count, _i32()), value)

    def joined(self, values: list[ir.Value]) -> ir.Value:
        """The lanes of `count` vectors (or scalars), one element of each a lane; missing ones are zeros."""
        zeros = splat(values[0].type, 0)
        values = values + [zeros] * (self.count - len(values))
        if not is_vector(values[0]):
            return self.grouped(vector.from_elements(vector_of(self.count, values[0].type), values))
        while len(values) > 1:
            half = len(values) // 2
            values = [vector.interleave(a, b) for a, b in zip(values[:half], values[half:])]
        return self.grouped(values[0])


@dataclass(frozen=True)
class Source:
    """An operand in memory: element (i, k, outer…) is at `offset + i * across + k * along + …`, i < extent, k < depth.

    `outer` has (extent, stride) of the other reduced loops.
    """

    storage: Storage
    offset: LinearIndex
    across: int
    along: int
    extent: int | ir.Value
    depth: int
    outer: list[tuple[int, int]]


@dataclass(frozen=True)
class Panel:
    """Lane (i, k / count, outer…) is at the sum of the indices times `across`, `along` and `outer` in `storage`."""

    storage: Storage
    across: int
    along: int
    outer: list[int]

    @staticmethod
    def of_rows(scratch: Scratch, source: Source, grouping: Grouping) -> Panel:
        """[i][outer…][k]."""
        storage = scratch((size_bound(source.extent), *(n for n, _ in source.outer), _groups(source.depth, grouping)), _i32())
        across, *outer, along = storage.strides
        return Panel(storage, across, along, outer)

    @staticmethod
    def of_columns(scratch: Scratch, source: Source, grouping: Grouping) -> Panel:
        """[outer…][k][i]."""
        width = _up(size_bound(source.extent), 2 * grouping.lanes)
        storage = scratch((*(n for n, _ in source.outer), _groups(source.depth, grouping), width), _i32())
        *outer, along, across = storage.strides
        return Panel(storage, across, along, outer)

    def by_rows(self) -> Storage:
        """Its lanes as [i][outer…][k]."""
        return replace(self.storage, strides=(self.across, *self.outer, self.along))

    def by_columns(self) -> Storage:
        """Its lanes as [outer…][k][i]."""
        return replace(self.storage, strides=(*self.outer, self.along, self.across))


def pack_panel(source: Source, panel: Panel, grouping: Grouping) -> None:
    """Copies all of `source`."""

    def at(indices: list[LinearIndex]) -> None:
        offset, target = source.offset, panel.storage.offset
        for index, (_, stride), step in zip(indices, source.outer, panel.outer):
            offset, target = offset + index * stride, target + index * step
        _Plane(source, offset, panel, target, grouping).copy()

    nest_each([extent for extent, _ in source.outer], at)


@dataclass(frozen=True)
class _Plane:
    """All (i, k) for one index of each outer loop: the first element, and where its lane goes."""

    source: Source
    offset: LinearIndex
    panel: Panel
    target: LinearIndex
    grouping: Grouping

    def copy(self) -> None:
        source, panel = self.source, self.panel
        if panel.along == 1 and source.along == 1:
            for_each(0, source.extent, 1, self._row)
        elif panel.across == 1 and source.across == 1:
            self._interleave()
        elif panel.across == 1 and source.along == 1:
            for_each(0, source.extent, self.grouping.lanes, self._square)
        else:
            for_each(0, source.extent, 1, self._lane_by_lane)

    def _load(self, lanes: Lanes, i: LinearIndex, k: LinearIndex) -> ir.Value:
        return lanes.load(self.source.storage, self.offset + i * self.source.across + k * self.source.along)

    def _store(self, value: ir.Value, i: LinearIndex, group: LinearIndex) -> None:
        address = self.target + i * self.panel.across + group * self.panel.along
        count = ir.VectorType(value.type).shape[0]
        value = value if count > 1 else vector.extract(value, [], [0])
        Lanes(count).store(value, self.panel.storage, address.along_lanes())

    def _row(self, i: LinearIndex) -> None:
        count, lanes = self.grouping.count, self.grouping.lanes

        def chunk(k: LinearIndex, wide: Lanes) -> None:
            address = self.offset + i * self.source.across + k
            self._store(self.grouping.grouped(wide.load(self.source.storage, address.along_lanes())), i, _over(k, count))

        chunks(self.source.depth, 2 * lanes * count, count, chunk)

    def _interleave(self) -> None:
        count, depth, lanes = self.grouping.count, self.source.depth, self.grouping.lanes

        def group(k: LinearIndex, live: int = count) -> None:
            def chunk(i: LinearIndex, wide: Lanes) -> None:
                rows = [self._load(wide, i.along_lanes(), k + j) for j in range(live)]
                self._store(self.grouping.joined(rows), i, _over(k, count))

            chunks(self.source.extent, 2 * lanes, lanes, chunk)

        whole = depth - depth % count
        for_each(0, whole, count, group)
        if whole < depth:
            group(LinearIndex(constant=whole), depth - whole)

    def _square(self, start: LinearIndex) -> None:
        count, lanes = self.grouping.count, self.grouping.lanes
        last = LinearIndex.of(self.source.extent) - 1
        rows = [least(start + i, last) for i in range(lanes)]

        def chunk(k: LinearIndex, wide: Lanes) -> None:
            square = [self.grouping.grouped(self._load(wide, row, k.along_lanes())) for row in rows]
            groups = lanes if wide.mask is None else _up(self.source.depth - k.constant, count) // count
            for j, value in enumerate(transpose_square(square)[:groups]):
                self._store(value, start, _over(k, count) + j)

        chunks(self.source.depth, lanes * count, lanes * count, chunk)

    def _lane_by_lane(self, i: LinearIndex) -> None:
        count, depth = self.grouping.count, self.source.depth

        def group(k: LinearIndex, live: int = count) -> None:
            self._store(self.grouping.joined([self._load(Lanes(1), i, k + j) for j in range(live)]), i, _over(k, count))

        whole = depth - depth % count
        for_each(0, whole, count, group)
        if whole < depth:
            group(LinearIndex(constant=whole), depth - whole)


def _groups(depth: int, grouping: Grouping) -> int:
    return _up(depth, grouping.count) // grouping.count


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def _over(index: LinearIndex, count: int) -> LinearIndex:
    """`index`, a multiple of `count`, divided by it."""
    if index.is_constant:
        return LinearIndex(constant=index.constant // count)
    return LinearIndex.of(arith.divui(index.value(), LinearIndex(constant=count).value()))


def _i32() -> ir.Type:
    return ir.IntegerType.get_signless(32)
