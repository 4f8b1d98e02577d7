"""Which convolutions the CPU's direct kernel takes: vectors of output channels, padding left out, operands with the channels last.

The choice depends on sizes alone, so that the passes that prepare such a convolution agree with those that lower it.
"""

from __future__ import annotations

from math import ceil, prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.rewriting import integer
from ...common.winograd import TAPS, tiles_along
from ...library_calls.conv import ELEMENTS, Conv, conv_of
from .build import element_of
from .dimensions import ConvDims
from .line_convolution import has_lines, is_product, line_length, suits_lines
from .panels import lane_elements, on_tiles, suits_tiles

_ELEMENTS = (*ELEMENTS, "f64", "i8", "ui8", "i16", "i32")
WINOGRAD_BLOCK = 32
"""Features of a block of transformed weights."""
_FEWEST_FEATURES = 3
"""Of a group, where lines do not suit either: of fewer, sums over the lanes take less time than idle ones."""
_LEAST_CHANNELS, _LEAST_FEATURES = 8, 16
_LEAST_ROWS_BY_DEPTH = 8
"""Channels of a group whose gradient by weights AMX sums."""
_LINE = 16
"""Channels that are transformed together."""
_TRANSFORM = 8
"""Products that take as long as the transforms' work on an element at one of their points."""
_MOST_UNROLLED = 64
"""Channels of a group, times the taps of a line."""
_PRODUCT = 0.8
"""The time of a product of whole matrices, of that of a direct sum, whose lines of pixels end in blocks of their own."""

_FLOAT = 4
_STORED = 16
"""Steps of a sum that take as long as to store a pixel's features, of which lanes stay idle."""
_LINES, _LINES_APART, _CONVERTED = 0.8, 1.5, 2
"""The times of sums by lines, of pixels side by side and apart, and of conversions, of what idle lanes take by their share of the peak."""


def direct_convolution(op: ir.Operation, target: TargetView) -> Conv | None:
    """Sizes of a convolution that the direct kernel computes; None for others.

    Its features are at least a vector of sums, in each group or as groups of one channel or few. Fewer floats, of which lanes stay idle,
    where lines of pixels would not suit either, windows far apart and short lines, or would cost more with their conversions; and what AMX
    multiplies. Groups of the batch, as the gradient by the weights of a grouped convolution has them, are of one channel or few, fill
    tiles, or are of several windows of a vector of features.
    """
    batch_groups = integer(op, "batch_group_count") if op.name == "stablehlo.convolution" else 1
    conv = conv_of(op, _ELEMENTS, (batch_groups,)) if target.kind == "cpu" else None
    if conv is None:
        return None
    features, lanes = conv.output[1], target.lanes(_sum_bits(op))
    alone = conv.input[1] == conv.groups == features or conv.input[0] == batch_groups == features
    if alone or shares_lanes(op, conv, target):
        return conv if features >= lanes else None
    each, floats = features // (conv.groups * batch_groups), isinstance(element_of(op.operands[0]), ir.FloatType)
    if batch_groups > 1:
        several = floats and each >= lanes and prod(conv.output[2:]) > 1
        return conv if several or _is_by_depth_on_tiles(op, conv, batch_groups) else None
    if suits_tiles(op, conv):
        return conv
    few = floats and (conv.groups == 1 or each >= _FEWEST_FEATURES)
    return conv if each >= lanes or (few and (suits_lines(op, target) is None or _idles_cheaper(op, conv, target))) else None


