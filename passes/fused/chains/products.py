"""Groups of contractions of two kinds: of operands, at each row and column, and of what is computed there, over all columns.

s = q · k;  t = g · v          one number at each row and column, of operands whose rows are short
p = f(s, t, …)                 evaluated there
o = Σ p · w                    over all columns: the rows, or the columns, of s and t, whichever the group's results do not keep
m = max p                      or so: a number of each row

What is multiplied over the columns is of the halves' type of w; or f32 beside bf16 that is widened: three parts of it that are bf16.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.attention import ALL_PARTS, BLOCK_ROWS, PARTS_OF_HALVES, WIDEST
from ...common.ops import OPS, Kind, is_elementwise
from ...common.rewriting import body_ops, defining_op, element_of, walk
from ...stablehlo.support.build import count_of, shape_of
from ...stablehlo.support.dimensions import DotDims
from ..planner.cost import SECOND, kernel_ps
from ..planner.library import GENERATED_PERCENT
from .chain import summed
from .dims import Dim, Dims
from .price import Figures, bytes_moved
from .values import Place

_DOT, _REDUCE = "stablehlo.dot_general", "stablehlo.reduce"
_LEAST = 16
_HALVES = ("f16", "bf16")
_WITHOUT_WGMMA = 60
"""Percent of its peak that a GPU with wgmma reaches by mma.sync, as measured. Kernels by wgmma were not timed: they are priced like it."""
_EXPONENTIAL = 8
"""Operations that the hardware's power of two takes the time of."""


@dataclass(frozen=True)
class Products:
    """What a group of such contractions has."""

    batches: int
    rows: int
    columns: int
    kept: tuple[int, ...]
    """Which dimensions of the first contraction's result are the rows, which the group's results keep."""
    pairs: tuple[Pair, ...]
    """Its rows and columns by one dimension of each."""
    parts: int
    """How many numbers of bf16 stand for one of f32 (hloom.parts)."""


@dataclass(frozen=True)
class Pair:
    """One dimension of the rows and one of the columns, so many each, and where both lie."""

    rows: int
    columns: int
    read: tuple[Place, ...]
    """In what contractions sum over the columns."""
    reduced: tuple[tuple[ir.Operation, Place], ...]
    """In what reductions reduce along the columns."""

    @property
    def turned(self) -> tuple[Place, ...]:
        """What is read, with columns for rows."""
        return tuple(Place(place.value, place.column, place.row) for place in self.read)


