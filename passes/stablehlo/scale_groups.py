"""scale-groups: a dot of one row with weights of four bits, scaled by groups of what is summed, sums each group and scales the sums.

Before (%q: of a bound argument; %S, %Z: of %s and %z : tensor<4096x8xf32>, the same for the 128 of a group):
    %0 = stablehlo.convert %q : (tensor<4096x8x128xi8>) -> tensor<4096x8x128xf32>
    %1 = stablehlo.subtract %0, %Z : tensor<4096x8x128xf32>                        // or without
    %2 = stablehlo.multiply %1, %S : tensor<4096x8x128xf32>
    %3 = stablehlo.reshape %2 : (tensor<4096x8x128xf32>) -> tensor<4096x1024xf32>
    %4 = stablehlo.dot_general %x, %3, contracting_dims = [1] x [1] : (tensor<1x1024xf32>, tensor<4096x1024xf32>) -> tensor<1x4096xf32>
After (%s' and %z' : tensor<8x4096xf32>):
    %g = stablehlo.reshape %x : (tensor<1x1024xf32>) -> tensor<8x128xf32>
    %1 = stablehlo.dot_general %g, %0, batching_dims = [0] x [1], contracting_dims = [1] x [2] : … -> tensor<8x4096xf32>
    %2 = stablehlo.multiply (stablehlo.reduce add of %g along [1]), %z' : tensor<8x4096xf32>
    %3 = stablehlo.multiply (stablehlo.subtract %1, %2), %s' : tensor<8x4096xf32>
    %4 = stablehlo.reduce add of %3 along [0], as tensor<1x4096xf32>

The weights stay integers of four bits then, which pack-nibbles packs, where @init would have made f32 of them: an eighth of the bytes
that a decoder moves. Results change by roundings.

Must hold: fold-transposes has run; bound arguments carry `hloom.bound`. Declined: targets other than CPUs; several rows, whose sums of
groups would go through memory; weights that pack-nibbles does not take; scales that are not the same for a group; other types than f32.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.init_function import early_values, entry
from ..common.rewriting import integers, producer, replace, walk
from ..registry import register_pass
from .pack_nibbles import nibble_type, panel, rows
from .support import build
from .support.dimensions import DotDims


@register_pass("scale-groups", "scales the sums of groups in the place of weights of four bits, on CPUs", ops=("stablehlo.dot_general",))
def scale_groups(module: ir.Operation) -> None:
    main = entry(module, "main")
    if main is None or target_of(module).kind != "cpu":
        return
    bound = early_values(main)
    for op in walk(main, "stablehlo.dot_general"):
        with op.location, ir.InsertionPoint(op):
            found = _Weights.of(op)
            if found is not None and found.integers.operands[0] in bound:
                replace(op, [found.sums(op)])


@dataclass
class _Weights:
    """What a dot reads: integers as floats, less a zero point, times a scale; of which dimensions are groups, what is summed in each of
    them, and columns. Zero points and scales are [groups, columns]."""

    integers: ir.Operation
    zero: ir.Value | None
    scale: ir.Value
    group: int
    depth: int
    column: int

    @staticmethod
    def of(op: ir.Operation) -> _Weights | None:
        dims, joined = DotDims.of(op), producer(op.operands[1], "stablehlo.reshape")
        f32 = all(isinstance(build.element_of(value), ir.F32Type) for value in (*op.operands, *op.results))
        if joined is None or not f32 or "algorithm" in op.attributes or dims.ranks[1] != 2 or dims.batch[0] or rows(op, dims) != 1:
            return None
        scaled = producer(joined.operands[0], "stablehlo.multiply")
        (at,) = dims.contracting[1] if len(dims.contracting[1]) == 1 else (None,)
        if scaled is None or at is None:
            return None
        shape, flat = build.shape_of(scaled.results[0]), build.shape_of(op.operands[1])
        if len(shape) != 3 or shape[:at] != flat[:at] or shape[at + 2 :] != flat[at + 1 :]:
            return None
        group, depth, column = at, at + 1, 0 if at else 2
        if shape[column] < panel(op):
            return None
        for values, factor in (scaled.operands, list(scaled.operands)[::-1]):
            less = producer(values, "stablehlo.subtract")
            converted = producer(values if less is None else less.operands[0], "stablehlo.convert")
            if converted is None or nibble_type(converted.operands[0], shape[depth]) is None:
                continue
            scale = _of_groups(factor, group, column)
            zero = None if less is None else _of_groups(less.operands[1], group, column)
            if scale is not None and (less is None or zero is not None):
                return _Weights(converted, zero, scale, group, depth, column)
        return None

    def sums(self, op: ir.Operation) -> ir.Value:
        shape = build.shape_of(self.integers.results[0])
        groups, columns = shape[self.group], shape[self.column]
        row = build.reshape(op.operands[0], [groups, shape[self.depth]])
        new = DotDims(((0,), (self.group,)), ((1,), (self.depth,)), (2, 3))
        each = build.tensor([groups, columns], build.element_of(op.results[0]))
        total = new.emit(op, row, self.integers.results[0], each)
        if self.zero is not None:
            moved = build.broadcast(build.sum_along(row, [1]), [groups, columns], [0])
            total = build.subtract(total, build.multiply(moved, self.zero))
        return build.reshape(build.sum_along(build.multiply(total, self.scale), [0]), build.shape_of(op.results[0]))


def _of_groups(value: ir.Value, group: int, column: int) -> ir.Value | None:
    """[groups, columns] of a value that is the same for all of a group of a column; None of others."""
    spread = producer(value, "stablehlo.broadcast_in_dim")
    if spread is None:
        return None
    source, axes, shape = spread.operands[0], integers(spread, "broadcast_dimensions"), build.shape_of(value)
    places = {group: 0, column: 1}
    long = [(axis, extent) for axis, extent in zip(axes, build.shape_of(source)) if extent != 1]
    if any(axis not in places for axis, _ in long):
        return None
    known = build.reshape(source, [extent for _, extent in long])
    order = sorted(range(len(long)), key=lambda number: places[long[number][0]])
    turned = build.transpose(known, order) if len(order) > 1 else known
    return build.broadcast(turned, [shape[group], shape[column]], sorted(places[axis] for axis, _ in long))
