"""pack-weights: dots with a bound weight matrix read it in blocks of columns, which the kernel then reads from front to back.

Before:
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<256x1024xf32>, tensor<1000x1024xf32>) -> tensor<256x1000xf32>
After:                                                                  // %w: bound; block = 64, on AVX-512
    %p = stablehlo.pad %w …                                             // 1000 → 1024 columns of the result
    %r = stablehlo.reshape %p : … -> tensor<16x64x1024xf32>
    %t = stablehlo.transpose %r, dims = [0, 2, 1] : … -> tensor<16x1024x64xf32>
    %d = stablehlo.dot_general %x, %t, contracting_dims = [1] x [1] : … -> tensor<256x16x64xf32>
    %u = stablehlo.reshape %d : … -> tensor<256x1024xf32>
    %0 = stablehlo.slice %u [0:256, 0:1000]

A block of f32 or f64 is as wide as the accumulators of a row (on AVX2 16 columns of f32): a kernel reads all of what it passes over. Others
have 64 columns.

Where the target multiplies bf16 matrices in tiles (amx_bf16), pairs of depth lie side by side, in blocks of 32 columns:

    %p : [columns / 32, K / 2, 32, 2],  %x : [256, K] seen as [256, K / 2, 2],  contracting_dims = [1, 2] x [1, 3]

The packing stands at the head of @main and depends on the weight alone, so that split-init, which comes after, moves it into @init: it is
done once; upstream's linalg-block-pack-matmul would pack at every call. Must hold: bound arguments carry `hloom.bound`. Declined: targets
other than CPUs; weights that are not bound, not matrices or narrower than a block; dots with batch dimensions; dots with at most `min-rows`
rows, which read the weight once anyway.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.init_function import bound_arguments, entry
from ..common.rewriting import replace, walk
from ..registry import register_pass
from .support import build
from .support.dimensions import DotDims
from .support.panels import panel_columns

_WIDTH = 64
_PAIR_BLOCK, _PAIR_DEPTH = 32, 32


@register_pass("pack-weights", "blocks bound weight matrices of dots", ops=("stablehlo.dot_general",))
def pack_weights(module: ir.Operation, *, block: int = 0, min_rows: int = 8) -> None:
    main = entry(module, "main")
    if main is None or target_of(module).kind != "cpu":
        return
    bound = {main.regions[0].blocks[0].arguments[index] for index in bound_arguments(main)}
    tiles = target_of(module).amx_bf16
    packed: dict[tuple[ir.Value, int, bool], ir.Value] = {}
    for op in walk(main, "stablehlo.dot_general"):
        if tiles and _is_packable(op, bound, _PAIR_BLOCK, min_rows) and _multiplies_pairs(op):
            _pack(main, op, _PAIR_BLOCK, True, packed)
        elif _is_packable(op, bound, width := block or _width(op), min_rows):
            _pack(main, op, width, False, packed)


def _width(op: ir.Operation) -> int:
    """Columns of a block of the dot's right operand."""
    return panel_columns(op) or _WIDTH


def _is_packable(op: ir.Operation, bound: set[ir.Value], block: int, min_rows: int) -> bool:
    lhs, rhs = op.operands
    dims = DotDims.of(op)
    if rhs not in bound or dims.ranks[1] != 2 or dims.batch[0] or len(dims.contracting[1]) != 1:
        return False
    rows = prod(build.shape_of(lhs)[d] for d in dims.free(0))
    return rows > min_rows and build.shape_of(rhs)[dims.free(1)[0]] >= block and build.count_of(rhs) > 0


def _multiplies_pairs(op: ir.Operation) -> bool:
    """bf16 operands whose depth is whole tiles, so that no operand has to be filled up."""
    lhs, rhs = op.operands
    depth = build.shape_of(rhs)[DotDims.of(op).contracting[1][0]]
    return depth % _PAIR_DEPTH == 0 and all(isinstance(build.element_of(v), ir.BF16Type) for v in (lhs, rhs))


def _pack(main: ir.Operation, op: ir.Operation, block: int, pairs: bool, packed: dict[tuple[ir.Value, int, bool], ir.Value]) -> None:
    lhs, rhs = op.operands
    dims = DotDims.of(op)
    column = dims.free(1)[0]
    shape = build.shape_of(op.results[0])
    columns = shape[-1]
    blocks = -(-columns // block)
    if (rhs, column, pairs) not in packed:
        with op.location, ir.InsertionPoint.at_block_begin(main.regions[0].blocks[0]):
            blocked = _blocked(rhs, column, blocks, block)
            packed[rhs, column, pairs] = _paired(blocked) if pairs else blocked
    element = build.element_of(op.results[0])
    with op.location, ir.InsertionPoint(op):
        depth = dims.contracting[0][0]
        if pairs:
            extents = build.shape_of(lhs)
            lhs = build.reshape(lhs, [*extents[:depth], extents[depth] // 2, 2, *extents[depth + 1 :]])
            new = DotDims(dims.batch, ((depth, depth + 1), (1, 3)), (dims.ranks[0] + 1, 4))
        else:
            new = DotDims(dims.batch, ((depth,), (1,)), (dims.ranks[0], 3))
        product = new.emit(op, lhs, packed[rhs, column, pairs], build.tensor([*shape[:-1], blocks, block], element))
        flat = build.reshape(product, [*shape[:-1], blocks * block])
        replace(op, [build.slice_(flat, [0] * len(shape), shape)])


def _paired(blocked: ir.Value) -> ir.Value:
    """[blocks, K / 2, block, 2] of [blocks, K, block]."""
    blocks, depth, block = build.shape_of(blocked)
    return build.transpose(build.reshape(blocked, [blocks, depth // 2, 2, block]), [0, 1, 3, 2])


def _blocked(weight: ir.Value, column: int, blocks: int, block: int) -> ir.Value:
    """[blocks, K, block] of a matrix whose dimension `column` is the result's column."""
    shape = build.shape_of(weight)
    high = [0, 0]
    high[column] = blocks * block - shape[column]
    padded = build.pad_with_zeros(weight, [0, 0], high)
    if column == 0:
        return build.transpose(build.reshape(padded, [blocks, block, shape[1]]), [0, 2, 1])
    return build.transpose(build.reshape(padded, [shape[0], blocks, block]), [1, 0, 2])
