"""round-to-bf16: arithmetic on bf16 in f32, and rounding f32 to bf16 as integer arithmetic.

Before, on scalars or vectors:

    %x = arith.addf %a, %b : vector<16xbf16>

After:

    %x = arith.truncf (arith.addf (arith.extf %a), (arith.extf %b)) : vector<16xf32> to vector<16xbf16>

and that, to the nearest, ties to even, any NaN becoming the quiet one:

    %bits = arith.bitcast %x : vector<16xf32> to vector<16xi32>
    %last = arith.andi (arith.shrui %bits, %c16), %c1
    %sum = arith.addi (arith.addi %bits, %c32767), %last
    %kept = arith.select (arith.cmpf uno, %x, %x), %quiet_nan, %sum
    %y = arith.bitcast (arith.trunci (arith.shrui %kept, %c16))

Integers are converted to f32 and then rounded.

Left to LLVM, processors without AVX512-BF16 call a run-time library for each lane, and vcvtneps2bf16, which the others have, makes zeros of
subnormals. Upstream's arith-expand{include-bf16=true} does truncf alone, neither arithmetic nor conversions of integers. Must hold:
nothing. Declined: rounding from f64, ops that need no rounding, scalable vectors, tensors.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith

from ..common.bf16 import integers, is_of, with_element
from ..common.rewriting import attributes_of, replace, value_of, walk
from ..common.vectors import splat
from ..registry import register_pass

_QUIET_NAN = 0x7FC00000
_ARITHMETIC = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split()
_ROUNDING = {f"arith.{name}" for name in _ARITHMETIC} | {"math.sqrt", "math.fma", "vector.reduction"}
_ALL = _ROUNDING | {"arith.truncf", "arith.sitofp", "arith.uitofp"}


@register_pass("round-to-bf16", "rounds f32 to bf16 by integer arithmetic")
def round_to_bf16(module: ir.Operation) -> None:
    for op in walk(module, lambda op: op.name in _ALL and is_of(op.results[0].type, ir.BF16Type)):
        if op.name == "arith.truncf" and not is_of(op.operands[0].type, ir.F32Type):
            continue
        with ir.InsertionPoint(op), op.location:
            replace(op, [_rounded(_in_f32(op), op.results[0].type)])


def _in_f32(op: ir.Operation) -> ir.Value:
    """What the op computes, before it is rounded."""
    if op.name == "arith.truncf":
        return op.operands[0]
    f32 = ir.F32Type.get()
    operands = list(op.operands)
    if op.name in _ROUNDING:
        operands = [value_of("arith.extf", with_element(x.type, f32), [x]) for x in operands]
    return value_of(op.name, with_element(op.results[0].type, f32), operands, **attributes_of(op))


def _rounded(x: ir.Value, result: ir.Type) -> ir.Value:
    i32 = integers(result, 32)

    def apply(name: str, *operands: ir.Value) -> ir.Value:
        return value_of(f"arith.{name}", i32, operands)

    bits = apply("bitcast", x)
    sixteen = splat(i32, 16)
    last = apply("andi", apply("shrui", bits, sixteen), splat(i32, 1))
    rounded = apply("addi", apply("addi", bits, splat(i32, 0x7FFF)), last)
    is_nan = arith.cmpf(arith.CmpFPredicate.UNO, x, x)
    high = apply("shrui", apply("select", is_nan, splat(i32, _QUIET_NAN), rounded), sixteen)
    return value_of("arith.bitcast", result, [value_of("arith.trunci", integers(result, 16), [high])])
