"""Schedules: the tile size of each axis of a group, chosen by its hero, the target and the shapes.

A schedule is a small function `(ops, axes, target) -> {axis: size}` over the tileable axes, innermost loop last; an axis that it
leaves out is whole in every tile. The order of the returned dictionary is the order of the tile loops, outermost first.
"""

from __future__ import annotations

from functools import partial
from math import ceil, lcm, prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import dim_position, evaluate, used_dims
from ...common.axes import KEPT_COLUMNS, Axes, TileOp, kept_bytes, repeated_by_tiles
from ...common.combiner import is_long, split
from ...common.contraction import (
    is_contraction,
)
from ...common.linear_index import linear_form
from ...common.periods import period
from ...common.rewriting import element_of
from .amx_by_depth import amx_by_depth_schedule
from .amx_windows import amx_windows_schedule
from .chained import chained, chained_schedule
from .contraction import contraction_schedule
from .convolution import convolution_schedule, has_groups_in_lanes, has_windows
from .cutting import LOOP_TILE_POINTS
from .gpu_tile_sizes import choose_gpu_tile_sizes
from .pooling import pooling_schedule
from .row_loop import row_loop, row_loop_schedule
from .wanted import retiled, wanted

SQUARE_TILE_SIDE, _FAR_SIDE = 32, 128
ROW_TILE_POINTS = 1024
"""A tile of rows has as many rows as make that many points, at least one."""

_LEAST_PIECE = 512
"""Bytes that are written in one piece."""
_MOST_COLUMNS, _LINE_COLUMNS = 256, 16
_SCANNED_ROWS = 32


def choose_tile_sizes(axes: Axes, target: TargetView) -> dict[int, int]:
    """The tile size of each tiled axis of the group, in the order of the tile loops: what a policy asks for, where it may be."""
    sizes = scheduled(axes, target)
    asked = wanted(axes.ops[0].op.parent) if axes.ops else None
    made = sizes if asked is None else retiled(axes, sizes, target, asked)
    return sizes if isinstance(made, str) else made


def scheduled(axes: Axes, target: TargetView) -> dict[int, int]:
    """Those of the hero's schedule."""
    if target.kind == "cuda":
        return choose_gpu_tile_sizes(axes, target)
    ops = axes.ops
    heroes = [op for op in ops if is_contraction(op)]
    if heroes and row_loop(ops[0].op.parent, axes, target) is not None:
        return row_loop_schedule(axes)
    if (chain := chained(axes)) is not None:
        return chained_schedule(chain[1], axes, target)
    if heroes:
        hero = max(heroes, key=lambda op: op.points)
        by_lines = has_windows(hero) or has_groups_in_lanes(hero)
        schedules = [amx_by_depth_schedule, *([amx_windows_schedule, convolution_schedule] if by_lines else [contraction_schedule])]
        return next(sizes for schedule in schedules if (sizes := schedule(hero, axes, target)) is not None)
    reductions = [op for op in ops if not all(op.parallel) and not repeated_by_tiles(op, axes)]
    windows = [op for op in reductions if op.inputs and has_windows(op) and any(op.parallel) and not (_sums_rows(op) or _sums_columns(op))]
    if windows:
        return pooling_schedule(windows[0], axes)
    if reductions:
        return reduction_schedule(max(reductions, key=lambda op: op.points), axes, target)
    return loop_schedule(axes, target)


def _sums_rows(op: TileOp) -> bool:
    """Whether an op sums whole rows of its first input: a group's channels, read at `4 * g + c`, are no window of a picture's line."""
    row = used_dims(op.maps[0].results[-1])
    return bool(row) and not any(op.parallel[d] for d in row)


