"""Factors of a contraction's operand that the result may have instead: those that do not change along what is summed."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import integers, producer
from . import build, constants
from .dimensions import ConvDims, DotDims


def scale_of(value: ir.Value) -> tuple[ir.Value, int | None] | None:
    """(numbers, dimension) of a value that changes along one dimension at most."""
    if constants.splat_attribute(value) is not None:
        return build.full(build.tensor([], build.element_of(value)), constants.splat_value(value) or 0), None
    spread = producer(value, "stablehlo.broadcast_in_dim")
    if spread is None:
        return None
    source, axes = spread.operands[0], integers(spread, "broadcast_dimensions")
    long = [axis for axis, extent in zip(axes, build.shape_of(source)) if extent != 1]
    if len(long) > 1 or not build.count_of(source):
        return None
    return (build.reshape(source, build.shape_of(value)[long[0] : long[0] + 1] if long else []), long[0] if long else None)


def kept_dims(op: ir.Operation, side: int) -> dict[int, int]:
    """The operand's dimensions that the result has, with their places there."""
    if op.name == "stablehlo.dot_general":
        dims = DotDims.of(op)
        order = [*dims.batch[side], *dims.free(side)]
        first = len(dims.batch[0]) + (len(dims.free(0)) if side else 0)
        return {d: place if place < len(dims.batch[0]) else first + place - len(dims.batch[0]) for place, d in enumerate(order)}
    windows = ConvDims.of(op)
    return {windows.first[0]: windows.first[2]} if side == 0 else {windows.second[1]: windows.second[2]}


def on_result(op: ir.Operation, side: int, scale: ir.Value, axis: int | None) -> ir.Value:
    """The scale of an operand along its dimension `axis`, or of all of it, at the points of the result."""
    places = [] if axis is None else [kept_dims(op, side)[axis]]
    return build.broadcast(scale, build.shape_of(op.results[0]), places)
