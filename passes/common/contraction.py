"""What makes a linalg op a contraction: that its body sums products, and how its operands share its loops."""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from .affine import used_dims
from .axes import TileOp
from .nibbles import nibble_product
from .rewriting import defining_op, is_used, ops_in

SHALLOW = 8
"""Sums of so few steps store about as often as they load: their results are computed line by line, as those of elementwise ops are."""
PANEL_STEPS = 512
"""Of a sum so long that no panel of all its steps fits the cache, so many are packed at a time: the panel stays in L2 beside the rows, and
each result is loaded and stored once for it. So it is with rows that are read for several panels."""
DEEP = 1024
"""Sums of so many steps go over their operands once."""
LIVE = "hloom.live"
"""Of a group of two contractions: [rows, columns, ahead]. What lies between them is zero, in row r, from column r + ahead on."""
ROW_LOOP = "hloom.row_loop"
"""Of a group of contractions of which some keep the rows of large values and so many sum over them: a tile goes through these in blocks."""
MOST_ROWS = 12
_SUMS = ("arith.addf", "arith.addi", "arith.ori")
_PRODUCTS = ("arith.mulf", "arith.muli", "arith.andi")
_EXTENDED = ("arith.extsi", "arith.extui")


def summed_product(block: ir.Block) -> tuple[ir.Operation, ir.Operation] | None:
    """(sum, product) of a body that adds a product to its last argument, the accumulator; None of other bodies.

    Of i1 the sum is an or, the product an and.
    """
    total = defining_op(list(block.operations)[-1].operation.operands[0])
    if total is None or total.name not in _SUMS:
        return None
    accumulator = block.arguments[len(block.arguments) - 1]
    others = [v for v in total.operands if v != accumulator]
    product = defining_op(others[0]) if len(others) == 1 else None
    return (total, product) if product is not None and product.name in _PRODUCTS else None


@dataclass(frozen=True)
class IntegerProduct:
    """What `acc + ext(a) * ext(b)` multiplies: elements of so many bits, and whether each of the two is signed."""

    bits: int
    left_signed: bool
    right_signed: bool

    def swapped(self) -> IntegerProduct:
        """The same with the operands exchanged."""
        return IntegerProduct(self.bits, self.right_signed, self.left_signed)


def integer_product(block: ir.Block) -> IntegerProduct | None:
    """What the body of a linalg.generic multiplies, if it sums products of i8, or of signed i16, in i32."""
    arguments, ops = _read(block), ops_in(block)
    if len(arguments) != 3 or str(arguments[2].type) != "i32" or len(ops) != 5 or (found := summed_product(block)) is None:
        return None
    extended = {op.operands[0]: op for op in map(defining_op, found[1].operands) if op is not None and op.name in _EXTENDED}
    if found[1].name != "arith.muli" or set(extended) != set(arguments[:2]):
        return None
    bits, *others = [ir.IntegerType(a.type).width for a in arguments[:2]]
    signed = [extended[a].name == "arith.extsi" for a in arguments[:2]]
    return IntegerProduct(bits, *signed) if others == [bits] and (bits == 8 or (bits == 16 and all(signed))) else None


def half_product(block: ir.Block) -> ir.Type | None:
    """The type of a and b, if the body of a linalg.generic is `acc + extf(a) * extf(b)` of two bf16, or two f16, and an f32."""
    kinds = half_factors(block)
    return kinds[0] if kinds is not None and kinds[0] == kinds[1] else None


def half_factors(block: ir.Block) -> tuple[ir.Type, ir.Type] | None:
    """The types of a and b, if the body of a linalg.generic is such a sum, or one in which either is an f32 as it is."""
    arguments, ops = _read(block), ops_in(block)
    if len(arguments) != 3 or not isinstance(arguments[2].type, ir.F32Type) or summed_product(block) is None:
        return None
    halves = [a.type for a in arguments[:2] if isinstance(a.type, (ir.BF16Type, ir.F16Type))]
    singles = [a.type for a in arguments[:2] if isinstance(a.type, ir.F32Type)]
    if not halves or len(halves) + len(singles) != 2 or halves[0] != halves[-1]:
        return None
    body = sorted(["arith.addf", "arith.mulf", "linalg.yield", *["arith.extf"] * len(halves)])
    once = all(len(list(v.uses)) == 1 for v in [*arguments, *(r for op in ops for r in op.results)])
    return (arguments[0].type, arguments[1].type) if once and sorted(op.name for op in ops) == body else None


