"""Gradients of pads with elements of the operand itself: what the pad took from them comes back, a slice on each side of a dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering

Edge = Callable[[ir.Value, int], ir.Value]


@torch_lowering("aten.reflection_pad1d_backward", "aten.reflection_pad2d_backward", "aten.reflection_pad3d_backward")
def reflected_backward(op: TorchOp, gradient: ir.Value, x: ir.Value, padding: Sequence[int]) -> ir.Value:
    """The slice turned round lies one element from the edge, which is its own image."""
    return _folded(op, gradient, padding, lambda edge, d: build.reverse(edge, [d]), 1)


@torch_lowering("aten.replication_pad1d_backward", "aten.replication_pad2d_backward", "aten.replication_pad3d_backward")
def replicated_backward(op: TorchOp, gradient: ir.Value, x: ir.Value, padding: Sequence[int]) -> ir.Value:
    """The slice's sum is the edge's."""

    def total(edge: ir.Value, d: int) -> ir.Value:
        shape = build.shape_of(edge)
        return build.reshape(build.sum_along(edge, [d]), [*shape[:d], 1, *shape[d + 1 :]])

    return _folded(op, gradient, padding, total, 0)


def _folded(op: TorchOp, gradient: ir.Value, padding: Sequence[int], image: Edge, distance: int) -> ir.Value:
    """A dimension at a time: what lies on the operand, and the images of what lies beside it, `distance` elements from the edge."""
    shape = list(op.result.shape)
    value = build.convert(gradient, build.accumulator(op.element))
    for number, (low, high) in enumerate(zip(padding[::2], padding[1::2])):
        d = len(shape) - 1 - number
        before, behind, extent = max(low, 0), max(high, 0), build.shape_of(value)[d]
        below = build.slice_dim(value, d, 0, before)
        above = build.slice_dim(value, d, extent - behind, extent)
        value = _placed(build.slice_dim(value, d, before, extent - behind), d, max(-low, 0), shape[d])
        if before:
            value = build.add(value, _placed(image(below, d), d, distance, shape[d]))
        if behind:
            edge = image(above, d)
            value = build.add(value, _placed(edge, d, shape[d] - distance - build.shape_of(edge)[d], shape[d]))
    return build.convert(value, op.element)


def _placed(value: ir.Value, d: int, start: int, extent: int) -> ir.Value:
    """The value with zeros around it, from `start` on of `extent` elements."""
    low, high = [0] * len(build.shape_of(value)), [0] * len(build.shape_of(value))
    low[d], high[d] = start, extent - start - build.shape_of(value)[d]
    return build.pad_with_zeros(value, low, high)
