"""divide-inline: kernels of wgmma divide f32 without a call, by the reciprocal of the hardware and a correction.

Before, in a kernel with nvvm.wgmma.mma_async (%b is in [1, inf], as its ops tell):
    %q = arith.divf %a, %b : f32
After:
    %far = arith.cmpf ogt, %b, 2^126                          divisors beyond 2^126, and what they divide, are quartered
    %x, %y = arith.select %far, %a / 4, %a ...
    %r = llvm.call_intrinsic "llvm.nvvm.rcp.approx.ftz.f"(%y)
    %first = arith.mulf %x, %r
    %excess = math.fma %first, %y, -%x
    %second = math.fma -%excess, %r, %first                   rounds right but for about one quotient in a million, off by one ulp
    %q = arith.select (%second is no NaN), %second, %first    infinite divisors and quotients

A division as PTX has it calls a function where numbers are extreme, and around a call the assembler lets no wgmma of the kernel run on
(it says C7509). What the ops before tell of the numbers (ranges.py) spares steps: of an error function's denominator, a polynomial of a
clamped number, only the reciprocal, a product and the correction are left. Where the divisor's sign is not known a quotient that is a zero
stays as it was, for the correction might turn its sign.

Must hold: stage nvvm. Declined: kernels without wgmma, whose exact divisions cost no more; other types; approximate divisions.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith, math
from torch_mlir.dialects.arith import CmpFPredicate

from ..common.ranges import Range, Ranges
from ..common.rewriting import replace, walk
from ..common.vectors import element_of, intrinsic_of_each, splat
from ..registry import register_pass

_LEAST, _MOST = 2.0**-126, 2.0**126
"""Divisors whose reciprocals are normal numbers."""
_ROOM = 2.0**20
"""What ranges, and products of their ends, are to be away from the extremes."""


@register_pass("divide-inline", "divides f32 without a call in kernels of wgmma", ops=("arith.divf",))
def divide_inline(module: ir.Operation) -> None:
    for kernel in walk(module, "gpu.func"):
        if not walk(kernel, lambda op: "wgmma" in op.name):
            continue
        ranges = Ranges()
        for op in walk(kernel, "arith.divf"):
            if isinstance(element_of(op.results[0].type), ir.F32Type) and "afn" not in str(op.attributes["fastmath"]):
                with ir.InsertionPoint(op), op.location:
                    made = _quotient(op.operands[0], op.operands[1], ranges)
                replace(op, [made])


def _quotient(x: ir.Value, divisor: ir.Value, ranges: Ranges) -> ir.Value:
    of_x, of_divisor = ranges.of(x), ranges.of(divisor)
    near, far = _least(of_divisor) < _LEAST * _ROOM, _greatest(of_divisor) > _MOST / _ROOM
    if far:
        x, divisor = _scaled(x, divisor, CmpFPredicate.OGT, _MOST, 0.25)
    if near:
        x, divisor = _scaled(x, divisor, CmpFPredicate.OLT, _LEAST, 2.0**24)
    reciprocal = intrinsic_of_each("llvm.nvvm.rcp.approx.ftz.f", divisor)
    first = arith.mulf(x, reciprocal)
    if of_divisor[1] < 0:
        excess = math.fma(arith.negf(divisor), first, x)
        second = math.fma(excess, reciprocal, first)
    else:
        excess = math.fma(divisor, first, arith.negf(x))
        second = math.fma(arith.negf(excess), reciprocal, first)
    kept = []
    if near or far or _greatest(of_x) > _MOST / _ROOM or _greatest(of_x) > _least(of_divisor) * _MOST / _ROOM:
        kept.append(arith.cmpf(CmpFPredicate.ORD, second, second))
    if of_divisor[0] < 0 <= of_divisor[1]:
        kept.append(arith.cmpf(CmpFPredicate.UNE, first, splat(first.type, 0.0)))
    for each in kept:
        second = arith.select(each, second, first)
    return second


def _scaled(x: ir.Value, divisor: ir.Value, beyond: CmpFPredicate, end: float, scale: float) -> tuple[ir.Value, ir.Value]:
    """Both times `scale` where the divisor is beyond an end."""
    extreme = arith.cmpf(beyond, math.absf(divisor), splat(divisor.type, end))
    first, second = (arith.select(extreme, arith.mulf(each, splat(each.type, scale)), each) for each in (x, divisor))
    return first, second


def _least(of: Range) -> float:
    """The least magnitude in a range."""
    return 0.0 if of[0] <= 0 <= of[1] else min(abs(of[0]), abs(of[1]))


def _greatest(of: Range) -> float:
    return max(abs(of[0]), abs(of[1]))
