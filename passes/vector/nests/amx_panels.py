"""Operands of AMX tile products: read where they lie, or copied to panels on the stack.

What does not lie as tiles are (amx_tiles.py) is packed, the depth filled up with zeros to whole tiles:

    left    A[m, k]              as it is; copied where the depth or the rows end within a tile
            A[k, m]              squares of 32 × 32 bf16 transposed in registers
    right   B[k/2, n, 2]         as it is (bf16, packed when bound)
            B[k, n]              pairs (quads) of rows interleaved
            B[n, k]              squares of 16 × 16 pairs (quads) transposed in registers
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from torch_mlir import ir
from torch_mlir.dialects import vector

from ...common.control_flow import for_each, nest_each
from ...common.linear_index import LinearIndex, least
from ...common.vectors import splat, static_mask, vector_of
from .amx_tiles import Format, Operand
from .lanes import Lanes
from .nests import chunks, dynamic_mask
from .packing import Scratch, transpose_square


@dataclass(frozen=True)
class Depth:
    """The reduced loops of a contraction: the outer ones (dim: extent), and how far the depth goes."""

    outer: dict[int, int]
    extent: int
    form: Format

    @property
    def padded(self) -> int:
        """The extent, filled up to whole tiles."""
        return ceil(self.extent / self.form.depth) * self.form.depth

    def panel_of_rows(self, scratch: Scratch, element: ir.Type, count: int) -> Operand:
        """A left operand on the stack: [count][outer…][depth]."""
        buffer = scratch((count, *self.outer.values(), self.padded), element)
        return Operand(buffer, buffer.offset, buffer.strides[0], 1, dict(zip(self.outer, buffer.strides[1:])))

    def panel_of_columns(self, scratch: Scratch, element: ir.Type, count: int) -> Operand:
        """A right operand on the stack: [outer…][depth / 2][count][2], of bytes 4 for 2."""
        group = self.form.group
        buffer = scratch((*self.outer.values(), self.padded // group, group * count), element)
        return Operand(buffer, buffer.offset, group, 1, dict(zip(self.outer, buffer.strides)), group * count, group)

    def over_outer(self, body: Callable[[dict[int, LinearIndex]], None]) -> None:
        """`body(indices by dim)` for all indices of the outer loops."""
        nest_each(list(self.outer.values()), lambda indices: body(dict(zip(self.outer, indices))))


def pack_rows(source: Operand, target: Operand, start: LinearIndex, extent: int | ir.Value, count: int, depth: Depth) -> None:
    """Copies `count` rows from row `start` of `extent` on; rows beyond the last repeat it, or are zero.

    `count` is a multiple of 32, and of a tile's depth where rows are transposed.
    """
    if source.along == 1:
        _copy_rows(source, target, start, extent, count, depth)
    else:
        _transpose_rows(source, target, start, extent, count, depth)


def _copy_rows(source: Operand, target: Operand, start: LinearIndex, extent: int | ir.Value, count: int, depth: Depth) -> None:
    last = LinearIndex.of(extent) - 1

    def row(i: LinearIndex) -> None:
        index = least(start + i, last)

        def at(reduced: dict[int, LinearIndex]) -> None:
            def chunk(k: LinearIndex, lanes: Lanes) -> None:
                value = lanes.load(source.storage, source.at(index, k, reduced).along_lanes())
                Lanes(lanes.count).store(value, target.storage, target.at(i, k, reduced).along_lanes())

            chunks(depth.extent, depth.form.depth, depth.form.depth, chunk)

        depth.over_outer(at)

    for_each(0, count, 1, row)


def _transpose_rows(source: Operand, target: Operand, start: LinearIndex, extent: int | ir.Value, count: int, depth: Depth) -> None:
    left, side = LinearIndex.of(extent) - start, depth.form.depth

    def square(i: LinearIndex) -> None:
        lanes = live_lanes(left - i, side)

        def at(reduced: dict[int, LinearIndex]) -> None:
            def chunk(k: LinearIndex, wide: Lanes) -> None:
                whole = wide.mask is None
                live = side if whole else depth.extent % side
                first = source.at(start + i, LinearIndex(), reduced)
                rows = [lanes.load(source.storage, (first + (k + j) * source.along).along_lanes()) for j in range(live)]
                rows += [splat(vector_of(side, source.storage.element), 0)] * (side - live)
                for j, value in enumerate(transpose_square(rows)):
                    Lanes(side).store(value, target.storage, target.at(i + j, k, reduced).along_lanes())

            chunks(depth.extent, depth.form.depth, depth.form.depth, chunk)

        depth.over_outer(at)

    for_each(0, count, side, square)


def pack_columns(
    source: Operand, target: Operand, start: LinearIndex, extent: int | ir.Value | LinearIndex, count: int, depth: Depth
) -> None:
    """Copies `count` columns (16 or 32) from column `start` of `extent` on, as pairs (quads) of depth side by side."""
    fill = _interleave if source.across == 1 else _transpose_pairs
    depth.over_outer(lambda reduced: fill(source, target, start, extent, count, depth, reduced))


def pack_blocks(source: Operand, panel: Callable[[LinearIndex], Operand], extent: int | ir.Value, count: int, depth: Depth) -> None:
    """Packs all columns, `count` (16 or 32) at a time: those from n on to `panel(n)`. Rows of columns are read from front to back."""
    whole = extent - extent % count if isinstance(extent, int) else 0

    if source.across == 1:
        depth.over_outer(lambda reduced: _rows(source, panel, whole, count, depth, reduced))
    else:
        for_each(0, whole, count, lambda n: pack_columns(source.moved(n), panel(n), LinearIndex(), count, count, depth))
    if whole != extent:
        for_each(whole, extent, count, lambda n: pack_columns(source, panel(n), n, extent, count, depth))


def _rows(
    source: Operand,
    panel: Callable[[LinearIndex], Operand],
    extent: int,
    count: int,
    depth: Depth,
    reduced: dict[int, LinearIndex],
) -> None:
    """Whole blocks of columns, all of some rows after the other."""

    def rows(k: LinearIndex, live: int) -> None:
        for_each(0, extent, count, lambda n: _pack_group(source.moved(n), panel(n), LinearIndex(), Lanes(count), k, live, reduced))

    _each_group(depth, rows)


def _interleave(
    source: Operand,
    target: Operand,
    start: LinearIndex,
    extent: int | ir.Value | LinearIndex,
    count: int,
    depth: Depth,
    reduced: dict[int, LinearIndex],
) -> None:
    lanes = live_lanes(LinearIndex.of(extent) - start, count)
    _each_group(depth, lambda k, live: _pack_group(source, target, start, lanes, k, live, reduced))


def _each_group(depth: Depth, body: Callable[[LinearIndex, int], None]) -> None:
    """`body(k, live)` of the rows that stand side by side from k on, of which so many exist, up to whole tiles."""
    group = depth.form.group
    whole = depth.extent - depth.extent % group
    for_each(0, whole, group, lambda k: body(k, group))
    for k in range(whole, depth.padded, group):
        body(LinearIndex(constant=k), max(0, min(group, depth.extent - k)))


def _pack_group(
    source: Operand, target: Operand, start: LinearIndex, lanes: Lanes, k: LinearIndex, live: int, reduced: dict[int, LinearIndex]
) -> None:
    """Stores the rows from k on, the columns from `start` on, side by side; those that do not exist are zeros."""
    rows = [lanes.load(source.storage, source.at(start, k + j, reduced).along_lanes()) for j in range(live)]
    rows += [splat(vector_of(lanes.count, source.storage.element), 0)] * (target.group - live)
    count = lanes.count * len(rows)
    while len(rows) > 1:
        half = len(rows) // 2
        rows = [vector.interleave(low, high) for low, high in zip(rows[:half], rows[half:])]
    Lanes(count).store(rows[0], target.storage, target.at(LinearIndex(), k, reduced).along_lanes())


def _transpose_pairs(
    source: Operand,
    target: Operand,
    start: LinearIndex,
    extent: int | ir.Value | LinearIndex,
    count: int,
    depth: Depth,
    reduced: dict[int, LinearIndex],
) -> None:
    last = LinearIndex.of(extent) - 1
    i32 = vector_of(16, ir.IntegerType.get_signless(32))
    wide, group = vector_of(depth.form.depth, source.storage.element), depth.form.group
    rows = [least(start + i, last) for i in range(count)]

    def chunk(k: LinearIndex, lanes: Lanes) -> None:
        for first in range(0, count, 16):
            loads = [lanes.load(source.storage, source.at(row, k, reduced).along_lanes()) for row in rows[first : first + 16]]
            square = transpose_square([vector.bitcast(i32, v) for v in loads])
            for j, value in enumerate(square):
                address = target.at(LinearIndex(constant=first), k + group * j, reduced)
                Lanes(depth.form.depth).store(vector.bitcast(wide, value), target.storage, address.along_lanes())

    chunks(depth.extent, depth.form.depth, depth.form.depth, chunk)


def live_lanes(left: LinearIndex, count: int) -> Lanes:
    """`count` lanes of which the first `left` are live."""
    if left.is_constant:
        return Lanes(count, None if left.constant >= count else static_mask(count, left.constant))
    return Lanes(count, dynamic_mask(count, left.value()))
