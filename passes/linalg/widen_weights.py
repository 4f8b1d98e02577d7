"""widen-weights: the weights of a convolution of halves that is one for each channel are widened once a channel, not beside each pixel.

Before (bf16, channels first):
    %y = generic (b, c, h, w, kh, kw) ins(%x (b, c, h + kh, w + kw), %w (c, kh, kw)) outs(%zero)
             { arith.addf %out, (arith.mulf (arith.extf %in), (arith.extf %in_0)) }       : tensor<8x144x56x56xf32>
After:
    %v = generic (c, kh, kw) ins(%w)  { arith.extf %in : bf16 to f32 }                    : tensor<144x3x3xf32>
    %y = generic … ins(%x, %v) …      { arith.addf %out, (arith.mulf (arith.extf %in), %in_0) }

No numbers change. The lanes of the kernel (passes/vector/nests/lines.py) are pixels: a weight of f32 is in memory as a multiplication takes
it, for all of them. Must hold: inline-producers has run, which would take the generic back. Declined: windows that do not move along the
result's innermost loop, whose lanes are channels, convolutions that sum channels, and targets without masked accesses of 16 bits.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView, target_of

from ..common.affine import loop_of, used_dims
from ..common.contraction import summed_product
from ..common.lines import multiplies_halves, summed_channels
from ..common.rewriting import element_of, shape_of, walk
from ..registry import register_pass
from .lower_to_linalg import group_functions
from .lowering.generic import PARALLEL, Generic, build_generic, empty, extension_of, identity, read_generic, take_extended


@register_pass("widen-weights", "widens the weights of depthwise convolutions of halves once a channel", ops=("linalg.generic",))
def widen_weights(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind != "cpu":
        return
    for function in group_functions(module):
        with module.context, function.location:
            for op in walk(function, "linalg.generic"):
                if summed_product(op.regions[0].blocks[0]) is not None:
                    _widen(read_generic(op), target)


def _widen(conv: Generic, target: TargetView) -> None:
    number = _weights(conv)
    extension = None if number is None else extension_of(conv.block.arguments[number])
    if number is None or extension is None or not multiplies_halves(str(element_of(conv.inputs[number])), 1, target):
        return
    weights, f32 = conv.inputs[number], ir.F32Type.get()
    shape = shape_of(weights)
    maps, loops = [identity(len(shape))] * 2, [PARALLEL] * len(shape)
    with ir.InsertionPoint(conv.op), conv.op.location:
        wide = build_generic([weights], [empty(shape, f32)], maps, loops, lambda half, _: [arith.extf(f32, half)])
    conv.op.operands[number] = wide.results[0]
    take_extended(extension)


def _weights(conv: Generic) -> int | None:
    """The number of the input that the innermost loop does not move through, where taps alone are summed."""
    lane = next((d for e in reversed(conv.out_maps[0].results) if conv.extents[d := loop_of(e)] != 1), None)
    moving = [number for number, m in enumerate(conv.in_maps) if any(lane in used_dims(e) for e in m.results)]
    if len(conv.inputs) != 2 or len(moving) != 1:
        return None
    pixels, weights = (conv.maps[number] for number in (moving[0], 1 - moving[0]))
    channels = summed_channels(pixels, weights, [kind == PARALLEL for kind in conv.iterators])
    beside = any(len(dims) > 1 for e in pixels.results if lane in (dims := used_dims(e)))
    return 1 - moving[0] if beside and all(conv.extents[d] == 1 for d in channels) else None
