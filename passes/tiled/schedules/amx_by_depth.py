"""The schedule of products of operands that both lie by depth, which AMX multiplies: gradients by weights.

Transposing a row takes as long as its products with some hundred columns, and pairing a column as its products with fewer rows: a tile is
as large as half of L2 holds the sums of, of all taps where that may be, else of those along a line.
"""

from __future__ import annotations

from math import ceil, prod

from hloom.dialects.target import TargetView

from ...common.affine import dim_position
from ...common.axes import Axes, TileOp, even_size
from ...common.linear_index import LinearIndex, linear_results
from .contraction import SUM_BYTES, amx_bytes
from .cutting import cut, innermost

_ROWS, _COLUMNS, _BLOCK = 256, 512, 32
_LEAST_ROWS = 8
"""Of a product: a tile of fewer is nearly empty."""


def amx_by_depth_schedule(hero: TileOp, axes: Axes, target: TargetView) -> dict[int, int] | None:
    """The tile size of each tiled axis, outermost first; None where the operands do not lie so."""
    output = [hero.axes[p] for p in map(dim_position, hero.output_maps[0].results) if p is not None]
    row, column = _row(hero), innermost(hero, 1)
    if amx_bytes(hero, target) != 2 or row not in output or not output or output[-1] != column or row == column:
        return None
    of = hero.axes.index
    right = {hero.axes[d] for m in hero.maps[1:2] for d in map(dim_position, m.results) if d is not None}
    taps = [axis for axis in output if axis not in (row, column) and axis not in right]
    rows = axes.extent[row] * (prod(axes.extent[axis] for axis in taps[-1:]) if _lies_beside(hero, row, taps) else 1)
    if row in right or not hero.parallel[of(row)] or rows < _LEAST_ROWS:
        return None
    wide = _even(axes.extent[column], _COLUMNS)
    others = [axis for axis in output if axis not in (row, column)]
    inside = taps if _all_taps_fit(axes, taps, others, (row, column), wide, target) else taps[-1:]
    sizes = {axis: 1 for axis in others if axis in axes.tileable and axis not in inside}
    along = prod(axes.extent[axis] for axis in inside)
    high = _even(axes.extent[row], max(_BLOCK, min(_ROWS, target.l2_bytes // 2 // (SUM_BYTES * along * wide) // _BLOCK * _BLOCK)))
    for axis, size in ((column, wide), (row, high)):
        cut(sizes, axes, [axis], size)
    order = [*others, column, row]
    return {axis: sizes[axis] for axis in order if axis in sizes}


def _moves(hero: TileOp) -> list[LinearIndex]:
    """The indices of the left operand, in loops; none where they are not linear."""
    return linear_results(hero.maps[0], [LinearIndex({loop: 1}) for loop in range(len(hero.axes))]) or []


def _row(hero: TileOp) -> int | None:
    """The axis along which the left operand is contiguous: of channels `32 * g + c` those of a group."""
    last = _moves(hero)[-1:]
    return next((hero.axes[loop] for index in last for loop, step in index.terms.items() if step == 1), None)


def _all_taps_fit(axes: Axes, taps: list[int], others: list[int], product: tuple[int, int], wide: int, target: TargetView) -> bool:
    """Whether half of L2 holds the sums of all taps, of a tile as large as others, and each core gets a tile."""
    rows, columns = (axes.extent[axis] for axis in product)
    high = min(_ROWS, rows)
    tiles = prod(axes.extent[axis] for axis in others if axis not in taps) * ceil(rows / high) * ceil(columns / wide)
    return SUM_BYTES * prod(axes.extent[axis] for axis in taps) * high * wide <= target.l2_bytes // 2 and tiles >= target.cores


def _lies_beside(hero: TileOp, row: int, taps: list[int]) -> bool:
    """Whether the last taps read neighbours that lie side by side, all rows of each, and follow each other so among the results."""
    loops = [hero.axes.index(axis) for axis in (*taps[-1:], row)]
    moves = _moves(hero)
    output = [hero.axes[p] for p in map(dim_position, hero.output_maps[0].results) if p is not None]
    return len(loops) == 2 and len(moves) > 1 and moves[-2].coefficient(loops[0]) == 1 and output[-3:-1] == [taps[-1], row]


def _even(extent: int, most: int) -> int:
    return extent if extent <= most else -(-even_size(extent, most) // _BLOCK) * _BLOCK
