"""The schedule of convolutions that AMX multiplies: the windows of a tile's lines are packed once for all of its features.

A tile has as many rows, windows of all lines, as half of L2 holds the panel and the sums of, and as leave each core some tiles. It has all
features, but where L2 does not hold their weights beside these, or cores would have too few tiles.
"""

from __future__ import annotations

from math import ceil, prod

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.axes import Axes, TileOp
from ...common.linear_index import LinearIndex, linear_results
from .contraction import SUM_BYTES, amx_bytes
from .convolution import kinds, order, roles, shares_registers
from .cutting import cut, panels

_BLOCK = 32
"""Features of a block of tiles."""
_LEAST_FEATURES, _LEAST_ROWS = 64, 128
"""Of a tile: each block of weights is read for all of its rows."""
_TILES_A_CORE = 4


def amx_windows_schedule(hero: TileOp, axes: Axes, target: TargetView) -> dict[int, int] | None:
    """The tile size of each tiled axis, outermost first; None where AMX does not multiply it: groups that share
    registers are no tiles."""
    output, lines, columns, groups = roles(hero)
    if not amx_bytes(hero, target) or output[-1] not in columns or shares_registers(hero, axes, target):
        return None
    cores, size, room = max(2, target.cores), element_bytes(kinds(hero)[0].element_type), target.l2_bytes // 2
    row, beside = _windows(hero, lines)
    depth = prod(extent for extent, parallel in zip(hero.extents, hero.parallel) if not parallel)
    count, features = (prod(axes.extent[axis] for axis in group) for group in (lines, columns))
    most = max(_LEAST_ROWS, (room - size * beside) // (size * row + SUM_BYTES * features))
    shared = count // (_TILES_A_CORE * cores)
    sizes = {axis: 1 for axis in groups if axis in axes.tileable}
    cut(sizes, axes, lines, min(most, max(shared, _LEAST_ROWS)) // _BLOCK * _BLOCK)
    pieces = prod(ceil(axes.extent[axis] / sizes.get(axis, axes.extent[axis])) for axis in [*groups, *lines])
    if pieces > 1 and size * depth * features > room:
        features = max(_LEAST_FEATURES, room // (size * depth) // _BLOCK * _BLOCK)
    if pieces < cores:
        features = ceil(features * pieces / cores / _BLOCK) * _BLOCK
    widths = panels(hero)
    sizes |= {axis: widths[axis] for axis in columns if axis in widths and axis in axes.tileable}
    cut(sizes, axes, [axis for axis in columns if axis not in sizes], features)
    return {axis: sizes[axis] for axis in order(hero, axes, sizes, lines, target)}


def _windows(hero: TileOp, lines: list[int]) -> tuple[int, int]:
    """Elements of a row of windows, all taps along a line (passes/vector/nests/window_rows.py), and of what a tile has beside the lines of
    its own."""
    loops = [hero.axes.index(axis) for axis in lines]
    moves = linear_results(hero.maps[0], [LinearIndex({loop: 1}) for loop in range(len(hero.axes))]) or []
    across = loops[-2] if len(loops) > 1 else None
    row, beside = 1, 0
    for loop, parallel in enumerate(hero.parallel):
        index = next((index for index in moves if loop in index.terms), None)
        if parallel or index is None:
            continue
        if across is None or across not in index.terms:
            row *= hero.extents[loop]
        else:
            beside += (hero.extents[loop] - 1) * index.terms[loop] // index.terms[across]
    return row, beside * row * (hero.extents[loops[-1]] if loops else 1)
