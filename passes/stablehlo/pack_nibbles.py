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
from .support.panels import in_blocks

_TYPES = {(-8, 7): "i4", (0, 15): "ui4"}
_FLOATS = (ir.F32Type, ir.F16Type, ir.BF16Type)


@register_pass("pack-nibbles", "packs bound weights of four bits of dots of one row, on CPUs", ops=("stablehlo.dot_general",))
def pack_nibbles(module: ir.Operation) -> None:
    main = entry(module, "main")
    target = target_of(module)
    if main is None or target.kind != "cpu":
        return
    block = 2 * block_registers(target) * target.lanes(32)  # of sums, each of which waits for the one before
    bound = early_values(main)
    packed: dict[tuple[ir.Value, int, int], ir.Value] = {}
    for op in walk(main, "stablehlo.dot_general"):
        weight = _weight(op)
        if weight is None or weight not in bound or build.shape_of(op.results[0])[-1] < block:
            continue
        low, high = element_range(weight)
        kind = next((name for (least, most), name in _TYPES.items() if least <= low and high <= most), None)
        if kind is not None:
            _pack(op, weight, ir.Type.parse(kind), block, packed)


def _weight(op: ir.Operation) -> ir.Value | None:
    """The integers that a dot of one row multiplies as floats, as its right operand; None of other dots."""
    dims, converted = DotDims.of(op), producer(op.operands[1], "stablehlo.convert")
    if converted is None or dims.ranks[1] != 2 or dims.batch[0] or len(dims.contracting[1]) != 1:
        return None
    weight, depth = converted.operands[0], build.shape_of(op.operands[1])[dims.contracting[1][0]]
    floats = all(isinstance(build.element_of(value), _FLOATS) for value in (*op.operands, *op.results))
    one_row = prod(build.shape_of(op.operands[0])[d] for d in dims.free(0)) == 1
    if not floats or not one_row or not depth or depth % NIBBLES:
        return None
    return weight if str(build.element_of(weight)) in ("i8", "ui8", "i16", "i32") else None


def _pack(op: ir.Operation, weight: ir.Value, kind: ir.Type, block: int, packed: dict[tuple[ir.Value, int, int], ir.Value]) -> None:
    dims, shape, f32 = DotDims.of(op), build.shape_of(op.results[0]), ir.F32Type.get()
    column, depth = dims.free(1)[0], dims.contracting[0][0]
    key = weight, column, block
    if key not in packed:
        with op.location, ir.InsertionPoint(holder(op, weight)):
            packed[key] = _words(in_blocks(weight, column, block))
    words = packed[key]
    with op.location, ir.InsertionPoint(op):
        row, extents = build.convert(op.operands[0], f32), build.shape_of(op.operands[0])
        row = build.reshape(row, [*extents[:depth], extents[depth] // NIBBLES, NIBBLES, *extents[depth + 1 :]])
        seen = build.bitcast(words, build.tensor([*build.shape_of(words), NIBBLES], kind))
        new = DotDims(dims.batch, ((depth, depth + 1), (1, 3)), (dims.ranks[0] + 1, 4))
        blocks = build.shape_of(words)[0]
        product = new.emit(op, row, seen, build.tensor([*shape[:-1], blocks, block], f32))
        flat = build.reshape(product, [*shape[:-1], blocks * block])
        sums = build.slice_(flat, [0] * len(shape), shape)
        replace(op, [build.convert(sums, build.element_of(op.results[0]))])


def _words(blocked: ir.Value) -> ir.Value:
    """[blocks, K / 8, block] words of [blocks, K, block] integers, neighbours in depth in one."""
    blocks, depth, block = build.shape_of(blocked)
    i32 = ir.IntegerType.get_signless(32)
    split = build.reshape(build.convert(blocked, i32), [blocks, depth // NIBBLES, NIBBLES, block])
    nibbles = build.elementwise("and", split, build.full_like(split, 15))
    places = build.multiply(build.iota(build.shape_of(split), i32, 2), build.full_like(split, 4))
    return build.sum_along(build.elementwise("shift_left", nibbles, places), [2])
