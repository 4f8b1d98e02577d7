"""LAPACK's calls that a library of CUDA does: cuSOLVER's potrf and cuBLAS's trsm, on f32 and f64."""

from __future__ import annotations

from torch_mlir import ir

from ..common.calls.lapack import routine_of
from ..common.custom_calls import NUMBERS, target_of_call
from ..common.rewriting import i64_array, i64_attribute, integers

_DONE = {(letter, name) for letter in "sd" for name in ("potrf", "trsm")}


def has_solver(target: str) -> bool:
    """Whether a target is one of these."""
    return routine_of(target) in _DONE


def solver_of(op: ir.Operation) -> tuple[str, dict[str, ir.Attribute]]:
    """The lhlo op of a legal call, and its attributes. LAPACK counts columns first: what is upper, or right, to it is lower, or left."""
    known = routine_of(target_of_call(op))
    batch, *numbers = integers(op, NUMBERS)
    if known is not None and known[1] == "potrf":
        n, _, uplo = numbers
        return "lhlo.cholesky", {"sizes": i64_array([batch, n]), "lower": i64_attribute(uplo == ord("U"))}
    _, _, m, n, side, uplo, trans, diag = numbers
    flags = {"left": side == ord("R"), "lower": uplo == ord("U"), "transposed": trans != ord("N"), "unit_diagonal": diag == ord("U")}
    return "lhlo.triangular_solve", {"sizes": i64_array([batch, n, m]), **{name: i64_attribute(flag) for name, flag in flags.items()}}
