"""Systems of equations by factors: triangles, and the L and U and the pivots of LAPACK."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from hloom.passes.common.rewriting import value_of
from hloom.passes.stablehlo.support import build
from hloom.passes.stablehlo.support.factor_updates import permuted

from ..torch_registry import TorchOp, torch_lowering
from .factorizations import ones, places, triangle, zeros


@torch_lowering("aten.linalg_solve_triangular")
def solve_triangular(op: TorchOp, a: ir.Value, b: ir.Value, *, upper: bool, left: bool = True, unitriangular: bool = False) -> ir.Value:
    batch = list(op.result.shape)[:-2]
    return _solved(_of_batch(a, batch, 2), _of_batch(b, batch, 2), upper=upper, left=left, unit=unitriangular)


@torch_lowering("aten.lu_unpack")
def lu_unpack(op: TorchOp, factors: ir.Value, pivots: ir.Value, data: bool = True, order: bool = True) -> list[ir.Value]:
    """P, L and U. Column i of P has its 1 in the row that became row i."""
    made = list(map(zeros, op.results))
    if order and build.count_of(made[0]):
        *batch, size, _ = build.shape_of(made[0])
        row, _ = places(made[0])
        moved = build.broadcast(permuted(_from_0(pivots), size), build.shape_of(made[0]), [*range(len(batch)), len(batch) + 1])
        made[0] = build.select(build.compare("EQ", row, moved), ones(op.results[0]), made[0])
    if data and build.count_of(factors):
        rank, least = len(build.shape_of(factors)), min(build.shape_of(factors)[-2:])
        low, high = (build.slice_dim(factors, dim, 0, least) for dim in (rank - 1, rank - 2))
        made[1] = build.select(build.compare("EQ", *places(low)), ones(op.results[1]), triangle(low, upper=False))
        made[2] = triangle(high, upper=True)
    return made


@torch_lowering("aten.linalg_lu_solve")
def lu_solve(op: TorchOp, factors: ir.Value, pivots: ir.Value, b: ir.Value, *, left: bool = True, adjoint: bool = False) -> ir.Value:
    """The rows or columns are permuted first where the triangles are met in the order L, U, else last, and back."""
    if not build.count_of(b):
        return zeros(op.result)
    batch = list(op.result.shape)[:-2]
    factors, b = (_of_batch(each, batch, 2) for each in (factors, b))
    first, dim = left != adjoint, len(batch) + (0 if left else 1)
    order = _of_batch(permuted(_from_0(pivots), build.shape_of(pivots)[-1], backwards=not first), batch, 1)
    if first:
        b = build.take(b, dim, order, batch=len(batch))
    for upper in (False, True) if first else (True, False):
        b = _solved(factors, b, upper, left, unit=not upper, turned="ADJOINT" if adjoint else "NO_TRANSPOSE")
    return b if first else build.take(b, dim, order, batch=len(batch))


def _solved(a: ir.Value, b: ir.Value, upper: bool, left: bool, unit: bool, turned: str = "NO_TRANSPOSE") -> ir.Value:
    options = {"left_side": left, "lower": not upper, "unit_diagonal": unit}
    attributes = {name: ir.BoolAttr.get(value) for name, value in options.items()}
    return value_of(
        "stablehlo.triangular_solve", b.type, [a, b], transpose_a=ir.Attribute.parse(f"#stablehlo<transpose {turned}>"), **attributes
    )


def _from_0(pivots: ir.Value) -> ir.Value:
    return build.subtract(pivots, build.full_like(pivots, 1))


def _of_batch(value: ir.Value, batch: Sequence[int], inner: int) -> ir.Value:
    """The value, for each of a batch whose extents its own become."""
    shape = build.shape_of(value)
    own, rest = shape[: len(shape) - inner], shape[len(shape) - inner :]
    first = len(batch) - len(own)
    kept = [d for d, size in enumerate(own) if size == batch[first + d]]
    value = build.reshape(value, [*(own[d] for d in kept), *rest])
    return build.broadcast(value, [*batch, *rest], [*(first + d for d in kept), *range(len(batch), len(batch) + inner)])
