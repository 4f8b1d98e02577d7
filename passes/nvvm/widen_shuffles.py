"""widen-shuffles: shuffles of values that the hardware does not shuffle become shuffles of 32-bit integers.

Before:
    %s, %ok = gpu.shuffle xor %v, %offset, %width : f16
After:
    %b = arith.bitcast %v : f16 to i16
    %e = arith.extui %b : i16 to i32
    %r, %ok = gpu.shuffle xor %e, %offset, %width : i32
    %t = arith.trunci %r : i32 to i16
    %s = arith.bitcast %t : i16 to f16

Vectors are shuffled 32 bits at a time, or element by element where they do not fill whole words or hold i1.

Must hold: nothing. Declined: scalars of 32 and 64 bits, which upstream lowers.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from ..common.rewriting import create, replace, value_of, walk
from ..common.vectors import extract
from ..registry import register_pass

_WORD = 32


@register_pass("widen-shuffles", "shuffles narrow values and vectors as 32-bit integers", ops=("gpu.shuffle",))
def widen_shuffles(module: ir.Operation) -> None:
    for shuffle in walk(module, "gpu.shuffle"):
        if _is_word(shuffle.operands[0].type):
            continue
        with ir.InsertionPoint(shuffle), shuffle.location:
            values = _shuffle(shuffle, shuffle.operands[0])
        replace(shuffle, values)


def _is_word(kind: ir.Type) -> bool:
    return not isinstance(kind, ir.VectorType) and kind.width in (_WORD, 2 * _WORD)


def _shuffle(shuffle: ir.Operation, value: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The value as the other lane has it, and whether there is such a lane."""
    if isinstance(value.type, ir.VectorType):
        return _shuffle_vector(shuffle, value)
    if _is_word(value.type):
        types, operands = [value.type, ir.IntegerType.get_signless(1)], [value, *list(shuffle.operands)[1:]]
        result, valid = create("gpu.shuffle", types, operands, mode=shuffle.attributes["mode"]).results
        return result, valid
    narrow, word = ir.IntegerType.get_signless(value.type.width), ir.IntegerType.get_signless(_WORD)
    bits = value if value.type == narrow else value_of("arith.bitcast", narrow, [value])
    wide, valid = _shuffle(shuffle, value_of("arith.extui", word, [bits]))
    result = value_of("arith.trunci", narrow, [wide])
    return (result if value.type == narrow else value_of("arith.bitcast", value.type, [result])), valid


def _shuffle_vector(shuffle: ir.Operation, value: ir.Value) -> tuple[ir.Value, ir.Value]:
    whole = ir.VectorType(value.type)
    count = prod(whole.shape)
    bits = count * whole.element_type.width
    fills_words = bits % _WORD == 0 and whole.element_type.width > 1
    element = ir.IntegerType.get_signless(_WORD) if fills_words else whole.element_type
    parts = ir.VectorType.get([bits // _WORD if fills_words else count], element)
    flat = ir.VectorType.get([count], whole.element_type)
    if whole != flat:
        value = value_of("vector.shape_cast", flat, [value])
    if parts != flat:
        value = value_of("vector.bitcast", parts, [value])
    pieces = [_shuffle(shuffle, extract(value, number)) for number in range(parts.shape[0])]
    result = value_of("vector.from_elements", parts, [piece for piece, _ in pieces])
    if parts != flat:
        result = value_of("vector.bitcast", flat, [result])
    return (result if whole == flat else value_of("vector.shape_cast", whole, [result])), pieces[0][1]
