"""keep-halves-wide: what is computed of f16 in f32 stays in f32 where the target has no arithmetic on f16.

Before, on vectors:
    %w = arith.extf %x : vector<32xf16> to vector<32xf32>
    %f = math.floor %w
After:
    %w = llvm.call_intrinsic "llvm.arithmetic.fence"(arith.extf %x)
    %f = math.floor %w

LLVM computes in f16 what is of f16 and exact there (floors, roundings, whole numbers of halves), though the processor cannot, and then
takes the register apart, one element after the other. It does not see through the fence, which is no instruction.

Must hold: nothing. Declined: targets with arithmetic on f16, or of other machines than x86; scalars; what is only compared.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import walk
from ..registry import register_pass
from .support.fences import fence


@register_pass("keep-halves-wide", "keeps LLVM from computing in f16 without instructions", ops=frozenset(["arith.extf"]))
def keep_halves_wide(module: ir.Operation) -> bool:
    target = target_of(module)
    if target.machine != "x86_64" or target.f16_arithmetic:
        return False
    ops = walk(module, lambda op: op.name == "arith.extf" and _is_of_halves(op.operands[0].type) and _is_computed_with(op))
    for op in ops:
        fence(op)
    return bool(ops)


def _is_of_halves(kind: ir.Type) -> bool:
    return isinstance(kind, ir.VectorType) and isinstance(kind.element_type, ir.F16Type)


def _is_computed_with(op: ir.Operation) -> bool:
    """Whether another op than comparisons, which are as fast in either type, reads it."""
    return any(use.owner.name != "arith.cmpf" for use in op.results[0].uses)
