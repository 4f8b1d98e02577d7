"""How schedules cut axes into tiles."""

from __future__ import annotations

from math import ceil

from torch_mlir import ir

from ...common.affine import dim_position
from ...common.axes import Axes, TileOp

LOOP_TILE_POINTS = 8192
"""Points of an elementwise tile: enough to forget the loop around it, few enough to stay in L1 with its operands."""


def panels(hero: TileOp) -> dict[int, int]:
    """The panel width of each axis along which an operand is packed: read as `loop floordiv width` and `loop mod width`."""
    widths = {}
    for m in hero.maps[: len(hero.inputs)]:
        for expr in m.results:
            if isinstance(expr, ir.AffineModExpr):
                loop, width = dim_position(ir.AffineModExpr(expr).lhs), ir.AffineModExpr(expr).rhs
                if loop is not None and isinstance(width, ir.AffineConstantExpr):
                    widths[hero.axes[loop]] = ir.AffineConstantExpr(width).value
    return widths


def cut(sizes: dict[int, int], axes: Axes, group: list[int], points: int) -> None:
    """Cuts the innermost of `group` into even pieces of about `points`, and the others one by one, until tiles have so many points."""
    for axis in reversed(group):
        if axis not in axes.tileable:
            continue
        extent = axes.extent[axis]
        if extent <= points:
            points //= extent
            continue
        pieces = ceil(extent / max(points, 1))
        size = max(1, ceil(extent / pieces))
        sizes[axis] = min(extent, points) if points >= 64 else size
        points = 1


def innermost(hero: TileOp, operand: int) -> int | None:
    """The axis along which `operand` is contiguous."""
    results = hero.maps[operand].results
    position = dim_position(results[len(results) - 1]) if len(results) else None
    return None if position is None else hero.axes[position]
