"""Gradients of pools, and of resizes by whole factors, which give each element of the input what its windows' results are told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
from torch_mlir import ir

from hloom.passes.stablehlo.support import build, constants

from ..torch_registry import TorchOp, torch_lowering
from .pools import Windows, accumulator, averages


@torch_lowering("aten.max_pool2d_with_indices_backward", "aten.max_pool3d_with_indices_backward")
def max_pool_backward(
    op: TorchOp,
    gradient: ir.Value,
    x: ir.Value,
    sizes: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    ceil_mode: bool,
    indices: ir.Value,
) -> ir.Value:
    """One element of all windows after the other: a window's gradient goes to the element that its index is of."""
    windows = Windows.of(x, ir.RankedTensorType(gradient.type), sizes, strides, padding, dilations)
    if not windows.are_small():
        return NotImplemented
    index, shape = ir.IntegerType.get_signless(32), build.shape_of(gradient)
    element, outer = accumulator(op.element), len(shape) - len(windows.sizes)
    gradient, indices = build.convert(gradient, element), build.convert(indices, index)
    nothing = build.zero(shape, element)

    def to(taps: tuple[int, ...]) -> ir.Value:
        here = build.full(build.tensor(shape, index), 0)
        for d, tap in enumerate(taps):
            places = np.arange(windows.counts[d]) * windows.strides[d] + tap * windows.dilations[d] - windows.padding[d]
            numbers = (places * math.prod(windows.extents[d + 1 :])).astype(np.int32)
            along = constants.write(numbers, build.tensor([len(numbers)], index))
            here = build.add(here, build.broadcast(along, shape, [outer + d]))
        return _placed(build.select(build.compare("EQ", indices, here), gradient, nothing), windows, taps)

    return build.convert(reduce(build.add, map(to, np.ndindex(*windows.sizes))), op.element)


def _placed(value: ir.Value, windows: Windows, taps: Sequence[int]) -> ir.Value:
    """A value of each window at its element `taps`, zeros elsewhere; what lies on padding is dropped."""
    low = [tap * step - pad for tap, step, pad in zip(taps, windows.dilations, windows.padding)]
    spans = [(count - 1) * stride + 1 for count, stride in zip(windows.counts, windows.strides)]
    high = [extent - span - start for extent, span, start in zip(windows.extents, spans, low)]
    outer = [0] * (len(build.shape_of(value)) - len(low))
    return build.pad_with_zeros(value, outer + low, outer + high, outer + [stride - 1 for stride in windows.strides])


@torch_lowering("aten.avg_pool2d_backward", "aten.avg_pool3d_backward")
def average_pool_backward(
    op: TorchOp,
    gradient: ir.Value,
    x: ir.Value,
    sizes: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None,
) -> ir.Value:
    """The sum of a window of the gradient, divided and with zeros between its elements: of all windows that hold the element."""
    windows = Windows.of(x, ir.RankedTensorType(gradient.type), sizes, strides, padding, [1])
    share = averages(build.convert(gradient, accumulator(op.element)), windows, count_include_pad, divisor)
    apart = _placed(share, _reaching(windows), [0] * len(windows.sizes))
    ones = [1] * (len(op.result.shape) - len(windows.sizes))
    zero = build.zero([], build.element_of(apart))
    window, rank = ones + windows.sizes, len(op.result.shape)
    (total,) = build.reduce_window([apart], [zero], window, [1] * rank, [1] * rank, [(0, 0)] * rank, lambda a, b: [build.add(a, b)])
    return build.convert(total, op.element)


def _reaching(windows: Windows) -> Windows:
    """The same windows in an input that begins with all of the first element's windows, and ends with those of the last one."""
    extents = [extent + size - 1 for extent, size in zip(windows.extents, windows.sizes)]
    padding = [pad - size + 1 for pad, size in zip(windows.padding, windows.sizes)]
    return Windows(extents, windows.counts, windows.sizes, windows.strides, padding, windows.dilations)


@torch_lowering("aten._adaptive_avg_pool2d_backward", "aten._adaptive_avg_pool3d_backward")
def adaptive_average_pool_backward(op: TorchOp, gradient: ir.Value, x: ir.Value) -> ir.Value:
    """Of parts of one size."""
    shape, wide = build.shape_of(gradient), list(op.result.shape)
    if any(extent % count for extent, count in zip(wide, shape)):
        return NotImplemented
    element = accumulator(op.element)
    size = build.full(build.tensor(shape, element), math.prod(wide) // math.prod(shape))
    share = build.divide(build.convert(gradient, element), size)
    pairs = [n for count, extent in zip(shape, wide) for n in (count, extent // count)]
    spread = build.broadcast(share, pairs, range(0, len(pairs), 2))
    return build.convert(build.reshape(spread, wide), op.element)


@torch_lowering("aten.upsample_nearest1d_backward", "aten.upsample_nearest2d_backward", "aten.upsample_nearest3d_backward")
def nearest_backward(
    op: TorchOp, gradient: ir.Value, output_size: Sequence[int], input_size: Sequence[int], *scales: float | None
) -> ir.Value:
    """Of sizes that are multiples of the input's: the sum of each element's copies."""
    wide, shape = build.shape_of(gradient), list(op.result.shape)
    times = [n // m if m and n % m == 0 else 0 for n, m in zip(wide, shape)]
    if not all(times) or any(scale and scale != factor for scale, factor in zip(scales, times[2:])):
        return NotImplemented
    pairs = [n for count, factor in zip(shape, times) for n in (count, factor)]
    apart = build.reshape(build.convert(gradient, accumulator(op.element)), pairs)
    return build.convert(build.sum_along(apart, range(1, len(pairs), 2)), op.element)
