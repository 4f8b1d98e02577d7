"""Tile sizes for GPUs: a tile is what one block computes.

- elementwise: runs along the result's memory, 256 threads with one 16-byte access each; where an input runs across, tiles of 32 × 32,
  longer along one axis where the other is short;
- loops over elements: an element a thread, in as many blocks as there are multiprocessors, from a warp on;
- rows that are reduced: as many as give a warp about a thousand elements; long rows one by one;
- columns that are kept while others are summed: a warp's width of them;
- windows, whose few elements a thread reduces for itself: 256 threads with one 16-byte access of results each;
- contractions that no kernel for tensor cores takes: 32 × 32 results.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import gcd, prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.affine import dim_position, read_maps, used_dims
from ...common.axes import Axes, TileOp, loop_index
from ...common.combiner import SEQUENTIAL
from ...common.contraction import input_loops, reuses_all_inputs
from ...common.rewriting import defining_op, walk
from ...common.vectors import ACCESS_BYTES

WARP = 32
LOOP_THREADS = 256
"""Threads of an elementwise tile, at most; each has one access."""
ROW_POINTS = 4096
"""Points of a tile of rows, at most, unless one row is longer."""
ACROSS = 32
"""The tile's side where memory is read along one axis and written along another."""
CONTRACTION_SIDE = 32
_WINDOW_POINTS = 32
_WINDOW_RUN, _SECTOR = 128, 8
"""How many neighbours in memory a tile of windows has, at most and at least."""


def choose_gpu_tile_sizes(axes: Axes, target: TargetView) -> dict[int, int]:
    """The tile size of each tiled axis of the group, in the order of the tile loops."""
    if not axes.ops:
        return {}
    reductions = [op for op in axes.ops if not all(op.parallel)]
    if not reductions:
        return _loop_sizes(max(axes.ops, key=lambda op: op.points), axes, target)
    root = max(reductions, key=lambda op: op.points)
    outputs = prod(extent for extent, parallel in zip(root.extents, root.parallel) if parallel)
    if SEQUENTIAL in root.op.attributes:
        return _runs(_output_order(root), _per_block(2 * outputs, LOOP_THREADS, WARP, target), axes)
    if is_window(root):
        vector = vector_elements(v.type for op in axes.ops for v in [*op.inputs, *op.inits])
        points = _per_block(outputs, LOOP_THREADS * vector, WARP * vector, target)
        return _window_sizes(root, points, axes)
    if reuses_all_inputs(root):
        return _spread(_output_order(root), {}, CONTRACTION_SIDE, axes)
    return _row_sizes(root, outputs, axes, target)