def _read(block: ir.Block) -> list[ir.Value]:
    """Its arguments but for those of inputs that lend their extents alone."""
    return list(filter(is_used, block.arguments))


def multiplies_bf16(block: ir.Block) -> bool:
    """Whether the body of a linalg.generic is such a sum of bf16."""
    return isinstance(half_product(block), ir.BF16Type)


def input_loops(op: TileOp) -> list[set[int]]:
    """The loops that each input moves along; a word with nibbles that are taken out of it, along these too."""
    loops = [{d for e in m.results for d in used_dims(e)} for m in op.maps[: len(op.inputs)]]
    nibbles = nibble_product(op.op.regions[0].blocks[0]) if len(loops) == 2 and op.op.name == "linalg.generic" else None
    if nibbles is not None:
        loops[nibbles.word].add(nibbles.loop)
    return loops


def is_contraction(op: TileOp) -> bool:
    """Whether `op` sums products of matrices: its first two inputs share the loops that are summed, and each may be read again along a
    loop of the other. A sum of what is computed point by point, as a variance, is none; nor is a window, whose second input only lends its
    extents.
    """
    if all(op.parallel) or len(op.inputs) < 2 or len(op.inits) != 1 or any(map(_is_empty, op.inputs[:2])):
        return False
    left, right, *_ = input_loops(op)
    summed = {d for d, parallel in enumerate(op.parallel) if not parallel}
    return summed <= left & right and left != right


def block_rows(target: TargetView, registers: int, outputs: int = 1, parts: int = 1, most: int = MOST_ROWS) -> int:
    """Rows of `registers` accumulators for each output that fit the registers, beside a block of the one operand, each register of which
    becomes so many `parts`, and an element of the other; `most` at most."""
    rows = (target.vector_registers - 1) // registers - parts
    return min(most, max(1, rows // outputs))


def block_registers(target: TargetView, outputs: int = 1) -> int:
    """Registers along the vector loop: where a block of columns × rows loads the least for what it computes."""
    return min((1, 2, 4), key=lambda registers: 1 / registers + 1 / block_rows(target, registers, outputs))


def block_columns(target: TargetView, elements: ir.Type) -> int:
    """Columns of a block of accumulators."""
    return block_registers(target) * target.lanes(8 * element_bytes(elements))


def rows_on_tiles(depth: int, size: int, target: TargetView) -> int:
    """Rows of a tile that AMX multiplies where they lie along the sum of `depth` elements of `size` bytes: as many as L2 holds beside two
    panels."""
    return max(1, target.l2_bytes * 3 // 8 // (size * depth) // 32) * 32


def sums_in_parts(rows: int, depth: int, size: int, target: TargetView) -> bool:
    """Whether sums of `depth` steps, of elements of `size` bytes, are so long that `rows` of the left operand take more than a quarter of
    L2, which holds panels and results beside them."""
    return depth > DEEP and 4 * rows * depth * size > target.l2_bytes


def reuses_all_inputs(op: TileOp) -> bool:
    """Whether `op` reads the elements of two inputs or more again along some loop, and of none only once. A depthwise convolution, or a
    product of a matrix and a vector, reads one of its inputs once.
    """
    seen = input_loops(op)
    return len([s for s in seen if s and len(s) < len(op.parallel)]) >= 2 and not any(len(s) == len(op.parallel) for s in seen)


def _is_empty(value: ir.Value) -> bool:
    op = defining_op(value)
    return op is not None and op.name == "tensor.empty"
