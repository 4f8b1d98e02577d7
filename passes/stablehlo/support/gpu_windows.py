"""Which convolutions a GPU's kernel of windows takes (passes/gpu/contraction/window.py), which reads weights with the channels last.

The choice depends on sizes alone, so that the passes that prepare such a convolution agree with those that lower it.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.windows import FEATURES, MOST_FEATURES, MOST_TAPS, SHALLOW_TAPS
from ...library_calls.conv import Conv, conv_of


def window_convolution(op: ir.Operation, target: TargetView) -> Conv | None:
    """Sizes of a convolution that the kernel computes: depthwise or shallow; None for others."""
    return depthwise_convolution(op, target) or _shallow_convolution(op, target)


def depthwise_convolution(op: ir.Operation, target: TargetView) -> Conv | None:
    """Sizes of one with taps of its own for each channel, whose padding the kernel leaves out."""
    conv = conv_of(op) if target.kind == "cuda" else None
    if conv is None or conv.output[0] * prod(conv.output[2:]) == 1:
        return None
    return conv if 1 < conv.groups == conv.input[1] == conv.output[1] and conv.filter[-1] <= MOST_TAPS else None


def _shallow_convolution(op: ir.Operation, target: TargetView) -> Conv | None:
    """Sizes of one whose windows have few elements, of two bytes, and overlap along a line, as those of a first layer do."""
    conv = conv_of(op, ("f16", "bf16")) if target.kind == "cuda" else None
    if conv is None or conv.groups > 1 or prod(conv.filter[1:]) > SHALLOW_TAPS:
        return None
    if conv.output[1] % FEATURES or conv.output[1] > MOST_FEATURES:
        return None
    overlap = conv.output[-1] > 1 and conv.window_strides[-1] < conv.filter[-1] * conv.dilations[-1]
    return conv if overlap and set(conv.dilations) == {1} else None
