"""Gradients of pools, which give each element of the input what its windows' results are told."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from itertools import product

import numpy as np
from torch_mlir import ir

from hloom.passes.stablehlo.support import build, constants
from hloom.passes.stablehlo.support.weighted_places import Places, along_dimension, taken

from ..torch_registry import TorchOp, torch_lowering
from .pools import Parts, Windows, averages
from .scatters import scattered


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
    """Each window's gradient goes to the element that its index is of.

    With strides, elements whose places leave the same rest are told by the same taps of the windows: of each rest the sum is computed by
    itself, of one element of all its windows after the other, and then they are put side by side. Of large windows each gradient is added
    where its index says.
    """
    windows = Windows.of(x, ir.RankedTensorType(gradient.type), sizes, strides, padding, dilations)
    if not windows.are_small():
        return _added_in_place(op, gradient, indices, len(windows.sizes))
    index, shape = ir.IntegerType.get_signless(32), build.shape_of(gradient)
    element, outer = build.accumulator(op.element), len(shape) - len(windows.sizes)
    gradient, indices = build.convert(gradient, element), build.convert(indices, index)
    nothing = build.zero(shape, element)
    counts = [-(-extent // stride) for extent, stride in zip(windows.extents, windows.strides)]

    def told(taps: tuple[int, ...]) -> ir.Value:
        here, low = build.full(build.tensor(shape, index), 0), [0] * outer
        for d, tap in enumerate(taps):
            first = tap * windows.dilations[d] - windows.padding[d]
            numbers = (np.arange(windows.counts[d]) * windows.strides[d] + first) * math.prod(windows.extents[d + 1 :])
            along = constants.write(numbers.astype(np.int32), build.tensor([len(numbers)], index))
            here = build.add(here, build.broadcast(along, shape, [outer + d]))
            low.append(first // windows.strides[d])
        high = [0] * outer + [whole - count - before for whole, count, before in zip(counts, windows.counts, low[outer:])]
        return build.pad_with_zeros(build.select(build.compare("EQ", indices, here), gradient, nothing), low, high)

    def of_rest(rests: tuple[int, ...]) -> ir.Value:
        taps = [windows.taps_of_rest(d, rest) for d, rest in enumerate(rests)]
        return reduce(build.add, map(told, product(*taps))) if all(taps) else build.zero(shape[:outer] + counts, element)

    def from_dimension(d: int, rests: tuple[int, ...]) -> ir.Value:
        """The gradients of those rests; the dimensions from `d` on are two each, of which the second is the rest."""
        if d == len(counts):
            return of_rest(rests)
        parts = [from_dimension(d + 1, (*rests, rest)) for rest in range(windows.strides[d])]
        before, after = build.shape_of(parts[0])[: outer + d + 1], build.shape_of(parts[0])[outer + d + 1 :]
        return build.concatenate([build.reshape(part, [*before, 1, *after]) for part in parts], outer + d + 1)

    whole = [count * stride for count, stride in zip(counts, windows.strides)]
    in_turn = build.reshape(from_dimension(0, ()), [*shape[:outer], *whole])
    return build.convert(build.slice_(in_turn, [0] * len(shape), [*shape[:outer], *windows.extents]), op.element)


@torch_lowering("aten.fractional_max_pool2d_backward", "aten.fractional_max_pool3d_backward")
def fractional_max_pool_backward(
    op: TorchOp, gradient: ir.Value, x: ir.Value, sizes: Sequence[int], counts: Sequence[int], indices: ir.Value
) -> ir.Value:
    """Windows begin where random numbers say, and may share elements."""
    return _added_in_place(op, gradient, indices, len(sizes))


def _added_in_place(op: TorchOp, gradient: ir.Value, indices: ir.Value, spatial: int) -> ir.Value:
    shape = list(op.result.shape)
    outer, extents = math.prod(shape[:-spatial]), math.prod(shape[-spatial:])
    each = [outer, math.prod(build.shape_of(gradient)) // outer]
    zeros = build.zero([outer, extents], op.element)
    return build.reshape(scattered(zeros, 1, build.reshape(indices, each), build.reshape(gradient, each), "sum"), shape)


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
    """Each window's gradient, divided, goes to all of its elements: along one dimension after the other. Of other windows that overlap, an
    element has the sum of a window of the gradient with zeros between its elements."""
    windows = Windows.of(x, ir.RankedTensorType(gradient.type), sizes, strides, padding, [1])
    share = averages(build.convert(gradient, build.accumulator(op.element)), windows, count_include_pad, divisor)
    if max(windows.strides) > 1 and windows.are_small() and windows.come_in_pairs():
        for d in range(len(windows.sizes)):
            share = _to_elements(share, windows, d)
        return build.convert(share, op.element)
    apart = _placed(share, _reaching(windows), [0] * len(windows.sizes))
    ones = [1] * (len(op.result.shape) - len(windows.sizes))
    zero = build.zero([], build.element_of(apart))
    window, rank = ones + windows.sizes, len(op.result.shape)
    (total,) = build.reduce_window([apart], [zero], window, [1] * rank, [1] * rank, [(0, 0)] * rank, lambda a, b: [build.add(a, b)])
    return build.convert(total, op.element)


def _to_elements(value: ir.Value, windows: Windows, d: int) -> ir.Value:
    """The sum of a value of each window over the windows that hold an element, along one dimension. Elements whose places leave the same
    rest are in the same taps of the windows; those of several rests may be in the same windows."""
    extent, stride, padding = windows.extents[d], windows.strides[d], windows.padding[d]
    at = len(build.shape_of(value)) - len(windows.sizes) + d
    count, sums = -(-extent // stride), dict[tuple[int, ...], ir.Value]()

    def moved(step: int) -> ir.Value:
        low, high = [0] * len(build.shape_of(value)), [0] * len(build.shape_of(value))
        low[at], high[at] = step, count - windows.counts[d] - step
        return build.pad_with_zeros(value, low, high)

    def of_rest(rest: int) -> ir.Value:
        steps = tuple((tap - padding) // stride for tap in windows.taps_of_rest(d, rest))
        if steps not in sums:
            shape = build.shape_of(value)
            nothing = build.zero([*shape[:at], count, *shape[at + 1 :]], build.element_of(value))
            sums[steps] = reduce(build.add, map(moved, steps)) if steps else nothing
        return sums[steps]

    return build.slice_dim(build.interleave([of_rest(rest) for rest in range(stride)], at), at, 0, extent)


def _reaching(windows: Windows) -> Windows:
    """The same windows in an input that begins with all of the first element's windows, and ends with those of the last one."""
    extents = [extent + size - 1 for extent, size in zip(windows.extents, windows.sizes)]
    padding = [pad - size + 1 for pad, size in zip(windows.padding, windows.sizes)]
    return Windows(extents, windows.counts, windows.sizes, windows.strides, padding, windows.dilations)