def _is_by_depth_on_tiles(op: ir.Operation, conv: Conv, batch_groups: int) -> bool:
    """Whether AMX multiplies the groups of a gradient by weights, whose images and pixels are the depth (amx_by_depth.py)."""
    rows, columns, depth = conv.output[0], conv.output[1] // batch_groups, prod(conv.filter[1:])
    return on_tiles(op) and lane_elements(op) == 2 and rows >= _LEAST_ROWS_BY_DEPTH and min(columns, depth // 2) >= _LEAST_FEATURES


def _idles_cheaper(op: ir.Operation, conv: Conv, target: TargetView) -> bool:
    """Whether idle lanes cost less than the conversions of lines, of data with its channels last.

    Halves that are widened one by one are slower with idle lanes.
    """
    element, lanes = str(element_of(op.operands[0])), target.lanes(_sum_bits(op))
    pairs = element == "bf16" and target.multiplies_pairs
    taken = (element == "f32" or pairs) and conv.output[1] // conv.groups >= _FEWEST_FEATURES and not is_product(conv)
    if not taken or has_lines(ConvDims.of(op)):
        return False
    depth, line, flops = prod(conv.filter[1:]), line_length(conv), target.peak_flops("f32")
    idling = 2 * prod(conv.output[:1] + conv.output[2:]) * conv.groups * lanes * (depth / (1 + pairs) + _STORED) / flops
    summed = 2 * prod(conv.output) * depth * ceil(line / lanes) * lanes / line / flops
    moved = 2 * _FLOAT * (prod(conv.input) + prod(conv.output)) / target.llc_bytes_per_second
    return idling < summed * (_LINES if conv.window_strides[-1] == 1 else _LINES_APART) + _CONVERTED * moved


def shares_lanes(op: ir.Operation, conv: Conv, target: TargetView) -> bool:
    """Whether a register of channels is several groups, of as many channels as features each (passes/vector/nests/lane_groups.py).

    The channels of a group are unrolled there, with the taps of a line: they are few. The gradient by the weights has groups of its batch.
    One group alone is for tiles: those of several would be packed group by group.
    """
    batch_groups = integer(op, "batch_group_count")
    features, lanes = conv.output[1] // (conv.groups * batch_groups), target.lanes(_sum_bits(op))
    channels, taps = (conv.filter[1], conv.filter[-1]) if batch_groups == 1 else (conv.output[0], 1)
    floats = all(isinstance(element_of(value), ir.FloatType) for value in (*op.operands, op.results[0]))
    if conv.groups == batch_groups == 1 and suits_tiles(op, conv):
        return False
    return 1 < features == channels < lanes and lanes % features == 0 and floats and features * taps <= _MOST_UNROLLED


def _sum_bits(op: ir.Operation) -> int:
    """Halves are summed in f32; others in the type of the result."""
    return max(32, 8 * element_bytes(element_of(op.results[0])))


def pads_in_kernel(conv: Conv) -> bool:
    """Whether the kernel leaves padding out: a dimension that is padded has several windows of several taps."""
    padded = [low or high for low, high in zip(conv.padding_low, conv.padding_high)]
    return all(not pad or min(taps, count) > 1 for pad, taps, count in zip(padded, conv.filter[2:], conv.output[2:]))


def channels_last_dims(rank: int) -> ConvDims:
    """[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], for `rank` spatial dimensions."""
    inside, taps = tuple(range(1, rank + 1)), tuple(range(rank))
    return ConvDims((0, rank, 0), (rank + 1, rank + 1, rank + 1), (inside, taps, inside))


def images_summed_dims(rank: int) -> ConvDims:
    """[f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f], for `rank` spatial dimensions: the gradient by the weights of a convolution with its
    channels last; the images are its features, the channels its batch."""
    inside, result = tuple(range(1, rank + 1)), tuple(range(rank))
    return ConvDims((rank + 1, 0, rank), (0, rank + 1, rank + 1), (inside, inside, result))


def direct_dims(op: ir.Operation, conv: Conv) -> ConvDims:
    """The dimension numbers that the kernel wants: images are summed where they lie outside and the window has more taps than results, and
    where the batch has groups."""
    dims, rank = ConvDims.of(op), len(conv.dilations)
    summed = dims.second[0] < dims.first[0] and 1 < prod(conv.output[2:]) < prod(conv.filter[2:]) and conv.groups == 1
    return images_summed_dims(rank) if summed or integer(op, "batch_group_count") > 1 else channels_last_dims(rank)


def is_channels_last(dims: ConvDims) -> bool:
    """Whether a convolution has these dimension numbers."""
    return dims == channels_last_dims(len(dims.spatial[0]))


def suits_winograd(op: ir.Operation, conv: Conv) -> bool:
    """Whether Winograd's algorithm can compute it: 3 × 3 or d × 3 × 3 of stride 1, with enough channels, summed in f32.

    Its taps may be apart along the last two dimensions."""
    precise = "precision_config" in op.attributes and "HIGHEST" in str(op.attributes["precision_config"])
    taps = conv.filter[2:]
    window = (
        taps[-2:] == (TAPS, TAPS)
        and (len(taps) == 2 or (len(taps) == 3 and taps[0] > 1))
        and min(conv.output[-2:]) > 1
        and set(conv.window_strides) == {1}
        and set(conv.dilations[:-2]) <= {1}
    )
    wide = conv.filter[1] >= _LEAST_CHANNELS and conv.output[1] // conv.groups >= _LEAST_FEATURES
    return window and wide and not precise and str(element_of(op.operands[0])) in ("f32", "f16", "bf16")


def winograd_block(conv: Conv, most: int = WINOGRAD_BLOCK) -> int:
    """Features of a block of transformed weights: `most`, or of a group half of that where it leaves fewer lanes idle."""
    features = conv.output[1] // conv.groups
    return most // 2 if conv.groups > 1 and 0 < features % most <= most // 2 else most


def winograd_tiles(conv: Conv, outputs: int) -> int:
    """Of a whole batch; the last of a line or column are not whole, of each phase where taps are apart."""
    along = (tiles_along(extent, apart, outputs) for extent, apart in zip(conv.output[-2:], conv.dilations[-2:]))
    return prod(along) * prod(conv.output[:1] + conv.output[2:-2])


def winograd_share(conv: Conv, outputs: int, most: int = WINOGRAD_BLOCK) -> float:
    """Of the time of a direct sum's products, which leaves taps on padding out, what Winograd's algorithm takes: its products, of whole
    tiles and blocks of features, and the transforms of inputs and results. These take what its products save beside a direct sum's or, of
    few channels or features, longer. Groups are convolutions of their own."""
    block, conv = winograd_block(conv, most), conv.of_one_group
    summed, features = conv.input[1] * prod(conv.filter[2:-2]), ceil(conv.output[1] / block) * block
    transformed = ceil(conv.input[1] / _LINE) * _LINE + features
    each = max(1, _PRODUCT * (1 + _TRANSFORM * transformed / (summed * features)))
    products = winograd_tiles(conv, outputs) * (outputs + TAPS - 1) ** 2 * features
    return each * products / (taps_inside(conv) * prod(conv.output))


def taps_inside(conv: Conv) -> float:
    """How many of the 3 × 3 taps lie on no padding, on the average."""
    return prod(_inside(conv, dim) / conv.output[dim] for dim in (-2, -1))


def _inside(conv: Conv, dim: int) -> int:
    """Of all windows along a dimension, of stride 1, the taps that lie on no padding."""
    firsts = (conv.padding_low[dim] - tap * conv.dilations[dim] for tap in range(TAPS))
    return sum(max(0, min(conv.output[dim], first + conv.input[dim]) - max(0, first)) for first in firsts)
