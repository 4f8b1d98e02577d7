"""LAPACK's routines as CUDA's libraries have them: which, and what a call of one becomes."""

from __future__ import annotations

from torch_mlir import ir

from ..common.calls.lapack import routine_of
from ..common.custom_calls import NUMBERS, target_of_call

ON_CUDA = ("potrf", "trsm", "getrf", "geqrf", "orgqr", "ormqr", "gesvd", "syevd", "sytrd", "gtsv2", "xgeev")
"""cuSOLVER's, but for cuBLAS's trsm and cuSPARSE's gtsv2 (runtime/cuda/kinds/lapack.py)."""


def has_solver(target: str) -> bool:
    """Whether a target names one of these."""
    known = routine_of(target)
    return known is not None and known[1] in ON_CUDA


def solver_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes of the lhlo.lapack that a legal call becomes."""
    letter, name = routine_of(target_of_call(op)) or ("", "")
    return {"routine": ir.StringAttr.get(letter + name), "numbers": op.attributes[NUMBERS]}
