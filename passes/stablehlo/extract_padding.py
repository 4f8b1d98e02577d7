"""extract-padding: convolutions and windowed reductions without padding, base dilation, window reversal or batch groups.

Before:
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]], …}
After:
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %p = stablehlo.pad %x, %zero, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0]
    %0 = stablehlo.convolution(%p, %w) …, window = {pad = [[0, 0], [0, 0]], …}

Base (lhs) dilation is interior padding; negative padding stays negative in the pad, which then cuts. A reversed window dimension reverses
the kernel. Batch groups become feature groups: the batch splits into (group, rest) and the group moves in front of the features.
reduce_window is padded with its initial values. What the only window along a dimension does not reach is cut off, so that the window is all
of it.

Must hold: nothing. Declined: for a CPU, convolutions whose kernel leaves padding out or takes their batch groups
(support/direct_convolution.py, support/line_convolution.py), windowed reductions padded with what changes nothing
(support/neutral_padding.py) and scans (common/scans.py), which are no windows to their kernels; for a CUDA target, convolutions of
single channels (support/gpu_windows.py), whose kernel leaves padding out, and those that a library can take (library_calls/conv.py) and
that are padded alike on both sides, gradients among them; should the planner choose a generated kernel for one of these after all, it comes
back here.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of

from ..common.rewriting import i64_array, i64_attr, integer, integers, padding_pairs, reversal
from ..common.scans import scan_dim
from ..library_calls.conv import gradient_of, library_conv
from ..registry import register_pass
from .support import build
from .support.dimensions import ConvDims
from .support.direct_convolution import direct_convolution, pads_in_kernel
from .support.driver import rewrite, with_region
from .support.gpu_windows import depthwise_convolution, window_convolution
from .support.line_convolution import line_convolution
from .support.neutral_padding import pads_with_neutral

Values = list[ir.Value] | None


@register_pass(
    "extract-padding",
    "gives convolutions and windowed reductions operands that are padded already",
    ops=("stablehlo.convolution", "stablehlo.reduce_window"),
)
def extract_padding(module: ir.Operation) -> bool:
    target = target_of(module)
    convolution = partial(_unless_a_gpu_pads, target) if target.kind == "cuda" else partial(_unless_its_kernel_pads, target)
    window = _unless_a_scan if target.kind == "cuda" else _unless_left_out
    return rewrite(module, {"stablehlo.convolution": [partial(_batch_groups, target), convolution], "stablehlo.reduce_window": [window]})


def _unless_a_scan(op: ir.Operation) -> Values:
    return _reduce_window(op) if scan_dim(op) is None else None


def _unless_left_out(op: ir.Operation) -> Values:
    return _reduce_window(op) if scan_dim(op) is None and not pads_with_neutral(op) else None


def _unless_its_kernel_pads(target: TargetView, op: ir.Operation) -> Values:
    conv = direct_convolution(op, target) or line_convolution(op, target)
    return without_padding(op) if conv is None or not pads_in_kernel(conv) else None


def _unless_a_gpu_pads(target: TargetView, op: ir.Operation) -> Values:
    conv = library_conv(op)
    if depthwise_convolution(op, target) is not None:
        return None
    mine = conv is None or conv.padding_low != conv.padding_high or window_convolution(op, target) is not None
    return without_padding(op) if mine else None


def _no_padding(rank: int) -> ir.Attribute:
    return ir.DenseElementsAttr.get(np.zeros((rank, 2), np.int64))


def _cut(pair: tuple[int, int], extent: int, base: int, count: int, reach: int) -> tuple[int, int]:
    """The padding of a dimension with `count` windows of `reach` elements, less what a single one does not see."""
    low, high = pair
    span = (extent - 1) * base + 1 if extent else 0
    excess = low + span + high - reach
    return (low, high - excess) if count == 1 and 0 < excess <= span + high else pair


def without_padding(op: ir.Operation) -> Values:
    """The convolution on an operand that is padded already; None if it has neither padding, base dilation nor reversed windows."""
    lhs, rhs = op.operands
    dims = ConvDims.of(op)
    rank = len(dims.spatial[0])
    pairs, dilation = padding_pairs(op, rank), integers(op, "lhs_dilation", [1] * rank)
    extents, sizes = ([build.shape_of(v)[d] for d in dims.spatial[i]] for i, v in enumerate((lhs, rhs)))
    counts = [build.shape_of(op.results[0])[d] for d in dims.spatial[2]]
    reaches = [(n - 1) * step + 1 for n, step in zip(sizes, integers(op, "rhs_dilation", [1] * rank))]
    pairs = list(map(_cut, pairs, extents, dilation, counts, reaches))
    if not any(map(any, pairs)) and set(dilation) <= {1} and not any(reversal(op, rank)):
        return None
    low, high, interior = ([0] * (rank + 2) for _ in range(3))
    for d, pair, step in zip(dims.spatial[0], pairs, dilation):
        (low[d], high[d]), interior[d] = pair, step - 1
    padded = build.pad_with_zeros(lhs, low, high, interior)
    changed = {
        "padding": _no_padding(rank),
        "lhs_dilation": i64_array([1] * rank),
        "window_reversal": ir.DenseBoolArrayAttr.get([False] * rank),
    }
    return [dims.emit(op, padded, dims.unreversed(op), op.results[0].type, **changed)]


def _batch_groups(target: TargetView, op: ir.Operation) -> Values:
    if direct_convolution(op, target) is not None or (target.kind == "cuda" and gradient_of(op) is not None):
        return None
    return without_batch_groups(op)


def without_batch_groups(op: ir.Operation) -> Values:
    """The convolution with feature groups in their place; None if it has none."""
    groups = integer(op, "batch_group_count")
    if groups == 1:
        return None
    lhs, rhs = op.operands
    dims, shape = ConvDims.of(op), build.shape_of(lhs)
    batch, feature = dims.first[0], dims.second[0]
    split = build.reshape(lhs, [*shape[:batch], groups, shape[batch] // groups, *shape[batch + 1 :]])
    after = feature + (feature > batch)  # where the features are now; the groups go right before them
    order = [d for d in range(len(shape) + 1) if d != batch]
    order.insert(order.index(after), batch)
    grouped = list(shape)
    grouped[batch], grouped[feature] = shape[batch] // groups, shape[feature] * groups
    merged = build.reshape(build.transpose(split, order), grouped)
    counts = {"batch_group_count": i64_attr(1), "feature_group_count": i64_attr(groups)}
    return [dims.emit(op, merged, rhs, op.results[0].type, **counts)]


def _reduce_window(op: ir.Operation) -> Values:
    count = len(op.operands) // 2
    inputs, inits = list(op.operands)[:count], list(op.operands)[count:]
    rank = len(build.shape_of(inputs[0]))
    pairs, dilation = padding_pairs(op, rank), integers(op, "base_dilations", [1] * rank)
    window, steps = integers(op, "window_dimensions"), integers(op, "window_dilations", [1] * rank)
    reaches = [(n - 1) * step + 1 for n, step in zip(window, steps)]
    pairs = list(map(_cut, pairs, build.shape_of(inputs[0]), dilation, build.shape_of(op.results[0]), reaches))
    if not any(map(any, pairs)) and set(dilation) <= {1}:
        return None
    low, high = [a for a, _ in pairs], [b for _, b in pairs]
    padded = [build.pad(x, init, low, high, [step - 1 for step in dilation]) for x, init in zip(inputs, inits)]
    changed = {"padding": _no_padding(rank), "base_dilations": i64_array([1] * rank)}
    return list(with_region(op, [*padded, *inits], [r.type for r in op.results], **changed).results)
