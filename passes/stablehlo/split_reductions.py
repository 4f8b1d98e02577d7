"""split-reductions: a reduction with too few results to fill a GPU, or a CPU's threads, becomes one of parts, and one of their results.

Before:
    %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<100000x64xf32>, …) -> tensor<64xf32>
After:
    %p = stablehlo.reshape %x : tensor<80x1250x64xf32>
    %1 = stablehlo.reduce(%p init: %neutral) applies stablehlo.add across dimensions = [1] : … -> tensor<80x64xf32>
    %0 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : … -> tensor<64xf32>

Whatever computes %x goes with the parts. The outermost reduced dimension is split that gives at least half as many parts as another would,
into a divisor of its extent: images are one after the other, where their lines may be parts of others, or every second one. The parts start
from the neutral value, so that an initial value counts once. For a CPU, reduced dimensions side by side are one, so that a part lies in one
piece, as many of them, from the outermost on, as give at least half as many parts as all would. Rows that do not follow one another where
they are read (of a slice, with a bias) stay whole, and neutral ones come last where no number of parts divides them. How many parts there
are depends on the shape alone, so that results are the same on any number of threads. Sums and products of f16
and bf16 are split in f32 there, to be rounded once.

Must hold: nothing. Declined: reductions by anything but one op that has a neutral value (sums, products,
extremes, logic); those that have blocks enough, or elements so few that a second kernel costs more.
"""

from __future__ import annotations

from itertools import groupby
from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of

from ..common.ops import BOOL, FLOAT, OPS, SIGNED, Kind, is_elementwise, kind_of
from ..common.reductions import neutral_element
from ..common.rewriting import defining_op
from ..common.scalar_code import Typed
from ..registry import register_pass
from .support import build
from .support.combining import combining_op
from .support.driver import rewrite

Values = list[ir.Value] | None

LEAST_ELEMENTS = 1 << 16
"""Elements a result must be made of to be worth a second kernel."""
LEAST_PART = 1 << 11
"""Elements a part must have."""
COLUMNS = 32
"""Columns that a block reduces, or elements of them: where these are fewer side by side, as of a group of channels, blocks have several."""
THREADS_ELEMENTS, THREADS_PARTS = 1 << 18, (1 << 13, 1 << 10)
"""Elements that are worth several threads, and that a part has, at least: so many if a divisor allows, else fewer."""
_OF_ROWS = ("stablehlo.slice", "stablehlo.pad", "stablehlo.dynamic_slice", "stablehlo.concatenate")
_IN_TURN = (("strides", 1), ("interior_padding", 0))
TILE_COLUMNS, MOST_TILES = 256, 4
"""Columns of a CPU's tile, and tiles that are threads enough without a split."""


@register_pass("split-reductions", "splits reductions with too few results to fill a GPU or a CPU's threads", ops=("stablehlo.reduce",))
def split_reductions(module: ir.Operation) -> bool:
    target = target_of(module)
    return rewrite(module, {"stablehlo.reduce": [lambda op: _split(op, target)]})


def _split(op: ir.Operation, target: TargetView) -> Values:
    combining = combining_op(op)
    if len(op.operands) != 2 or combining is None:
        return None
    operand, init = op.operands
    shape, element = build.shape_of(operand), build.element_of(operand)
    neutral = _neutral(combining, element)
    dims = list(ir.DenseI64ArrayAttr(op.attributes["dimensions"]))
    if neutral is None or not dims or 0 in shape:
        return None
    if target.kind != "cuda":
        return _split_for_threads(op, combining, operand, init, dims)
    parts = {dim: parts_for_blocks(shape, dims, dim, target) for dim in sorted(dims)}
    dim = next(dim for dim in parts if 2 * parts[dim] > max(parts.values()))
    if parts[dim] == 1:
        return None
    return _in_parts(op, operand, init, neutral, dims, dim, parts[dim])


