"""How wide panels of packed weights are, so that the kernel which multiplies by them reads each from front to back."""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ...common.contraction import block_columns
from .build import element_of


def panel_columns(op: ir.Operation) -> int:
    """Columns of a panel of the right operand of a dot or 1x1 convolution: those of a block of accumulators; 0 where its elements are
    not all f32 or all f64, which other kernels multiply."""
    elements = {element_of(v) for v in [*op.operands, *op.results]}
    if len(elements) > 1 or not isinstance(next(iter(elements)), (ir.F32Type, ir.F64Type)):
        return 0
    return block_columns(target_of(op), elements.pop())
