"""approximate-powers: powers of 2 and e, and reciprocals, that may be approximate become the instructions that the hardware has.

Before:
    %1 = math.exp2 %0 fastmath<afn> : f32
    %2 = math.exp %0 fastmath<afn> : f32
    %3 = arith.divf 1.0, %0 fastmath<afn> : f32
After:
    %1 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%0) : (f32) -> f32
    %2 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%0 * log2(e)) : (f32) -> f32
    %3 = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%0) : (f32) -> f32

They are within 2 and 1 ulp; arguments and results below 2^-126 count as 0, which libdevice's function, and PTX's reciprocal, rescale for:
three instructions more.

Must hold: stage nvvm. Declined: without the flag, and other types, which libdevice computes; other divisions.
"""

from __future__ import annotations

import math

from torch_mlir import ir
from torch_mlir.dialects import arith

from ..common.ranges import Ranges
from ..common.rewriting import replace, walk
from ..common.vectors import element_of, intrinsic_of_each, splat
from ..registry import register_pass

_POWERS = ("math.exp2", "math.exp")
_DIVISION = "arith.divf"


@register_pass(
    "approximate-powers", "powers and reciprocals that may be approximate as instructions of the hardware", ops=(*_POWERS, _DIVISION)
)
def approximate_powers(module: ir.Operation) -> None:
    for op in walk(module, lambda op: op.name in (*_POWERS, _DIVISION)):
        kind = op.results[0].type
        if "afn" not in str(op.attributes["fastmath"]) or not isinstance(element_of(kind), ir.F32Type):
            continue
        if op.name == _DIVISION and Ranges().of(op.operands[0]) != (1.0, 1.0):
            continue
        with ir.InsertionPoint(op), op.location:
            operand, name = op.operands[-1], "rcp" if op.name == _DIVISION else "ex2"
            if op.name == "math.exp":
                operand = arith.mulf(operand, splat(kind, math.log2(math.e)))
            result = intrinsic_of_each(f"llvm.nvvm.{name}.approx.ftz.f", operand)
        replace(op, [result])
