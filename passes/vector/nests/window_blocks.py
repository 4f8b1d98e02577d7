"""Blocks of 32 × 32 sums by AMX tiles, and what becomes of them: they are stored, or what follows is computed at once (results.py), row
by row from a copy of the block that the first cache holds.

    for blocks of rows (of one line, of two, or of all lines as one matrix): for blocks of features:
      c00, c01, c10, c11 = the sums over lines of taps, and along them
      tile_store cij → y[…]                                       where nothing follows and all columns are results
      tile_store cij → B;  for each row: y[…] = relu(B[row] + bias)

The last block of rows begins so early that it ends with the last row. What it has computed twice is not stored again: what follows may
read what it writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import ceil, prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes

from ...common.control_flow import LoopBound, bound_of, for_each, for_loop, nest
from ...common.linear_index import LinearIndex, least
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .access import Access
from .amx_panels import live_lanes
from .amx_tiles import BLOCK, SIDE, Format, Operand, store_tile
from .body import Captured
from .lanes import Lanes
from .nests import point_indices, whole_part
from .packing import Scratch
from .results import store_results
from .window_rows import Rows, Windows
from .work import Point, Work

_ROWS = 2
"""Of a block that are finished together."""


@dataclass(frozen=True)
class Tile:
    """So many rows, from the one of a line and pixel on, along the line or (`across`) from line to line; those before the row `fresh` were
    computed before, those from `end` on do not exist."""

    line: LinearIndex
    pixel: LinearIndex
    height: int
    across: bool = False
    fresh: LoopBound = 0
    end: LoopBound | None = None

    def row(self, row: LinearIndex) -> Tile:
        """As many rows, from that one on."""
        return replace(self, line=self.line + row) if self.across else replace(self, pixel=self.pixel + row)


@dataclass(frozen=True)
class Columns:
    """The weights of so many features, from the point `at` of the loops on; of these as many as are `live` have results."""

    weights: Operand
    at: dict[int, LinearIndex]
    width: int
    live: LinearIndex


@dataclass(frozen=True)
class Results:
    """Where sums go, of a work whose features are the loop `column`, and what comes after them."""

    work: Work
    out: Access
    column: int
    after: Sequence[Work]
    captured: Captured
    scratch: Scratch

    def are_stored(self, columns: Columns) -> bool:
        """Whether tiles are stored where their results go."""
        return not self.after and columns.live.is_constant and columns.live.constant % SIDE == 0

    def finish(self, block: Storage, rows: list[LinearIndex], columns: Columns, at: list[dict[int, LinearIndex]]) -> None:
        """What becomes of rows of a block, at points of the loops."""
        points, sums, rank = [], [], len(self.work.extents)
        width = SIDE if columns.width <= SIDE else BLOCK
        lanes, start = live_lanes(columns.live, width), columns.at[self.column]
        for row, point in zip(rows, at):
            sums.append([Lanes(width).load(block, (row * BLOCK).along_lanes())])
            points.append(Point(lanes, point_indices(rank, {**columns.at, **point}, self.column, start, lanes), self.captured))
        store_results(points, self.work, sums, self.after)


@dataclass(frozen=True)
class Blocks:
    """Two tiles of rows by two of features at a time."""

    form: Format
    windows: Windows
    rows: Rows
    results: Results

    def row_bytes(self) -> int:
        """Of what the rows of a block read, about: each line of taps once."""
        rows, length = self.rows, self.windows.length
        line = min(BLOCK * rows.pitch + length, BLOCK * length)
        return line * prod(axis.taps for axis in (*self.windows.deep, self.windows.lines)) * element_bytes(rows.storage.element)

    def each(self, body: Callable[[list[Tile]], None]) -> None:
        """`body` of the tiles of a block, for all rows: those of all lines are one matrix where they lie so, with their results; else a
        block is of one line or, of lines of an odd number of tiles, of two."""
        rows, lines, count = self.rows, self.windows.lines.rows, size_bound(self.windows.pixels.rows)
        line, pixel = (0 if loop is None else self.results.out.strides[loop] for loop in self._loops())
        first = Tile(LinearIndex(), LinearIndex(), min(SIDE, count))
        if count == 1:
            self._matrix(lines, replace(first, across=True), body)
        elif lines == 1 or (rows.line == count * rows.pitch and line == count * pixel):
            self._matrix(bound_of(LinearIndex.of(lines) * count), first, body)
        else:
            self._lines(first, body)

    def _matrix(self, count: LoopBound, first: Tile, body: Callable[[list[Tile]], None]) -> None:
        """So many rows; the last tile ends with the last one."""
        height = min(SIDE, size_bound(count))
        first = replace(first, height=height)
        if not isinstance(count, int):
            last = LinearIndex.of(arith.maxsi((LinearIndex.of(count) - height).value(), LinearIndex().value()))

            def tile(row: LinearIndex) -> Tile:
                start = least(row, last)
                end = least(LinearIndex.of(count) - start, LinearIndex(constant=height))
                return replace(first.row(start), fresh=bound_of(row - start), end=bound_of(end))

            for_each(0, count, 2 * height, lambda m: body([tile(m), tile(m + height)]))
            return
        whole = count - count % (2 * height)
        for_each(0, whole, 2 * height, lambda m: body([first.row(m), first.row(m + height)]))
        starts = [max(0, count - number * height) for number in range(ceil((count - whole) / height), 0, -1)]
        ends = [whole, *(start + height for start in starts)]
        if starts:
            body([replace(first.row(LinearIndex(constant=start)), fresh=end - start) for start, end in zip(starts, ends)])

    def _lines(self, first: Tile, body: Callable[[list[Tile]], None]) -> None:
        """Line by line, or two lines at a time."""
        lines, count, height = self.windows.lines.rows, size_bound(self.windows.pixels.rows), first.height

        def two(line: LinearIndex) -> None:
            for row in range(0, count, height):
                start = min(row, count - height)
                tile = replace(first.row(LinearIndex(constant=start)), fresh=row - start)
                body([replace(tile, line=line), replace(tile, line=line + 1)])

        pairs = 0 if ceil(count / height) % 2 == 0 else whole_part(lines, 2)
        for_each(0, pairs, 2, two)
        for_each(pairs, lines, 1, lambda line: self._matrix(count, replace(first, line=line), body))

    def emit(self, tiles: Sequence[Tile], columns: Columns) -> None:
        """The sums of these tiles of rows by some features, and what becomes of them."""
        count = ceil(columns.width / SIDE)
        sums = self._sums(tiles, columns.weights, count)
        of_tiles = [(tile, sums[number * count :][:count]) for number, tile in enumerate(tiles)]
        if self.results.are_stored(columns):
            out, steps = self.results.out, self._loops()
            for tile, each in of_tiles:
                step = out.strides[loop] if (loop := steps[0 if tile.across else 1]) is not None else BLOCK
                for number, value in enumerate(each):
                    place = out.at({**columns.at, **self._point(tile)}) + number * SIDE
                    store_tile(value, out.storage, place, step, tile.height)
            return
        blocks = [self.results.scratch((SIDE, BLOCK), ir.Type.parse(self.form.sums)) for _ in tiles]
        for block, (tile, each) in zip(blocks, of_tiles):
            for number, value in enumerate(each):
                store_tile(value, block, LinearIndex(constant=number * SIDE), BLOCK, tile.height)
        for block, (tile, _) in zip(blocks, of_tiles):
            known = isinstance(tile.fresh, int) and tile.end is None
            together = _ROWS if known and (tile.height - tile.fresh) % _ROWS == 0 else 1

            def rows(i: LinearIndex, block: Storage = block, tile: Tile = tile, together: int = together) -> None:
                some = [i + number for number in range(together)]
                self.results.finish(block, some, columns, [self._point(tile.row(row)) for row in some])

            for_each(tile.fresh, tile.height if tile.end is None else tile.end, together, rows)

    def _loops(self) -> tuple[int | None, int | None]:
        """Those of lines and of pixels."""
        return self.windows.lines.loops[0], self.windows.pixels.loops[0]

    def _point(self, tile: Tile) -> dict[int, LinearIndex]:
        """Of the loops, that of a tile's first row."""
        return {loop: index for loop, index in zip(self._loops(), (tile.line, tile.pixel)) if loop is not None}

    def _sums(self, tiles: Sequence[Tile], weights: Operand, count: int) -> list[ir.Value]:
        """The products of tiles of rows and of so many tiles of features."""
        form, rows, columns = self.form, self.rows, range(0, count * SIDE, SIDE)
        lefts = [Operand(rows.storage, self._first_row(tile), rows.line if tile.across else rows.pitch, 1) for tile in tiles]
        zeros = [form.zero(tile.height) for tile in tiles for _ in columns]

        def plane(indices: list[LinearIndex], sums: list[ir.Value]) -> list[ir.Value]:
            deep = sum((index * apart for index, apart in zip(indices, rows.deep)), LinearIndex())

            def line(tap: LinearIndex, place: LinearIndex, sums: list[ir.Value]) -> list[ir.Value]:
                at = {number: index for number, index in enumerate([*indices, tap]) if number in weights.reduced}
                rights = [weights.moved(j, reduced=at) for j in columns]

                def step(k: LinearIndex, sums: list[ir.Value]) -> list[ir.Value]:
                    of_rows = [left.tile(deep + place + k, form, tile.height) for left, tile in zip(lefts, tiles)]
                    return form.multiply(of_rows, [right.tile(k, form) for right in rights], sums)

                return for_loop(0, self.windows.length, form.depth, sums, step)

            apart = {b - a for a, b in pairwise(rows.taps)}
            if len(apart) <= 1:
                each = apart.pop() if apart else 0
                return for_loop(0, len(rows.taps), 1, sums, lambda tap, sums: line(tap, tap * each + rows.taps[0], sums))
            for tap, place in enumerate(rows.taps):
                sums = line(LinearIndex(constant=tap), LinearIndex(constant=place), sums)
            return sums

        return nest([axis.taps for axis in self.windows.deep], zeros, plane)

    def _first_row(self, tile: Tile) -> LinearIndex:
        return self.rows.offset + tile.line * self.rows.line + tile.pixel * self.rows.pitch
