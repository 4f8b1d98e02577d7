"""How packed weights lie, so that the kernel which multiplies by them reads each panel from front to back."""

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


def lane_elements(op: ir.Operation) -> int:
    """How many neighbours in depth of a dot or convolution an instruction of vector registers multiplies; 1 where none or AMX does."""
    target, elements = target_of(op), [str(element_of(v)) for v in op.operands]
    if elements == ["bf16", "bf16"]:
        return 2 if target.bf16_dot and not target.amx_bf16 else 1
    bytes_ = all(element in ("i8", "ui8") for element in elements) and str(element_of(op.results[0])) == "i32"
    return 4 if bytes_ and target.int8_dot and not target.amx_int8 else 1


def are_split(op: ir.Operation) -> bool:
    """Whether pairs of a dot's bf16, which no instruction multiplies, are split in registers (narrow_instructions.py)."""
    target, elements = target_of(op), [str(element_of(v)) for v in op.operands]
    return elements == ["bf16", "bf16"] and not target.bf16_dot and not target.amx_bf16 and target.machine == "x86_64"
