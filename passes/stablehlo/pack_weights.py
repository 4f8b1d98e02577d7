"""pack-weights: dots with a bound weight matrix read it in blocks of columns, which the kernel then reads from front to back.

Before:
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<256x1024xf32>, tensor<1024x1024xf32>) -> tensor<256x1024xf32>
After:                                                                  // %w: bound; block = 64, on AVX-512
    %r = stablehlo.reshape %w : … -> tensor<16x64x1024xf32>
    %t = stablehlo.transpose %r, dims = [0, 2, 1] : … -> tensor<16x1024x64xf32>
    %d = stablehlo.dot_general %x, %t, contracting_dims = [1] x [1] : … -> tensor<256x16x64xf32>
    %0 = stablehlo.reshape %d : … -> tensor<256x1024xf32>

Where the last block is not whole, the dot reads the columns that there are as an index of the blocks, as pack-filters' convolutions do:

    %p = stablehlo.pad %w …                                             // 1000 → 1024 columns
    …                                                                   // blocked as above
    %b = stablehlo.optimization_barrier %t : tensor<16x1024x64xf32>
    %u = stablehlo.transpose %b, dims = [1, 0, 2] : … -> tensor<1024x16x64xf32>
    %v = stablehlo.reshape %u : … -> tensor<1024x1024xf32>
    %s = stablehlo.slice %v [0:1024, 0:1000]
    %0 = stablehlo.dot_general %x, %s, contracting_dims = [1] x [0] : … -> tensor<256x1000xf32>

Other elements than f32 and f64, and weights of loops, are multiplied with the zeros behind them, and the result is sliced.

A block of f32 or f64 is as wide as the accumulators of a row (on AVX2 16 columns of f32): a kernel reads all of what it passes over. Others
have 64 columns.

Where an instruction sums the products of several neighbours in depth, those lie side by side: pairs of bf16 (amx_bf16, bf16_dot), four
bytes (amx_int8, int8_dot); for AMX in blocks of 32 columns, where rows are two or more and the depth is whole tiles of 64 bytes. Others
are packed however few rows they are multiplied by:

    %p : [columns / 64, K / 2, 64, 2],  %x : [256, K] seen as [256, K / 2, 2],  contracting_dims = [1, 2] x [1, 3]

The packing depends on the weight alone, so that split-init, which comes after, moves it into @init: it is done once; upstream's linalg-
block-pack-matmul would pack at every call. A right operand that is not bound and lies by depth is packed at every call for AMX, once, where
its kernel would pack it for three tiles of rows or more, or for 64 rows and more would read short lines of it, far apart, as L2 does not
hold it, nor the first cache a panel; not where the left one is a softmax. Must hold: bound arguments carry `hloom.bound`.
Declined: targets other than CPUs; other weights that are not made of bound arguments; those that are not matrices or narrower than a block;
a depth that is no whole lanes; dots with batch dimensions; dots of other elements with at most `min-rows` rows, which read the weight once
in any order, and of at most 8 where they are not all f32 or f64. In loops of 32 turns and more such few rows read weights of f32 and f64
that L2 holds from a packed copy, too, and those that a quarter of the last cache holds, unless they lie along the sum: it begins at a cache
line, which what a caller gives need not, and a row's chunk of columns is read from front to back. Its blocks are as wide as such a chunk,
where whole blocks remain for all cores.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.storage import byte_size, element_bytes
from hloom.dialects.target import TargetView, target_of

from ..common.contraction import block_registers, rows_on_tiles
from ..common.init_function import early_values, entry
from ..common.rewriting import defining_op, holder, is_block_argument, producer, replace, walk
from ..fused.planner.codes import Code
from ..fused.planner.decisions import append_note
from ..fused.planner.loop_wishes import LoopWishes
from ..fused.planner.policy import policy_of
from ..fused.planner.policy_rules import INSIDE
from ..registry import register_pass
from .rules.loops import find_counter
from .support import build
from .support.dimensions import DotDims
from .support.panels import are_split, in_blocks, in_panels, lane_elements, panel_columns, seen_unpacked

_WIDTH = 64
_TILE_BLOCK, _TILE_BYTES = 32, 64
"""Columns of a block of AMX tiles, and bytes of depth in a tile."""
_ROWS_OF_SHORT_LINES = 64
"""Of a product, at least, whose right operand is written and read once more to be read from front to back."""
_FEW = 8
_CHUNK_REGISTERS = 16
"""Of sums, where one row is multiplied: more would not hide more of an addition's time."""
_Packed = dict[tuple[ir.Value, int, int, int], ir.Value]
"""By the weight, the dimension of its columns, those of a block, and how many neighbours in depth lie side by side."""
_LOOKED_AT = 64
"""Values that make an operand, at most."""
_MANY_TURNS = 32
"""Packing takes as long as four turns; reading lines in two halves takes half as long again, which is known when they are read alone."""


