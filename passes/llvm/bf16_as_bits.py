"""bf16-as-bits: extending bf16 is integer arithmetic, after which bf16 values are only moved.

Before, on scalars or vectors:
    %y = arith.extf %x : vector<16xbf16> to vector<16xf32>
After:
    %bits = arith.extui (arith.bitcast %x : … to vector<16xi16>) : vector<16xi16> to vector<16xi32>
    %y = arith.bitcast (arith.shli %bits, %c16) : vector<16xi32> to vector<16xf32>

An extension to f64 goes by way of that f32; comparisons and conversions to integers read that f32, too. Where signs are changed and
fractions dropped, the result is the upper half of an f32: bits are lost that are 0.

For processors without AVX512-BF16: LLVM has no bf16 vectors there, takes them apart even to store them, and rounds the elements by
calls of a run-time library. With nothing but moves left, code generation reads every bf16 as an i16 (compiler/llvm_text.py).

Must hold: after widen-half-floats and round-to-bf16 no other op computes with bf16. Declined: targets with AVX512-BF16 (bf16_dot);
scalable vectors, tensors.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import attributes_of, value_of, walk
from ..registry import register_pass

_READS = {"arith.extf", "arith.cmpf", "arith.fptosi", "arith.fptoui"}
_EXACT = {"arith.negf", *(f"math.{name}" for name in ("absf", "copysign", "floor", "ceil", "trunc", "round", "roundeven"))}


@register_pass("bf16-as-bits", "extends bf16 by integer arithmetic")
def bf16_as_bits(module: ir.Operation) -> None:
    if target_of(module).bf16_dot:
        return
    for op in walk(module, lambda op: op.name in _READS | _EXACT and _is_bf16(op.operands[0].type)):
        result = op.results[0]
        with ir.InsertionPoint(op), op.location:
            operands = [_extended(x) for x in op.operands]
            single = operands[0].type
            if op.name in _EXACT:
                new = _upper_half(value_of(op.name, single, operands, **attributes_of(op)))
            elif single == result.type:
                (new,) = operands
            else:
                new = value_of(op.name, result.type, operands, **attributes_of(op))
            result.replace_all_uses_with(new)
        op.erase()


def _is_bf16(type_: ir.Type) -> bool:
    if isinstance(type_, ir.VectorType):
        return isinstance(type_.element_type, ir.BF16Type) and not type_.scalable
    return isinstance(type_, ir.BF16Type)


def _extended(x: ir.Value) -> ir.Value:
    i16, i32 = _integers(x.type)
    bits = value_of("arith.extui", i32, [value_of("arith.bitcast", i16, [x])])
    return value_of("arith.bitcast", _like(x.type, ir.F32Type.get()), [value_of("arith.shli", i32, [bits, _sixteen(i32)])])


def _upper_half(single: ir.Value) -> ir.Value:
    i16, i32 = _integers(single.type)
    bits = value_of("arith.shrui", i32, [value_of("arith.bitcast", i32, [single]), _sixteen(i32)])
    return value_of("arith.bitcast", _like(single.type, ir.BF16Type.get()), [value_of("arith.trunci", i16, [bits])])


def _sixteen(kind: ir.Type) -> ir.Value:
    number = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 16)
    attribute = ir.DenseElementsAttr.get_splat(kind, number) if isinstance(kind, ir.VectorType) else number
    return value_of("arith.constant", kind, value=attribute)


def _integers(like: ir.Type) -> tuple[ir.Type, ir.Type]:
    i16, i32 = (_like(like, ir.IntegerType.get_signless(width)) for width in (16, 32))
    return i16, i32


def _like(type_: ir.Type, element: ir.Type) -> ir.Type:
    return ir.VectorType.get(type_.shape, element) if isinstance(type_, ir.VectorType) else element
