"""legalize-dynamic: ops whose padding, starts or sizes are computed while the program runs, and whose result has a known shape.

Before:
    %0 = stablehlo.real_dynamic_slice %x, %starts, %limits, %strides : (tensor<8xf32>, …) -> tensor<3xf32>
    %1 = stablehlo.dynamic_pad %x, %v, %low, %high, %interior : (tensor<8xf32>, …) -> tensor<11xf32>
After:
    %places = %starts + iota * %strides                       // along each dimension
    %0 = "stablehlo.gather"(%x, %places)
    %places = iota - %low                                     // where they are multiples of %interior + 1 and inside, else %v
    %1 = select(…, "stablehlo.gather"(%x, %places / (%interior + 1)), %v)

The sizes of a dynamic_gather's slices are those of its result; a dynamic_conv is a dynamic_pad and a convolution. What a limit, a high
padding or a size operand says beyond the result's shape is not read; a slice that leaves the operand is clamped element by element.
Must hold: operands that are constants were folded by stablehlo-canonicalize-dynamism.
Declined: results of unknown shape; set_dimension_size to other than the size that is there.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ..common.rewriting import attributes_of, create, element_of, integer, integers, value_of
from ..registry import register_pass
from .support import build, constants
from .support.dimensions import ConvDims
from .support.driver import Rule, rewrite


def _slice(op: ir.Operation) -> list[ir.Value]:
    value, starts, _, strides = op.operands
    for dimension, size in enumerate(build.shape_of(op.results[0])):
        steps = build.iota([size], _index(), 0)
        places = build.add(_entry(starts, dimension, size), build.multiply(steps, _entry(strides, dimension, size)))
        value = build.take(value, dimension, places)
    return [value]


def _pad(op: ir.Operation) -> list[ir.Value]:
    value, filling, low, _, interior = op.operands
    shape = build.shape_of(op.results[0])
    lows = [_entry(low, d, n) for d, n in enumerate(shape)]
    steps = [build.add(_entry(interior, d, n), _splat(n, 1)) for d, n in enumerate(shape)]
    return [_padded(value, filling, lows, steps, shape)]


def _padded(value: ir.Value, filling: ir.Value, lows: Sequence[ir.Value], steps: Sequence[ir.Value], shape: list[int]) -> ir.Value:
    """`lows[d]` elements before those of the value along a dimension, which stand `steps[d]` apart; `filling` elsewhere."""
    source, inside = build.shape_of(value), None
    if not build.count_of(value):
        return build.broadcast(filling, shape, [])
    for dimension, (size, low, step) in enumerate(zip(shape, lows, steps)):
        distance = build.subtract(build.iota([size], _index(), 0), low)
        place = build.divide(distance, step)
        here = build.compare("EQ", build.multiply(place, step), distance)
        for direction, bound in (("GE", 0), ("LT", source[dimension])):
            here = build.elementwise("and", here, build.compare(direction, place, _splat(size, bound)))
        here = build.elementwise("and", here, build.compare("GE", distance, _splat(size, 0)))
        value = build.take(value, dimension, place)
        here = build.broadcast(here, shape, [dimension])
        inside = here if inside is None else build.elementwise("and", inside, here)
    return value if inside is None else build.select(inside, value, build.broadcast(filling, shape, []))


def _gather(op: ir.Operation) -> list[ir.Value]:
    value, indices, sizes = op.operands
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    dropped = {*numbers.collapsed_slice_dims, *numbers.operand_batching_dims}
    offsets = iter(numbers.offset_dims)
    shape = build.shape_of(op.results[0])
    known = [1 if d in dropped else shape[next(offsets)] for d in range(len(build.shape_of(value)))]
    given = constants.read(sizes, len(known))  # a collapsed dimension may also have no elements
    known = known if given is None else [int(n) for n in given]
    kept = {name: attribute for name, attribute in attributes_of(op).items() if name in ("dimension_numbers", "indices_are_sorted")}
    return [value_of("stablehlo.gather", op.results[0].type, [value, indices], slice_sizes=ir.DenseI64ArrayAttr.get(known), **kept)]


def _conv(op: ir.Operation) -> list[ir.Value]:
    value, kernel, padding = op.operands
    dims, shape = ConvDims.of(op), build.shape_of(op.operands[0])
    rank = len(dims.spatial[0])
    strides, gaps, dilations = (integers(op, name, [1] * rank) for name in ("window_strides", "lhs_dilation", "rhs_dilation"))
    for number, (at, window, result) in enumerate(zip(*dims.spatial)):
        span = (build.shape_of(kernel)[window] - 1) * dilations[number] + 1
        shape[at] = max(0, (build.shape_of(op.results[0])[result] - 1) * strides[number] + span)
    lows, steps = [_splat(n, 0) for n in shape], [_splat(n, 1) for n in shape]
    for number, at in enumerate(dims.spatial[0]):
        lows[at] = _entry(build.slice_dim(padding, 1, 0, 1), number, shape[at])
        steps[at] = _splat(shape[at], gaps[number])
    padded = _padded(value, build.zero([], element_of(value)), lows, steps, shape)
    changed = {
        "padding": ir.DenseElementsAttr.get(np.zeros((rank, 2), np.int64), type=ir.IntegerType.get_signless(64)),
        "lhs_dilation": ir.DenseI64ArrayAttr.get([1] * rank),
    }
    attributes = {**attributes_of(op), **changed}
    return list(create("stablehlo.convolution", [op.results[0].type], [padded, kernel], **attributes).results)


def _set_size(op: ir.Operation) -> list[ir.Value] | None:
    value, size = op.operands
    there = build.shape_of(value)[integer(op, "dimension")]
    return [value] if value.type == op.results[0].type and constants.constant_index(size) == there else None


def _entry(numbers: ir.Value, position: int, size: int) -> ir.Value:
    """A number of an operand, `size` times."""
    number = build.reshape(build.slice_dim(numbers, 0, position, position + 1), [])
    return build.broadcast(build.convert(number, _index()), [size], [])


def _index() -> ir.Type:
    return ir.IntegerType.get_signless(64)


def _splat(size: int, number: int) -> ir.Value:
    return build.full(build.tensor([size], _index()), number)


_RULES: dict[str, list[Rule]] = {
    "stablehlo.real_dynamic_slice": [_slice],
    "stablehlo.dynamic_pad": [_pad],
    "stablehlo.dynamic_gather": [_gather],
    "stablehlo.dynamic_conv": [_conv],
    "stablehlo.set_dimension_size": [_set_size],
}


@register_pass("legalize-dynamic", "gives ops with computed padding, starts or sizes their static forms", ops=_RULES)
def legalize_dynamic(module: ir.Operation) -> None:
    rewrite(module, _RULES)
