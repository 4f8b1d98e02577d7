"""strided-gradients: the gradient by the input of a strided convolution is written as a CUDA library has it.

Before (of stride 2, padded by 1 element behind alone; taps 3):
    %r = stablehlo.reverse %w, dims = [1]
    %0 = stablehlo.convolution(%dy, %r) dim_numbers = [b, 0, f]x[i, 0, o]->[b, 0, f], window = {pad = [[2, 1]], lhs_dilate = [2]} … -> 1x8x4
After:
    %a = stablehlo.convolution(%dy, %w) …, window = {pad = [[2, 2]], lhs_dilate = [2], reverse = [true]} … -> 1x9x4
    %0 = stablehlo.slice %a [0:1, 0:8, 0:4]

The gradient by the weights of a transposed convolution, a product of images with zeros between their elements by windows that are images,
is that of a strided convolution whose factors have changed places, its taps turned around.

Weights that a reverse has turned lie as the forward convolution reads them. A gradient of more elements than the input has is that of a
convolution without padding.

Must hold: transposes are folded into dimension numbers. Declined: CPUs; what no library takes (library_calls/conv.py); negative padding of
the forward convolution.
"""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import i64_array, integer, integers, padding_pairs, producer, reversal
from ..library_calls.conv import gradient_by_input, gradient_of
from ..registry import register_pass
from .support import build
from .support.dimensions import ConvDims
from .support.driver import rewrite

Values = list[ir.Value] | None


@register_pass(
    "strided-gradients", "writes gradients by the input of strided convolutions as a library has them", ops=("stablehlo.convolution",)
)
def strided_gradients(module: ir.Operation) -> bool:
    return target_of(module).kind == "cuda" and rewrite(module, {"stablehlo.convolution": [_of_transposed, _convolution]})


def _of_transposed(op: ir.Operation) -> Values:
    """The gradient by the weights of a transposed convolution: both factors change places, and the taps go from the last to the first."""
    dims = ConvDims.of(op)
    rank = len(dims.spatial[0])
    steps, groups = integers(op, "lhs_dilation", [1] * rank), integer(op, "feature_group_count") * integer(op, "batch_group_count")
    others = {*integers(op, "window_strides", [1]), *integers(op, "rhs_dilation", [1]), groups}
    if set(steps) <= {1} or dims.second[0] > dims.first[0] or others != {1} or any(reversal(op, rank)):
        return None
    values = (op.results[0], *op.operands)
    taps, fewer, more = ([build.shape_of(value)[d] for d in places] for value, places in zip(values, (dims.spatial[2], *dims.spatial[:2])))
    padding = []
    for count, few, many, step, (low, _) in zip(taps, fewer, more, steps, padding_pairs(op, rank)):
        before = count - 1 - low
        padding.append((before, count + (few - 1) * step - many - before))
    if min(min(pair) for pair in padding) < 0:
        return None
    turned = ConvDims(
        (dims.second[1], dims.second[0], dims.second[2]),
        (dims.first[1], dims.first[0], dims.first[2]),
        (dims.spatial[1], dims.spatial[0], dims.spatial[2]),
    )
    changed = {
        "padding": ir.DenseElementsAttr.get(np.array(padding, np.int64)),
        "lhs_dilation": i64_array([1] * rank),
        "rhs_dilation": i64_array(steps),
    }
    made = turned.emit(op, op.operands[1], op.operands[0], op.results[0].type, **changed)
    return [build.reverse(made, dims.spatial[2])]


def _convolution(op: ir.Operation) -> Values:
    conv = gradient_by_input(op)
    if conv is None or gradient_of(op) is not None or min(conv.padding_low) < 0:
        return None
    dims, shape = ConvDims.of(op), build.shape_of(op.results[0])
    starts, limits, padding = [0] * len(shape), list(shape), []
    sizes = zip(dims.spatial[2], conv.filter[2:], conv.output[2:], conv.window_strides, conv.padding_low, conv.dilations)
    for place, taps, made, stride, low, apart in sizes:
        reach, extent = (taps - 1) * apart + 1, shape[place]
        if made != (2 * low + extent - reach) // stride + 1:
            shape[place] = max((made - 1) * stride + reach, low + extent)
            starts[place], limits[place], low = low, low + extent, 0
            if made != (shape[place] - reach) // stride + 1:
                return None
        before = reach - 1 - low
        padding.append((before, shape[place] - before + reach - 2 - (made - 1) * stride))
    changed = {
        "padding": ir.DenseElementsAttr.get(np.array(padding, np.int64)),
        "window_reversal": ir.DenseBoolArrayAttr.get([True] * len(padding)),
    }
    kind = build.tensor(shape, build.element_of(op.results[0]))
    return [build.slice_(dims.emit(op, op.operands[0], _turned(op, dims), kind, **changed), starts, limits)]


def _turned(op: ir.Operation, dims: ConvDims) -> ir.Value:
    """The weights as they lie when the windows are reversed in each dimension."""
    weights, now = op.operands[1], reversal(op, len(dims.spatial[1]))
    turned = {d for d, reverse in zip(dims.spatial[1], now) if not reverse}
    before = producer(weights, "stablehlo.reverse")
    if before is not None:
        weights, turned = before.operands[0], turned ^ {*integers(before, "dimensions")}
    turned = {d for d in turned if build.shape_of(weights)[d] > 1}
    return build.reverse(weights, sorted(turned)) if turned else weights
