"""Moves between channels and space. Fold is a sum of overlapping blocks: a shifted and spread array for each place in a block."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from functools import reduce

from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering


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
    height, width = output_size
    counts = [
        (size + 2 * pad - step * (extent - 1) - 1) // jump + 1
        for size, pad, step, extent, jump in zip(output_size, padding, dilation, kernel, stride)
    ]
    channels = list(op.result.shape)[-3]
    batch = next(iter(op.result.shape)) if len(op.result.shape) == 4 else 1
    blocks = build.reshape(columns, [batch, channels, *kernel, *counts])
    zero = build.zero([], op.element)
    placed = []
    for place in itertools.product(*map(range, kernel)):
        block = build.slice_(blocks, [0, 0, *place, 0, 0], [batch, channels, place[0] + 1, place[1] + 1, *counts])
        block = build.reshape(block, [batch, channels, *counts])
        low = [at * step - pad for at, step, pad in zip(place, dilation, padding)]
        spans = [(count - 1) * jump + 1 for count, jump in zip(counts, stride)]
        high = [size - span - start for size, span, start in zip((height, width), spans, low)]
        placed.append(build.pad(block, zero, [0, 0, *low], [0, 0, *high], [0, 0, *(jump - 1 for jump in stride)]))
    return build.reshape(reduce(lambda a, b: build.elementwise("add", a, b), placed), list(op.result.shape))


@torch_lowering("aten.native_channel_shuffle")
def channel_shuffle(op: TorchOp, x: ir.Value, groups: int) -> ir.Value:
    batch, channels, *rest = build.shape_of(x)
    split = build.reshape(x, [batch, groups, channels // groups, *rest])
    return build.reshape(build.transpose(split, [0, 2, 1, *range(3, len(rest) + 3)]), build.shape_of(x))
