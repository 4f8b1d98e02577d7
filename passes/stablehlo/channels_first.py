"""channels-first: on a CPU, convolutions whose lanes can only be the pixels of a line take the channels before the pixels.

Before (groups of six channels, which no register is a multiple of):
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] … : (tensor<1x28x28x96xf32>, …) -> …
After:
    %a = stablehlo.transpose %x, dims = [0, 3, 1, 2]
    %b = stablehlo.transpose %w, dims = [3, 2, 0, 1]                    // of bound weights: split-init moves it to @init
    %c = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1] …
    %0 = stablehlo.transpose %c, dims = [0, 2, 3, 1]

Without it such a convolution goes through a copy with padding and reads its pixels one by one, channels apart. Those of f32 have a kernel
then, of others the pixels of the copy lie side by side. 1 x 1 of many channels for each feature are products of matrices instead, one for
each group, whose lanes are the channels that they sum: a transposition would take longer.

Before (two groups of 96 channels):
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[o, i, 0, 1]->[b, 0, 1, f] … : (tensor<8x28x28x192xf32>, …) -> …
After:
    %a = stablehlo.slice %x [0:8, 0:28, 0:28, 0:96]
    %b = stablehlo.slice %w' [0:4, 0:96]                                // %w' is %w without its window
    %c = stablehlo.dot_general %a, %b, contracting_dims = [3] x [1]
    …                                                                   // %d: of the other group
    %0 = stablehlo.concatenate %c, %d, dim = 3

Must hold: fold-transposes has run, which would fold the transposes back, and extract-padding has not. Declined: what has a kernel as it
lies (support/direct_convolution.py, AMX), or the pixels of a line side by side; integers, and lines that are too short for the lanes.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView, target_of

from ..common.rewriting import value_of
from ..library_calls.conv import Conv
from ..registry import register_pass
from .support import build
from .support.dimensions import ConvDims
from .support.direct_convolution import direct_convolution
from .support.driver import rewrite
from .support.line_convolution import has_lines, is_product, suits_lines

_DEEP, _DEEP_WIDENED = 3, 8
"""Channels for each feature from which on a product is summed over the lanes, and the same of halves, which are widened first."""
_FLOAT = 4
_MOST_PRODUCTS = 8
"""Groups, each of which is a kernel of its own."""


@register_pass(
    "channels-first",
    "gives convolutions of few channels a group the channels before the pixels, or makes products of them",
    ops=("stablehlo.convolution",),
)
def channels_first(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind == "cpu":
        rewrite(module, {"stablehlo.convolution": [partial(_convolution, target)]})


def _convolution(target: TargetView, op: ir.Operation) -> list[ir.Value] | None:
    dims, rank = ConvDims.of(op), len(build.shape_of(op.results[0]))
    has_kernel = has_lines(dims) or direct_convolution(op, target) is not None
    conv = None if has_kernel else suits_lines(op, target)
    if conv is None:
        return None
    if dims.second[0] == rank - 1 and _sums_lanes(op, conv):
        return [_products(op, dims, conv)]
    return [dims.laid_out(op, ConvDims((0, 1, 0), (1, 0, 1), (tuple(range(2, rank)),) * 3))]


def _sums_lanes(op: ir.Operation, conv: Conv) -> bool:
    """Whether it is a product so deep for its columns that vectors of channels are summed across."""
    least = _DEEP if element_bytes(build.element_of(op.operands[0])) >= _FLOAT else _DEEP_WIDENED
    return is_product(conv) and conv.input[1] >= least * conv.output[1] and conv.groups <= _MOST_PRODUCTS


def _products(op: ir.Operation, dims: ConvDims, conv: Conv) -> ir.Value:
    """A 1 x 1, whose pixels have the features last, by a product for each group."""
    x, w = op.operands
    channel, (inside, outside) = dims.second[0], (0, 1) if dims.first[1] < dims.second[1] else (1, 0)
    depth, columns = conv.filter[1], conv.output[1] // conv.groups
    matrix = build.reshape(w, [n for _, n in sorted([(dims.first[1], depth), (dims.second[1], conv.output[1])])])
    attributes = {name: op.attributes[name] for name in ("precision_config",) if name in op.attributes}
    attributes["dot_dimension_numbers"] = build.dot_dimensions((), (), (channel,), (inside,))
    kind = build.tensor([*build.shape_of(x)[:channel], columns], build.element_of(op.results[0]))
    parts = [
        value_of(
            "stablehlo.dot_general",
            kind,
            [
                build.slice_dim(x, channel, group * depth, (group + 1) * depth),
                build.slice_dim(matrix, outside, group * columns, (group + 1) * columns),
            ],
            **attributes,
        )
        for group in range(conv.groups)
    ]
    made = replace(
        dims,
        first=(*dims.first[:2], dims.first[0]),
        second=(*dims.second[:2], channel),
        spatial=(*dims.spatial[:2], dims.spatial[0]),
    )
    return build.transpose(build.concatenate(parts, channel), made.order(2, dims))
