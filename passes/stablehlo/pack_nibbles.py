"""pack-nibbles: bound weights of four bits that one row is multiplied by lie eight in a word, in panels of columns.

Before (%w: bound, unpacked to bytes; each is known to be in -8 … 7 or 0 … 15):
    %q = stablehlo.subtract (stablehlo.and %w, 15), 8 : tensor<4096x1024xi8>
    %f = stablehlo.convert %q : (tensor<4096x1024xi8>) -> tensor<4096x1024xf32>
    %0 = stablehlo.dot_general %x, %f, contracting_dims = [1] x [1] : (tensor<1x1024xf32>, …) -> tensor<1x4096xf32>
After (a panel is 128 columns on AVX-512):
    %p = %q as [32, 128, 8, 128]                                       // panel, word of a column, which of its eight, column
    %n = stablehlo.reduce add of ((%p & 15) << 4 * iota) : … -> tensor<32x128x128xi32>
    %v = stablehlo.bitcast_convert %n : (tensor<32x128x128xi32>) -> tensor<32x128x128x8xi4>
    %d = stablehlo.dot_general %x seen as [1, 128, 8], %v, contracting_dims = [1, 2] x [1, 3] : … -> tensor<1x32x128xf32>
    %0 = stablehlo.reshape %d : … -> tensor<1x4096xf32>

One row waits for memory, and these are half of the bytes. Which numbers there are is told by the ops that make them (integer_ranges.py), so
that it does not matter how a program packs its own: two in a byte in any order, eight in a word, or a type of four bits. %n depends on the
weight alone, so that split-init, which comes after, moves it into @init; the bitcast stays (common/nibbles.py).

Must hold: bound arguments carry `hloom.bound`; fold-transposes and scale-sums have run. Declined: targets other than CPUs; weights that are
not made of bound arguments, not matrices, narrower than a panel, or of a depth that is no whole words; other numbers; several rows, which
take a word apart for each, and read bytes as fast; sums of other types than floats.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.contraction import block_registers
from ..common.init_function import early_values, entry
from ..common.nibbles import NIBBLES
from ..common.rewriting import holder, producer, replace, walk
from ..registry import register_pass
from .support import build
from .support.dimensions import DotDims
from .support.integer_ranges import element_range

_TYPES = {(-8, 7): "i4", (0, 15): "ui4"}
_INTEGERS = ("i8", "ui8", "i16", "i32")
_FLOATS = (ir.F32Type, ir.F16Type, ir.BF16Type)


@register_pass("pack-nibbles", "packs bound weights of four bits of dots of one row, on CPUs", ops=("stablehlo.dot_general",))
def pack_nibbles(module: ir.Operation) -> None:
    main = entry(module, "main")
    if main is None or target_of(module).kind != "cpu":
        return
    bound = early_values(main)
    packed: dict[tuple[ir.Value, int, int], ir.Value] = {}
    for op in walk(main, "stablehlo.dot_general"):
        weight = _weight(op)
        if weight is None or weight not in bound or build.shape_of(op.results[0])[-1] < panel(op):
            continue
        kind = nibble_type(weight, build.shape_of(weight)[DotDims.of(op).contracting[1][0]])
        if kind is not None:
            _pack(op, weight, kind, packed)


def panel(op: ir.Operation) -> int:
    """Columns of a panel: twice a block's, as each sum waits for the one before."""
    target = target_of(op)
    return 2 * block_registers(target) * target.lanes(32)


def rows(op: ir.Operation, dims: DotDims) -> int:
    return prod(build.shape_of(op.operands[0])[d] for d in dims.free(0))


def nibble_type(weight: ir.Value, depth: int) -> ir.Type | None:
    """The type of four bits that has all numbers of `weight`, of which so many are summed; None where there is none, or where they are no
    whole words."""
    if str(build.element_of(weight)) not in _INTEGERS or not depth or depth % NIBBLES:
        return None
    low, high = element_range(weight)
    name = next((name for (least, most), name in _TYPES.items() if least <= low and high <= most), None)
    return None if name is None else ir.Type.parse(name)


def _weight(op: ir.Operation) -> ir.Value | None:
    """The integers that a dot of one row multiplies as floats, as its right operand, a matrix or one for each group of what is summed;
    None of other dots."""
    dims, converted = DotDims.of(op), producer(op.operands[1], "stablehlo.convert")
    if converted is None or len(dims.batch[0]) > 1 or dims.ranks[1] != 2 + len(dims.batch[0]) or len(dims.contracting[1]) != 1:
        return None
    floats = all(isinstance(build.element_of(value), _FLOATS) for value in (*op.operands, *op.results))
    return converted.operands[0] if floats and rows(op, dims) == 1 else None


def _pack(op: ir.Operation, weight: ir.Value, kind: ir.Type, packed: dict[tuple[ir.Value, int, int], ir.Value]) -> None:
    dims, shape, f32 = DotDims.of(op), build.shape_of(op.results[0]), ir.F32Type.get()
    column, depth, block = dims.free(1)[0], dims.contracting[0][0], panel(op)
    key = weight, column, block
    if key not in packed:
        with op.location, ir.InsertionPoint(holder(op, weight)):
            packed[key] = _words(weight, [*dims.batch[1], column, dims.contracting[1][0]], block)
    words = packed[key]
    groups = len(dims.batch[1])
    with op.location, ir.InsertionPoint(op):
        row, extents = build.convert(op.operands[0], f32), build.shape_of(op.operands[0])
        row = build.reshape(row, [*extents[:depth], extents[depth] // NIBBLES, NIBBLES, *extents[depth + 1 :]])
        seen = build.bitcast(words, build.tensor([*build.shape_of(words), NIBBLES], kind))
        batch = tuple(d + (d > depth) for d in dims.batch[0]), tuple(range(groups))
        new = DotDims(batch, ((depth, depth + 1), (groups + 1, groups + 3)), (dims.ranks[0] + 1, groups + 4))
        blocks = build.shape_of(words)[groups]
        product = new.emit(op, row, seen, build.tensor([*shape[:-1], blocks, block], f32))
        flat = build.reshape(product, [*shape[:-1], blocks * block])
        sums = build.slice_(flat, [0] * len(shape), shape)
        replace(op, [build.convert(sums, build.element_of(op.results[0]))])


def _words(weight: ir.Value, order: list[int], block: int) -> ir.Value:
    """[groups…, blocks, K / 8, block] words of integers whose dimensions are groups, columns and depth in that `order`; zeros behind the
    last column."""
    *groups, columns, depth = (build.shape_of(weight)[d] for d in order)
    first, i32 = len(groups), ir.IntegerType.get_signless(32)
    blocks = -(-columns // block)
    none = [0] * (first + 2)
    turned = build.pad_with_zeros(build.transpose(weight, order), none, [*none[:first], blocks * block - columns, 0])
    split = build.reshape(turned, [*groups, blocks, block, depth // NIBBLES, NIBBLES])
    whole = build.transpose(split, [*range(first + 1), first + 2, first + 3, first + 1])
    nibbles = build.elementwise("and", build.convert(whole, i32), build.full(build.tensor(build.shape_of(whole), i32), 15))
    places = build.multiply(build.iota(build.shape_of(whole), i32, first + 2), build.full_like(nibbles, 4))
    return build.sum_along(build.elementwise("shift_left", nibbles, places), [first + 2])
