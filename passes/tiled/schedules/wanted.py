"""The tiles that a policy asks for in place of a schedule's.

    func.func private @fusion_0(…) attributes {hloom.tile = array<i64: 96, 128>, hloom.tile_rule = "tile 1: …"}

One size for each dimension of the group's first result, 0 for a dimension that is whole in every tile. The schedule's loops keep their
order; those that it has not come last. What is no tile is refused, and the schedule's hold: dimensions that cannot be tiled, panels of an
operand that is packed already, tiles that the cache has no room for, windows, AMX.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import dim_position
from ...common.axes import Axes
from ...common.contraction import is_contraction
from .contraction import amx_bytes
from .convolution import has_windows
from .cutting import panels

TILE, TILE_RULE, TILE_REQUIRED = "hloom.tile", "hloom.tile_rule", "hloom.tile_required"
"""On a group: sizes by dimension of its first result, the rule that wants them, and whether it is an error to refuse."""
BLOCKS, ROWS_TOGETHER, PRODUCER, CLUSTER = "hloom.blocks", "rows_together", "producer", "cluster"
"""On a group: what a policy asks of a GPU's blocks, by name: how many rows of tiles they go through together (gpu_tile_order.py), whether a
warp fetches for the others, and for two blocks (gpu/contraction/specialised.py)."""


def wanted(function: ir.Operation) -> list[int] | None:
    """The sizes that a policy asks of the group; None where it asks for nothing."""
    return list(ir.DenseI64ArrayAttr(function.attributes[TILE])) if TILE in function.attributes else None


def wanted_of_blocks(function: ir.Operation) -> dict[str, int]:
    """What a policy asks of the blocks of a GPU's kernel, by name."""
    asked = ir.DictAttr(function.attributes[BLOCKS]) if BLOCKS in function.attributes else ()
    return {each.name: ir.IntegerAttr(each.attr).value for each in asked}


def retiled(axes: Axes, sizes: dict[int, int], target: TargetView, asked: list[int]) -> dict[int, int] | str:
    """The tile sizes of the schedule with those that were asked for; or why that cannot be."""
    found = dimension_axes(axes)
    if found is None or len(found) != len(asked):
        return f"its first result has {0 if found is None else len(found)} dimensions, the rule {len(asked)} sizes"
    if target.kind != "cpu":
        return "tiles of a GPU's kernels are their threads', which no policy chooses"
    fixed = _fixed(axes, target)
    made = dict(sizes)
    for dimension, (axis, size) in enumerate(zip(found, asked)):
        extent = 1 if axis is None else axes.extent[axis]
        if axis is None or size == made.get(axis, extent) or (size in (0, extent) and axis not in made):
            continue
        if axis not in axes.tileable:
            return f"dimension {dimension} is whole in every tile of this group"
        if axis in fixed:
            return f"dimension {dimension} goes by what is packed: {fixed[axis]}"
        made[axis] = size
    made = {axis: size for axis, size in made.items() if 0 < size < axes.extent[axis]}
    room = _bytes(axes, made)
    if room > max(target.tile_bytes, _bytes(axes, sizes)):
        return f"a tile would read and write {room} bytes, of which {target.tile_bytes} have room"
    return made


def dimension_axes(axes: Axes) -> list[int | None] | None:
    """The axis of each dimension of the first result, None for those of extent 1; None where it is made elsewhere."""
    made = axes.producer(axes.results[0]) if axes.results else None
    if made is None:
        return None
    op = axes.ops[made[0]]
    positions = [dim_position(expr) for expr in op.output_maps[made[1]].results]
    return [None if position is None else op.axes[position] for position in positions]


def _fixed(axes: Axes, target: TargetView) -> dict[int, str]:
    """The axes whose tiles are not free, and why."""
    everything = {axis: "windows" for axis in axes.tileable}
    if any(op.inputs and has_windows(op) for op in axes.ops):
        return everything
    heroes = [op for op in axes.ops if is_contraction(op)]
    if any(amx_bytes(op, target) for op in heroes):
        return {axis: "AMX takes tiles of its own" for axis in axes.tileable}
    return {axis: "an operand lies in panels" for op in heroes for axis in panels(op)}


def _bytes(axes: Axes, sizes: dict[int, int]) -> int:
    """What a tile's largest op reads and writes."""

    def of(m: ir.AffineMap, kind: ir.Type, op_axes: list[int]) -> int:
        if not isinstance(kind, ir.RankedTensorType):
            return 0
        loops = {p for expr in m.results if (p := dim_position(expr)) is not None}
        return prod(sizes.get(op_axes[p], axes.extent[op_axes[p]]) for p in loops) * element_bytes(kind.element_type)

    return max((sum(of(m, v.type, op.axes) for m, v in zip(op.maps, [*op.inputs, *op.inits])) for op in axes.ops), default=0)
