"""depthwise-gradients: the gradient by the weights of a depthwise convolution is a sum for each tap, on a GPU.

Before (three taps, padded by one element):
    %0 = stablehlo.convolution(%x, %dy) dim_numbers = [f, 0, b]x[i, 0, o]->[0, b, f], window = {pad = [[1, 1]]}
      {batch_group_count = 32} : (tensor<4x50x32xbf16>, tensor<4x50x32xbf16>) -> tensor<3x1x32xbf16>
After:
    %p = pad %x                                                : tensor<4x52x32xbf16>
    %s0 = reduce add (slice(%p) [0:50] * %dy) over [0, 1];  …  : tensor<32xf32>
    %0 = concatenate %s0, %s1, %s2

All taps' sums read the same two arrays: plan-fusion makes them one kernel, whose threads have neighbouring channels. As a convolution its
windows are images, of one channel each: a block had a tap of a channel, and read all pixels of both for it. Sums of halves are made in f32.

Must hold: transposes are folded into dimension numbers. Declined: CPUs; several results for each channel; more taps than _MOST; a policy
that asks for a library.
"""

from __future__ import annotations

from itertools import product
from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import element_of, integer, integers, padding_pairs, reversal
from ..fused.planner.policy import policy_of
from ..registry import register_pass
from .support import build
from .support.dimensions import ConvDims
from .support.driver import rewrite

_MOST = 64
_SUMMED = ("f16", "bf16", "f32")


@register_pass(
    "depthwise-gradients", "makes sums of gradients by the weights of depthwise convolutions, on GPUs", ops=("stablehlo.convolution",)
)
def depthwise_gradients(module: ir.Operation) -> bool:
    if target_of(module).kind != "cuda":
        return False
    policy = policy_of(module)

    def rule(op: ir.Operation) -> list[ir.Value] | None:
        return None if policy.kernel_for(op).use == "library" else _sums(op)

    return rewrite(module, {"stablehlo.convolution": [rule]})


def _sums(op: ir.Operation) -> list[ir.Value] | None:
    x, dy = op.operands
    dims, made = ConvDims.of(op), build.shape_of(op.results[0])
    taps, rank = [made[d] for d in dims.spatial[2]], len(dims.spatial[0])
    channels = build.shape_of(x)[dims.first[0]]
    depthwise = integer(op, "batch_group_count") == channels == build.shape_of(dy)[dims.second[1]] > 1
    changed = any(reversal(op, rank)) or set(integers(op, "lhs_dilation")) - {1} or integer(op, "feature_group_count") != 1
    if not depthwise or changed or not 1 <= prod(taps) <= _MOST or not 1 <= rank <= 3:
        return None
    kinds = {str(element_of(value)) for value in (x, dy, op.results[0])}
    if len(kinds) != 1 or not kinds <= {*_SUMMED}:
        return None
    steps, apart = integers(op, "rhs_dilation", [1] * rank), integers(op, "window_strides", [1] * rank)
    order = [0] * (rank + 2)  # of the gradient's dimensions, so that they lie as the image's
    for own, other in zip((dims.first[0], dims.second[0], *dims.spatial[0]), (dims.second[1], dims.first[1], *dims.spatial[1])):
        order[own] = other
    dy = build.convert(build.transpose(dy, order), ir.F32Type.get())
    low, high = [0] * (rank + 2), [0] * (rank + 2)
    for d, (before, behind) in zip(dims.spatial[0], padding_pairs(op, rank)):
        low[d], high[d] = before, behind
    padded = build.pad_with_zeros(x, low, high)
    sums = []
    for tap in product(*map(range, taps)):
        starts, limits, strides = [0] * (rank + 2), build.shape_of(padded), [1] * (rank + 2)
        for d, number, distance, step in zip(dims.spatial[0], tap, apart, steps):
            starts[d], strides[d] = number * distance, step
            limits[d] = starts[d] + (build.shape_of(dy)[d] - 1) * step + 1
        window = build.convert(build.slice_(padded, starts, limits, strides), ir.F32Type.get())
        sums.append(build.sum_along(build.multiply(window, dy), [d for d in range(rank + 2) if d != dims.first[0]]))
    rows = build.concatenate([build.reshape(each, [1, channels]) for each in sums], 0)
    return [build.convert(_placed(rows, [*taps, 1, channels], dims), element_of(op.results[0]))]


def _placed(rows: ir.Value, shape: list[int], dims: ConvDims) -> ir.Value:
    """The sums of all taps and channels where the result has them: [taps…, 1, channels] in its own order."""
    places = [*dims.spatial[2], dims.first[2], dims.second[2]]
    return build.transpose(build.reshape(rows, shape), [places.index(d) for d in range(len(shape))])
