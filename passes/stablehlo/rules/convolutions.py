"""Convolutions that are products of matrices."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import integer, integers, padding_pairs, value_of
from ..support import build
from ..support.dimensions import ConvDims
from ..support.driver import Rule


def _whole_window(op: ir.Operation) -> list[ir.Value] | None:
    """One window is a product over its taps and the input's features: a last layer as large as its picture, and the gradient by its weights
    of a 1 × 1. The product leaves out taps on padding, and pixels that no tap reads.

    convolution(x[b, f, h, w], w[o, f, h, w]) → dot(x[b, (f, h, w)], w[o, (f, h, w)])
    """
    dims, (x, weights) = ConvDims.of(op), op.operands
    rank = len(dims.spatial[0])
    shape, taps = build.shape_of(op.results[0]), [build.shape_of(weights)[d] for d in dims.spatial[1]]
    grouped = integer(op, "feature_group_count") * integer(op, "batch_group_count") > 1
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
    turned = list(ir.DenseBoolArrayAttr(op.attributes["window_reversal"])) if "window_reversal" in op.attributes else []
    turned = [d for d, reverse in zip(dims.spatial[1], turned) if reverse and build.shape_of(weights)[d] > 1]
    part = build.slice_(build.reverse(weights, turned) if turned else weights, first, last)
    sides = [(build.slice_(x, starts, limits, steps), dims.second[0], dims.spatial[0]), (part, dims.first[1], dims.spatial[1])]
    return [build.reshape(_product(op, sides if dims.first[2] < dims.second[2] else sides[::-1]), shape)]


def _product(op: ir.Operation, sides: list[tuple[ir.Value, int, tuple[int, ...]]]) -> ir.Value:
    """The product of two values over their features and spatial dimensions."""
    summed = [(feature, *spatial) for _, feature, spatial in sides]
    free = [n for (value, *_), gone in zip(sides, summed) for d, n in enumerate(build.shape_of(value)) if d not in gone]
    attributes = {name: op.attributes[name] for name in ("precision_config",) if name in op.attributes}
    attributes["dot_dimension_numbers"] = build.dot_dimensions((), (), *summed)
    kind = build.tensor(free, build.element_of(op.results[0]))
    return value_of("stablehlo.dot_general", kind, [value for value, *_ in sides], **attributes)


CONVOLUTIONS: dict[str, list[Rule]] = {"stablehlo.convolution": [_whole_window]}
