"""bf16-as-bits: extending bf16 is integer arithmetic, after which bf16 values are only moved.

Before, on scalars or vectors:
    %y = arith.extf %x : vector<16xbf16> to vector<16xf32>
After:
    %bits = arith.extui (arith.bitcast %x : … to vector<16xi16>) : vector<16xi16> to vector<16xi32>
    %y = arith.bitcast (arith.shli %bits, %c16) : vector<16xi32> to vector<16xf32>

An extension to f64 goes by way of that f32.

For processors without AVX512-BF16: LLVM has no bf16 vectors there, takes them apart even to store them, and rounds the elements by
calls of a run-time library. With nothing but moves left, code generation reads every bf16 as an i16 (compiler/llvm_text.py).

Must hold: after widen-half-floats and round-to-bf16 no other op computes with bf16. Declined: scalable vectors, tensors.
"""

from __future__ import annotations

from torch_mlir import ir

from .registry import register_pass
from .rewriting import value_of, walk


@register_pass("bf16-as-bits", "extends bf16 by integer arithmetic")
def bf16_as_bits(module: ir.Operation) -> None:
    for op in walk(module, "arith.extf"):
        (x,) = op.operands
        result = op.results[0].type
        if not _is(x.type, ir.BF16Type):
            continue
        with ir.InsertionPoint(op), op.location:
            single = _like(result, ir.F32Type.get())
            extended = _extended(x, single)
            op.results[0].replace_all_uses_with(extended if single == result else value_of("arith.extf", result, [extended]))
        op.erase()


def _is(type_: ir.Type, element: type) -> bool:
    if isinstance(type_, ir.VectorType):
        return isinstance(type_.element_type, element) and not type_.scalable
    return isinstance(type_, element)


def _extended(x: ir.Value, result: ir.Type) -> ir.Value:
    i16, i32 = (_like(result, ir.IntegerType.get_signless(width)) for width in (16, 32))
    bits = value_of("arith.extui", i32, [value_of("arith.bitcast", i16, [x])])
    sixteen = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 16)
    attribute = ir.DenseElementsAttr.get_splat(i32, sixteen) if isinstance(i32, ir.VectorType) else sixteen
    shift = value_of("arith.constant", i32, value=attribute)
    return value_of("arith.bitcast", result, [value_of("arith.shli", i32, [bits, shift])])


def _like(type_: ir.Type, element: ir.Type) -> ir.Type:
    return ir.VectorType.get(type_.shape, element) if isinstance(type_, ir.VectorType) else element
