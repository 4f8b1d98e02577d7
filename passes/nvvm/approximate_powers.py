"""approximate-powers: powers of 2 and e that may be approximate become the instruction that the hardware has for powers of 2.

Before:
    %1 = math.exp2 %0 fastmath<afn> : f32
    %2 = math.exp %0 fastmath<afn> : f32
After:
    %1 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.ftz.f"(%0) : (f32) -> f32
    %2 = llvm.call_intrinsic "llvm.nvvm.ex2.approx.f"(%0 * log2(e)) : (f32) -> f32

It is within 2 ulp. Arguments and results of exp2 below 2^-126 count as 0, which libdevice's function rescales for: three instructions more.
So do those of an exp that is only added to a constant, such as the 1 of a sigmoid; of others they are kept.

Must hold: stage nvvm. Declined: without the flag, and other types, which libdevice computes.
"""

from __future__ import annotations

import math

from torch_mlir import ir
from torch_mlir.dialects import arith

from ..common.ranges import Ranges
from ..common.rewriting import intrinsic, replace, walk
from ..common.vectors import element_of, elements, from_elements, is_vector, splat
from ..registry import register_pass

_FLUSHED, _KEPT = "llvm.nvvm.ex2.approx.ftz.f", "llvm.nvvm.ex2.approx.f"
_INVISIBLE = 2.0**-100
"""Numbers from here on are the same with a number below 2^-126 added."""


@register_pass("approximate-powers", "powers that may be approximate as instructions of the hardware", ops=("math.exp2", "math.exp"))
def approximate_powers(module: ir.Operation) -> None:
    for op in walk(module, lambda op: op.name in ("math.exp2", "math.exp")):
        kind = op.results[0].type
        if "afn" not in str(op.attributes["fastmath"]) or not isinstance(element_of(kind), ir.F32Type):
            continue
        with ir.InsertionPoint(op), op.location:
            name, exponent = _FLUSHED, op.operands[0]
            if op.name == "math.exp":
                name = _FLUSHED if _is_added(op.results[0]) else _KEPT
                exponent = arith.mulf(exponent, splat(kind, math.log2(math.e)))
            made = [intrinsic(name, each.type, [each]) for each in elements(exponent)]
            power = from_elements(made) if is_vector(exponent) else made[0]
        replace(op, [power])


def _is_added(value: ir.Value) -> bool:
    """Whether a value is only added to what is much larger than the least numbers."""
    ranges = Ranges()
    users = [use.owner.operation for use in value.uses]
    if not all(user.name == "arith.addf" for user in users):
        return False
    others = [ranges.of(operand) for user in users for operand in user.operands if operand != value]
    return bool(others) and all(low >= _INVISIBLE or high <= -_INVISIBLE for low, high in others)
