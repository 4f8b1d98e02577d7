"""widen-bf16: pairs of bf16 become f32 by the bits of the word that they share, and are rounded two at a time.

Before:
    %r = llvm.fptrunc %x : vector<2xf32> to vector<2xbf16>
    %y = llvm.fpext %r : vector<2xbf16> to vector<2xf32>
After:
    %w = llvm.bitcast (llvm.call_intrinsic "llvm.nvvm.ff2bf16x2.rn"(%x[1], %x[0])) : i32
    %y = llvm.shufflevector (%w << 16), (%w & 0xffff0000) : vector<2xf32>

A single bf16 that is read again is rounded in the unit of square roots, at a quarter of the rate; a pair is not. What is read from memory
is widened from its words, too, which are not taken apart before.

Must hold: the LLVM dialect. Declined: scalars, vectors of an odd number of elements, other types.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import create, defining_op, replace, value_of, walk
from ..common.vectors import vector_of
from ..registry import register_pass


@register_pass("widen-bf16", "widens pairs of bf16 by their bits, and rounds two at a time", ops=("llvm.fpext",))
def widen_bf16(module: ir.Operation) -> None:
    for op in walk(module, _widens_pairs):
        with op.location, ir.InsertionPoint(op):
            replace(op, [_widened(op.operands[0], op.results[0].type)])


def _widens_pairs(op: ir.Operation) -> bool:
    if op.name != "llvm.fpext" or not isinstance(op.operands[0].type, ir.VectorType):
        return False
    source, target = ir.VectorType(op.operands[0].type), ir.VectorType(op.results[0].type)
    return isinstance(source.element_type, ir.BF16Type) and isinstance(target.element_type, ir.F32Type) and source.shape[0] % 2 == 0


def _widened(halves: ir.Value, kind: ir.Type) -> ir.Value:
    count = ir.VectorType(kind).shape[0] // 2
    i32, parts = ir.IntegerType.get_signless(32), vector_of(count, ir.F32Type.get())
    whole = vector_of(count, i32)
    rounded = defining_op(halves)
    if rounded is not None and rounded.name == "llvm.fptrunc" and rounded.operands[0].type == kind:
        words = _rounded(rounded.operands[0], whole)
    else:
        words = value_of("llvm.bitcast", whole, [halves])
    low = value_of("llvm.shl", whole, [words, _splat(whole, 16)])
    high = value_of("llvm.and", whole, [words, _splat(whole, -65536)])
    sides = [value_of("llvm.bitcast", parts, [side]) for side in (low, high)]
    mask = [number // 2 + number % 2 * count for number in range(2 * count)]
    return value_of("llvm.shufflevector", kind, sides, mask=ir.DenseI32ArrayAttr.get(mask))


def _rounded(values: ir.Value, whole: ir.Type) -> ir.Value:
    """The words of pairs of f32, rounded to bf16."""
    i32, f32, pair = ir.IntegerType.get_signless(32), ir.F32Type.get(), vector_of(2, ir.BF16Type.get())
    words = create("llvm.mlir.undef", [whole]).results[0]
    for number in range(ir.VectorType(whole).shape[0]):
        places = [value_of("llvm.mlir.constant", i32, value=ir.IntegerAttr.get(i32, 2 * number + side)) for side in (1, 0)]
        high, low = (value_of("llvm.extractelement", f32, [values, place]) for place in places)
        rounded = create(
            "llvm.call_intrinsic",
            [pair],
            [high, low],
            intrin=ir.StringAttr.get("llvm.nvvm.ff2bf16x2.rn"),
            operandSegmentSizes=ir.DenseI32ArrayAttr.get([2, 0]),
            op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
        ).results[0]
        at = value_of("llvm.mlir.constant", i32, value=ir.IntegerAttr.get(i32, number))
        words = value_of("llvm.insertelement", whole, [words, value_of("llvm.bitcast", i32, [rounded]), at])
    return words


def _splat(kind: ir.Type, number: int) -> ir.Value:
    element = ir.IntegerAttr.get(ir.VectorType(kind).element_type, number)
    return value_of("llvm.mlir.constant", kind, value=ir.DenseElementsAttr.get_splat(kind, element))
