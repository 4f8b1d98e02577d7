"""The schedule of windowed reductions: the result's innermost axis stays whole, so the kernel knows which windows reach into padding."""

from __future__ import annotations

from ...common.affine import dim_position
from ...common.axes import Axes, TileOp

_POINTS = 4096
"""Results of a tile."""


def pooling_schedule(root: TileOp, axes: Axes) -> dict[int, int]:
    """The tile size of each tiled axis, outermost first: innermost axes whole until there are enough results."""
    output = [root.axes[p] for p in map(dim_position, root.output_maps[0].results) if p is not None]
    line, *others = reversed(output)
    sizes: dict[int, int] = {}
    room = max(1, _POINTS // max(1, axes.extent[line]))
    for axis in (a for a in others if a in axes.tileable):
        sizes[axis] = min(axes.extent[axis], room)
        room = max(1, room // sizes[axis])
    ordered = [a for a in output if a in sizes] + sorted(a for a in axes.tileable if a not in output)
    sizes |= {a: 1 for a in ordered if a not in sizes}
    return {axis: sizes[axis] for axis in ordered if sizes[axis] < axes.extent[axis]}
