"""pack-filters: convolutions with bound weights read them in blocks of output channels, which the kernel then reads from front to back.

Before:
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] … : (…, tensor<3x3x64x120xf32>) -> …
After:                                                                  // %w: made of bound arguments and constants; block = 32
    %p = stablehlo.pad %w …                                             // 120 → 128 output channels
    %r = stablehlo.reshape %p : … -> tensor<3x3x64x4x32xf32>
    %t = stablehlo.transpose %r, dims = [3, 0, 1, 2, 4] : … -> tensor<4x3x3x64x32xf32>
    %b = stablehlo.optimization_barrier %t
    %u = stablehlo.transpose %b, dims = [1, 2, 3, 0, 4] : … -> tensor<3x3x64x4x32xf32>
    %v = stablehlo.reshape %u : … -> tensor<3x3x64x128xf32>
    %s = stablehlo.slice %v [0:3, 0:3, 0:64, 0:120]
    %0 = stablehlo.convolution(%x, %s) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] …

Where an instruction multiplies several neighbours in depth, pairs of bf16 or four bytes, those lie side by side:

    %p : tensor<4x3x3x32x32x2xbf16>                                     // blocks, taps, pairs of channels, block, pair

split-init, which comes after, moves what stands before the barrier into @init and drops the barrier; the planner clones what stands behind
it into the convolution's group, where it becomes an index (fold-views). Must hold: channels-last has run; bound arguments carry
`hloom.bound`. Declined: weights given at each call, convolutions without a direct kernel (support/direct_convolution.py), one
channel a group, or so few that groups share a register, and what AMX multiplies of lines, or features of
a group, that are no whole tiles, which the kernel fills with zeros. Other groups that are no whole blocks are a block each; those of one
pair or quad of channels lie channel by channel, for nothing would tell that it is one. Weights of one block in all lie right. Blocks
of f32 and f64 are no wider than those of pack-weights, which the kernel reads from front to back; those of 1x1 of stride 1, which a product
of matrices reads, are as wide, and so is one block whose last features share a register with steps of the sum.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView, target_of

from ..common.init_function import entry, known_values
from ..common.rewriting import holder, walk
from ..common.spare_columns import spare_columns
from ..library_calls.conv import Conv
from ..registry import register_pass
from .support import build
from .support.build import element_of
from .support.dimensions import ConvDims
from .support.direct_convolution import direct_convolution, is_channels_last, shares_lanes
from .support.panels import fills_tiles, in_panels, lane_elements, on_tiles, panel_columns, seen_unpacked


@register_pass("pack-filters", "blocks bound weights of convolutions", ops=("stablehlo.convolution",))
def pack_filters(module: ir.Operation, *, block: int = 32) -> None:
    main, target = entry(module, "main"), target_of(module)
    if main is None or target.kind != "cpu":
        return
    known = known_values(main)
    packed: dict[tuple[ir.Value, int, int], ir.Value] = {}
    for op in walk(main, "stablehlo.convolution"):
        conv, weights = direct_convolution(op, target), op.operands[1]
        if conv is None or weights not in known or not is_channels_last(ConvDims.of(op)) or shares_lanes(op, conv, target):
            continue
        if on_tiles(op) and not fills_tiles(op, conv):
            continue
        features = conv.output[1] // conv.groups
        panel = panel_columns(op) or block
        is_product = set(conv.filter[2:]) == set(conv.window_strides) == {1}
        whole = panel if is_product or (features < panel and _has_spare_lanes(op, conv, features, target)) else min(panel, block)
        width = whole if features % whole == 0 or conv.groups == 1 else features
        count = lane_elements(op)
        if conv.filter[1] % count or (conv.groups > 1 and conv.filter[1] == count):
            count = 1
        if width == 1 or (count == 1 and conv.groups == 1 and features <= whole):
            continue
        if (weights, width, count) not in packed:
            with op.location, ir.InsertionPoint(holder(op, weights)):
                packed[weights, width, count] = in_panels(weights, width, count)
        with op.location, ir.InsertionPoint(op):
            op.operands[1] = seen_unpacked(packed[weights, width, count], build.shape_of(weights))


def _has_spare_lanes(op: ir.Operation, conv: Conv, features: int, target: TargetView) -> bool:
    """Whether the last features share a register with steps of the sum (passes/common/spare_columns.py)."""
    lanes = target.lanes(8 * element_bytes(element_of(op.operands[0])))
    return spare_columns(features, (*conv.filter[2:], conv.filter[1]), lanes, target) is not None
