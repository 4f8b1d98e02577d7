"""Moves between channels and space. Fold is a sum of overlapping blocks: a shifted array for each place in a block, or in a stride
of it for all blocks' places of a phase."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from torch_mlir import ir

from hloom.passes.stablehlo.support import build, constants

from ..torch_registry import TorchOp, torch_lowering

_MOST_TURNS = 32
"""Shifted arrays that the gradient of windows is the sum of; of more windows over one element each adds to what is there."""


@torch_lowering("aten.col2im")
def col2im(
    op: TorchOp,
    columns: ir.Value,
    output_size: Sequence[int],
    kernel: Sequence[int],
    dilation: Sequence[int],
    padding: Sequence[int],
    stride: Sequence[int],
) -> ir.Value:
    """From [batch, channels · kernel, blocks] to [batch, channels, height, width]; the batch may be missing."""
    counts = [
        (size + 2 * pad - step * (extent - 1) - 1) // jump + 1
        for size, pad, step, extent, jump in zip(output_size, padding, dilation, kernel, stride)
    ]
    channels = list(op.result.shape)[-3]
    batch = next(iter(op.result.shape)) if len(op.result.shape) == 4 else 1
    blocks = build.reshape(columns, [batch, channels, *kernel, *counts])
    if all(step == 1 for step in dilation):
        folded = _by_phases(blocks, output_size, padding, stride)
    else:
        folded = _place_by_place(blocks, output_size, dilation, padding, stride)
    return build.reshape(folded, list(op.result.shape))


def _by_phases(blocks: ir.Value, output_size: Sequence[int], padding: Sequence[int], stride: Sequence[int]) -> ir.Value:
    """Places that are a stride apart in a block fall on each other's results: one sum for each place of the first stride, whose results lie
    side by side. So a sum has no zeros between, and blocks that do not overlap are moved alone."""
    batch, channels, *kernel, rows, columns = build.shape_of(blocks)
    turns = [-(-extent // jump) for extent, jump in zip(kernel, stride)]
    zero = build.zero([], build.element_of(blocks))
    whole = [turn * jump - extent for turn, jump, extent in zip(turns, stride, kernel)]
    blocks = build.pad(blocks, zero, [0] * 6, [0, 0, *whole, 0, 0]) if any(whole) else blocks
    blocks = build.reshape(blocks, [batch, channels, turns[0], stride[0], turns[1], stride[1], rows, columns])
    blocks = build.transpose(blocks, [0, 1, 2, 4, 6, 3, 7, 5])  # the phases of a line and of a column beside these
    placed = []
    for turn in itertools.product(*map(range, turns)):
        block = build.slice_dim(build.slice_dim(blocks, 2, turn[0], turn[0] + 1), 3, turn[1], turn[1] + 1)
        block = build.reshape(block, [batch, channels, rows, stride[0], columns, stride[1]])
        after = [count - 1 - at for count, at in zip(turns, turn)]
        if turns != [1, 1]:
            block = build.pad(block, zero, [0, 0, turn[0], 0, turn[1], 0], [0, 0, after[0], 0, after[1], 0])
        placed.append(block)
    made = [(count + turn - 1) * jump for count, turn, jump in zip((rows, columns), turns, stride)]
    folded = build.reshape(_sum(placed), [batch, channels, *made])
    spare = [size + pad - extent for size, pad, extent in zip(output_size, padding, made)]
    if not any(padding) and not any(spare):
        return folded
    return build.pad(folded, zero, [0, 0, *(-pad for pad in padding)], [0, 0, *spare])


def _place_by_place(
    blocks: ir.Value, output_size: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> ir.Value:
    batch, channels, *kernel = build.shape_of(blocks)[:4]
    counts = build.shape_of(blocks)[4:]
    zero = build.zero([], build.element_of(blocks))
    placed = []
    for place in itertools.product(*map(range, kernel)):
        block = build.slice_(blocks, [0, 0, *place, 0, 0], [batch, channels, place[0] + 1, place[1] + 1, *counts])
        block = build.reshape(block, [batch, channels, *counts])
        low = [at * step - pad for at, step, pad in zip(place, dilation, padding)]
        spans = [(count - 1) * jump + 1 for count, jump in zip(counts, stride)]
        high = [size - span - start for size, span, start in zip(output_size, spans, low)]
        placed.append(build.pad(block, zero, [0, 0, *low], [0, 0, *high], [0, 0, *(jump - 1 for jump in stride)]))
    return _sum(placed)


def _sum(values: Sequence[ir.Value]) -> ir.Value:
    return reduce(lambda a, b: build.elementwise("add", a, b), values)


@torch_lowering("aten.im2col")
def im2col(
    op: TorchOp, x: ir.Value, kernel: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> ir.Value:
    """From [batch, channels, height, width] to [batch, channels · kernel, blocks]; the batch may be missing.

    A place of the blocks is a piece of the image, whose lines and columns stay side by side, so that what begins it is looked up once;
    blocks that tile the image are moved alone.
    """
    for dimension, of in zip((-2, -1), zip(kernel, dilation, padding, stride)):
        x = _places(x, dimension, *of)
    rank = len(build.shape_of(x))
    return build.reshape(build.transpose(x, [*range(rank - 3), rank - 2, rank - 3, rank - 1]), list(op.result.shape))


def _places(x: ir.Value, dimension: int, extent: int, step: int, pad: int, jump: int) -> ir.Value:
    """Blocks along a dimension: in its place are the places in a block, and the blocks."""
    shape = build.shape_of(x)
    dimension %= len(shape)
    count = (shape[dimension] + 2 * pad - step * (extent - 1) - 1) // jump + 1
    tiled = step == 1 and extent == jump
    span = (count - 1) * jump + 1
    wanted = count * jump if tiled else span + step * (extent - 1)
    low, high = ([size if d == dimension else 0 for d in range(len(shape))] for size in (pad, wanted - pad - shape[dimension]))
    if any(low) or any(high):
        x = build.pad(x, build.zero([], build.element_of(x)), low, high)
    if tiled:
        x = build.reshape(x, [*shape[:dimension], count, extent, *shape[dimension + 1 :]])
        return build.transpose(x, [*range(dimension), dimension + 1, dimension, *range(dimension + 2, len(shape) + 1)])
    starts = constants.write(np.arange(extent, dtype=np.int32) * step, build.tensor([extent], ir.IntegerType.get_signless(32)))
    x = build.windows(x, dimension, starts, span)
    shape = build.shape_of(x)
    return build.slice_(x, [0] * len(shape), shape, [jump if d == dimension + 1 else 1 for d in range(len(shape))])


@torch_lowering("aten.native_channel_shuffle")
def channel_shuffle(op: TorchOp, x: ir.Value, groups: int) -> ir.Value:
    batch, channels, *rest = build.shape_of(x)
    split = build.reshape(x, [batch, groups, channels // groups, *rest])
    return build.reshape(build.transpose(split, [0, 2, 1, *range(3, len(rest) + 3)]), build.shape_of(x))


@torch_lowering("aten.unfold_backward")
def unfold_backward(op: TorchOp, gradient: ir.Value, sizes: Sequence[int], dim: int, size: int, step: int) -> ir.Value:
    """The fold of one dimension: `gradient` has windows in its place, and their elements last."""
    if not sizes or not math.prod(sizes):
        return build.reshape(gradient, list(sizes))
    dim %= len(sizes)
    count, (before, after) = build.shape_of(gradient)[dim], map(math.prod, (sizes[:dim], sizes[dim + 1 :]))
    windows = build.reshape(gradient, [before, count, after, size])
    if size > step * _MOST_TURNS:
        places = (np.arange(count, dtype=np.int32)[:, None] * step + np.arange(size, dtype=np.int32)).reshape(-1)
        updates = build.reshape(build.transpose(windows, [1, 3, 0, 2]), [count * size, before, after])
        zeros = build.zero([before, sizes[dim], after], op.element)
        table = constants.write(places, build.tensor(list(places.shape), ir.IntegerType.get_signless(32)))
        folded = build.scatter(zeros, 1, table, updates, "add")
    else:
        blocks = build.reshape(build.transpose(windows, [0, 3, 1, 2]), [before, 1, size, 1, count, after])
        folded = _by_phases(blocks, [sizes[dim], after], [0, 0], [step, 1])
    return build.reshape(folded, list(sizes))