@register_pass("pack-weights", "blocks bound weight matrices of dots", ops=("stablehlo.dot_general",))
def pack_weights(module: ir.Operation, *, block: int = 0, min_rows: int = 1) -> None:
    main = entry(module, "main")
    target = target_of(module)
    if main is None or target.kind != "cpu":
        return
    wishes = LoopWishes(policy_of(module).loop, lambda rule: rule.products != "cost")
    bound = early_values(main)
    packed: _Packed = {}
    for op in walk(main, "stablehlo.dot_general"):
        if not _is_packable(op):
            continue
        found = _neighbours(op)
        few = False
        if found is None or _columns(op) < found[0]:
            found = block or _width(op), 1
            few = _rows(op) <= _least_rows(op, min_rows)
            if _columns(op) < found[0]:
                continue
        if op.operands[1] in bound:
            if not few and _columns(op) % found[0] and panel_columns(op):
                _see_packed(op, found[0], packed)
            elif not few:
                _pack(op, *found, packed)
        elif _stays(op, target, wishes, few):
            kind = str(op.operands[1].type)
            _pack(op, _one_stream(op, found[0]) if few and not block else found[0], found[1], packed)
            append_note(module, Code.LOOP_HOISTED, [], "the weight is the same in all turns, and packed once", kind)
        else:
            _pack_for_tiles(op, *found, packed)


def _stays(op: ir.Operation, target: TargetView, wishes: LoopWishes, few: bool) -> bool:
    """Whether a dot in a loop has the same right operand in every turn, and a cache holds it: it is packed before the loop then. One of
    `few` rows reads it as fast in any order, but where a cache has it and it does not lie at whole cache lines, as NumPy's arrays do, or
    a chunk's next row is a page away: it is packed for these if there are turns enough."""
    rhs = op.operands[1]
    if byte_size(rhs.type) > (_most_of_few(op, target) if few else target.llc_bytes):
        return False
    constant = producer(rhs, "stablehlo.constant")
    loop = op
    while _turns(loop.parent.operation) and (constant is not None or not _is_made_in(rhs, loop.block)):
        loop = loop.parent.operation
    if loop == op or (constant is None and not _is_made_in(rhs, loop.block)):
        return False  # it is in no loop, or in a branch
    counter = find_counter(loop)
    if few and (not panel_columns(op) or counter is None or counter.trips is None or counter.trips < _MANY_TURNS):
        return False
    number = wishes.rule_for(loop, None if counter is None else counter.trips)
    if number is not None and wishes.rules[number].products == INSIDE:
        return False
    if constant is not None:
        constant.move_before(loop)
    return True


def _pack_for_tiles(op: ir.Operation, block: int, count: int, packed: _Packed) -> None:
    """Packs a right operand that lies by depth where AMX's kernel would do so for each of three tiles of rows or more, or would read panels
    larger than the first cache of what L2 does not hold, by lines far apart."""
    target, dims, rhs = target_of(op), DotDims.of(op), op.operands[1]
    by_depth = dims.contracting[1][0] == 0 and dims.contracting[0][0] + 1 == dims.ranks[0]
    if not (target.amx_bf16 or target.amx_int8) or block != _TILE_BLOCK or not by_depth or _columns(op) % block:
        return
    depth, size = build.shape_of(rhs)[0], element_bytes(build.element_of(rhs))
    several = _rows(op) > 2 * rows_on_tiles(depth, size, target)
    by_short_lines = _rows(op) >= _ROWS_OF_SHORT_LINES and depth * block * size > target.l1_bytes and byte_size(rhs.type) >= target.l2_bytes
    if (several or by_short_lines) and not _is_softmax(op.operands[0]):
        _pack(op, block, count, packed)


def _is_softmax(value: ir.Value) -> bool:
    """Whether exponentials and a reduction of their row make the value since the last product: both products may then be one kernel."""
    names, seen, waiting = set(), {value}, [value]
    while waiting and len(seen) <= _LOOKED_AT:
        op = defining_op(waiting.pop())
        if op is None or op.name == "stablehlo.dot_general":
            continue
        names.add(op.name)
        found = [operand for operand in op.operands if operand not in seen]
        seen.update(found)
        waiting += found
    return {"stablehlo.exponential", "stablehlo.reduce"} <= names