def _split_for_threads(op: ir.Operation, combining: str, operand: ir.Value, init: ir.Value, dims: list[int]) -> Values:
    shape, element = build.shape_of(operand), build.element_of(operand)
    runs = [list(run) for _, run in groupby(range(len(shape)), lambda d: d in dims)]
    longest = max((run for run in runs if run[0] in dims), key=lambda run: prod(shape[d] for d in run))
    ways = [_joined(shape, dims, longest, outer) for outer in range(1, len(longest) + 1)]
    joined, reduced, dim, parts = next(way for way in ways if 2 * way[3] > ways[-1][3])
    if parts == 1:
        return None
    rows = joined
    if joined == ways[-1][0] and _is_moved(operand):
        joined, reduced, dim, _ = next(way for way in ways if way[0][dim] >= 2 * parts)
        rows = [size if d != dim else -(-size // parts) * parts for d, size in enumerate(joined)]
    halves = isinstance(element, ir.FloatType) and element.width == 16 and combining in ("stablehlo.add", "stablehlo.multiply")
    wide = ir.F32Type.get() if halves else element
    neutral = _neutral(combining, wide)
    assert neutral is not None
    whole = build.reshape(build.convert(operand, wide), joined)
    more = [size - before for size, before in zip(rows, joined)]
    if any(more):
        whole = build.pad(whole, build.splat(build.tensor([], wide), neutral), [0] * len(more), more)
    (total,) = _in_parts(op, whole, build.convert(init, wide), neutral, reduced, dim, parts)
    return [build.reshape(build.convert(total, element), build.shape_of(op.results[0]))]


def _is_moved(value: ir.Value) -> bool:
    """Whether rows that are computed with do not follow one another where they are read."""
    op = defining_op(value)
    if op is None or not op.operands:
        return False
    if is_elementwise(op) or op.name == "stablehlo.reshape" or _takes_whole_rows(op):
        return any(map(_is_moved, op.operands))
    return kind_of(op) in (Kind.MOVEMENT, Kind.INDEXING) and bool(build.shape_of(op.operands[0]))


def _takes_whole_rows(op: ir.Operation) -> bool:
    """Whether rows follow one another in the result as they do in an operand."""
    if op.name not in _OF_ROWS or build.shape_of(op.operands[0])[1:] != build.shape_of(op.results[0])[1:]:
        return False
    return all(attribute not in op.attributes or ir.DenseI64ArrayAttr(op.attributes[attribute])[0] == step for attribute, step in _IN_TURN)


def _joined(shape: list[int], dims: list[int], run: list[int], outer: int) -> tuple[list[int], list[int], int, int]:
    """A shape of which so many outer dimensions of a run are one, those of it that are reduced, that one, and its parts."""
    first, end = run[0], run[0] + outer
    joined = [*shape[:first], prod(shape[first:end]), *shape[end:]]
    reduced = sorted({d if d <= first else max(first, d - outer + 1) for d in dims})
    return joined, reduced, first, parts_for_threads(joined, reduced, first)


def parts_for_threads(shape: list[int], dims: list[int], dim: int) -> int:
    """Into how many parts `dim` is split for threads: the largest divisor that leaves parts of enough elements; 1 leaves it whole."""
    reduced = prod(shape[d] for d in dims)
    kept = prod(n for d, n in enumerate(shape) if d not in dims)
    along = len(shape) - 1 in dims
    if reduced * kept < THREADS_ELEMENTS or (kept if along else -(-kept // TILE_COLUMNS)) >= MOST_TILES:
        return 1
    elements = reduced if along else reduced * kept
    found = (next((n for n in range(min(elements // part, shape[dim] // 2), 1, -1) if shape[dim] % n == 0), 1) for part in THREADS_PARTS)
    return next((n for n in found if n > 1), 1)


def _in_parts(
    op: ir.Operation, operand: ir.Value, init: ir.Value, neutral: ir.Attribute, dims: list[int], dim: int, parts: int
) -> list[ir.Value]:
    """The reduction of `operand` along `dims`, of which `dim` is split into so many parts."""
    shape, element = build.shape_of(operand), build.element_of(operand)
    split = build.reshape(operand, [*shape[:dim], parts, shape[dim] // parts, *shape[dim + 1 :]])
    inner = sorted(d + 1 if d >= dim else d for d in dims)
    first = reduced_by(op, split, build.splat(build.tensor([], element), neutral), inner)
    outer = dim - len([d for d in dims if d < dim])
    return [reduced_by(op, first, init, [outer])]


def parts_for_blocks(shape: list[int], dims: list[int], dim: int, target: TargetView) -> int:
    """Into how many parts `dim` is split: the largest divisor that gives no more blocks than run at once; 1 leaves it whole."""
    reduced = prod(shape[d] for d in dims)
    kept = prod(n for d, n in enumerate(shape) if d not in dims)
    last = max((d for d in range(len(shape)) if d not in dims), default=-1)
    short = any(d < last for d in dims) and prod(shape[last + 1 :]) < COLUMNS
    along = len(shape) - 1 in dims and not short
    blocks = kept if along else -(-kept * prod(shape[last + 1 :]) // COLUMNS)
    if reduced * (1 if along else COLUMNS) < LEAST_ELEMENTS or 2 * blocks > target.multiprocessors:
        return 1
    most = min(2 * target.multiprocessors // max(1, blocks), max(1, reduced // (LEAST_PART if along else LEAST_PART // COLUMNS)))
    return next((n for n in range(min(most, shape[dim]), 1, -1) if shape[dim] % n == 0), 1)


def _neutral(name: str, element: ir.Type) -> ir.Attribute | None:
    scalar = OPS[name].scalar if name in OPS else None
    flags = BOOL if name in ("stablehlo.or", "stablehlo.and") else frozenset()
    if not isinstance(scalar, Typed) or str(element) not in FLOAT | SIGNED | flags:
        return None
    return neutral_element(scalar.name(element), element)


def reduced_by(op: ir.Operation, operand: ir.Value, init: ir.Value, dims: list[int]) -> ir.Value:
    """`op` on another operand."""
    name = (combining_op(op) or "").removeprefix("stablehlo.")
    return build.reduce([operand], [init], dims, lambda a, b: [build.elementwise(name, a, b)])[0]
