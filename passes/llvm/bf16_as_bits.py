"""bf16-as-bits: extending bf16 is integer arithmetic, after which bf16 values are only moved.

Before, on scalars or vectors:
    %y = arith.extf %x : vector<16xbf16> to vector<16xf32>
After:
    %bits = arith.extui (arith.bitcast %x : … to vector<16xi16>) : vector<16xi16> to vector<16xi32>
    %y = arith.bitcast (arith.shli %bits, %c16) : vector<16xi32> to vector<16xf32>

An extension to f64 goes by way of that f32; comparisons and conversions to integers read that f32, too. Where signs are changed and
fractions dropped, the result is the upper half of an f32: bits are lost that are 0.

LLVM has no bf16 vectors for x86 without AVX512-BF16, takes them apart even to store them, and rounds the elements by calls of a run-time
library; with AVX512-BF16 its code generator ends the process on some shuffles of them. With nothing but moves and dot products left, code
generation reads every bf16 as an i16 (compiler/llvm_text.py).

Upstream's arith-expand{include-bf16=true} does extf alone, neither comparisons nor changes of sign.

Must hold: after widen-half-floats and round-to-bf16 no other op computes with bf16, but for the instructions that multiply pairs of it.
Declined: scalable vectors, tensors.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.bf16 import integers, is_of, upper_half, with_element
from ..common.rewriting import attributes_of, replace, value_of, walk
from ..common.vectors import splat
from ..registry import register_pass

_READS = {"arith.extf", "arith.cmpf", "arith.fptosi", "arith.fptoui"}
_EXACT = {"arith.negf", *(f"math.{name}" for name in ("absf", "copysign", "floor", "ceil", "trunc", "round", "roundeven"))}
_ALL = _READS | _EXACT


@register_pass("bf16-as-bits", "extends bf16 by integer arithmetic", ops=_ALL)
def bf16_as_bits(module: ir.Operation) -> bool:
    ops = walk(module, lambda op: op.name in _ALL and is_of(op.operands[0].type, ir.BF16Type))
    for op in ops:
        result = op.results[0]
        with ir.InsertionPoint(op), op.location:
            operands = [_extended(x) for x in op.operands]
            single = operands[0].type
            if op.name in _EXACT:
                new = upper_half(value_of(op.name, single, operands, **attributes_of(op)))
            elif single == result.type:
                (new,) = operands
            else:
                new = value_of(op.name, result.type, operands, **attributes_of(op))
        replace(op, [new])
    return bool(ops)


def _extended(x: ir.Value) -> ir.Value:
    """The f32 of a bf16."""
    i16, i32 = integers(x.type, 16), integers(x.type, 32)
    bits = value_of("arith.extui", i32, [value_of("arith.bitcast", i16, [x])])
    shifted = value_of("arith.shli", i32, [bits, splat(i32, 16)])
    return value_of("arith.bitcast", with_element(x.type, ir.F32Type.get()), [shifted])
