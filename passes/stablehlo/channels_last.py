"""channels-last: convolutions take activations and weights with the channels last, as tensor cores and vectors of channels want them.

Before:
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1] …
    %1 = stablehlo.maximum %0, %zero
    %2 = stablehlo.convolution(%1, %v) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1] …
After:
    %a = stablehlo.transpose %x, dims = [0, 2, 3, 1]
    %b = stablehlo.transpose %w, dims = [0, 2, 3, 1]            // of bound weights: split-init moves them to @init
    %0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f] …
    %1 = stablehlo.maximum %0, %zero'
    %c = stablehlo.transpose %v, dims = [0, 2, 3, 1]
    %2 = stablehlo.convolution(%1, %c) dim_numbers = [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f] …
    %3 = stablehlo.transpose %2, dims = [0, 3, 1, 2]

For a CPU the weights are [0, 1, i, o]: output channels are the lanes of its kernel, and padding stays with the convolution; so they are
on CUDA where each channel has taps of its own, or a window few elements (support/gpu_windows.py). For a CUDA library gradients are
[f, 0, 1, b]x[i, 0, 1, o]->[f, 0, 1, b] by the weights and [b, 0, 1, f]x[i, 0, 1, o]->[b, 0, 1, f] by the input. On a CPU a gradient by
weights, which sums images over windows of more taps than results, is [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f]: both operands have the
channels last of the convolution that it belongs to.

The transposes back sink through what follows (elementwise ops with splats, broadcasts, what few ops compute of these, and values that are
there with the channels last anyway, windowed reductions, pads, slices, concatenations, reductions, elements taken along a line, reshapes
of the dimensions between), until they meet the next convolution's and both go. So do those of a caller's arrays that lie with the channels
last, where there is no convolution, too.

Must hold: transposes are folded into dimension numbers (fold-transposes), padding is extracted. Declined: on CUDA, convolutions that no
library takes (library_calls/conv.py); on a CPU, those without a direct kernel (support/direct_convolution.py), whose kernels read any
layout, and islands of convolutions that conversions would slow down (support/layouts.py): each is told of in `hloom.kernel_chosen`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.dialects.target import TargetView, target_of

from ..common.init_function import LAID_OUT
from ..common.ops import Kind, named
from ..common.rewriting import attributes_of, defining_op, functions, i64_array, integer, integers, padding_pairs, producer, value_of, walk
from ..fused.planner.kernels import CHOSEN
from ..library_calls.conv import gradient_of, library_conv
from ..registry import register_pass
from .rules.shapes import SHAPES
from .support import build, constants
from .support.dimensions import ConvDims
from .support.direct_convolution import channels_last_dims, direct_convolution, direct_dims
from .support.driver import Rule, merged, rewrite, with_region
from .support.gpu_windows import window_convolution
from .support.layouts import decide_layouts, keeps_channels

Values = list[ir.Value] | None
_ELEMENTWISE = frozenset(named(Kind.ELEMENTWISE))
_SPREAD_OPS = 4
"""In a chain of ops that compute numbers of places: one a dimension, and one for padding."""


@register_pass(
    "channels-last", "gives convolutions the channels as their last dimension", ops=("stablehlo.convolution", "stablehlo.transpose")
)
def channels_last(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind == "cpu":
        decide_layouts(module, target)
    if not any(_taken(op, target) for op in walk(module, "stablehlo.convolution")) and not any(map(_is_laid_out, functions(module))):
        return
    rules: dict[str, list[Rule]] = {
        "stablehlo.convolution": [partial(_convolution, target)],
        "stablehlo.transpose": SHAPES["stablehlo.transpose"],
        "stablehlo.pad": [_pad],
        "stablehlo.slice": [_slice],
        "stablehlo.concatenate": [_concatenate],
        "stablehlo.reshape": [*SHAPES["stablehlo.reshape"], _reshape],
        "stablehlo.reduce": [_reduce],
        "stablehlo.gather": [_take],
        "stablehlo.reduce_window": [_reduce_window],
    }
    sinking = dict.fromkeys(_ELEMENTWISE, (_elementwise,))
    rewrite(module, merged(rules, sinking))


def _is_laid_out(function: ir.Operation) -> bool:
    """Whether the caller's arrays lie in another order than the source has them in."""
    return LAID_OUT in function.attributes


