"""pair-bf16-lanes: bf16 that is widened or rounded with the elements of even numbers first, by shifts and masks of lanes of 32 bits.

Before:
    %even_first = vector.shuffle %x, %x [0, 2, …, 14, 1, 3, …, 15] : vector<16xbf16>, vector<16xbf16>
    %y = arith.extf %even_first : vector<16xbf16> to vector<16xf32>
After:
    %pairs = vector.bitcast %x : vector<16xbf16> to vector<8xi32>
    %both = vector.shuffle (arith.shli %pairs, %c16), (arith.andi %pairs, %upper) [0, 1, …, 15] : vector<8xi32>, vector<8xi32>
    %y = arith.bitcast %both : vector<16xi32> to vector<16xf32>

And before:
    %half = arith.bitcast (arith.trunci (arith.shrui %bits, %c16)) : vector<16xi16> to vector<16xbf16>
    %z = vector.shuffle %half, %half [0, 8, 1, 9, …, 7, 15] : vector<16xbf16>, vector<16xbf16>
After:
    %z = vector.bitcast (arith.ori (arith.shrui %first, %c16), (arith.andi %second, %upper)) : vector<8xi32> to vector<16xbf16>

with the two halves of %bits. In turn, each register of f32 would be made, and each of bf16 be put together, across its lanes.

Only the first operand is read: the canonicaliser leaves poison for the second. Must hold: after round-to-bf16. Declined: other orders, and
other elements.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from ..common.bf16 import even_first, in_turn_again, integers, is_of, known_integer
from ..common.rewriting import producer, replace, walk
from ..common.vectors import joined, part, splat, vector_of
from ..registry import register_pass

_UPPER = -1 << 16


@register_pass("pair-bf16-lanes", "widens and rounds bf16 by pairs of lanes", ops=("vector.shuffle",))
def pair_bf16_lanes(module: ir.Operation) -> bool:
    shuffles = [op for op in walk(module, "vector.shuffle") if is_of(op.results[0].type, ir.BF16Type)]
    for op in shuffles:
        order, count = list(ir.DenseI64ArrayAttr(op.attributes["mask"])), ir.VectorType(op.operands[0].type).shape[0]
        if count % 2 == 0 and order == even_first(count):
            _widen(op)
        elif count % 2 == 0 and order == in_turn_again(count):
            _put_together(op)
    return bool(shuffles)


def _widen(op: ir.Operation) -> None:
    """The extensions of what the shuffle makes."""
    for use in list(op.results[0].uses):
        extension = use.owner.operation
        if extension.name != "arith.extf" or not is_of(extension.results[0].type, ir.F32Type):
            continue
        with ir.InsertionPoint(extension), extension.location:
            pairs = _pairs(op.operands[0])
            halves = [arith.shli(pairs, splat(pairs.type, 16)), arith.andi(pairs, splat(pairs.type, _UPPER))]
            replace(extension, [arith.bitcast(extension.results[0].type, joined(halves))])


def _pairs(value: ir.Value) -> ir.Value:
    """bf16 as lanes of two."""
    return vector.bitcast(vector_of(ir.VectorType(value.type).shape[0] // 2, ir.IntegerType.get_signless(32)), value)


def _put_together(op: ir.Operation) -> None:
    """The shuffle of the upper halves of lanes of 32 bits."""
    half = producer(op.operands[0], "arith.bitcast")
    short = None if half is None else producer(half.operands[0], "arith.trunci")
    shifted = None if short is None else producer(short.operands[0], "arith.shrui")
    if shifted is None or shifted.results[0].type != integers(op.results[0].type, 32) or known_integer(shifted.operands[1]) != 16:
        return
    with ir.InsertionPoint(op), op.location:
        bits, length = shifted.operands[0], ir.VectorType(op.results[0].type).shape[0] // 2
        first, second = part(bits, 0, length), part(bits, length, length)
        lower, upper = arith.shrui(first, splat(first.type, 16)), arith.andi(second, splat(first.type, _UPPER))
        replace(op, [vector.bitcast(op.results[0].type, arith.ori(lower, upper))])
