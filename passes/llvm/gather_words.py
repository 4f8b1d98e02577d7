"""gather-words: elements of 8 and 16 bits are gathered as the words of 32 bits that they lie in.

Before:
    %at = llvm.getelementptr %base[%index] : (!llvm.ptr, vector<16xi64>) -> vector<16x!llvm.ptr>, bf16
    %y = llvm.intr.masked.gather %at, %mask, %zeros : (…) -> vector<16xbf16>
After:
    %apart = llvm.and (llvm.ptrtoint %base), 3                                        // bytes between a word's begin and the base
    %words = llvm.getelementptr %base[-%apart] : (!llvm.ptr, i64) -> !llvm.ptr, i8
    %place = llvm.add %index, (%apart / 2) : vector<16xi64>
    %at = llvm.getelementptr %words[%place / 2] : (!llvm.ptr, vector<16xi64>) -> vector<16x!llvm.ptr>, i32
    %word = llvm.intr.masked.gather %at, %mask, %zeros : (…) -> vector<16xi32>
    %y = llvm.bitcast (llvm.trunc (llvm.lshr %word, %place % 2 * 16)) : vector<16xi16> to vector<16xbf16>

x86 gathers 32 and 64 bits; LLVM takes narrower elements one by one, an index out of its register and an element into another. What else is
in a word is read and dropped: an aligned word that an element lies in is on the element's page.

Must hold: nothing. Declined: targets without AVX-512, whose gathers take as long as loads; wider elements; addresses that are no vector of
indices behind one base; vectors of less than four lanes.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import attributes_of, defining_op, replace, value_of, walk
from ..common.vectors import vector_of
from ..registry import register_pass

_GATHER = "llvm.intr.masked.gather"
_WORD_BITS, _LEAST_LANES = 32, 4
_DYNAMIC = -(2**31)
"""What stands for an operand among the indices of llvm.getelementptr."""


@register_pass("gather-words", "gathers elements of 8 and 16 bits as words of 32 bits, with AVX-512", ops=(_GATHER,))
def gather_words(module: ir.Operation) -> bool:
    target = target_of(module)
    if target.machine != "x86_64" or target.vector_bits != 512:
        return False
    found = [(op, place) for op in walk(module, lambda op: op.name == _GATHER) if (place := _place(op)) is not None]
    for op, (base, index) in found:
        with ir.InsertionPoint(op), op.location:
            replace(op, [_gathered(op, base, index)])
    return bool(found)


def _place(op: ir.Operation) -> tuple[ir.Value, ir.Value] | None:
    """The base and the indices of a gather that is one of narrow elements."""
    kind, address = ir.VectorType(op.results[0].type), defining_op(op.operands[0])
    if _bits(kind) not in (8, 16) or kind.scalable or kind.shape[0] < _LEAST_LANES:
        return None
    if address is None or address.name != "llvm.getelementptr" or len(address.operands) != 2:
        return None
    base, index = address.operands
    indices = list(ir.DenseI32ArrayAttr(address.attributes["rawConstantIndices"]))
    if indices != [_DYNAMIC] or isinstance(base.type, ir.VectorType) or not isinstance(index.type, ir.VectorType):
        return None
    return (base, index) if ir.TypeAttr(address.attributes["elem_type"]).value == kind.element_type else None


def _bits(kind: ir.VectorType) -> int:
    element = kind.element_type
    return element.width if isinstance(element, (ir.IntegerType, ir.FloatType)) else 0


def _gathered(op: ir.Operation, base: ir.Value, index: ir.Value) -> ir.Value:
    kind, mask, otherwise = ir.VectorType(op.results[0].type), op.operands[1], op.operands[2]
    lanes, bits = kind.shape[0], _bits(kind)
    i8, i32, i64 = (ir.IntegerType.get_signless(width) for width in (8, 32, 64))
    places, words = ir.VectorType(index.type), vector_of(lanes, i32)
    apart = value_of("llvm.and", i64, [value_of("llvm.ptrtoint", i64, [base]), _constant(i64, 3)])
    first = _element(base, value_of("llvm.sub", i64, [_constant(i64, 0), apart]), i8)
    spared = value_of("llvm.lshr", i64, [apart, _constant(i64, bits // 16)])
    place = value_of("llvm.add", places, [index, _in_all_lanes(spared, places)])
    per_word = _WORD_BITS // bits
    word_of = value_of("llvm.ashr", places, [place, _constant(places, per_word.bit_length() - 1)])
    attributes = {**attributes_of(op), "alignment": ir.IntegerAttr.get(i32, _WORD_BITS // 8)}
    word = value_of(_GATHER, words, [_element(first, word_of, i32), mask, _constant(words, 0)], **attributes)
    within = value_of("llvm.and", places, [place, _constant(places, per_word - 1)])
    shift = value_of("llvm.mul", words, [value_of("llvm.trunc", words, [within]), _constant(words, bits)])
    narrow = value_of("llvm.trunc", vector_of(lanes, ir.IntegerType.get_signless(bits)), [value_of("llvm.lshr", words, [word, shift])])
    element = narrow if narrow.type == kind else value_of("llvm.bitcast", kind, [narrow])
    return value_of("llvm.select", kind, [mask, element, otherwise])


def _element(base: ir.Value, index: ir.Value, element: ir.Type) -> ir.Value:
    """The addresses of elements behind `base`."""
    vector = isinstance(index.type, ir.VectorType)
    kind = vector_of(ir.VectorType(index.type).shape[0], base.type) if vector else base.type
    indices = ir.DenseI32ArrayAttr.get([_DYNAMIC])
    return value_of("llvm.getelementptr", kind, [base, index], rawConstantIndices=indices, elem_type=ir.TypeAttr.get(element))


def _in_all_lanes(value: ir.Value, kind: ir.VectorType) -> ir.Value:
    i32 = ir.IntegerType.get_signless(32)
    first = value_of("llvm.insertelement", kind, [value_of("llvm.mlir.poison", kind, []), value, _constant(i32, 0)])
    return value_of("llvm.shufflevector", kind, [first, first], mask=ir.DenseI32ArrayAttr.get([0] * kind.shape[0]))


def _constant(kind: ir.Type, number: int) -> ir.Value:
    if isinstance(kind, ir.VectorType):
        value: ir.Attribute = ir.DenseElementsAttr.get_splat(kind, ir.IntegerAttr.get(kind.element_type, number))
    else:
        value = ir.IntegerAttr.get(kind, number)
    return value_of("llvm.mlir.constant", kind, [], value=value)