def _to_last(rank: int) -> list[int]:
    """The permutation that takes channels from dimension 1 to the end."""
    return [0, *range(2, rank), 1]


def _to_first(rank: int) -> list[int]:
    return [0, rank - 1, *range(1, rank - 1)]


def _back(value: ir.Value) -> ir.Value:
    """The tensor with the channels in dimension 1 of one that has them last."""
    return build.transpose(value, _to_first(len(build.shape_of(value))))


def _source(value: ir.Value) -> ir.Value | None:
    """The tensor with the channels last of which `value` is the transpose."""
    op = producer(value, "stablehlo.transpose")
    if op is None:
        return None
    permutation = integers(op, "permutation")
    return op.operands[0] if len(permutation) > 2 and permutation == _to_first(len(permutation)) else None


def _taken(op: ir.Operation, target: TargetView) -> bool:
    if target.kind == "cuda":
        return library_conv(op) is not None
    return CHOSEN not in op.attributes and direct_convolution(op, target) is not None


def _convolution(target: TargetView, op: ir.Operation) -> Values:
    if not _taken(op, target):
        return None
    dims = ConvDims.of(op)
    rank = len(dims.spatial[0]) + 2
    conv = direct_convolution(op, target)
    last = gpu_dims(op) if conv is None else direct_dims(op, conv)
    if window_convolution(op, target) is not None:
        last = channels_last_dims(rank - 2)
    if all(dims.order(side, last) == list(range(rank)) for side in range(3)):
        return None
    return [dims.laid_out(op, last)]


def gpu_dims(op: ir.Operation) -> ConvDims:
    """The dimension numbers of libraries and generated kernels, [b, 0, 1, f]x[o, 0, 1, i]->[b, 0, 1, f]; a library's of gradients."""
    rank, gradient = len(build.shape_of(op.results[0])), gradient_of(op)
    last = rank - 1
    spatial = (tuple(range(1, last)),) * 3
    if gradient is None:
        return ConvDims((0, last, 0), (last, 0, last), spatial)
    if gradient.makes == "filter":
        return ConvDims((last, 0, last), (0, last, 0), spatial)
    return ConvDims((0, 0, 0), (last, last, last), spatial)


def _elementwise(op: ir.Operation) -> Values:
    shape = build.shape_of(op.results[0])
    if not any(_source(value) for value in op.operands) or not all(map(_is_there, op.operands)):
        return None
    operands = [_with_channels_last(value, len(shape)) for value in op.operands]
    kind = build.tensor([shape[d] for d in _to_last(len(shape))], build.element_of(op.results[0]))
    return [_back(value_of(op.name, kind, operands, **attributes_of(op)))]


def _is_there(value: ir.Value) -> bool:
    """Whether having the value with the channels last takes no new transpose."""
    if _source(value) or not build.shape_of(value) or _lies_anyhow(value):
        return True
    order = _to_last(len(build.shape_of(value)))
    users = [use.owner.operation for use in value.uses]
    return any(user.name == "stablehlo.transpose" and integers(user, "permutation") == order for user in users)


def _lies_anyhow(value: ir.Value, ops: int = _SPREAD_OPS) -> bool:
    """Whether a value is spread from few elements, or a few elementwise ops compute it of such alone, as they do a pool's places."""
    if constants.splat_attribute(value) is not None or _is_broadcast(value):
        return True
    op = defining_op(value)
    return op is not None and op.name in _ELEMENTWISE and ops > 0 and all(_lies_anyhow(operand, ops - 1) for operand in op.operands)


def _is_broadcast(value: ir.Value) -> bool:
    return producer(value, "stablehlo.broadcast_in_dim") is not None


def _with_channels_last(value: ir.Value, rank: int) -> ir.Value:
    source, splat, shape = _source(value), constants.splat_attribute(value), build.shape_of(value)
    if source or not shape:
        return source or value
    order = _to_last(rank)
    moved = [shape[d] for d in order]
    if splat is not None:
        return build.splat(build.tensor(moved, build.element_of(value)), splat)
    op = value.owner.operation if _lies_anyhow(value) else None
    if op is None:
        return build.transpose(value, order)
    if not _is_broadcast(value):
        operands = [_with_channels_last(operand, rank) for operand in op.operands]
        return value_of(op.name, build.tensor(moved, build.element_of(value)), operands, **attributes_of(op))
    extents = build.shape_of(op.operands[0])
    long = [(d, extent) for d, extent in zip(integers(op, "broadcast_dimensions"), extents) if extent != 1]
    flat = build.reshape(op.operands[0], [extent for _, extent in long])
    return build.broadcast(flat, moved, [order.index(d) for d, _ in long])