@torch_lowering("aten._adaptive_avg_pool2d_backward", "aten._adaptive_avg_pool3d_backward")
def adaptive_average_pool_backward(op: TorchOp, gradient: ir.Value, x: ir.Value) -> ir.Value:
    """An element has its share of the part that it is of, or of several where they overlap."""
    parts, gradient = _parts(op, gradient, x), build.convert(gradient, build.accumulator(op.element))
    for d, sizes, readers in zip(parts.dimensions, parts.sizes, _readers(parts)):
        size = constants.write(sizes.astype(np.float32), build.tensor([len(sizes)], ir.F32Type.get()))
        size = build.convert(build.broadcast(size, build.shape_of(gradient), [d]), build.element_of(gradient))
        gradient = along_dimension(build.divide(gradient, size), d, readers)
    return build.convert(gradient, op.element)


@torch_lowering("aten.adaptive_max_pool2d_backward", "aten.adaptive_max_pool3d_backward")
def adaptive_max_pool_backward(op: TorchOp, gradient: ir.Value, x: ir.Value, indices: ir.Value) -> ir.Value:
    """An element has the gradients of those parts that it is of whose index is its own."""
    shape, index = list(op.result.shape), ir.IntegerType.get_signless(32)
    parts = _parts(op, gradient, x)
    readers = _readers(parts)
    gradient, indices = build.convert(gradient, build.accumulator(op.element)), build.convert(indices, index)
    nothing = build.zero(shape, build.element_of(gradient))

    def of(taps: tuple[int, ...]) -> ir.Value:
        told, chosen, own = gradient, indices, build.full(build.tensor(shape, index), 0)
        for d, tap, each in zip(parts.dimensions, taps, readers):
            told, chosen = taken(told, d, each.places[tap]), taken(chosen, d, each.places[tap])
            numbers = np.arange(shape[d]) * math.prod(shape[d + 1 :])
            numbers = numbers if each.weights is None else np.where(each.weights[tap], numbers, _NOBODY)
            along = constants.write(numbers.astype(np.int32), build.tensor([shape[d]], index))
            own = build.add(own, build.broadcast(along, shape, [d]))
        return build.select(build.compare("EQ", chosen, own), told, nothing)

    return build.convert(reduce(build.add, map(of, np.ndindex(*(len(each.places) for each in readers)))), op.element)


_NOBODY = -(2**29)
"""No element's number, not even where it is added to those of two other dimensions."""


def _parts(op: TorchOp, gradient: ir.Value, x: ir.Value) -> Parts:
    spatial = 3 if "3d" in op.name else 2
    return Parts.of(x, build.shape_of(gradient)[-spatial:])


def _readers(parts: Parts) -> list[Places]:
    """For each dimension the parts that each element is of."""
    readers = []
    for extent, firsts, sizes in zip(parts.extents, parts.firsts, parts.sizes):
        elements = np.arange(sizes.max(initial=0))[:, None]
        reads = Places(np.minimum(firsts + elements, extent - 1), (elements < sizes).astype(np.float32))
        readers.append(reads.transposed(extent))
    return readers
