"""approximate-powers: powers of 2 that may be approximate become the instruction that the hardware has for them.

Before:
    %1 = math.exp2 %0 fastmath<afn> : f32
After:
    %1 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%0) : (f32) -> f32

It is within 2 ulp; arguments and results below 2^-126 count as 0, which libdevice's function rescales for: three instructions more.

Must hold: stage nvvm. Declined: exp2 without the flag, other types and vectors, which libdevice computes.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import intrinsic, replace, walk
from ..registry import register_pass


@register_pass("approximate-powers", "powers of 2 that may be approximate as instructions of the hardware", ops=("math.exp2",))
def approximate_powers(module: ir.Operation) -> None:
    for op in walk(module, "math.exp2"):
        if "afn" not in str(op.attributes["fastmath"]) or not isinstance(op.results[0].type, ir.F32Type):
            continue
        with ir.InsertionPoint(op), op.location:
            made = intrinsic("llvm.nvvm.ex2.approx.ftz.f", op.results[0].type, [op.operands[0]])
        replace(op, [made])