def products_of(function: ir.Operation, size: int) -> Products | str:
    """The group whose matrices have `size` elements; or why it is none."""
    dims = Dims(function, at_points=True)
    dots = [op for op in dims.ops if op.name == _DOT]
    at = [op for op in dots if count_of(op.results[0]) == size]
    over = [op for op in dims.ops if op.name in (_DOT, _REDUCE) and op not in at]
    if not at or not over:
        return "no contraction makes what another sums over"
    kinds = {str(element_of(value)) for op in dots for value in op.operands if op in at or not is_split(op)}
    if kinds not in ({"f16"}, {"bf16"}):
        return f"the kernel multiplies f16 or bf16, not {', '.join(sorted(kinds))}"
    axes = _Axes.of(at[0], over, dims)
    if not axes.rows or not axes.columns:
        return "the matrices have no rows and columns"
    refusal = _refusal(at, over, dims, axes)
    if refusal is not None:
        return refusal
    rows, columns = _extent(axes.rows), _extent(axes.columns)
    kept = tuple(n for n, c in enumerate(dims.classes(at[0].results[0])) if c in axes.rows)
    pairs = tuple(_pair(row, column, over, dims, size) for row in axes.rows for column in axes.columns)
    parts = max((parts_of(op) for op in dots if is_split(op)), default=1)
    return Products(size // rows // columns, rows, columns, kept, pairs, parts)


def _pair(row: Dim, column: Dim, over: list[ir.Operation], dims: Dims, size: int) -> Pair:
    def place(value: ir.Value) -> Place:
        classes = dims.classes(value)
        return Place(value, classes.index(row), classes.index(column))

    read = [(op, place(value)) for op in over for value in op.operands if count_of(value) == size]
    products, reductions = ([each for each in read if each[0].name == name] for name in (_DOT, _REDUCE))
    return Pair(_extent([row]), _extent([column]), tuple(each for _, each in products), tuple(reductions))


@dataclass(frozen=True)
class _Axes:
    """The batches, the rows and the columns of a matrix; columns are what is summed over."""

    batch: set[Dim]
    rows: list[Dim]
    columns: list[Dim]

    @staticmethod
    def of(first: ir.Operation, over: list[ir.Operation], dims: Dims) -> _Axes:
        summed, batch = {c for op in over for c in dims.reduces(op)}, _batch(first, dims)
        free = [c for c in dims.classes(first.results[0]) if c is not None and c not in batch]
        return _Axes(batch, [c for c in free if c not in summed], [c for c in free if c in summed])


def _extent(classes: Sequence[Dim]) -> int:
    return prod(shape_of(value)[d] for value, d in classes)


def _refusal(at: list[ir.Operation], over: list[ir.Operation], dims: Dims, axes: _Axes) -> str | None:
    """Why no kernel has contractions at these axes, and over the columns."""
    rows, columns = _extent(axes.rows), _extent(axes.columns)
    values = {value for op in (*at, *over) for value in (*op.operands, *op.results)}
    if dims.bad & {c for value in values for c in dims.classes(value)}:
        return "a reshape joins or parts dimensions between the contractions"
    everywhere, left = {*axes.batch, *axes.rows, *axes.columns}, {*axes.batch, *axes.rows}
    if any(set(dims.classes(op.results[0])) - {None} != everywhere or _batch(op, dims) != axes.batch for op in at):
        return "the contractions have no common rows and columns"
    for op in over:
        kept = {c for c in dims.classes(op.results[0]) if c is not None}
        reduces_all = dims.reduces(op) == set(axes.columns)
        if op.name == _REDUCE and reduces_all and kept == left:
            continue
        if op.name == _REDUCE or not reduces_all or _batch(op, dims) != axes.batch or not left < kept or len(kept) != len(left) + 1:
            return "the results do not keep the rows"
    matrix = count_of(at[0].results[0])
    widest = max([*(summed(op) for op in at), *(count_of(op.results[0]) * columns // matrix for op in over)])
    if widest > WIDEST:
        return f"rows of {widest} do not stay in registers; {WIDEST} do"
    return f"a block multiplies {BLOCK_ROWS} rows, and there are {min(rows, columns)}" if min(rows, columns) < _LEAST else None


def _batch(op: ir.Operation, dims: Dims) -> set[Dim]:
    classes = dims.classes(op.operands[0])
    return {c for d in DotDims.of(op).batch[0] if (c := classes[d]) is not None}


def price(function: ir.Operation, found: Products, target: TargetView, share: float) -> Figures:
    """(time, bytes, flops) of the kernel, of whose points a mask leaves a `share`."""
    matrix = found.batches * found.rows * found.columns
    points = share * matrix
    ops = body_ops(function)
    dots = walk(function, _DOT)
    depths = sum(_depth(op, found) for op in dots)
    elementwise = round(points * sum(_work(op) for op in ops if count_of(op.results[0]) == matrix))
    products = round(2 * points * depths)
    percent = GENERATED_PERCENT[Kind.MATMUL] * (_WITHOUT_WGMMA if target.compute_capability >= 90 else 100) // 100
    rate = max(1, target.peak_flops(str(element_of(dots[0].operands[0]))))
    blocks = found.batches * -(-found.rows // BLOCK_ROWS)
    idle = max(1.0, target.multiprocessors / blocks)
    arithmetic = round(idle * (products * SECOND * 100 // (rate * percent) + elementwise * SECOND // target.f32_flops))
    moved = bytes_moved(function)
    return kernel_ps(moved * SECOND // target.llc_bytes_per_second, arithmetic, target), moved, products + elementwise


def _work(op: ir.Operation) -> int:
    """Operations for each element."""
    return _EXPONENTIAL if op.name == "stablehlo.exponential" else OPS[op.name].work if is_elementwise(op) else 0


def _depth(op: ir.Operation, found: Products) -> int:
    """Multiplications of a contraction at each row and column."""
    parts = parts_of(op) if is_split(op) else 1
    return parts * count_of(op.results[0]) * summed(op) // (found.batches * found.rows * found.columns)


def parts_of(dot: ir.Operation) -> int:
    """How many numbers of bf16 stand for one of f32: fewer than all where the results are halves, and no precision is asked for."""
    asked = str(dot.attributes["precision_config"]) if "precision_config" in dot.attributes else ""
    precise = "HIGH" in asked or "algorithm" in dot.attributes
    return ALL_PARTS if precise or not _become_halves(dot) else PARTS_OF_HALVES


def _become_halves(op: ir.Operation) -> bool:
    """Whether what is made of an op's results leaves the group as halves."""
    if op.name == "func.return":
        return False
    if str(element_of(op.results[0])) in _HALVES:
        return True
    return all(_become_halves(use.owner.operation) for value in op.results for use in value.uses)


def is_split(dot: ir.Operation) -> bool:
    """Whether a contraction multiplies f32 by widened bf16: three parts of the one, which are bf16, times the other, in f32."""
    widened = [op for value in dot.operands if (op := defining_op(value)) is not None and op.name == "stablehlo.convert"]
    kinds = {str(element_of(value)) for value in dot.operands}
    return kinds == {"f32"} and any(str(element_of(op.operands[0])) == "bf16" for op in widened)
