"""Which convolutions a GPU's kernel of windows takes (passes/gpu/contraction/window.py): each channel by its own taps, padding left out.

The choice depends on sizes alone, so that the passes that prepare such a convolution agree with those that lower it.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.windows import MOST_TAPS
from ...library_calls.conv import Conv, conv_of


def depthwise_convolution(op: ir.Operation, target: TargetView) -> Conv | None:
    """Sizes of a convolution that the kernel computes; None for others."""
    conv = conv_of(op) if target.kind == "cuda" else None
    if conv is None or conv.output[0] * prod(conv.output[2:]) == 1:
        return None
    return conv if 1 < conv.groups == conv.input[1] == conv.output[1] and conv.filter[-1] <= MOST_TAPS else None