def _permuted(values: Sequence[int]) -> ir.Attribute:
    return i64_array(values[d] for d in _to_last(len(values)))


def _pad(op: ir.Operation) -> Values:
    x = _source(op.operands[0])
    if not x:
        return None
    amounts = ([integers(op, name)[d] for d in _to_last(len(build.shape_of(x)))] for name in _PADDINGS)
    return [_back(build.pad(x, op.operands[1], *amounts))]


_PADDINGS = ("edge_padding_low", "edge_padding_high", "interior_padding")


def _slice(op: ir.Operation) -> Values:
    x = _source(op.operands[0])
    if not x:
        return None
    names = ("start_indices", "limit_indices", "strides")
    return [_back(build.slice_(x, *([integers(op, name)[d] for d in _to_last(len(build.shape_of(x)))] for name in names)))]


def _reshape(op: ir.Operation) -> Values:
    x, shape = _source(op.operands[0]), build.shape_of(op.results[0])
    if not x or not keeps_channels(op):
        return None
    return [_back(build.reshape(x, [shape[d] for d in _to_last(len(shape))]))]


def _concatenate(op: ir.Operation) -> Values:
    operands = [_source(value) for value in op.operands]
    rank = len(build.shape_of(op.results[0]))
    if rank < 3 or not all(operands):
        return None
    return [_back(build.concatenate([x for x in operands if x], _to_last(rank).index(integer(op, "dimension"))))]


def _reduce(op: ir.Operation) -> Values:
    """Reductions of one value whose result has its dimensions in the same order either way, or has the channels last as well."""
    x = _source(op.operands[0])
    if not x or len(op.operands) != 2:
        return None
    order = _to_last(len(build.shape_of(x)))
    reduced = integers(op, "dimensions")
    kept = [d for d in order if d not in reduced]
    moves = kept != sorted(kept)
    if moves and kept[0] != 0:
        return None
    dimensions = sorted(order.index(d) for d in reduced)
    kind = build.tensor([extent for d, extent in enumerate(build.shape_of(x)) if d not in dimensions], build.element_of(op.results[0]))
    (value,) = with_region(op, [x, op.operands[1]], [kind], dimensions=i64_array(dimensions)).results
    return [_back(value) if moves else value]


def _take(op: ir.Operation) -> Values:
    """Elements at places along one dimension of an image, as the parts of an adaptive pool are."""
    x, places = _source(op.operands[0]), op.operands[1]
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    along = list(numbers.start_index_map)
    if not x or len(along) != 1 or along[0] < 2:
        return None
    (d,) = along
    whole = [1 if dim == d else extent for dim, extent in enumerate(build.shape_of(op.operands[0]))]
    offsets = [dim for dim in range(len(build.shape_of(op.results[0]))) if not d <= dim < d + len(build.shape_of(places))]
    plain = list(numbers.collapsed_slice_dims) == along and not numbers.operand_batching_dims
    plain = plain and numbers.index_vector_dim == len(build.shape_of(places)) and list(numbers.offset_dims) == offsets
    return [_back(build.take(x, d - 1, places))] if plain and integers(op, "slice_sizes") == whole else None


def _reduce_window(op: ir.Operation) -> Values:
    x = _source(op.operands[0])
    if not x or len(op.operands) != 2:
        return None
    rank = len(build.shape_of(x))
    names = ("window_dimensions", "window_strides", "base_dilations", "window_dilations")
    changed: dict[str, ir.Attribute] = {name: _permuted(integers(op, name)) for name in names if name in op.attributes}
    pairs = padding_pairs(op, rank)
    changed["padding"] = ir.DenseElementsAttr.get(np.array([pairs[d] for d in _to_last(rank)], np.int64))
    shape = build.shape_of(op.results[0])
    kind = build.tensor([shape[d] for d in _to_last(rank)], build.element_of(op.results[0]))
    return [_back(with_region(op, [x, op.operands[1]], [kind], **changed).results[0])]
