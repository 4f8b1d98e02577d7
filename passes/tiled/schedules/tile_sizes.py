"""Schedules: the tile size of each axis of a group, chosen by its hero, the target and the shapes.

A schedule is a small function `(ops, axes, target) -> {axis: size}` over the tileable axes, innermost loop last; an axis that it
leaves out is whole in every tile. The order of the returned dictionary is the order of the tile loops, outermost first.
"""

from __future__ import annotations

from math import ceil, prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import dim_position, evaluate, used_dims
from ...common.axes import KEPT_COLUMNS, Axes, TileOp, even_size, kept_bytes, repeated_by_tiles
from ...common.combiner import is_long, split
from ...common.contraction import (
    PANEL_STEPS,
    SHALLOW,
    block_columns,
    block_registers,
    block_rows,
    input_loops,
    integer_product,
    is_contraction,
    multiplies_bf16,
    sums_in_parts,
)
from ...common.nibbles import nibble_product
from ...common.rewriting import element_of
from .chained import chained, chained_schedule
from .convolution import convolution_schedule, has_groups_in_lanes, has_windows
from .cutting import cut, innermost, panels
from .gpu_tile_sizes import choose_gpu_tile_sizes
from .pooling import pooling_schedule
from .row_loop import row_loop, row_loop_schedule
from .wanted import retiled, wanted

LOOP_TILE_POINTS = 8192
"""Points of an elementwise tile: enough to forget the loop around it, few enough to stay in L1 with its operands."""
SQUARE_TILE_SIDE, _FAR_SIDE = 32, 128
ROW_TILE_POINTS = 1024
"""A tile of rows has as many rows as make that many points, at least one."""

_MOST_COLUMNS = 256
_SCANNED_ROWS = 32
_TILE_COLUMNS, _TILE_ROWS, _MOST_ROWS = 64, 96, 144
_LEAST_COLUMNS = 32
_LEAST_LINES = 8
_SPLIT_ROWS = 24
"""At least, of a product whose weights are split in registers: fewer would read these too often."""
_SHALLOW_ROWS = 6
"""Of a block of registers, where sums have few steps."""
_TILES_A_CORE = 4
_MOST_PANELS = 4


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
        return convolution_schedule(hero, axes, target) if by_lines else contraction_schedule(hero, axes, target)
    reductions = [op for op in ops if not all(op.parallel) and not repeated_by_tiles(op, axes)]
    windows = [op for op in reductions if op.inputs and has_windows(op) and any(op.parallel)]
    if windows:
        return pooling_schedule(windows[0], axes)
    if reductions:
        return reduction_schedule(max(reductions, key=lambda op: op.points), axes, target)
    return loop_schedule(axes, target)


def _in_loop_order(axes: Axes, root: TileOp) -> list[int]:
    ordered = [a for a in root.axes if a in axes.tileable]
    return ordered + sorted(a for a in axes.tileable if a not in ordered)


