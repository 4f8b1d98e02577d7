"""The schedule of two contractions of which the second sums over what the first makes, with reductions of rows between them (attention).

    s[b, m, n] = q[b, m, d] * k[b, n, d];  w[b, m, :] = softmax(s[b, m, :]);  o[b, m, e] = w[b, m, n] * v[b, n, e]

A tile is some rows of one batch, whole along n: the values between the two contractions stay in L2, beside what the second one reads.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.axes import Axes, TileOp, even_size
from ...common.contraction import LIVE, block_registers, block_rows, input_loops, is_contraction, multiplies_bf16, summed_product
from ..emission.temporaries import temporaries
from ..emission.tile_body import Live

_MOST_ROWS = 32
"""Rows of a tile: enough to read the right operands from L2, few enough to leave out most of what a mask covers."""
_AMX_ROWS = 16
"""Rows of an AMX tile: with fewer, those of several tiles that overlap."""


def chained(axes: Axes) -> tuple[TileOp, TileOp, int] | None:
    """(first, second, axis) of two contractions of the group, if the second sums over a parallel axis of the first, along which no tile
    can be cut."""
    heroes = [op for op in axes.ops if is_contraction(op) and summed_product(op.op.regions[0].blocks[0])]
    if len(heroes) != 2:
        return None
    first, second = heroes
    summed = [axis for axis, parallel in zip(second.axes, second.parallel) if not parallel]
    made = [axis for axis, parallel in zip(first.axes, first.parallel) if parallel]
    return (first, second, summed[0]) if len(summed) == 1 and summed[0] in made else None


def rows_of(op: TileOp, axes: Axes) -> list[int]:
    """The axes, of those that are tiled, along which the left operand moves and the right one does not."""
    left, right, *_ = input_loops(op)
    return [axis for loop, axis in enumerate(op.axes) if loop in left - right and axis in axes.tileable]


def chained_schedule(second: TileOp, axes: Axes, target: TargetView) -> dict[int, int]:
    """All tileable axes one by one, but for the innermost row axis: of that as many rows as half of a tile's share of the cache holds of
    what lies between."""
    rows = rows_of(second, axes)
    sizes = {axis: 1 for axis in second.axes if axis in axes.tileable}
    if not rows:
        return sizes
    last = rows[-1]
    a_row = max(1, sum(temporaries(axes, sizes).values()))
    by_tiles = target.amx_bf16 and multiplies_bf16(second.op.regions[0].blocks[0])
    block = _AMX_ROWS if by_tiles else block_rows(target, block_registers(target))
    most = min(_MOST_ROWS, max(block, target.tile_bytes // 2 // a_row))
    extent = axes.extent[last]
    if extent <= most:
        del sizes[last]
    elif by_tiles:
        sizes[last] = most if extent % most == 0 or extent % most >= _AMX_ROWS else even_size(extent, most)
    else:
        sizes[last] = most if extent % most == 0 else min(most, -(-even_size(extent, most) // block) * block)
    return sizes


def live_axis(function: ir.Operation, axes: Axes, sizes: dict[int, int]) -> Live | None:
    """The part of the columns between two contractions that a tile needs, where a mask leaves out the others. Of what is between and a
    result, too, it needs all."""
    chain = chained(axes) if LIVE in function.attributes else None
    if chain is None:
        return None
    rows, columns, ahead = ir.DenseI64ArrayAttr(function.attributes[LIVE])
    _, second, axis = chain
    found = [row for row in rows_of(second, axes) if axes.extent[row] == rows]
    known = len(found) == 1 and found[0] in sizes and axes.extent[axis] == columns
    return Live(axis, found[0], ahead) if known and not axes.returns(axis, found[0]) else None