def vector_elements(types: Iterable[ir.Type]) -> int:
    """Elements in the widest access: of the smallest type that is not a byte, or of bytes where there is nothing else."""
    tensors = [ir.RankedTensorType(t) for t in types if isinstance(t, ir.RankedTensorType)]
    sizes = [1 if isinstance(t.element_type, ir.IndexType) else max(8, t.element_type.width) // 8 for t in tensors if t.rank]
    return ACCESS_BYTES // min([s for s in sizes if s > 1] or sizes or [ACCESS_BYTES])


def has_loop(op: ir.Operation) -> bool:
    """Whether the body is a loop over an element, which takes a thread so long that others had better take its neighbours."""
    return bool(walk(op, lambda each: each.name in ("scf.for", "scf.while") or SEQUENTIAL in each.attributes))


def access_elements(function: ir.Operation) -> int:
    """Elements of the widest access of a group's threads."""
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    most = vector_elements([*kind.inputs, *kind.results])
    return _side_by_side(function, most) if has_loop(function) else most


def _side_by_side(function: ir.Operation, most: int) -> int:
    """Elements that a thread of a loop has: those of a short last dimension that the loop computes together, if an access takes them."""
    for op in walk(function, lambda each: each.name == "linalg.generic" and not has_loop(each)):
        maps = read_maps(op)
        last = dim_position(maps[-1].results[-1]) if len(maps[-1].results) else None
        made = [m for m, value in zip(maps, op.operands) if (owner := defining_op(value)) is not None and has_loop(owner)]
        extent = ir.RankedTensorType(op.results[0].type).shape[-1] if made and last is not None else 1
        if made and all(last not in map(dim_position, m.results) for m in made) and 1 < extent <= most and most % extent == 0:
            return extent
    return 1


def _loop_sizes(root: TileOp, axes: Axes, target: TargetView) -> dict[int, int]:
    order = [root.axes[d] for d in reversed(range(len(root.axes)))]
    across = _read_across(root, axes)
    if across is not None:
        sizes = {axis: 1 for axis in order if axis in axes.tileable}
        for axis, other in ((order[0], across), (across, order[0])):
            if axis in axes.tileable:
                sizes[axis] = min(ACROSS * _times_within(axes.extent[other], ACROSS), axes.extent[axis])
        return _kept(sizes, order, axes)
    if any(has_loop(op.op) for op in axes.ops):
        each = _side_by_side(root.op.parent.operation, ACCESS_BYTES)
        return _runs(order, _per_block(2 * root.points, LOOP_THREADS * each, WARP * each, target), axes)
    vector = vector_elements(v.type for op in axes.ops for v in [*op.inputs, *op.inits])
    points = _per_block(root.points, LOOP_THREADS * vector, WARP * vector, target)
    return _runs(order, points, axes)


def _row_sizes(root: TileOp, outputs: int, axes: Axes, target: TargetView) -> dict[int, int]:
    """Rows (or columns) of a reduction in a tile, by whether memory runs along what is reduced.

    Along an axis that the reduction does not have, each tile would reduce anew: as few tiles as a block can hold.
    """
    inside = prod(axes.extent[a] for a in root.axes if a not in axes.tileable)
    innermost = _memory_axis(root)
    order = [root.axes[d] for d in reversed(range(len(root.axes))) if root.axes[d] in axes.tileable]
    more = sorted(a for a in axes.tileable if a not in order)
    if innermost in axes.tileable:
        order = [innermost, *(a for a in order if a != innermost)]
        width = max(WARP, ROW_POINTS // max(1, inside))
        cut = _runs(order, min(width, 4 * WARP) if outputs >= 4 * WARP * max(1, target.multiprocessors) else WARP, axes)
    else:
        rows = max(1, ROW_POINTS // max(1, inside))
        cut = _runs(order, _per_block(outputs, rows, 1, target), axes)
    points = prod(cut.get(axis, axes.extent[axis]) for axis in order)
    return {**_runs(more, max(1, ROW_POINTS // points), axes), **cut}


def is_window(op: TileOp) -> bool:
    """Whether each thread reduces for itself: few elements for each result, and memory runs along results."""
    loop = _memory_loop(op)
    if SEQUENTIAL in op.op.attributes:
        return False
    few = prod(n for n, parallel in zip(op.extents, op.parallel) if not parallel) <= _WINDOW_POINTS
    shared = reuses_all_inputs(op) and not _extracts(op)
    return few and not all(op.parallel) and not shared and loop is not None and op.parallel[loop]


def _window_sizes(root: TileOp, points: int, axes: Axes) -> dict[int, int]:
    """Powers of two that divide the extents, so that no thread stands beyond an edge; whole extents where there are none large enough."""
    loop = _memory_loop(root)
    assert loop is not None
    order = [root.axes[loop], *(a for a in _output_order(root) if a != root.axes[loop])]
    sizes: dict[int, int] = {}
    for number, axis in enumerate(order):
        extent, most = axes.extent[axis], points if number else min(points, _WINDOW_RUN)
        even, enough = gcd(extent, most), min(extent, most) // 2 if number else _SECTOR
        size = extent if axis not in axes.tileable else even if even >= enough else min(extent, most)
        sizes[axis] = size
        points = max(1, points // (1 << (size - 1).bit_length()))
    rest = {axis: 1 for axis in axes.tileable if axis not in sizes}
    return _kept({**sizes, **rest}, [*order, *rest], axes)


def _per_block(total: int, most: int, least: int, target: TargetView) -> int:
    """A power of two so that there are two blocks a multiprocessor, if there is enough to do."""
    wanted = total // max(1, 2 * target.multiprocessors)
    size = least
    while size * 2 <= min(most, wanted):
        size *= 2
    return max(1, min(size, most))


def _runs(order: list[int], points: int, axes: Axes) -> dict[int, int]:
    """Inner axes whole until the tile has so many points, the axis that exceeds it cut into even pieces, those outside one by one."""
    sizes: dict[int, int] = {}
    for axis in order:
        if axis not in axes.tileable:
            points = max(1, points // axes.extent[axis])
            continue
        extent = axes.extent[axis]
        sizes[axis] = min(extent, _even(extent, points)) if extent > points else extent
        points = max(1, points // extent)
    return _kept(sizes, order, axes)


def _even(extent: int, points: int) -> int:
    """A size near `points`: a power of two that divides the extent, if it is at least a warp and a quarter of `points`."""
    power = gcd(extent, 1 << points.bit_length() - 1)
    return power if power >= min(WARP, points) and 4 * power >= points else points


def _times_within(extent: int, most: int) -> int:
    """How many times so many, as a power of two, are within `most`; at least once."""
    return max(1, most // (1 << (extent - 1).bit_length()))


def _kept(sizes: dict[int, int], order: list[int], axes: Axes) -> dict[int, int]:
    """Cut axes only, the outermost first."""
    return {axis: sizes[axis] for axis in reversed(order) if axis in sizes and sizes[axis] < axes.extent[axis]}


def _spread(order: list[int], sizes: dict[int, int], side: int, axes: Axes) -> dict[int, int]:
    """The two innermost axes that are long enough cut to `side`, the others one by one."""
    for axis in order:
        if axis in axes.tileable:
            sizes[axis] = min(side, axes.extent[axis])
            side = side if sum(n > 1 for n in sizes.values()) < 2 else 1
    rest = [a for a in axes.tileable if a not in order]
    return _kept({**sizes, **{a: 1 for a in rest}}, [*order, *rest], axes)


def _output_order(op: TileOp) -> list[int]:
    dims = [dim_position(e) for e in op.output_maps[0].results]
    return [op.axes[d] for d in reversed(dims) if d is not None]


def _memory_axis(op: TileOp) -> int | None:
    loop = _memory_loop(op)
    return None if loop is None else op.axes[loop]


def _memory_loop(op: TileOp) -> int | None:
    """The loop along which the read that most loops move is contiguous. What the body reads by itself all loops move."""
    for extract in _extracts(op):
        if (found := _index_in(list(extract.operands)[-1])) is not None:
            return found
    moving = input_loops(op)
    best = max(range(len(op.inputs)), key=lambda i: len(moving[i]), default=None)
    results = list(op.maps[best].results) if best is not None else []
    dims = used_dims(results[-1]) if results else set()
    return max(dims) if dims else None


def _extracts(op: TileOp) -> list[ir.Operation]:
    return [each for each in walk(op.op, "tensor.extract") if len(each.operands) > 1]


def _index_in(value: ir.Value) -> int | None:
    """The loop whose index `value` is, or that index and an offset."""
    owner = defining_op(value)
    if owner is None or owner.name != "arith.addi":
        return loop_index(value)
    return next((found for operand in owner.operands if (found := _index_in(operand)) is not None), None)


def _read_across(root: TileOp, axes: Axes) -> int | None:
    """An axis along which an input with all loops is contiguous, where the result is not."""
    for m in root.maps[: len(root.inputs)]:
        dims = [dim_position(e) for e in m.results]
        if None in dims or len(set(dims)) < len([a for a in root.axes if axes.extent[a] > 1]):
            continue
        last = next((d for d in reversed(dims) if d is not None and root.extents[d] > 1), None)
        inner = next((d for d in reversed(range(len(root.axes))) if root.extents[d] > 1), None)
        if last is not None and last != inner:
            return root.axes[last]
    return None
