"""legalize-linear-algebra: cholesky and triangular_solve as calls of LAPACK.

Before:
    %0 = stablehlo.cholesky %a, lower = true : tensor<8x8xf32>
    %1 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, …}>
After:
    %f, %info = stablehlo.custom_call @lapack_spotrf_ffi(%a) {mhlo.backend_config = {uplo = 85 : ui8}}
    %0 = select(%info == 0, select(row >= column, %f, 0), NaN)
    %1 = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {side = 82 : ui8, uplo = 85 : ui8, …}}

LAPACK counts columns first: the matrices are handed over as they lie, and what is lower, or left, is upper, or right, to it. The factor's
other triangle is zero, whatever the operand's holds; all of it is NaN where the matrix is not positive definite. bf16 and f16 are widened
to f32. Must hold: nothing. Declined: every other op.
"""

from __future__ import annotations

import math

from torch_mlir import ir

from ..common.rewriting import create, element_of, keyword
from ..registry import register_pass
from .support import build
from .support.driver import rewrite

_LETTERS = {"f32": "s", "f64": "d", "complex<f32>": "c", "complex<f64>": "z"}
_TRANSPOSES = {"NO_TRANSPOSE": "N", "TRANSPOSE": "T", "ADJOINT": "C", "TRANSPOSE_INVALID": "N"}


_NAMES = ("stablehlo.cholesky", "stablehlo.triangular_solve")


@register_pass("legalize-linear-algebra", "turns cholesky and triangular_solve into calls of LAPACK", ops=_NAMES)
def legalize_linear_algebra(module: ir.Operation) -> None:
    rewrite(module, {name: [rule] for name, rule in zip(_NAMES, (_cholesky, _triangular_solve))})


def _cholesky(op: ir.Operation) -> list[ir.Value]:
    (given,) = op.operands
    shape, lower = build.shape_of(given), _flag(op, "lower")
    if not build.count_of(given):
        return [given]
    a = _widened(given)
    i32 = ir.IntegerType.get_signless(32)
    factor, info = _call("potrf", [a], [a.type, build.tensor(shape[:-2], i32)], uplo="U" if lower else "L")
    row, column = (build.iota(shape, i32, len(shape) - which) for which in (2, 1))
    kept = build.select(build.compare("GE" if lower else "LE", row, column), factor, _filled(a.type, 0))
    good = build.compare("EQ", info, build.zero(shape[:-2], i32))
    result = build.select(build.broadcast(good, shape, list(range(len(shape) - 2))), kept, _filled(a.type, math.nan))
    return [build.convert(result, element_of(given))]


def _triangular_solve(op: ir.Operation) -> list[ir.Value]:
    given = op.operands[1]
    if not build.count_of(given):
        return [given]
    a, b = map(_widened, op.operands)
    (solved,) = _call(
        "trsm", [a, b], [b.type], side="R" if _flag(op, "left_side") else "L", uplo="U" if _flag(op, "lower") else "L",
        trans_x=_TRANSPOSES[keyword(op, "transpose_a")], diag="U" if _flag(op, "unit_diagonal") else "N",
    )  # fmt: skip
    return [build.convert(solved, element_of(given))]


def _call(routine: str, operands: list[ir.Value], kinds: list[ir.Type], **options: str) -> list[ir.Value]:
    target = ir.StringAttr.get(f"lapack_{_LETTERS[str(element_of(operands[0]))]}{routine}_ffi")
    byte = ir.IntegerType.get_unsigned(8)
    config = ir.DictAttr.get({name: ir.IntegerAttr.get(byte, ord(value)) for name, value in options.items()})
    return list(create("stablehlo.custom_call", kinds, operands, call_target_name=target, **{"mhlo.backend_config": config}).results)


def _filled(kind: ir.Type, value: float) -> ir.Value:
    """A tensor of the value, which is both parts of a complex number."""
    element = kind.element_type
    part = element.element_type if isinstance(element, ir.ComplexType) else element
    filled = build.full(build.tensor(kind.shape, part), value)
    return filled if part == element else build.elementwise("complex", filled, filled, result=kind)


def _widened(value: ir.Value) -> ir.Value:
    return build.convert(value, ir.F32Type.get()) if str(element_of(value)) in ("f16", "bf16") else value


def _flag(op: ir.Operation, name: str) -> bool:
    return name in op.attributes and ir.BoolAttr(op.attributes[name]).value
