"""Which convolutions the CPU's kernel of lines takes: channels before the spatial dimensions, vectors of pixels, padding left out.

The choice depends on sizes and dimension numbers alone, so that the passes that prepare such a convolution agree with those that lower it.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.lines import FARTHEST, MOST_TAPS
from ...library_calls.conv import Conv, conv_of
from .dimensions import ConvDims

_LANE_BITS = 32


def line_convolution(op: ir.Operation, target: TargetView) -> Conv | None:
    """Sizes of a convolution that the kernel of lines computes (passes/vector/nests/lines.py); None for others.

    Of f32 alone, no line shorter than a window or half a vector.
    """
    conv = conv_of(op) if target.kind == "cpu" else None
    if conv is None or {str(v.type.element_type) for v in (*op.operands, op.results[0])} != {"f32"} or not _has_lines(ConvDims.of(op)):
        return None
    windows = 1 < conv.filter[-1] and prod(conv.filter[2:][-2:]) <= MOST_TAPS and conv.window_strides[-1] <= FARTHEST
    long = line_length(conv) >= max(2, conv.filter[-1], target.vector_bits // _LANE_BITS // 2)
    return conv if long and (windows or _is_product(conv)) else None


def line_length(conv: Conv) -> int:
    """Pixels that follow each other along the lanes."""
    return prod(conv.output[2:]) if _is_product(conv) else conv.output[-1]


def _is_product(conv: Conv) -> bool:
    """Whether it is a product of matrices, of which the lines are all pixels of a picture."""
    return set(conv.filter[2:]) == set(conv.window_strides) == {1} and not any((*conv.padding_low, *conv.padding_high))


def _has_lines(dims: ConvDims) -> bool:
    """Whether the pixels of a line lie side by side in operand and result."""
    last = len(dims.spatial[0]) + 1
    return dims.spatial[0][-1] == last and dims.spatial[2][-1] == last