def _sums_columns(op: TileOp) -> bool:
    """Whether each step of what is summed lies behind all that the others walk of the first input: lines of a longer one, whose columns
    are summed, are no windows."""
    form = linear_form(op.maps[0])
    for index in form or ():
        summed = [step for loop, step in index.terms.items() if not op.parallel[loop]]
        reach = sum(abs(step) * (op.extents[loop] - 1) for loop, step in index.terms.items() if op.parallel[loop])
        if summed and reach >= min(map(abs, summed)):
            return False
    return form is not None


def _in_loop_order(axes: Axes, root: TileOp) -> list[int]:
    ordered = [a for a in root.axes if a in axes.tileable]
    return ordered + sorted(a for a in axes.tileable if a not in ordered)


def loop_schedule(axes: Axes, target: TargetView) -> dict[int, int]:
    """Innermost loops whole until the tile has LOOP_TILE_POINTS points, the loop that exceeds it cut, those outside one by one.

    Where an input is contiguous along another axis than the result, a tile is a square of both: of each line of memory all is used. Squares
    come first, so that a short axis, as the taps of a filter are, is whole. Of what comes from memory they are larger, as this wants long
    pieces of few lines. Tiles whose lines of an input are short follow one another along these (_along_lines).
    """
    if not axes.ops:
        return {}
    root = max(axes.ops, key=lambda op: op.points)
    order = _in_loop_order(axes, root)
    last = root.axes[-1] if root.axes else None
    lines = [_walked(op, number) for op in axes.ops for number in range(len(op.inputs))]
    crossing = {inner for *outer, inner in lines if last in outer} - {None}
    room = max(1, LOOP_TILE_POINTS // max(1, prod(axes.extent[a] for a in root.axes if a not in axes.tileable)))
    square = [axis for axis in reversed(order) if crossing and axis in (*crossing, last)]
    side = _FAR_SIDE if _is_far(root, target) else SQUARE_TILE_SIDE
    sizes: dict[int, int] = {}
    for axis in [*square, *(axis for axis in reversed(order) if axis not in square)]:
        sizes[axis] = min(axes.extent[axis], room, side if axis in square else room)
        room = max(1, room // sizes[axis])
    cut = {axis: sizes[axis] for axis in order if sizes[axis] < axes.extent[axis]}
    crossed = [(op, line) for op in axes.ops for line in map(partial(_walked, op), range(len(op.inputs))) if line[-1] in crossing]
    return _along_lines(*crossed[0], cut, axes, target) if len(crossed) == 1 else cut


def _along_lines(op: TileOp, line: list[int | None], sizes: dict[int, int], axes: Axes, target: TargetView) -> dict[int, int]:
    """The sizes, with the axis last along which an input goes on behind a line that tiles read whole: a matrix `w[k, n]` that is packed in
    panels of a few columns is read from front to back, where one panel after the other reads short lines, far apart.

    Tiles are so high that a part of L2 holds the lines of all panels. Declined: results that do not lie panel by panel, row by row.
    """
    panel, high = op.axes[:2] if len(op.axes) > 2 else (None, None)
    if panel is None or high is None or line[0] != high or line[-2:-1] != [panel] or line[-1] in sizes:
        return sizes
    if sizes.keys() != {panel, high} or sizes[panel] > 1:
        return sizes
    piece = element_bytes(element_of(op.inits[0])) * prod(axes.extent[a] for a in op.axes[2:])
    most = max(ceil(_LEAST_PIECE / piece), target.l2_bytes // 32 // (piece * axes.extent[panel]))
    return {high: min(sizes[high], most), panel: 1}


def _is_far(op: TileOp, target: TargetView) -> bool:
    """Whether the last cache does not hold the operands beside much else."""
    kinds = [ir.RankedTensorType(value.type) for value in (*op.inputs, *op.inits) if isinstance(value.type, ir.RankedTensorType)]
    return sum(prod(kind.shape) * element_bytes(kind.element_type) for kind in kinds) > target.llc_bytes // 4


def reduction_schedule(root: TileOp, axes: Axes, target: TargetView) -> dict[int, int]:
    """Rows one by one or few at a time; columns that are kept while others are summed in runs of whole cache lines, of several loops where
    the innermost are short: as long as a near cache holds them for, where they are read twice."""
    order = _in_loop_order(axes, root)
    innermost = root.axes[-1]
    inside = prod(axes.extent[a] for a in root.axes if a not in axes.tileable)
    room = max(_SCANNED_ROWS if _is_long_scan(root) or _reduces_several(root) else 1, ROW_TILE_POINTS // max(1, inside))
    columns = _in_periods(_columns(root, axes, inside, target), root, axes) if innermost in order else 1
    sizes: dict[int, int] = {}
    for axis in reversed(order):
        extent = axes.extent[axis]
        sizes[axis] = min(extent, columns if axis == innermost else max(columns, room))
        columns = columns // extent
        room = room if axis == innermost else max(1, room // extent)
    return {axis: sizes[axis] for axis in order if sizes[axis] < axes.extent[axis]}


def _in_periods(columns: int, root: TileOp, axes: Axes) -> int:
    """As many columns, or nearly, so that quotients of their index begin alike in every tile."""
    innermost = root.axes[-1]
    works = [(op, loop) for op in axes.ops for loop, axis in enumerate(op.axes) if axis == innermost and op.op.regions]
    repeats = lcm(*(period(op.op.regions[0].blocks[0], op.maps, loop, _MOST_COLUMNS) for op, loop in works))
    steps = [step for n in (KEPT_COLUMNS, _LINE_COLUMNS) if (step := lcm(repeats, n)) <= columns]
    if repeats == 1 or not steps:
        return columns
    return max(range(steps[0], columns + 1, steps[0]), key=lambda size: (2 * size >= columns and axes.extent[innermost] % size == 0, size))


def _columns(root: TileOp, axes: Axes, rows: int, target: TargetView) -> int:
    """Columns of so many rows in a tile."""
    whole = [op for op in axes.ops if op.points >= root.points]
    summing = [op for op in whole if not all(op.parallel)]
    again = len(summing) > 1 or any(op.op.results[0] in axes.results for op in whole if op not in summing)
    if not again:
        return _MOST_COLUMNS
    size = max(element_bytes(element_of(value)) for value in (*root.inputs, *root.inits))
    held = kept_bytes(target) // max(1, rows * size * 2)
    return max(KEPT_COLUMNS, min(_MOST_COLUMNS, held // KEPT_COLUMNS * KEPT_COLUMNS))


def _is_long_scan(op: TileOp) -> bool:
    """Whether it is a scan along its innermost loop by a body of many ops, whose rows the kernel scans side by side."""
    stored = any(dim_position(expr) == len(op.extents) - 1 for m in op.output_maps for expr in m.results)
    if op.parallel[-1] or not stored or not op.op.regions:
        return False
    return is_long(split(op.op.regions[0].blocks[0], len(op.inputs), sum(len(m.results) < len(op.extents) for m in op.output_maps)))


def _reduces_several(op: TileOp) -> bool:
    """Whether several values are reduced at once along its innermost loop, for which the kernel has rows side by side."""
    return not op.parallel[-1] and len(op.output_maps) > 1


def _walked(op: TileOp, operand: int) -> list[int | None]:
    """The axis along which each dimension of `operand` is read one by one, onwards, or backwards in whole squares; None where there is
    none."""
    found: list[int | None] = []
    for expr in op.maps[operand].results:
        loops = used_dims(expr)
        loop = min(loops, default=0)
        last = op.extents[loop] - 1 if len(loops) == 1 else 0
        first, final = (evaluate(expr, [at * (d == loop) for d in range(len(op.extents))]) for at in (0, last))
        onwards, backwards = final - first == last > 0, first - final == last > 0 and (last + 1) % SQUARE_TILE_SIDE == 0
        found.append(op.axes[loop] if onwards or backwards else None)
    return found or [None]
