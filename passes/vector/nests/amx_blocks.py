"""Blocks of AMX tiles: rows and columns of a product for a part of its depth.

What does not fill the last block of 32 is a block that ends where the rows (columns) end: it computes anew what it shares with the one
before it, to the same bits. Of 17 to 31 there are two such blocks of 16. Fewer than 16 rows make tiles of as many; where the others of a
kernel have more, all of whose registers they take, and of fewer columns, a block is stored by way of a scratch block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import memref

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.control_flow import for_each, for_loop, nest
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from .amx_panels import Depth, Operand, load_sums, load_tile, store_tile
from .lanes import Lanes
from .nests import chunks

BLOCK, SIDE = 32, 16
"""Rows and columns of a block of tiles, and of a tile."""
_IN_L2 = 2


def whole_blocks(extent: int, body: Callable[[LinearIndex, int], None]) -> None:
    """`body(start, size)` of the blocks of 32."""
    for_each(0, extent // BLOCK, 1, lambda number: body(number * BLOCK, BLOCK))


def last_blocks(extent: int, least: int, body: Callable[[LinearIndex, int], None]) -> None:
    """`body(start, size)` of those that cover the rest, of at least `least`. They share rows (columns) with others: each must start from
    zero."""
    if not extent % BLOCK:
        return
    if SIDE < extent < BLOCK:
        body(LinearIndex(), SIDE)
    size = BLOCK if extent > BLOCK and extent % BLOCK > SIDE else min(SIDE, max(least, extent))
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
    """Where sums go: rows of `storage` from `offset` on, `row` apart, of which there are so many rows and columns."""

    storage: Storage
    offset: LinearIndex
    row: int
    rows: int
    columns: int


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
class Block:
    """Rows and columns of a product, 32 or 16 of each: where they are in the operands and among the sums, and how many there are.

    Of fewer than 16 rows each tile has as many.
    """

    left: LinearIndex
    right: LinearIndex
    row: LinearIndex
    column: LinearIndex
    high: int
    wide: int

    @property
    def tiles(self) -> list[tuple[int, int]]:
        """The first row and column of each tile."""
        return [(i, j) for i in range(0, self.high, SIDE) for j in range(0, self.wide, SIDE)]

    @property
    def side(self) -> int:
        """Rows of a tile."""
        return min(SIDE, self.high)


@dataclass(frozen=True)
class Products:
    """The products of rows of `left` and columns of `right`, added up where `sums` are to go."""

    left: Operand
    right: Operand
    depth: Depth
    sums: Sums
    room: Callable[[], Storage]
    """Makes room for a block of which not all is stored."""

    def add(self, block: Block, first: LinearIndex, count: int, behind: Behind | None = None) -> None:
        """Adds those of the depth from `first` on, `count` elements; those from 0 on start from zero."""
        form, sums = self.depth.form, self.sums
        high, wide = min(block.high, sums.rows), min(block.wide, sums.columns)
        start = sums.offset + block.row * sums.row + block.column
        storage, address, row = sums.storage, start, sums.row
        if (high, wide) != (block.high, block.wide):
            storage, address, row = self.room(), LinearIndex(), BLOCK
        places = [address + i * row + j for i, j in block.tiles]
        fresh = first.is_constant and first.constant == 0
        starts = [form.zero(block.side) if fresh else load_sums(storage, each, row, form, block.side) for each in places]
        ends = self._steps(block, first, count, starts, behind)
        for tile, each in zip(ends, places):
            store_tile(tile, storage, each, row, block.side)
        if storage != sums.storage:
            _copy(storage, sums, start, high, wide)

    def _steps(self, block: Block, first: LinearIndex, count: int, starts: list[ir.Value], behind: Behind | None) -> list[ir.Value]:
        form = self.depth.form
        rows, columns = range(0, block.high, SIDE), range(0, block.wide, SIDE)

        def outer(indices: list[LinearIndex], sums: list[ir.Value]) -> list[ir.Value]:
            reduced = dict(zip(self.depth.outer, indices))

            def step(inner: LinearIndex, sums: list[ir.Value]) -> list[ir.Value]:
                k = first + inner
                left = [load_tile(self.left, self.left.at(block.left + i, k, reduced), form, block.side) for i in rows]
                right = [load_tile(self.right, self.right.at(block.right + j, k, reduced), form) for j in columns]
                if behind is not None:
                    behind.prefetch(block.row, k)
                pairs = [(x, y) for x in left for y in right]
                return [form.multiply(x, y, c) for (x, y), c in zip(pairs, sums)]

            return for_loop(0, count, form.depth, sums, step)

        return nest(list(self.depth.outer.values()), starts, outer)


def _copy(block: Storage, sums: Sums, start: LinearIndex, high: int, wide: int) -> None:
    def line(i: LinearIndex) -> None:
        def chunk(j: LinearIndex, lanes: Lanes) -> None:
            j = j.along_lanes()
            lanes.store(lanes.load(block, i * BLOCK + j), sums.storage, start + i * sums.row + j)

        chunks(wide, SIDE, SIDE, chunk)

    for_each(0, high, 1, line)
