"""Pools over windows. torch-mlir pads both sides for ceil_mode, and takes a stride that is left out as 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from hloom.passes.common.folding import dtype_of
from hloom.passes.stablehlo.support import build, constants

from ..torch_registry import TorchOp, torch_lowering

_FEW = 64
"""Windows of so many elements are gone through one by one, where their elements' indices are asked for."""


@dataclass(frozen=True)
class Windows:
    """The windows of a pool, an entry for each spatial dimension, which are the last ones of the input and the output."""

    extents: list[int]
    counts: list[int]
    """How many windows: the output's extents."""
    sizes: list[int]
    strides: list[int]
    padding: list[int]
    dilations: list[int]

    @staticmethod
    def of(
        x: ir.Value,
        result: ir.RankedTensorType,
        sizes: Sequence[int],
        strides: Sequence[int],
        padding: Sequence[int],
        dilations: Sequence[int],
    ) -> Windows:
        """From a pool's arguments, where one number may stand for all dimensions and no strides for the windows' sizes."""
        spatial = max(len(sizes), len(strides), len(padding), len(dilations))
        rank = len(build.shape_of(x))

        def each(given: Sequence[int]) -> list[int]:
            return list(given) if len(given) == spatial else [given[0]] * spatial

        extents, counts = build.shape_of(x)[rank - spatial :], list(result.shape)[rank - spatial :]
        return Windows(extents, counts, each(sizes), each(strides or sizes), each(padding), each(dilations))

    def reduce(self, values: Sequence[ir.Value], starts: Sequence[ir.Value], combine: build.Combine) -> list[ir.Value]:
        """The values reduced over the windows. Padding above the last window is added where that reaches further, as ceil_mode lets it."""
        spans = [(size - 1) * step + 1 for size, step in zip(self.sizes, self.dilations)]
        reaches = [(count - 1) * stride + span for count, stride, span in zip(self.counts, self.strides, spans)]
        pairs = [(low, max(0, reach - extent - low)) for low, reach, extent in zip(self.padding, reaches, self.extents)]
        outer = len(build.shape_of(values[0])) - len(self.sizes)
        if self.sizes == self.extents and not any(map(any, pairs)) and {*self.counts, *self.dilations} == {1}:
            whole = build.reduce(values, starts, range(outer, outer + len(self.sizes)), combine)
            return [build.reshape(value, build.shape_of(value) + self.counts) for value in whole]
        ones = [1] * outer
        return build.reduce_window(
            values, starts, ones + self.sizes, ones + self.strides, ones + self.dilations, [(0, 0)] * outer + pairs, combine
        )

    def taps_of_rest(self, dimension: int, rest: int) -> list[int]:
        """Which elements of the windows lie at places that leave this rest when they are divided by the stride."""
        stride, step, padding = self.strides[dimension], self.dilations[dimension], self.padding[dimension]
        return [tap for tap in range(self.sizes[dimension]) if (tap * step - padding) % stride == rest]

    def are_small(self) -> bool:
        """Whether the windows have few elements, and 32 bits hold the index of each."""
        return math.prod(self.sizes) <= _FEW and math.prod(self.extents) < 1 << 31

    def come_in_pairs(self) -> bool:
        """Whether windows share no elements, or are two apart in an even extent: what elements are told lies in whole turns."""
        each = zip(self.sizes, self.strides, self.extents)
        return all(size <= stride or (stride == 2 and extent % 2 == 0) for size, stride, extent in each)

    def padded(self, x: ir.Value, value: ir.Value) -> ir.Value:
        """The input with `value` where windows reach out of it."""
        reaches = [(n - 1) * stride + (size - 1) * step + 1 for n, stride, size, step in zip(*self._moves())]
        high = [max(0, reach - extent - low) for reach, extent, low in zip(reaches, self.extents, self.padding)]
        outer = [0] * (len(build.shape_of(x)) - len(high))
        return build.pad(x, value, outer + self.padding, outer + high) if any(self.padding + high) else x

    def first_inside(self, d: int) -> np.ndarray:
        """How far from its start the first element of each window lies, along a dimension, that is in the input."""
        before = np.maximum(self.padding[d] - np.arange(self.counts[d]) * self.strides[d], 0)
        return -(-before // self.dilations[d]) * self.dilations[d]

    def _moves(self) -> tuple[list[int], ...]:
        return self.counts, self.strides, self.sizes, self.dilations

    def element(self, x: ir.Value, taps: Sequence[int]) -> ir.Value:
        """The element of each window at the place `taps` in it."""
        outer = build.shape_of(x)[: -len(taps)]
        starts = [tap * step for tap, step in zip(taps, self.dilations)]
        limits = [start + (n - 1) * stride + 1 for start, n, stride in zip(starts, self.counts, self.strides)]
        ones = [1] * len(outer)
        return build.slice_(x, [0 * n for n in outer] + starts, outer + limits, ones + self.strides)

    def elements(self, padding_counts: bool) -> np.ndarray:
        """How many elements each window holds, of the input alone or of the input and its padding; shape: the counts."""
        total = np.ones([1] * len(self.counts), np.int64)
        for d, (extent, count, size, stride, low) in enumerate(zip(self.extents, self.counts, self.sizes, self.strides, self.padding)):
            first = np.arange(count) * stride - low
            last = np.minimum(first + size, extent + low)
            held = last - first if padding_counts else np.minimum(last, extent) - np.maximum(first, 0)
            total = total * held.reshape([-1 if e == d else 1 for e in range(len(self.counts))])
        return total


@torch_lowering("aten.max_pool2d_with_indices", "aten.max_pool3d_with_indices")
def max_pool(
    op: TorchOp,
    x: ir.Value,
    sizes: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    dilations: Sequence[int],
    ceil_mode: bool,
) -> Sequence[ir.Value | None]:
    """The largest element of each window, and its index in the input's plane or volume."""
    windows = Windows.of(x, op.results[0], sizes, strides, padding, dilations)
    if op.used[1] and windows.are_small():
        return place_by_place(op, x, windows)
    largest = _Largest(op, x, len(windows.sizes))
    values = windows.reduce(largest.values, largest.starts, largest.combine)
    return [*values, *[None] * (2 - len(values))]


def place_by_place(op: TorchOp, x: ir.Value, windows: Windows) -> list[ir.Value]:
    """The largest element of each window and its index, compared with one element of all windows after the other, in order.

    An index is where the window starts, and what the element's place in it adds: at first that of the first element in the input, which
    no padding takes from.
    """
    shape, index, element = list(op.results[0].shape), ir.IntegerType.get_signless(32), build.element_of(x)
    kind, spatial = build.tensor(shape, index), len(windows.sizes)
    steps = [math.prod(windows.extents[d + 1 :]) for d in range(spatial)]
    outer = len(shape) - spatial
    x = windows.padded(x, build.full(build.tensor([], element), build.extreme(element, -1)))

    def along(d: int, numbers: np.ndarray) -> ir.Value:
        numbers = (numbers * steps[d]).astype(np.int32)
        return build.broadcast(constants.write(numbers, build.tensor([windows.counts[d]], index)), shape, [outer + d])

    largest = build.full(build.tensor(shape, element), build.extreme(element, -1))
    added = build.full(kind, 0)
    for d in (d for d in range(spatial) if windows.padding[d]):
        added = build.add(added, along(d, windows.first_inside(d)))
    for taps in np.ndindex(*windows.sizes):
        here = sum(tap * step * stride for tap, step, stride in zip(taps, windows.dilations, steps))
        found = windows.element(x, taps)
        takes = build.compare("GT", found, largest)
        if isinstance(element, ir.FloatType):
            takes = build.elementwise("or", takes, build.compare("NE", found, found))
        largest, added = build.select(takes, found, largest), build.select(takes, build.full(kind, here), added)
    for d, (count, stride, low) in enumerate(zip(windows.counts, windows.strides, windows.padding)):
        added = build.add(added, along(d, np.arange(count) * stride - low))
    return [largest, build.convert(added, op.results[1].element_type)]


@torch_lowering("aten.avg_pool1d", "aten.avg_pool2d", "aten.avg_pool3d")
def average_pool(
    op: TorchOp,
    x: ir.Value,
    sizes: Sequence[int],
    strides: Sequence[int],
    padding: Sequence[int],
    ceil_mode: bool,
    count_include_pad: bool,
    divisor: int | None = None,
) -> ir.Value:
    """Each window's sum by the number of its elements, or by `divisor`. Half precision is summed in f32."""
    windows = Windows.of(x, op.result, sizes, strides, padding, [1])
    element = build.accumulator(op.element)
    (total,) = windows.reduce([build.convert(x, element)], [build.zero([], element)], lambda a, b: [build.elementwise("add", a, b)])
    return build.convert(averages(total, windows, count_include_pad, divisor), op.element)


def averages(total: ir.Value, windows: Windows, count_include_pad: bool, divisor: int | None) -> ir.Value:
    """A value of each window by the number of its elements, or by `divisor`."""
    element, shape = build.element_of(total), build.shape_of(total)
    counts = np.full(windows.counts, divisor) if divisor else np.broadcast_to(windows.elements(count_include_pad), windows.counts)
    held = constants.write(counts.astype(dtype_of(element)), build.tensor(windows.counts, element))
    held = build.broadcast(held, shape, range(len(shape) - len(windows.counts), len(shape)))
    return build.elementwise("divide", total, held)


@torch_lowering("aten.adaptive_avg_pool1d", "aten._adaptive_avg_pool2d", "aten._adaptive_avg_pool3d")
def adaptive_average_pool(op: TorchOp, x: ir.Value, counts: Sequence[int]) -> ir.Value:
    """The averages of as many parts of each dimension as `counts` says; parts overlap where they do not divide it."""
    element = build.accumulator(op.element)
    parts = Parts.of(x, counts)
    values, zeros = [build.convert(x, element)], [build.zero([], element)]
    (total,) = parts.reduce(values, zeros, lambda a, b: [build.elementwise("add", a, b)], repeats=False)
    for dimension, sizes in zip(parts.dimensions, parts.sizes):
        held = constants.write(sizes.astype(dtype_of(element)), build.tensor([len(sizes)], element))
        total = build.elementwise("divide", total, build.broadcast(held, build.shape_of(total), [dimension]))
    return build.convert(total, op.element)


@torch_lowering("aten.adaptive_max_pool2d", "aten.adaptive_max_pool3d")
def adaptive_max_pool(op: TorchOp, x: ir.Value, counts: Sequence[int]) -> Sequence[ir.Value | None]:
    """The largest element of each part, and its index in the input's plane or volume."""
    parts = Parts.of(x, counts)
    windows = parts.as_windows()
    if op.used[1] and windows is not None and windows.are_small():
        return place_by_place(op, x, windows)
    largest = _Largest(op, x, len(counts))
    values = parts.reduce(largest.values, largest.starts, largest.combine, repeats=True)
    return [*values, *[None] * (2 - len(values))]


@dataclass(frozen=True)
class Parts:
    """The last dimensions of a value, each in a number of parts of equal or almost equal sizes that may overlap."""

    dimensions: list[int]
    extents: list[int]
    firsts: list[np.ndarray]
    sizes: list[np.ndarray]

    @staticmethod
    def of(x: ir.Value, counts: Sequence[int]) -> Parts:
        shape = build.shape_of(x)
        outer = len(shape) - len(counts)
        firsts = [np.arange(count) * extent // count for count, extent in zip(counts, shape[outer:])]
        lasts = [-(-(np.arange(count) + 1) * extent // count) for count, extent in zip(counts, shape[outer:])]
        sizes = [last - first for first, last in zip(firsts, lasts)]
        return Parts(list(range(outer, len(shape))), shape[outer:], firsts, sizes)

    def _longest(self) -> list[int]:
        return [int(sizes.max(initial=0)) for sizes in self.sizes]

    def as_windows(self) -> Windows | None:
        """The parts, where all are of equal size."""
        counts, longest = [len(sizes) for sizes in self.sizes], self._longest()
        if any(size * count != extent for size, count, extent in zip(longest, counts, self.extents)):
            return None
        return Windows(self.extents, counts, longest, longest, [0] * len(counts), [1] * len(counts))

    def reduce(self, values: Sequence[ir.Value], starts: Sequence[ir.Value], combine: build.Combine, *, repeats: bool) -> list[ir.Value]:
        """The values' parts reduced. A part that is shorter than others has its last element again if it `repeats`, else the start.

        Rows come first: their parts are sums of whole lines, and few lines are left for the parts along them, which are looked up: first
        the first elements of all parts, then the second ones, so that each lane has a part, or a column. Single rows of fewer parts than
        a part has elements are looked up part by part.
        """
        if (windows := self.as_windows()) is not None:
            return windows.reduce(values, starts, combine)
        rows = all(extent == 1 for extent in self.extents[:-1])
        for dimension, first, sizes, size in zip(self.dimensions, self.firsts, self.sizes, self._longest()):
            places, lacks = first + np.minimum(np.arange(size)[:, None], sizes - 1), np.arange(size)[:, None] >= sizes
            along = int(rows and size > len(sizes))
            places, lacks = (each if along == 0 else each.T for each in (places, lacks))
            taken = constants.write(places.astype(np.int32), build.tensor(places.shape, ir.IntegerType.get_signless(32)))
            values = [build.take(value, dimension, taken) for value in values]
            if not repeats:
                shape = build.shape_of(values[0])
                lacking = constants.write(lacks, build.tensor(lacks.shape, ir.IntegerType.get_signless(1)))
                lacking = build.broadcast(lacking, shape, [dimension, dimension + 1])
                values = [build.select(lacking, build.broadcast(start, shape, []), value) for value, start in zip(values, starts)]
            values = build.reduce(values, starts, [dimension + along], combine)
        return list(values)


class _Largest:
    """A reduction to the largest element and, if that is asked for, its index among the last `spatial` dimensions.

    Of equal elements the first is the largest, a NaN is larger than all, and the last NaN is the largest of them, as in torch. So the order
    of the reduction does not matter.
    """

    def __init__(self, op: TorchOp, x: ir.Value, spatial: int):
        element = op.results[0].element_type
        self.values = [x]
        self.starts = [build.splat(build.tensor([], element), build.scalar(element, build.extreme(element, -1)))]
        if op.used[1]:
            index, shape = op.results[1].element_type, build.shape_of(x)
            outer = len(shape) - spatial
            places = build.reshape(build.iota([math.prod(shape[outer:])], index, 0), shape[outer:])
            self.values.append(build.broadcast(places, shape, range(outer, len(shape))))
            self.starts.append(build.splat(build.tensor([], index), build.scalar(index, build.extreme(index, 1))))

    def combine(self, *scalars: ir.Value) -> list[ir.Value]:
        if len(scalars) == 2:
            return [build.elementwise("maximum", *scalars)]
        value, place, other, other_place = scalars
        equal = build.compare("EQ", other, value)
        takes = build.compare("GT", other, value)
        takes = build.elementwise("or", takes, build.elementwise("and", equal, build.compare("LT", other_place, place)))
        if isinstance(build.element_of(value), ir.FloatType):
            later = build.elementwise("or", build.compare("EQ", value, value), build.compare("GT", other_place, place))
            takes = build.elementwise("or", takes, build.elementwise("and", build.compare("NE", other, other), later))
        return [build.select(takes, other, value), build.select(takes, other_place, place)]