def loop_schedule(axes: Axes, target: TargetView) -> dict[int, int]:
    """Innermost loops whole until the tile has LOOP_TILE_POINTS points, the loop that exceeds it cut, those outside one by one.

    Where an input is contiguous along another axis than the result, a tile is a square of both: of each line of memory all is used. Squares
    come first, so that a short axis, as the taps of a filter are, is whole. Of what comes from memory they are larger, as this wants long
    pieces of few lines.
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
    return {axis: sizes[axis] for axis in order if sizes[axis] < axes.extent[axis]}


def _is_far(op: TileOp, target: TargetView) -> bool:
    """Whether the last cache does not hold the operands beside much else."""
    kinds = [ir.RankedTensorType(value.type) for value in (*op.inputs, *op.inits) if isinstance(value.type, ir.RankedTensorType)]
    return sum(prod(kind.shape) * element_bytes(kind.element_type) for kind in kinds) > target.llc_bytes // 4


def reduction_schedule(root: TileOp, axes: Axes, target: TargetView) -> dict[int, int]:
    """Rows one by one or few at a time; columns that are kept while others are summed in runs of whole cache lines: as long as a near
    cache holds them for, where they are read twice."""
    order = _in_loop_order(axes, root)
    innermost = root.axes[-1]
    inside = prod(axes.extent[a] for a in root.axes if a not in axes.tileable)
    room = max(_SCANNED_ROWS if _is_long_scan(root) else 1, ROW_TILE_POINTS // max(1, inside))
    sizes: dict[int, int] = {}
    for axis in reversed(order):
        extent = axes.extent[axis]
        if axis == innermost:
            sizes[axis] = min(extent, _columns(root, axes, inside, target))
            continue
        sizes[axis] = min(extent, room)
        room = max(1, room // extent)
    return {axis: sizes[axis] for axis in order if sizes[axis] < axes.extent[axis]}


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


def contraction_schedule(hero: TileOp, axes: Axes, target: TargetView) -> dict[int, int]:
    """Batch axes one by one; the columns of the right operand in panels that stay in L2, outside the rows of the left one. Where L2 holds
    all panels beside a tile's rows, and the last cache not the rows beside much else, rows are outside: they are read from memory once.

    A vector-matrix product (few rows) has no reuse: its columns are cut into wide runs, one a core, so that each row of the matrix is read
    in long contiguous pieces.
    """
    output = [hero.axes[p] for p in map(dim_position, hero.output_maps[0].results) if p is not None]
    seen = input_loops(hero)
    of = {axis: loop for loop, axis in enumerate(hero.axes)}
    rows = [a for a in output if of[a] in seen[0] and of[a] not in seen[1]]
    columns = [a for a in output if of[a] in seen[1] and of[a] not in seen[0]]
    batch = [a for a in output if a not in rows and a not in columns]
    row_count = prod(axes.extent[a] for a in rows)
    sizes: dict[int, int] = {}
    for axis in batch:
        if axis in axes.tileable:
            sizes[axis] = 1
    packed = panels(hero)
    beside = _panels_beside(hero, columns)
    if row_count < 8 and not packed and not beside and not _in_lanes(hero):
        width = prod(axes.extent[a] for a in columns)
        lies_in_lines = innermost(hero, 1) not in columns
        panel = _lines(width, target) if lies_in_lines else max(1024, min(16384 // row_count, -(-width // (64 * target.cores)) * 64))
        cut(sizes, axes, columns, panel)
        return sizes
    column_count = prod(axes.extent[a] for a in columns)
    if column_count < 8:
        cut(sizes, axes, rows, _lines(row_count, target))
        return sizes
    depth = prod(extent for extent, parallel in zip(hero.extents, hero.parallel) if not parallel)
    if depth <= SHALLOW and not packed:
        wide, high = _shallow_tile(column_count)
        cut(sizes, axes, columns, wide)
        cut(sizes, axes, rows, high)
        return sizes
    left, right, result = (ir.RankedTensorType(value.type) for value in (*hero.inputs[:2], hero.inits[0]))
    right_bytes = depth * column_count * element_bytes(right.element_type)
    in_panels = bool(packed) or (len(columns) > 1 and dim_position(hero.maps[1].results[0]) == of[columns[0]])
    is_far = prod(left.shape) * element_bytes(left.element_type) > target.llc_bytes // 4
    is_spread = prod(result.shape) * element_bytes(result.element_type) > target.l2_bytes and column_count > _TILE_COLUMNS
    rows_first = (is_far or is_spread) and in_panels and _tile_element(hero, target) == 0 and right_bytes <= target.l2_bytes // 2
    wide, high = _block(hero, target, packed, row_count, column_count, rows_first)
    wide = max(
        wide, axes.extent[columns[-1]] if beside or (len(columns) > 1 and _in_lanes(hero)) else 0
    )  # a panel, which lies in one piece
    block = block_columns(target, element_of(hero.inits[0]))
    for axis in columns:
        if axis in packed and axis in axes.tileable:
            several = axis == output[-1] and packed[axis] == block and not _in_lanes(hero)
            size = packed[axis] * (max(1, wide // block) if several else 1)
            if size < axes.extent[axis]:
                sizes[axis] = size
    cut(sizes, axes, [a for a in columns if a not in packed], wide)
    cut(sizes, axes, rows, _even_rows(hero, axes.extent[rows[-1]], high, target, lanes=rows[-1] == output[-1]) if rows else high)
    sizes = sizes or _a_piece_a_core(hero, output, axes, target)
    if rows_first or _is_split(hero, target):
        order = [axis for axis in sizes if axis not in rows and axis not in columns] + rows + columns
        return {axis: sizes[axis] for axis in order if axis in sizes}
    return sizes


def _lines(count: int, target: TargetView) -> int:
    """Lines of a matrix in a tile, of each of which there are few sums: enough that what is computed of the sums fills registers and does
    not wait for each number, where all cores still get some."""
    most = _TILE_COLUMNS
    while most > _LEAST_LINES and ceil(count / most) < _TILES_A_CORE * target.cores:
        most //= 2
    return most


def _shallow_tile(columns: int) -> tuple[int, int]:
    """Columns and rows of a tile whose results are stored about as often as operands are loaded: whole rows, since memory takes long runs
    best, or panels of them, each of which begins at a cache line; and whole blocks of rows."""
    most = LOOP_TILE_POINTS // _SHALLOW_ROWS // _TILE_COLUMNS
    wide = columns if columns <= most * _TILE_COLUMNS else _TILE_COLUMNS * even_size(ceil(columns / _TILE_COLUMNS), most)
    return wide, LOOP_TILE_POINTS // wide // _SHALLOW_ROWS * _SHALLOW_ROWS


def _a_piece_a_core(hero: TileOp, output: list[int], axes: Axes, target: TargetView) -> dict[int, int]:
    """Whole registers of the last axis for each core, of more results than a tile has else: where what follows the product lets no other
    axis be cut, as heads that are merged with rows."""
    element, last = element_of(hero.inits[0]), output[-1]
    lanes = target.lanes(8 * element_bytes(element))
    size = ceil(axes.extent[last] / max(1, target.cores) / lanes) * lanes
    many = prod(axes.extent[axis] for axis in output) > 2 * _TILE_COLUMNS * _MOST_ROWS
    return {last: size} if many and last in axes.tileable and size < axes.extent[last] else {}


def _panels_beside(hero: TileOp, columns: list[int]) -> bool:
    """Whether the right operand is packed in panels that the result has as an axis of its own: `w[panel, step, column]`."""
    places = [dim_position(expr) for expr in hero.maps[1].results]
    if len(columns) < 2 or len(places) != 3 or places[1] is None:
        return False
    outside, inside = (None if place is None else hero.axes[place] for place in (places[0], places[2]))
    return not hero.parallel[places[1]] and outside == columns[0] and inside == columns[-1]


def _in_lanes(hero: TileOp) -> bool:
    """Whether the right operand is packed in lanes of 32 bits, over whose elements the last loop goes: a panel lies in one piece."""
    nibbles = nibble_product(hero.op.regions[0].blocks[0])
    if nibbles is not None:
        return nibbles.word == 1
    last = dim_position(hero.maps[1].results[-1]) if len(hero.maps[1].results) > 2 else None
    size = element_bytes(element_of(hero.inputs[1]))
    return last is not None and not hero.parallel[last] and size < 4 and hero.extents[last] * size == 4


def _is_split(hero: TileOp, target: TargetView) -> bool:
    """Whether the right operand has pairs of bf16 that no instruction multiplies: rows are widened once for all columns then, and stay in
    L2 as f32."""
    return _in_lanes(hero) and multiplies_bf16(hero.op.regions[0].blocks[0]) and not target.bf16_dot and not target.amx_bf16


def _block(hero: TileOp, target: TargetView, packed: dict[int, int], rows: int, columns: int, rows_first: bool) -> tuple[int, int]:
    """Columns and rows of a tile. AMX takes 32 × 32; where it must pack the right operand first, enough rows to be worth it, and no more of
    the left one than stays in L2."""
    size = _tile_element(hero, target)
    depth = prod(extent for extent, parallel in zip(hero.extents, hero.parallel) if not parallel)
    if size == 0:
        return _register_tile(hero, target, rows, columns, depth, rows_first)
    if packed:
        return 32, 32
    return 128, 32 * max(1, min(8, target.l2_bytes // 4 // (size * depth) // 32))


def _register_tile(hero: TileOp, target: TargetView, rows: int, columns: int, depth: int, rows_first: bool) -> tuple[int, int]:
    """Columns and rows of a tile that is computed in blocks of registers. Tiles are larger where all cores still get some: they have all
    rows, if these are few or half of L2 holds what is read of them, and several panels of columns. A sum that is packed part by part is
    packed once for the rows of a tile: these are as many as half of L2 holds. Where rows are read part by part (deep_sums.py), L2 holds
    a part of them, and the results of all columns."""
    kinds = {element_of(value) for value in [*hero.inputs[:2], *hero.inits]}
    size = element_bytes(kinds.pop()) if len(kinds) == 1 else 0
    if _is_split(hero, target):
        return _TILE_COLUMNS, max(_SPLIT_ROWS, target.l2_bytes // 2 // (4 * depth))
    if size < 4:
        return _narrow_tile(hero, target, depth)
    panels, least = ceil(columns / _TILE_COLUMNS), _TILES_A_CORE * target.cores
    if _left_lies_along_sum(hero) and sums_in_parts(rows, depth, size, target):
        most = max(_TILE_ROWS, target.l2_bytes // 8 // (size * PANEL_STEPS))
        high = _even_blocks(rows, most, block_rows(target, block_registers(target)))
        several = min(ceil(rows / high) * panels // (least // 2), target.l2_bytes // 4 // (size * high * _TILE_COLUMNS))
        return _TILE_COLUMNS * max(1, several), high
    in_parts = depth * _TILE_COLUMNS * size > target.tile_bytes
    most = max(_MOST_ROWS, target.l2_bytes // 2 // (size * (PANEL_STEPS if in_parts else depth)))
    whole = rows <= most and panels >= least and not rows_first
    high = rows if whole else most if in_parts and ceil(rows / most) * panels >= least else _TILE_ROWS
    several = ceil(rows / high) * panels // least
    return _TILE_COLUMNS * max(1, min(_MOST_PANELS, several)), high


def _narrow_tile(hero: TileOp, target: TargetView, depth: int) -> tuple[int, int]:
    """Columns and rows of a tile whose operands are packed in pairs or fours of a lane: as many as a panel of all steps fits the cache for.
    A left operand that lies along the sum is read where it is."""
    room = target.tile_bytes // (depth * element_bytes(element_of(hero.inputs[1])))
    is_packed = not _left_lies_along_sum(hero)
    columns = _TILE_COLUMNS
    while columns > _LEAST_COLUMNS and columns * (2 if is_packed else 1) > room:
        columns //= 2
    if columns * (2 if is_packed else 1) > room:
        return _TILE_COLUMNS, _TILE_ROWS
    return columns, min(_TILE_ROWS, room - columns) if is_packed else _TILE_ROWS


def _left_lies_along_sum(hero: TileOp) -> bool:
    along = innermost(hero, 0)
    return along is not None and not hero.parallel[hero.axes.index(along)]


def _even_rows(hero: TileOp, extent: int, most: int, target: TargetView, *, lanes: bool) -> int:
    """Rows of tiles that cut `extent` as evenly as whole blocks of registers can: of 196 three times 66, not 96, 96 and 4. Rows that are
    `lanes` of the result go by blocks of columns, a part of which takes as long as all of it: of 3,136 128, not 96."""
    unit = block_rows(target, block_registers(target))
    elements = [element_of(value) for value in (hero.inputs[0], hero.inits[0])]
    if lanes and elements[0] == elements[1]:
        unit = block_columns(target, elements[1])
        most = ceil(most / unit) * unit
    return most if extent <= most else _even_blocks(extent, most, unit)


def _even_blocks(extent: int, most: int, unit: int) -> int:
    """The size of tiles of at most `most` that cut `extent` as evenly as whole blocks of `unit` can; `extent` where it is no more."""
    return extent if extent <= most else min(most, ceil(even_size(extent, most) / unit) * unit)


def _tile_element(hero: TileOp, target: TargetView) -> int:
    """Bytes of the elements that AMX multiplies here, 0 where it multiplies none."""
    if not (target.amx_bf16 or target.amx_int8) or hero.op.name != "linalg.generic":
        return 0
    block = hero.op.regions[0].blocks[0]
    if target.amx_bf16 and multiplies_bf16(block):
        return 2
    product = integer_product(block) if target.amx_int8 else None
    return 1 if product is not None and product.bits == 8 else 0


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
