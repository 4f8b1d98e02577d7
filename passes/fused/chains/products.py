"""Groups of contractions of two kinds: of operands, at each row and column, and of what is computed there, over all columns.

s = q · k;  t = g · v          one number at each row and column, of operands whose rows are short
p = f(s, t, …)                 evaluated there
o = Σ p · w                    over all columns: the rows, or the columns, of s and t, whichever the group's results do not keep
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.attention import BLOCK_ROWS, WIDEST
from ...common.ops import OPS, Kind, is_elementwise
from ...common.rewriting import element_of, ops_in, walk
from ...stablehlo.support.build import count_of, shape_of
from ...stablehlo.support.dimensions import DotDims
from ..planner.cost import SECOND, kernel_ps
from ..planner.library import GENERATED_PERCENT
from .dims import Dim, Dims
from .price import Figures, bytes_moved
from .values import Place

_LEAST = 16
_WITHOUT_WGMMA = 60
"""Percent of its peak that a GPU with wgmma reaches by mma.sync."""
_EXPONENTIAL = 8
"""Operations that the hardware's power of two takes the time of."""


@dataclass(frozen=True)
class Products:
    """What a group of such contractions has."""

    batches: int
    rows: int
    columns: int
    row: int
    """Which dimension of the first contraction's result the group's results keep."""
    read: tuple[Place, ...]
    """What is summed over the columns, by row and column."""
    turned: tuple[Place, ...]
    """The same, with columns for rows."""


def products_of(function: ir.Operation, size: int) -> Products | str:
    """The group whose matrices have `size` elements; or why it is none."""
    dims = Dims(function)
    dots = [op for op in dims.ops if op.name == "stablehlo.dot_general"]
    at = [op for op in dots if count_of(op.results[0]) == size]
    over = [op for op in dots if op not in at]
    if not at or not over:
        return "no contraction makes what another sums over"
    kinds = {str(element_of(value)) for op in dots for value in op.operands}
    if kinds not in ({"f16"}, {"bf16"}):
        return f"the kernel multiplies f16 or bf16, not {', '.join(sorted(kinds))}"
    axes = _axes(at[0], over, dims)
    if axes is None:
        return "the matrices have no one row and column"
    _, row, column = axes
    refusal = _refusal(at, over, dims, axes)
    if refusal is not None:
        return refusal
    rows, columns = (shape_of(c[0])[c[1]] for c in (row, column))
    read = [(value, dims.classes(value)) for op in over for value in op.operands if count_of(value) == size]
    places = tuple(Place(value, classes.index(row), classes.index(column)) for value, classes in read)
    turned = tuple(Place(place.value, place.column, place.row) for place in places)
    return Products(size // rows // columns, rows, columns, dims.classes(at[0].results[0]).index(row), places, turned)


def _axes(first: ir.Operation, over: list[ir.Operation], dims: Dims) -> tuple[set[Dim], Dim, Dim] | None:
    """The batches, the rows and the columns of a matrix; columns are what is summed over."""
    summed, batch = {c for op in over for c in dims.reduces(op)}, _batch(first, dims)
    free = [c for c in dims.classes(first.results[0]) if c is not None and c not in batch]
    kept = [c for c in free if c not in summed]
    return (batch, kept[0], free[1 - free.index(kept[0])]) if len(free) == 2 and len(kept) == len(summed) == 1 else None


def _refusal(at: list[ir.Operation], over: list[ir.Operation], dims: Dims, axes: tuple[set[Dim], Dim, Dim]) -> str | None:
    """Why no kernel has contractions at these axes, and over the columns."""
    batch, row, column = axes
    rows, columns = (shape_of(c[0])[c[1]] for c in (row, column))
    values = {value for op in (*at, *over) for value in (*op.operands, *op.results)}
    if dims.bad & {c for value in values for c in dims.classes(value)}:
        return "a reshape joins or parts dimensions between the contractions"
    if any(set(dims.classes(op.results[0])) - {None} != {*batch, row, column} or _batch(op, dims) != batch for op in at):
        return "the contractions have no common rows and columns"
    for op in over:
        kept = {c for c in dims.classes(op.results[0]) if c is not None}
        if _batch(op, dims) != batch or not {*batch, row} < kept or len(kept) != len(batch) + 2:
            return "the results do not keep the rows"
    matrix = count_of(at[0].results[0])
    widest = max(*(_summed(op) for op in at), *(count_of(op.results[0]) * columns // matrix for op in over))
    if widest > WIDEST:
        return f"rows of {widest} do not stay in registers; {WIDEST} do"
    return f"a block multiplies {BLOCK_ROWS} rows, and there are {min(rows, columns)}" if min(rows, columns) < _LEAST else None


def _batch(op: ir.Operation, dims: Dims) -> set[Dim]:
    classes = dims.classes(op.operands[0])
    return {c for d in DotDims.of(op).batch[0] if (c := classes[d]) is not None}


def _summed(op: ir.Operation) -> int:
    """How many products a contraction adds."""
    return prod(shape_of(op.operands[0])[d] for d in DotDims.of(op).contracting[0])


def price(function: ir.Operation, found: Products, target: TargetView, share: float) -> Figures:
    """(time, bytes, flops) of the kernel, of whose points a mask leaves a `share`."""
    matrix = found.batches * found.rows * found.columns
    points = share * matrix
    ops = ops_in(function.regions[0].blocks[0])[:-1]
    dots = walk(function, "stablehlo.dot_general")
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
    return count_of(op.results[0]) * _summed(op) // (found.batches * found.rows * found.columns)
