"""channels-first: on a CPU, convolutions whose lanes can only be the pixels of a line take the channels before the pixels.

Before (groups of six channels, which no register is a multiple of):
    %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] … : (tensor<1x28x28x96xf32>, …) -> …
After:
    %a = stablehlo.transpose %x, dims = [0, 3, 1, 2]
    %b = stablehlo.transpose %w, dims = [3, 2, 0, 1]                    // of bound weights: split-init moves it to @init
    %c = stablehlo.convolution(%a, %b) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1] …
    %0 = stablehlo.transpose %c, dims = [0, 2, 3, 1]

Without it such a convolution goes through a copy with padding and reads its pixels one by one, channels apart. Those of f32 have a kernel
then, of others the pixels of the copy lie side by side. Must hold: fold-transposes has run, which would fold the transposes back, and
extract-padding has not. Declined: what has a kernel as it lies (support/direct_convolution.py, AMX), or the pixels of a line side by side;
integers, and lines that are too short for the lanes; products of matrices of so many channels that a transpose takes longer than the sums
of each pixel over its lanes.
"""

from __future__ import annotations

from functools import partial

from torch_mlir import ir

from hloom.dialects.target import TargetView, target_of

from ..registry import register_pass
from .support import build
from .support.dimensions import ConvDims
from .support.direct_convolution import direct_convolution
from .support.driver import rewrite
from .support.line_convolution import has_lines, is_product, suits_lines

_DEEP = 32
"""Channels for each feature from which on a product is summed over the lanes."""


@register_pass(
    "channels-first", "gives convolutions of few channels a group the channels before the pixels", ops=("stablehlo.convolution",)
)
def channels_first(module: ir.Operation) -> None:
    target = target_of(module)
    if target.kind == "cpu":
        rewrite(module, {"stablehlo.convolution": [partial(_convolution, target)]})


def _convolution(target: TargetView, op: ir.Operation) -> list[ir.Value] | None:
    dims, rank = ConvDims.of(op), len(build.shape_of(op.results[0]))
    has_kernel = has_lines(dims) or direct_convolution(op, target) is not None
    conv = None if has_kernel else suits_lines(op, target)
    if conv is None or (is_product(conv) and conv.groups == 1 and conv.input[1] >= _DEEP * conv.output[1]):
        return None
    return [dims.laid_out(op, ConvDims((0, 1, 0), (1, 0, 1), (tuple(range(2, rank)),) * 3))]
