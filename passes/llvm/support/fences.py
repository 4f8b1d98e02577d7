"""Fences that LLVM does not see through, and that are no instruction. x86 alone has them."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import attributes_of, create, intrinsic


def fence(op: ir.Operation) -> None:
    """Replaces an op by a copy behind which a fence stands."""
    (result,) = op.results
    with ir.InsertionPoint(op), op.location:
        copy = create(op.name, [result.type], list(op.operands), **attributes_of(op)).results[0]
        fenced = intrinsic("llvm.arithmetic.fence", result.type, [copy])
    result.replace_all_uses_with(fenced)
    op.erase()
