"""Factorizations of matrices: one call of LAPACK each, and what torch keeps of its results.

The vectors of eigenvalues and of singular values are determined up to a factor of length 1; LAPACKs of different makers choose others.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from hloom.passes.common.calls.lapack import target_name
from hloom.passes.common.rewriting import element_of
from hloom.passes.stablehlo.support import build
from hloom.passes.stablehlo.support.column_major import call, letters

from ..torch_registry import TorchOp, torch_lowering

_LETTERS = {"f32": "s", "f64": "d", "complex<f32>": "c", "complex<f64>": "z"}


@torch_lowering("aten.linalg_lu_factor_ex")
def lu_factor(op: TorchOp, a: ir.Value, *, pivot: bool = True, check_errors: bool = False) -> list[ir.Value]:
    if not pivot:
        raise op.refused("LAPACK has no factorization without pivots", "leave pivot=False out")
    return _lapack("getrf", [a], op.results)


@torch_lowering("aten.linalg_cholesky_ex")
def cholesky(op: TorchOp, a: ir.Value, *, upper: bool = False, check_errors: bool = False) -> list[ir.Value]:
    """What LAPACK has got to where the matrix is not positive definite, as torch: info says where."""
    factor, info = _lapack("potrf", [a], op.results, uplo="U" if upper else "L")
    return [triangle(factor, upper), info]


@torch_lowering("aten.geqrf")
def geqrf(op: TorchOp, a: ir.Value) -> list[ir.Value]:
    return _lapack("geqrf", [a], op.results)


@torch_lowering("aten.linalg_householder_product")
def householder_product(op: TorchOp, a: ir.Value, factors: ir.Value) -> ir.Value:
    if not build.count_of(factors) and build.count_of(a):
        row, column = places(a)
        return build.select(build.compare("EQ", row, column), ones(a.type), zeros(a.type))
    return _lapack("orgqr", [a, factors], op.results)[0]


@torch_lowering("aten.ormqr")
def ormqr(op: TorchOp, a: ir.Value, factors: ir.Value, c: ir.Value, left: bool = True, transpose: bool = False) -> ir.Value:
    """Of a the columns that have a factor."""
    shape = build.shape_of(a)
    a = build.slice_dim(a, len(shape) - 1, 0, build.shape_of(factors)[-1])
    if not build.count_of(a):
        return c
    options = {"left": ir.BoolAttr.get(left), "transpose": ir.BoolAttr.get(transpose)}
    return call(_target("ormqr", a), [a, factors, c], [op.result], len(shape) - 2, options)[0]


@torch_lowering("aten._linalg_svd")
def svd(op: TorchOp, a: ir.Value, full: bool = False, vectors: bool = True, *, driver: str | None = None) -> list[ir.Value]:
    if not build.count_of(a):
        return _of_nothing(op)
    *batch, rows, columns = build.shape_of(a)
    least = min(rows, columns)
    shapes = [[rows, rows if full else least], [columns if full else least, columns]]
    u, v = (build.tensor([*batch, *shape], element_of(a)) for shape in shapes)
    found = _lapack("gesdd", [a], [a.type, op.results[1], u, v, _info(batch)], mode=("A" if full else "S") if vectors else "N")
    return [found[2], found[1], found[3]] if vectors else [zeros(op.results[0]), found[1], zeros(op.results[2])]


@torch_lowering("aten._linalg_eigh")
def eigh(op: TorchOp, a: ir.Value, triangle: str = "L", vectors: bool = True) -> list[ir.Value]:
    if not build.count_of(a):
        return _of_nothing(op)
    kinds = [a.type, op.results[0], _info(build.shape_of(a)[:-2])]
    found = _lapack("syevd", [a], kinds, uplo=triangle.upper(), mode="V" if vectors else "N")
    return [found[1], found[0] if vectors else zeros(op.results[1])]


@torch_lowering("aten.linalg_eig")
def eig(op: TorchOp, a: ir.Value) -> list[ir.Value]:
    values, vectors = op.results
    return _eigen(op, a, values, vectors, wanted="V")


@torch_lowering("aten._linalg_eigvals", "aten.linalg_eigvals")
def eigvals(op: TorchOp, a: ir.Value) -> ir.Value:
    vectors = build.tensor(build.shape_of(a), op.element)
    return _eigen(op, a, op.result, vectors, wanted="N")[0]


def _eigen(op: TorchOp, a: ir.Value, values: ir.RankedTensorType, vectors: ir.RankedTensorType, wanted: str) -> list[ir.Value]:
    if not build.count_of(a):
        return _of_nothing(op)
    *batch, size, _ = build.shape_of(a)
    sides, info = {"compute_left": "N", "compute_right": wanted}, _info(batch)
    if isinstance(element_of(a), ir.ComplexType):
        found = _lapack("geev", [a], [values, vectors, vectors, info], **sides)
        return [found[0], found[2]]
    part = build.tensor([*batch, size], element_of(a))
    real, imaginary, _, right, _ = _lapack("geev", [a], [part, part, vectors, vectors, info], **sides)
    return [build.elementwise("complex", real, imaginary, result=values), right]


def _lapack(routine: str, operands: Sequence[ir.Value], kinds: Sequence[ir.Type], **options: str) -> list[ir.Value]:
    """The routine's results; of an operand without elements, zeros."""
    if not build.count_of(operands[0]):
        return [zeros(kind) for kind in kinds]
    batch = len(build.shape_of(operands[0])) - 2
    return call(_target(routine, operands[0]), operands, kinds, batch, letters(**options))


def _target(routine: str, a: ir.Value) -> str:
    return target_name(_LETTERS[str(element_of(a))], routine)


def _info(batch: Sequence[int]) -> ir.RankedTensorType:
    return build.tensor(batch, ir.IntegerType.get_signless(32))


def _of_nothing(op: TorchOp) -> list[ir.Value]:
    """What a matrix without elements is made of: identities."""
    return [build.select(build.compare("EQ", *places(each)), ones(each.type), each) if len(each.type.shape) > 1 else each
            for each in map(zeros, op.results)]  # fmt: skip


def triangle(a: ir.Value, upper: bool) -> ir.Value:
    """The matrix with zeros below its diagonal, or above."""
    return build.select(build.compare("LE" if upper else "GE", *places(a)), a, zeros(a.type))


def places(a: ir.Value) -> tuple[ir.Value, ir.Value]:
    """Each element's row and column."""
    shape, index = build.shape_of(a), ir.IntegerType.get_signless(32)
    return build.iota(shape, index, len(shape) - 2), build.iota(shape, index, len(shape) - 1)


def zeros(kind: ir.Type) -> ir.Value:
    return build.zero(list(kind.shape), kind.element_type)


def ones(kind: ir.Type) -> ir.Value:
    if not isinstance(kind.element_type, ir.ComplexType):
        return build.full(kind, 1)
    parts = build.tensor(kind.shape, kind.element_type.element_type)
    return build.elementwise("complex", build.full(parts, 1), build.full(parts, 0), result=kind)
