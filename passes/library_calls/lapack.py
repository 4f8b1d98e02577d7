"""What a call of a routine of LAPACK becomes on CUDA."""

from __future__ import annotations

from torch_mlir import ir

from ..common.calls.lapack import routine_of
from ..common.custom_calls import NUMBERS, target_of_call


def solver_of(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes of the lhlo.lapack that a legal call becomes."""
    letter, name = routine_of(target_of_call(op)) or ("", "")
    return {"routine": ir.StringAttr.get(letter + name), "numbers": op.attributes[NUMBERS]}
