"""How packed weights lie, so that the kernel which multiplies by them reads each panel from front to back."""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ...common.contraction import block_columns
from ...common.rewriting import value_of
from ...library_calls.conv import Conv
from . import build
from .build import element_of

_TILE = 16
"""Pairs (quads) of depth that a tile of AMX has, and columns."""
_FEWEST_ON_TILES, _LEAST_DEPTH_ON_TILES = 2, 16


def panel_columns(op: ir.Operation) -> int:
    """Columns of a panel of the right operand of a dot or 1x1 convolution: those of a block of accumulators; 0 where its elements are
    not all f32 or all f64, which other kernels multiply."""
    elements = {element_of(v) for v in [*op.operands, *op.results]}
    if len(elements) > 1 or not isinstance(next(iter(elements)), (ir.F32Type, ir.F64Type)):
        return 0
    return block_columns(target_of(op), elements.pop())


def lane_elements(op: ir.Operation) -> int:
    """How many neighbours in depth of a dot or convolution an instruction multiplies; 1 where none does, and of a dot's that AMX does."""
    if op.name != "stablehlo.convolution" and on_tiles(op):
        return 1
    target, elements = target_of(op), [str(element_of(v)) for v in op.operands]
    if elements == ["bf16", "bf16"]:
        return 2 if target.multiplies_pairs or target.amx_bf16 else 1
    bytes_ = all(element in ("i8", "ui8") for element in elements) and str(element_of(op.results[0])) == "i32"
    return 4 if bytes_ and (target.int8_dot or target.amx_int8) else 1


def on_tiles(op: ir.Operation) -> bool:
    """Whether AMX multiplies the elements of a dot or convolution."""
    target, elements = target_of(op), [str(element_of(v)) for v in op.operands]
    bytes_ = all(element in ("i8", "ui8") for element in elements)
    return (target.amx_bf16 and elements == ["bf16", "bf16"]) or (target.amx_int8 and bytes_ and str(element_of(op.results[0])) == "i32")


def suits_tiles(op: ir.Operation, conv: Conv) -> bool:
    """Whether AMX multiplies a convolution with its channels last: of fewer features a group, or less depth, tiles are nearly empty."""
    return on_tiles(op) and conv.output[1] // conv.groups >= _FEWEST_ON_TILES and prod(conv.filter[1:]) >= _LEAST_DEPTH_ON_TILES


def fills_tiles(op: ir.Operation, conv: Conv) -> bool:
    """Whether the taps along a line of a convolution, with their channels, are whole tiles of depth, and the features of a group tiles of
    columns. Of one dimension a tile's taps may be lines of their own (passes/vector/nests/amx_windows.py)."""
    depth = conv.filter[1] * (conv.filter[-1] if len(conv.filter) > 3 else 1)
    return depth % (_TILE * lane_elements(op)) == 0 and (conv.groups == 1 or conv.output[1] // conv.groups % _TILE == 0)


def are_split(op: ir.Operation) -> bool:
    """Whether pairs of a dot's bf16, which no instruction multiplies, are split in registers (narrow_instructions.py)."""
    target, elements = target_of(op), [str(element_of(v)) for v in op.operands]
    return elements == ["bf16", "bf16"] and target.widens("bf16") and target.machine == "x86_64"


def in_blocks(weight: ir.Value, column: int, block: int) -> ir.Value:
    """[blocks, K, block] of a matrix whose dimension `column` is the result's column, zeros behind the last column."""
    shape = build.shape_of(weight)
    blocks = -(-shape[column] // block)
    high = [0, 0]
    high[column] = blocks * block - shape[column]
    padded = build.pad_with_zeros(weight, [0, 0], high)
    if column == 0:
        return build.transpose(build.reshape(padded, [blocks, block, shape[1]]), [0, 2, 1])
    return build.transpose(build.reshape(padded, [shape[0], blocks, block]), [1, 0, 2])


def in_panels(weights: ir.Value, block: int, count: int = 1) -> ir.Value:
    """[blocks, taps…, channels / count, block, count] of [taps…, channels, features]; no last dimension for a count of 1. An end of what
    is done once: split-init drops the barrier."""
    *taps, channels, features = build.shape_of(weights)
    blocks, rank = -(-features // block), len(taps)
    padded = build.pad_with_zeros(weights, [0] * (rank + 2), [*[0] * (rank + 1), blocks * block - features])
    depth = [channels] if count == 1 else [channels // count, count]
    blocked = build.reshape(padded, [*taps, *depth, blocks, block])
    inside = rank + len(depth)
    turned = build.transpose(blocked, [inside, *range(rank + 1), inside + 1, *range(rank + 1, inside)])
    return value_of("stablehlo.optimization_barrier", turned.type, [turned])


def seen_unpacked(packed: ir.Value, shape: list[int]) -> ir.Value:
    """The weights [taps…, channels, features] of that: views, which the planner clones into the kernel that reads them."""
    inner, extents = len(shape) - 1, build.shape_of(packed)
    inside = range(inner + 2, len(extents))  # the elements of a lane
    innermost = build.transpose(packed, [*range(1, inner + 1), *inside, 0, inner + 1])
    flat = build.reshape(innermost, [*shape[:-1], extents[0] * extents[inner + 1]])
    return build.slice_(flat, [0] * len(shape), shape)
