"""approximate-powers: powers of 2 and e that may be approximate become the instruction that the hardware has for powers of 2.

Before:
    %1 = math.exp2 %0 fastmath<afn> : f32
    %2 = math.exp %0 fastmath<afn> : f32
After:
    %1 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%0) : (f32) -> f32
    %2 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%0 * log2(e)) : (f32) -> f32

It is within 2 ulp; arguments and results below 2^-126 count as 0, which libdevice's function rescales for: three instructions more.

Must hold: stage nvvm. Declined: without the flag, and other types, which libdevice computes.
"""

from __future__ import annotations

import math

from torch_mlir import ir
from torch_mlir.dialects import arith

from ..common.rewriting import intrinsic, replace, walk
from ..common.vectors import element_of, elements, from_elements, is_vector, splat
from ..registry import register_pass


@register_pass("approximate-powers", "powers that may be approximate as instructions of the hardware", ops=("math.exp2", "math.exp"))
def approximate_powers(module: ir.Operation) -> None:
    for op in walk(module, lambda op: op.name in ("math.exp2", "math.exp")):
        kind = op.results[0].type
        if "afn" not in str(op.attributes["fastmath"]) or not isinstance(element_of(kind), ir.F32Type):
            continue
        with ir.InsertionPoint(op), op.location:
            exponent = op.operands[0]
            if op.name == "math.exp":
                exponent = arith.mulf(exponent, splat(kind, math.log2(math.e)))
            made = [intrinsic("llvm.nvvm.ex2.approx.ftz.f", each.type, [each]) for each in elements(exponent)]
            power = from_elements(made) if is_vector(exponent) else made[0]
        replace(op, [power])