def _most_of_few(op: ir.Operation, target: TargetView) -> int:
    """Bytes of a weight that is packed for few rows. What L2 does not hold is read from front to back where it lies along the sum."""
    return max(target.l2_bytes, target.llc_bytes // 4) if DotDims.of(op).contracting[1][0] == 0 else target.l2_bytes


def _turns(op: ir.Operation) -> bool:
    return op.name == "stablehlo.while"


def _is_made_in(value: ir.Value, block: ir.Block) -> bool:
    return (value.owner if is_block_argument(value) else value.owner.operation.block) == block


def _neighbours(op: ir.Operation) -> tuple[int, int] | None:
    """The columns of a block, and how many neighbours in depth of the weight an instruction multiplies; None where none does, or where
    the depth is no whole lanes."""
    target, depth = target_of(op), build.shape_of(op.operands[1])[DotDims.of(op).contracting[1][0]]
    elements = [str(build.element_of(v)) for v in op.operands]
    if target.amx_bf16 and elements == ["bf16", "bf16"]:
        return (_TILE_BLOCK, 2) if depth % (_TILE_BYTES // 2) == 0 and _rows(op) > 1 else None
    if target.amx_int8 and _sums_bytes(op) and depth % _TILE_BYTES == 0 and _rows(op) > 1:
        return _TILE_BLOCK, 4
    count = 2 if are_split(op) else lane_elements(op)
    registers = block_registers(target)
    if are_split(op) and _rows(op) == 1:
        registers *= 2  # of sums, each of which waits for the one before
    return (registers * target.lanes(32), count) if count > 1 and depth % count == 0 else None


def _sums_bytes(op: ir.Operation) -> bool:
    return all(str(build.element_of(v)) in ("i8", "ui8") for v in op.operands) and str(build.element_of(op.results[0])) == "i32"


def _least_rows(op: ir.Operation, rows: int) -> int:
    """Rows that do not pay: products of elements that are widened first are others of few rows."""
    return rows if panel_columns(op) else max(rows, _FEW)


def _width(op: ir.Operation) -> int:
    """Columns of a block of the dot's right operand."""
    return panel_columns(op) or _WIDTH


def _one_stream(op: ir.Operation, block: int) -> int:
    """Columns of a block that few rows read alone: as many as a chunk of theirs has, so that it goes through one piece of memory, where
    these make whole blocks, and a block for each core."""
    lanes = target_of(op).lanes(8 * element_bytes(build.element_of(op.results[0])))
    while block < _CHUNK_REGISTERS * lanes and _columns(op) % (2 * block) == 0 and _columns(op) >= 2 * block * target_of(op).cores:
        block *= 2
    return block


def _is_packable(op: ir.Operation) -> bool:
    rhs, dims = op.operands[1], DotDims.of(op)
    return dims.ranks[1] == 2 and not dims.batch[0] and len(dims.contracting[1]) == 1 and build.count_of(rhs) > 0


def _rows(op: ir.Operation) -> int:
    return prod(build.shape_of(op.operands[0])[d] for d in DotDims.of(op).free(0))


def _columns(op: ir.Operation) -> int:
    return build.shape_of(op.operands[1])[DotDims.of(op).free(1)[0]]


def _pack(op: ir.Operation, block: int, count: int, packed: _Packed) -> None:
    """`count` neighbours in depth lie side by side."""
    lhs, rhs = op.operands
    dims = DotDims.of(op)
    column = dims.free(1)[0]
    shape = build.shape_of(op.results[0])
    columns = shape[-1]
    blocks = -(-columns // block)
    key = rhs, column, block, count
    if key not in packed:
        with op.location, ir.InsertionPoint(holder(op, rhs)):
            blocked = in_blocks(rhs, column, block)
            packed[key] = _joined(blocked, count) if count > 1 else blocked
    element = build.element_of(op.results[0])
    with op.location, ir.InsertionPoint(op):
        depth = dims.contracting[0][0]
        if count > 1:
            extents = build.shape_of(lhs)
            lhs = build.reshape(lhs, [*extents[:depth], extents[depth] // count, count, *extents[depth + 1 :]])
            new = DotDims(dims.batch, ((depth, depth + 1), (1, 3)), (dims.ranks[0] + 1, 4))
        else:
            new = DotDims(dims.batch, ((depth,), (1,)), (dims.ranks[0], 3))
        product = new.emit(op, lhs, packed[key], build.tensor([*shape[:-1], blocks, block], element))
        flat = build.reshape(product, [*shape[:-1], blocks * block])
        replace(op, [build.slice_(flat, [0] * len(shape), shape)])


def _see_packed(op: ir.Operation, block: int, packed: _Packed) -> None:
    """The last panel is not whole: the dot reads the columns that there are, as an index of the panels."""
    lhs, rhs = op.operands
    dims, shape = DotDims.of(op), build.shape_of(op.results[0])
    depth = dims.contracting[1][0]
    key = rhs, dims.free(1)[0], block, 1
    if key not in packed:
        with op.location, ir.InsertionPoint(holder(op, rhs)):
            packed[key] = in_panels(rhs if depth == 0 else build.transpose(rhs, [1, 0]), block)
    with op.location, ir.InsertionPoint(op):
        weight = seen_unpacked(packed[key], [build.shape_of(rhs)[depth], shape[-1]])
        new = DotDims(dims.batch, (dims.contracting[0], (0,)), dims.ranks)
        replace(op, [new.emit(op, lhs, weight, ir.RankedTensorType(op.results[0].type))])


def _joined(blocked: ir.Value, count: int) -> ir.Value:
    """[blocks, K / count, block, count] of [blocks, K, block]."""
    blocks, depth, block = build.shape_of(blocked)
    return build.transpose(build.reshape(blocked, [blocks, depth // count, count, block]), [0, 1, 3, 2])
