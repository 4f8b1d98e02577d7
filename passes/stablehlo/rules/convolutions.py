"""Convolutions that are products of matrices, and those with turned weights."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from hloom.dialects.target import target_of

from ...common.init_function import known_values
from ...common.rewriting import around, integer, integers, padding_pairs, producer, value_of
from ..support import build
from ..support.dimensions import ConvDims
from ..support.direct_convolution import direct_convolution
from ..support.driver import Rule

_MORE = 2
"""Turning weights costs as much as turning so many times fewer pixels and results, at least."""


def _whole_window(op: ir.Operation) -> list[ir.Value] | None:
    """One window is a product over its taps and the input's features: a last layer as large as its picture, and the gradient by its weights
    of a 1 × 1. The product leaves out taps on padding, and pixels that no tap reads.

    convolution(x[b, f, h, w], w[o, f, h, w]) → dot(x[b, (f, h, w)], w[o, (f, h, w)])
    """
    dims, (x, weights) = ConvDims.of(op), op.operands
    rank = len(dims.spatial[0])
    shape, taps = build.shape_of(op.results[0]), [build.shape_of(weights)[d] for d in dims.spatial[1]]
    batch_groups = integer(op, "batch_group_count")
    grouped = integer(op, "feature_group_count") > 1 or (batch_groups > 1 and not _are_products(op))
    if not rank or grouped or any(shape[d] != 1 for d in dims.spatial[2]) or not set(integers(op, "lhs_dilation")) <= {1}:
        return None
    starts, limits, steps = [0] * (rank + 2), build.shape_of(x), [1] * (rank + 2)
    first, last = [0] * (rank + 2), build.shape_of(weights)
    dilations = integers(op, "rhs_dilation", [1] * rank)
    for d, place, count, (low, _), step in zip(dims.spatial[0], dims.spatial[1], taps, padding_pairs(op, rank), dilations):
        read = [tap for tap in range(count) if 0 <= tap * step - low < limits[d]]
        if not read:
            return None
        first[place], last[place] = read[0], read[-1] + 1
        starts[d], limits[d], steps[d] = read[0] * step - low, read[-1] * step - low + 1, step
    part = build.slice_(dims.unreversed(op), first, last)
    if batch_groups > 1:
        return [_products(op, dims, _sliced(x, starts, limits, steps), part, batch_groups)]
    sides = [(_sliced(x, starts, limits, steps), dims.second[0], dims.spatial[0]), (part, dims.first[1], dims.spatial[1])]
    return [build.reshape(_product(op, sides if dims.first[2] < dims.second[2] else sides[::-1]), shape)]


def _are_products(op: ir.Operation) -> bool:
    """Whether groups of the batch are worth products of their own."""
    target = target_of(op)
    return target.kind == "cpu" and direct_convolution(op, target) is None


def _products(op: ir.Operation, dims: ConvDims, x: ir.Value, dy: ir.Value, groups: int) -> ir.Value:
    """The products of all groups; the longer side of each has its columns, since lanes run along these."""
    rows, columns = (dims.first[0], dims.second[0], dims.spatial[0]), (dims.second[1], dims.first[1], dims.spatial[1])
    sides = [(_split(value, split, groups), split, (feature, *spatial)) for value, (split, feature, spatial) in ((x, rows), (dy, columns))]
    channels, features = (build.shape_of(value)[split + 1] for value, split, _ in sides)
    order = [0, 1] if features >= channels else [1, 0]
    (left, right), batch = [sides[n] for n in order], [sides[n][1] for n in order]
    summed = [[d + (d > split) for d in along] for _, split, along in (left, right)]
    attributes = {name: op.attributes[name] for name in ("precision_config",) if name in op.attributes}
    attributes["dot_dimension_numbers"] = build.dot_dimensions(batch[:1], batch[1:], *summed)
    lengths = [(channels, features)[n] for n in order]
    kind = build.tensor([groups, *lengths], build.element_of(op.results[0]))
    made = value_of("stablehlo.dot_general", kind, [left[0], right[0]], **attributes)
    channel, feature = 1 + order.index(0), 1 + order.index(1)
    turned = [channel, 0, feature] if dims.first[2] < dims.second[2] else [0, feature, channel]
    return build.reshape(build.transpose(made, turned), build.shape_of(op.results[0]))


def _split(value: ir.Value, dim: int, groups: int) -> ir.Value:
    """A value with a dimension of groups before this one."""
    shape = build.shape_of(value)
    return build.reshape(value, [*shape[:dim], groups, shape[dim] // groups, *shape[dim + 1 :]])


def _sliced(x: ir.Value, starts: list[int], limits: list[int], steps: list[int]) -> ir.Value:
    """A slice; of a transpose the transpose of a slice, which the product takes in."""
    turned = producer(x, "stablehlo.transpose")
    if turned is None:
        return build.slice_(x, starts, limits, steps)
    order = integers(turned, "permutation")
    before = [[numbers[order.index(d)] for d in range(len(order))] for numbers in (starts, limits, steps)]
    return build.transpose(build.slice_(turned.operands[0], *before), order)


def _product(op: ir.Operation, sides: list[tuple[ir.Value, int, tuple[int, ...]]]) -> ir.Value:
    """The product of two values over their features and spatial dimensions."""
    summed = [(feature, *spatial) for _, feature, spatial in sides]
    free = [n for (value, *_), gone in zip(sides, summed) for d, n in enumerate(build.shape_of(value)) if d not in gone]
    attributes = {name: op.attributes[name] for name in ("precision_config",) if name in op.attributes}
    attributes["dot_dimension_numbers"] = build.dot_dimensions((), (), *summed)
    kind = build.tensor(free, build.element_of(op.results[0]))
    return value_of("stablehlo.dot_general", kind, [value for value, *_ in sides], **attributes)


def _turned_weights(op: ir.Operation) -> list[ir.Value] | None:
    """Weights that are turned at each call stay as they lie where there are more of them than pixels, which are turned instead: the
    gradient by the input of a last layer.

    convolution(x, reverse(w), padding = [low, high]) → reverse(convolution(reverse(x), w, padding = [high, low]))
    """
    turned = producer(op.operands[1], "stablehlo.reverse")
    dims, x = ConvDims.of(op), op.operands[0]
    if turned is None or not set(integers(op, "window_strides")) <= {1}:
        return None
    places = integers(turned, "dimensions")
    if not set(places) <= set(dims.spatial[1]) or _MORE * (build.count_of(x) + build.count_of(op.results[0])) > build.count_of(
        turned.results[0]
    ):
        return None
    *_, function = around(op)
    if turned.results[0] in known_values(function):
        return None
    axes = [axis for axis, place in enumerate(dims.spatial[1]) if place in places]
    padding = [pair[::-1] if axis in axes else pair for axis, pair in enumerate(padding_pairs(op, len(dims.spatial[1])))]
    attributes = {"padding": ir.DenseIntElementsAttr.get(np.array(padding, np.int64).reshape(-1, 2))}
    made = dims.emit(op, build.reverse(x, [dims.spatial[0][axis] for axis in axes]), turned.operands[0], op.results[0].type, **attributes)
    return [build.reverse(made, [dims.spatial[2][axis] for axis in axes])]


CONVOLUTIONS: dict[str, list[Rule]] = {"stablehlo.convolution": [_whole_window, _turned_weights]}
