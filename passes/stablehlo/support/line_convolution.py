"""Which convolutions the CPU's kernel of lines takes: channels before the spatial dimensions, vectors of pixels, padding left out.

The choice depends on sizes and dimension numbers alone, so that the passes that prepare such a convolution agree with those that lower it.
"""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.contraction import SHALLOW
from ...common.lines import FARTHEST, LEAST_ROWS, MOST_COPIES, MOST_TAPS, multiplies_halves
from ...library_calls.conv import ELEMENTS, Conv, conv_of
from .dimensions import ConvDims
from .panels import suits_tiles

_FLOAT, _LANE_BITS = 4, 32


def line_convolution(op: ir.Operation, target: TargetView) -> Conv | None:
    """Sizes of a convolution that the kernel of lines computes (passes/vector/nests/lines.py), or that of products; None for others.

    Of f32, or of halves whose windows move along the line and that are multiplied as f32: no line shorter than a window or half a vector.
    """
    conv = suits_lines(op, target) if has_lines(ConvDims.of(op)) else None
    kinds = {str(value.type.element_type) for value in op.operands}
    if conv is None or len(kinds) != 1 or str(op.results[0].type.element_type) != "f32":
        return None
    (read,) = kinds
    windows = conv.filter[-1] > 1 and conv.window_strides[-1] <= FARTHEST
    halves = windows and multiplies_halves(read, conv.filter[1], target) and not suits_tiles(op, conv)
    return conv if read == "f32" or halves else None


def suits_lines(op: ir.Operation, target: TargetView) -> Conv | None:
    """Sizes of a convolution of floats whose lines, if it had its channels first, would be long enough for the lanes."""
    conv = conv_of(op, (*ELEMENTS, "f64")) if target.kind == "cpu" else None
    if conv is None:
        return None
    windows = 1 < conv.filter[-1] and prod(conv.filter[2:][-2:]) <= MOST_TAPS
    windows = windows and (conv.window_strides[-1] <= FARTHEST or packs_pixels(conv, target))
    long = line_length(conv) >= max(2, conv.filter[-1], target.vector_bits // _LANE_BITS // 2)
    return conv if long and (windows or is_product(conv)) else None


def packs_pixels(conv: Conv, target: TargetView) -> bool:
    """Whether the pixels lie so far apart that the kernel of products copies each tap's side by side (passes/vector/nests/packing.py)."""
    plain = conv.groups == 1 and not any((*conv.padding_low, *conv.padding_high)) and set(conv.dilations) == {1}
    few = conv.filter[-1] <= MOST_COPIES * conv.window_strides[-1]
    panel = _FLOAT * prod(conv.filter[1:]) * conv.output[-1]
    far = conv.window_strides[-1] > FARTHEST
    return far and plain and few and prod(conv.filter[1:]) > SHALLOW and conv.output[1] >= LEAST_ROWS and panel <= target.tile_bytes


def line_length(conv: Conv) -> int:
    """Pixels that follow each other along the lanes."""
    return prod(conv.output[2:]) if is_product(conv) else conv.output[-1]


def is_product(conv: Conv) -> bool:
    """Whether it is a product of matrices, of which the lines are all pixels of a picture."""
    return set(conv.filter[2:]) == set(conv.window_strides) == {1} and not any((*conv.padding_low, *conv.padding_high))


def has_lines(dims: ConvDims) -> bool:
    """Whether the pixels of a line lie side by side in operand and result."""
    last = len(dims.spatial[0]) + 1
    return (*dims.spatial[0][-1:], *dims.spatial[2][-1:]) == (last, last)
