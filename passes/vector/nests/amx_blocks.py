"""Blocks of AMX tiles: rows and columns of a product for a part of its depth.

Fewer than 16 rows make tiles of as many; where the others of a kernel have more, all of whose registers they take, and of fewer columns,
a block is stored by way of a scratch block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import memref

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.control_flow import LoopBound, for_each, for_loop, nest
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .amx_panels import Depth
from .amx_tiles import BLOCK, SIDE, Operand, load_sums, store_tile, tiles_of
from .lanes import Lanes
from .nests import chunks

_IN_L2 = 2


def whole_blocks(extent: int, body: Callable[[LinearIndex, int], None]) -> None:
    """`body(start, size)` of the blocks of 32."""
    for_each(0, extent // BLOCK, 1, lambda number: body(number * BLOCK, BLOCK))


def last_block(extent: int, least: int, body: Callable[[LinearIndex, int], None]) -> None:
    """`body(start, size)` of the one that covers the rest, if any, of at least `least`. It may share rows (columns) with another: it must
    start from zero."""
    if rest := extent % BLOCK:
        size = max(least, min(extent, SIDE if rest <= SIDE else BLOCK))
        body(LinearIndex(constant=max(0, extent - size)), size)


def parts(extent: int, size: int, body: Callable[[LinearIndex, int], None]) -> None:
    """`body(start, length)` of the parts of a depth, the first of which starts from the constant 0."""
    whole = extent // size * size
    body(LinearIndex(), min(size, extent))
    for_each(size, whole, size, lambda start: body(start, size))
    if size < extent and extent % size:
        body(LinearIndex(constant=whole), extent % size)


@dataclass(frozen=True)
class Sums:
    """Where sums go: rows of `storage` from `offset` on, `row` apart."""

    storage: Storage
    offset: LinearIndex
    row: int


@dataclass(frozen=True)
class Edge:
    """Rows and columns of sums that there are, where blocks have more; `room` makes room for such a block."""

    rows: int
    columns: int
    room: Callable[[], Storage]


@dataclass(frozen=True)
class Behind:
    """The panel of columns behind one, of which each step of a block of rows prefetches a share into L2: so many cache lines."""

    source: Operand
    column: LinearIndex
    """Its first column, in the source."""
    lines: int
    depth: Depth

    @staticmethod
    def of(source: Operand, column: LinearIndex, rows: int, depth: Depth, target: TargetView) -> Behind | None:
        """Declined: few rows, which the processor's own prefetching keeps up with; a source that is near, or a panel too large for L2."""
        size = element_bytes(source.storage.element)
        whole = ir.MemRefType(source.storage.base.type).shape[0] * size
        if rows < 2 * BLOCK or 4 * whole < target.l2_bytes or 4 * size * depth.padded * BLOCK > target.l2_bytes or depth.outer:
            return None
        return Behind(source, column, -(-BLOCK // (rows // BLOCK)), depth)

    def prefetch(self, row: LinearIndex, k: LinearIndex) -> None:
        """The share of the step at depth `k` of the block of rows at `row`."""
        for number in range(self.lines):
            place = self._line(row // BLOCK * self.lines + number, k)
            memref.prefetch(self.source.storage.base, [place.value()], False, _IN_L2, True)

    def _line(self, number: LinearIndex, k: LinearIndex) -> LinearIndex:
        """One of the 32 cache lines of a panel that hold the depth of a step: of its pairs or quads, or a row of B[k, n] or B[n, k]."""
        if self.source.pairs:
            return self.source.at(self.column, k, {}) + number * self.depth.form.depth
        if self.source.across == 1:
            return self.source.at(self.column, k + number, {})
        return self.source.at(self.column + number, k, {})


@dataclass(frozen=True)
class Products:
    """The products of rows of `left` and a panel of `right`, of 16 to 32 columns, added up where `sums` are to go."""

    left: Operand
    right: Operand
    columns: int
    depth: Depth
    sums: Sums
    edge: Edge | None = None

    def add(
        self, row: LinearIndex, rows: LoopBound, first: LinearIndex, count: LoopBound, fresh: bool, behind: Behind | None = None
    ) -> None:
        """Adds those of up to 32 rows from `row` on, of the depth from `first` on, `count` elements; to zero if `fresh`. Of fewer than 16
        rows each tile has as many."""
        form, height = self.depth.form, min(SIDE, size_bound(rows))
        own = replace(self.sums, offset=self.sums.offset + row * self.sums.row)
        cut = self._cut(rows)
        sums = own if cut is None else Sums(cut.room(), LinearIndex(), BLOCK)
        tops, sides = tiles_of(rows), tiles_of(self.columns)
        places = [sums.offset + i * sums.row + j for i in tops for j in sides]
        starts = [form.zero(height) if fresh else load_sums(sums.storage, each, sums.row, form, height) for each in places]

        def outer(indices: list[LinearIndex], totals: list[ir.Value]) -> list[ir.Value]:
            reduced = dict(zip(self.depth.outer, indices))
            lefts = [self.left.moved(row + i, first, reduced) for i in tops]
            rights = [self.right.moved(j, first, reduced) for j in sides]

            def step(k: LinearIndex, totals: list[ir.Value]) -> list[ir.Value]:
                left, right = [each.tile(k, form, height) for each in lefts], [each.tile(k, form) for each in rights]
                if behind is not None:
                    behind.prefetch(row, first + k)
                return form.multiply(left, right, totals)

            return for_loop(0, count, form.depth, totals, step)

        for total, place in zip(nest(list(self.depth.outer.values()), starts, outer), places):
            store_tile(total, sums.storage, place, sums.row, height)
        if cut is not None:
            _copy(sums.storage, own, cut.rows, cut.columns)

    def _cut(self, rows: LoopBound) -> Edge | None:
        """What there is of a block, if less than all."""
        if self.edge is None:
            return None
        high, wide = min(size_bound(rows), self.edge.rows), min(self.columns, self.edge.columns)
        return None if (high, wide) == (rows, self.columns) else replace(self.edge, rows=high, columns=wide)


def _copy(block: Storage, sums: Sums, rows: int, columns: int) -> None:
    def line(i: LinearIndex) -> None:
        def chunk(j: LinearIndex, lanes: Lanes) -> None:
            j = j.along_lanes()
            lanes.store(lanes.load(block, i * BLOCK + j), sums.storage, sums.offset + i * sums.row + j)

        chunks(columns, SIDE, SIDE, chunk)

    for_each(0, rows, 1, line)
