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
subnormals. Must hold: nothing. Declined: rounding from f64, ops that need no rounding, scalable vectors, tensors.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import attributes_of, value_of, walk
from ..registry import register_pass

_QUIET_NAN = 0x7FC00000
_UNORDERED = 14
_FROM_INTEGER = ("arith.sitofp", "arith.uitofp")
_ARITHMETIC = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf".split()
_ROUNDING = {f"arith.{name}" for name in _ARITHMETIC} | {"math.sqrt", "math.fma", "vector.reduction"}


@register_pass("round-to-bf16", "rounds f32 to bf16 by integer arithmetic")
def round_to_bf16(module: ir.Operation) -> None:
    for op in walk(module, lambda op: op.name in _ROUNDING and _is(op.results[0].type, "bf16")):
        with ir.InsertionPoint(op), op.location:
            op.results[0].replace_all_uses_with(_computed_in_f32(op))
        op.erase()
    for op in walk(module, lambda op: op.name in ("arith.truncf", *_FROM_INTEGER)):
        (x,) = op.operands
        result = op.results[0].type
        if not _is(result, "bf16") or not (_is(x.type, "f32") or op.name in _FROM_INTEGER):
            continue
        with ir.InsertionPoint(op), op.location:
            if op.name in _FROM_INTEGER:
                x = value_of(op.name, _as_f32(result), [x])
            op.results[0].replace_all_uses_with(_rounded(x, result))
        op.erase()


def _is(type_: ir.Type, element: str) -> bool:
    if isinstance(type_, ir.VectorType):
        return str(type_.element_type) == element and not type_.scalable
    return str(type_) == element


def _computed_in_f32(op: ir.Operation) -> ir.Value:
    f32 = ir.F32Type.get()

    def wide(type_: ir.Type) -> ir.Type:
        return ir.VectorType.get(type_.shape, f32) if isinstance(type_, ir.VectorType) else f32

    narrow = op.results[0].type
    operands = [value_of("arith.extf", wide(operand.type), [operand]) for operand in op.operands]
    return value_of("arith.truncf", narrow, [value_of(op.name, wide(narrow), operands, **attributes_of(op))])


def _rounded(x: ir.Value, result: ir.Type) -> ir.Value:
    i32 = _with_element(result, 32)

    def apply(name: str, *operands: ir.Value) -> ir.Value:
        return value_of(f"arith.{name}", i32, operands)

    bits = apply("bitcast", x)
    sixteen = _constant(i32, 16)
    last = apply("andi", apply("shrui", bits, sixteen), _constant(i32, 1))
    rounded = apply("addi", apply("addi", bits, _constant(i32, 0x7FFF)), last)
    predicate = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), _UNORDERED)
    is_nan = value_of("arith.cmpf", _with_element(result, 1), [x, x], predicate=predicate)
    high = apply("shrui", apply("select", is_nan, _constant(i32, _QUIET_NAN), rounded), sixteen)
    return value_of("arith.bitcast", result, [value_of("arith.trunci", _with_element(result, 16), [high])])


def _as_f32(like: ir.Type) -> ir.Type:
    return ir.VectorType.get(like.shape, ir.F32Type.get()) if isinstance(like, ir.VectorType) else ir.F32Type.get()


def _with_element(like: ir.Type, width: int) -> ir.Type:
    integer = ir.IntegerType.get_signless(width)
    return ir.VectorType.get(like.shape, integer) if isinstance(like, ir.VectorType) else integer


def _constant(type_: ir.Type, value: int) -> ir.Value:
    if not isinstance(type_, ir.VectorType):
        return value_of("arith.constant", type_, value=ir.IntegerAttr.get(type_, value))
    splat = ir.DenseElementsAttr.get_splat(type_, ir.IntegerAttr.get(type_.element_type, value))
    return value_of("arith.constant", type_, value=splat)
