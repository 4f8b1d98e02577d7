"""Operands of products of narrow elements, copied to panels of 32-bit lanes: a lane holds as many neighbours in depth as one lane of an
instruction multiplies, one half that is widened, two of 16 bits or four of 8.

    rows       A[m, k]              [m][k / 2] lanes: copied
    columns    B[k, n]              [k / 2][n] lanes: rows of k interleaved
               B[n, k]              [k / 2][n] lanes: squares of lanes transposed in registers
    either     other strides        lane by lane

The depth is filled up with zeros to whole lanes. Of an operand with zeros around it only what exists is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from ...common.control_flow import LoopBound, bound_of, for_each
from ...common.linear_index import LinearIndex, least
from ...common.storage import Bounds, Panels, Storage, row_major
from ...common.tiled_function import size_bound
from ...common.vectors import broadcast, splat, vector_of
from .lanes import Lanes
from .narrow_grouping import Grouping
from .narrow_pieces import Reach
from .nests import chunks
from .packing import FAR_BYTES, Scratch, each_panel, transpose_square


@dataclass(frozen=True)
class Source:
    """An operand in memory: element (outer…, i, k) is at `offset + … + i * across + k * along`, i < extent, k < depth.

    `outer` has (extent, stride) of the other dims. `bounds` has, for each of these and then for i, which indices exist (None: all do);
    elsewhere nothing is read. `reach`: which k of an i exist; the others are zeros of the panel. `live`: how much of the depth all rows
    have, where that is known at run time alone.
    """

    storage: Storage
    offset: LinearIndex
    across: int
    along: int
    extent: LoopBound
    depth: int
    outer: list[tuple[LoopBound, int]] = field(default_factory=list)
    bounds: tuple[Bounds | None, ...] = ()
    reach: Reach | None = None
    live: ir.Value | None = None

    def ranges(self) -> list[tuple[LoopBound, LoopBound]]:
        """The indices that exist, of the outer dims and of i."""
        extents = [*(extent for extent, _ in self.outer), self.extent]
        return [_within(extent, pair) for extent, pair in zip_longest(extents, self.bounds)]

    def limits(self) -> list[LinearIndex]:
        """What is known at run time alone of which elements exist."""
        ends = [end for pair in self.bounds if pair is not None for end in pair]
        ends += [] if self.live is None else [LinearIndex.of(self.live)]
        return [end for end in ends if not end.is_constant]


@dataclass(frozen=True)
class Panel:
    """Lane (outer…, i, k / count) is at the sum of the indices times `outer`, `across` and `along` in `storage`; where columns lie in
    `panels`, those behind the first one lie further."""

    storage: Storage
    across: int
    along: int
    outer: list[int]
    panels: Panels | None = None

    @staticmethod
    def of_rows(scratch: Scratch, source: Source, grouping: Grouping) -> Panel:
        """[outer…][i][k]; rows of a part of the depth have room for the registers that they are stored by, and so has the last of rows that
        are no whole registers: each is stored with some lanes of the next one."""
        groups = groups_of(source.depth, grouping)
        groups = groups if source.live is None else columns_of(groups, grouping)
        shape = (*(size_bound(n) for n, _ in source.outer), size_bound(source.extent), groups)
        room = grouping.lanes if groups % grouping.lanes else 0
        storage = scratch((prod(shape) + room,), grouping.lane(source.storage.element))
        *outer, across, along = row_major(shape)
        return Panel(storage, across, along, outer)

    @staticmethod
    def of_columns(scratch: Scratch, source: Source, grouping: Grouping, chunk: int | None = None) -> Panel:
        """[outer…][k][i]; of more columns than a `chunk` that is read at once, [outer…][i / chunk][k][i mod chunk]."""
        width, depth = columns_of(size_bound(source.extent), grouping), groups_of(source.depth, grouping)
        each = width if chunk is None or not isinstance(source.extent, int) or 4 * width < FAR_BYTES else min(chunk, width)
        shape = (*(size_bound(n) for n, _ in source.outer), -(-width // each), depth, each)
        storage = scratch(shape, grouping.lane(source.storage.element))
        *outer, _, along, across = storage.strides
        return Panel(storage, across, along, outer, Panels(each, each * depth) if each < width else None)

    def by_rows(self) -> Storage:
        """Its lanes as [outer…][i][k]."""
        return replace(self.storage, strides=(*self.outer, self.across, self.along))

    def by_columns(self) -> Storage:
        """Its lanes as [outer…][k][i]."""
        *outer, count, depth, width = self.storage.sizes
        sizes = (*outer, depth, size_bound(count) * size_bound(width))
        return replace(self.storage, strides=(*self.outer, self.along, self.across), sizes=sizes, panels=self.panels)


def pack_panel(source: Source, panel: Panel, grouping: Grouping) -> None:
    """Copies all of `source` that exists; of a source that is moved, what does not exist becomes zeros that are moved, too."""
    if grouping.flips and any(source.bounds):
        _fill(panel.storage, grouping)
    *outer, rows = source.ranges()

    def at(indices: list[LinearIndex]) -> None:
        offset, target = source.offset, panel.storage.offset
        for index, (_, stride), step in zip(indices, source.outer, panel.outer):
            offset, target = offset + index * stride, target + index * step
        if panel.panels is None:
            _Plane(source, offset, panel, target, grouping, rows).copy()
            return
        width, depth = panel.panels.width, panel.panels.step // panel.panels.width

        def columns(count: LoopBound, first: LinearIndex) -> None:
            part = replace(source, extent=count)
            _Plane(part, offset + first * source.across, panel, target + first * depth, grouping, (0, count)).copy()

        each_panel(source.extent, width, columns)

    _each(outer, at)


@dataclass(frozen=True)
class _Plane:
    """All (i, k) for one index of each outer loop: the first element, and where its lane goes."""

    source: Source
    offset: LinearIndex
    panel: Panel
    target: LinearIndex
    grouping: Grouping
    rows: tuple[LoopBound, LoopBound]

    def copy(self) -> None:
        source, panel = self.source, self.panel
        if source.reach is not None:
            self._windows(source.reach, *self.rows)
        elif panel.along == 1 and source.along == 1:
            self._rows()
        elif panel.across == 1 and source.across == 1:
            self._interleave()
        elif panel.across == 1 and source.along == 1:
            for_each(0, source.extent, self.grouping.lanes, self._square)
        else:
            for_each(*self.rows, 1, self._lane_by_lane)

    def _load(self, lanes: Lanes, i: LinearIndex, k: LinearIndex) -> ir.Value:
        return lanes.load(self.source.storage, self._address(i, k))

    def _address(self, i: LinearIndex, k: LinearIndex) -> LinearIndex:
        return self.offset + i * self.source.across + k * self.source.along

    def _store(self, value: ir.Value, i: LinearIndex, group: LinearIndex) -> None:
        address = self.target + i * self.panel.across + group * self.panel.along
        count = ir.VectorType(value.type).shape[0]
        value = value if count > 1 else vector.extract(value, [], [0])
        Lanes(count).store(value, self.panel.storage, address.along_lanes())

    def _rows(self) -> None:
        """Rows one by one; where they lie in one piece and are no whole vectors, all as one."""
        count, depth, (first, end) = self.grouping.count, self.source.depth, self.rows
        step = 2 * self.grouping.lanes * count
        if (live := self.source.live) is not None:
            for_each(first, end, 1, lambda i: self._row(i, live))
        elif isinstance(first, int) and isinstance(end, int) and self.source.across == depth and depth % step and depth % count == 0:
            self._row(LinearIndex(constant=first), max(0, end - first) * depth)
        else:
            for_each(first, end, 1, lambda i: self._row(i, depth))

    def _windows(self, reach: Reach, first: LoopBound, end: LoopBound) -> None:
        """Rows that exist, and one by one those of which a part does."""
        assert isinstance(first, int) and isinstance(end, int)
        whole = range(max(first, reach.whole.start), min(end, reach.whole.stop))
        in_one_piece = self.source.along == 1
        for_each(whole.start, whole.stop, 1, lambda i: self._row(i, reach.depth) if in_one_piece else self._lane_by_lane(i))
        for i in range(first, end):  # afterwards: a whole row is stored with some lanes of the next one
            if i not in whole:
                (self._part if in_one_piece else self._part_by_lanes)(LinearIndex(constant=i), reach.existing(i))

    def _part(self, i: LinearIndex, existing: range) -> None:
        """A row, zeros where its elements do not exist."""
        count, lanes = self.grouping.count, self.grouping.lanes
        for start, width in _powers(0, _up(self.source.depth, count), 2 * lanes * count):
            row = splat(vector_of(width, self.source.storage.element), 0)
            for first, length in _powers(max(start, existing.start), min(start + width, existing.stop), width):
                address = self._address(i, LinearIndex(constant=first)).along_lanes()
                loaded = broadcast(Lanes(length).load(self.source.storage, address), 1)
                row = vector.insert_strided_slice(loaded, row, [first - start], [1])
            self._store(self.grouping.grouped(row), i, LinearIndex(constant=start // count))

    def _part_by_lanes(self, i: LinearIndex, existing: range) -> None:
        """The same where its elements lie apart."""
        count, zero = self.grouping.count, splat(self.source.storage.element, 0)
        for start in range(0, self.source.depth, count):
            places = range(start, start + count)
            values = [self._load(Lanes(1), i, LinearIndex(constant=k)) if k in existing else zero for k in places]
            self._store(self.grouping.joined(values), i, LinearIndex(constant=start // count))

    def _row(self, i: LinearIndex, length: LoopBound) -> None:
        count, lanes = self.grouping.count, self.grouping.lanes

        def chunk(k: LinearIndex, wide: Lanes) -> None:
            address = self.offset + i * self.source.across + k
            self._store(self.grouping.grouped(wide.load(self.source.storage, address.along_lanes())), i, _over(k, count))

        chunks(length, 2 * lanes * count, count, chunk)

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


def _fill(storage: Storage, grouping: Grouping) -> None:
    """Fills all of a panel with zeros."""

    def chunk(start: LinearIndex, lanes: Lanes) -> None:
        lanes.store(grouping.zeros(lanes.type(storage.element)), storage, storage.offset + start.along_lanes())

    chunks(prod(map(size_bound, storage.sizes)), 4 * grouping.lanes, grouping.lanes, chunk)


def _within(extent: LoopBound, bounds: Bounds | None) -> tuple[LoopBound, LoopBound]:
    """The indices below `extent` that exist."""
    if bounds is None:
        return 0, extent
    low, high = bounds
    first = max(0, low.constant) if low.is_constant else arith.maxsi(low.value(), LinearIndex().value())
    return first, bound_of(least(high, LinearIndex.of(extent)))


def _each(ranges: Sequence[tuple[LoopBound, LoopBound]], body: Callable[[list[LinearIndex]], None], *at: LinearIndex) -> None:
    """Loops over all of `ranges`, the first outermost."""
    if not ranges:
        body(list(at))
        return
    first, *others = ranges
    for_each(*first, 1, lambda index: _each(others, body, *at, index))


def _powers(first: int, end: int, most: int) -> Iterator[tuple[int, int]]:
    """The range in pieces (first, length) of powers of two."""
    while first < end:
        length = min(most, 1 << (end - first).bit_length() - 1)
        yield first, length
        first += length


def columns_of(extent: int, grouping: Grouping) -> int:
    """The columns that a panel of so many has."""
    return _up(extent, 2 * grouping.lanes)


def groups_of(depth: int, grouping: Grouping) -> int:
    """Lanes of so many elements."""
    return _up(depth, grouping.count) // grouping.count


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def _over(index: LinearIndex, count: int) -> LinearIndex:
    """`index`, a multiple of `count`, divided by it."""
    if index.is_constant:
        return LinearIndex(constant=index.constant // count)
    return LinearIndex.of(arith.divui(index.value(), LinearIndex(constant=count).value()))
