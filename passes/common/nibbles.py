"""Integers of four bits, eight side by side in a word of 32, the first of them lowest. Memory holds words; where a dot reads them, a
bitcast says what they stand for:

    %0 = stablehlo.bitcast_convert %w : (tensor<8x128x64xi32>) -> tensor<8x128x64x8xi4>
    %1 = stablehlo.dot_general %x, %0, contracting_dims = [1, 2] x [1, 3] : (tensor<1x128x8xf32>, …) -> tensor<1x8x64xf32>

That view is free: it is cloned into the dot's group. There the contraction's body takes a word apart, along a loop that the word itself
does not move along:

    ^(%x : f32, %w : i32, %sum : f32):
      %d = linalg.index 4                  // over the eight of a word
      %n = (%w >> 4 * %d) as i4
      yield %sum + %x * sitofp(%n)
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from .rewriting import defining_op, integer

NIBBLES = 8
"""In a word."""
NIBBLE_TYPES = ("i4", "ui4")
_BITS = 4


@dataclass(frozen=True)
class NibbleProduct:
    """A body that adds to its sum the product of a float and of a part of a word: `word` is the number of the word's argument, `loop` that
    which goes over the parts."""

    word: int
    loop: int
    signed: bool


def sees_nibbles(op: ir.Operation) -> bool:
    """Whether the op says of words that they are such integers."""
    return op.name == "stablehlo.bitcast_convert" and str(op.results[0].type.element_type) in NIBBLE_TYPES


def nibble_product(block: ir.Block) -> NibbleProduct | None:
    """What the body of a linalg.generic multiplies, if it sums such products in f32."""
    arguments = list(block.arguments)
    total = defining_op(list(block.operations)[-1].operation.operands[0])
    if len(arguments) != 3 or not isinstance(arguments[2].type, ir.F32Type) or total is None or total.name != "arith.addf":
        return None
    added = [value for value in total.operands if value != arguments[2]]
    product = defining_op(added[0]) if len(added) == 1 else None
    if product is None or product.name != "arith.mulf":
        return None
    for number, other in ((1, 0), (0, 1)):
        for value, float_ in (product.operands, list(product.operands)[::-1]):
            found = _part_of(value, arguments[number])
            if found is not None and arguments[other] in (float_, *_narrower(float_)):
                return NibbleProduct(number, *found)
    return None


def _narrower(value: ir.Value) -> list[ir.Value]:
    """The half that a float is extended from."""
    op = defining_op(value)
    return [op.operands[0]] if op is not None and op.name == "arith.extf" else []


def takes_nibble(block: ir.Block) -> bool:
    """Whether a body gives a part of its word, as the bitcast is lowered: what a contraction does to its operand itself."""
    arguments = list(block.arguments)
    taken = defining_op(list(block.operations)[-1].operation.operands[0])
    return len(arguments) == 2 and taken is not None and _loop_of(taken, arguments[0]) is not None


def _part_of(value: ir.Value, word: ir.Value) -> tuple[int, bool] | None:
    """(loop, signed) of the part of a word that a float is."""
    made = defining_op(value)
    if made is None or made.name not in ("arith.sitofp", "arith.uitofp"):
        return None
    taken = defining_op(made.operands[0])
    loop = None if taken is None else _loop_of(taken, word)
    return None if loop is None else (loop, made.name == "arith.sitofp")


def _loop_of(taken: ir.Operation, word: ir.Value) -> int | None:
    """The loop over the parts of a word of which `taken` is one."""
    shifted = _operand(taken, "arith.shrui") if taken.name == "arith.trunci" else None
    if shifted is None or shifted.operands[0] != word or ir.IntegerType(taken.results[0].type).width != _BITS:
        return None
    times = _operand(shifted, "arith.muli", 1)
    index = _operand(_operand(times, "arith.index_cast"), "linalg.index")
    step = _operand(times, "arith.constant", 1)
    known = index is not None and step is not None and ir.IntegerAttr(step.attributes["value"]).value == _BITS
    return integer(index, "dim") if index is not None and known else None


def _operand(op: ir.Operation | None, name: str, number: int = 0) -> ir.Operation | None:
    """What makes an operand of `op`, if that is an op of that name."""
    made = None if op is None else defining_op(op.operands[number])
    return made if made is not None and made.name == name else None
