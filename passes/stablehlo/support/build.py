"""Builds StableHLO ops at the current insertion point; the bindings have no classes for them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from math import prod

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ...common.rewriting import create, element_of, i64_array, i64_attr, shape_of, value_of


def count_of(value: ir.Value) -> int:
    return prod(shape_of(value))


def tensor(shape: Sequence[int], element: ir.Type) -> ir.RankedTensorType:
    return ir.RankedTensorType.get(list(shape), element)


def constant(attribute: ir.Attribute) -> ir.Value:
    """A constant of a typed elements attribute."""
    return value_of("stablehlo.constant", attribute.type, value=attribute)


def splat(kind: ir.Type, element: ir.Attribute) -> ir.Value:
    """A constant of tensor type `kind` whose elements are all `element`."""
    return constant(ir.DenseElementsAttr.get_splat(kind, element))


def full(kind: ir.Type, value: complex | np.generic) -> ir.Value:
    """A value of tensor type `kind` whose elements are all `value`, rounded to their type: a constant, or a complex number's two."""
    kind = ir.RankedTensorType(kind)
    element = kind.element_type
    if isinstance(element, ir.ComplexType):  # the bindings have no attribute of one
        whole, part = complex(value), tensor(kind.shape, element.element_type)
        return value_of("stablehlo.complex", kind, [full(part, whole.real), full(part, whole.imag)])
    assert not isinstance(value, complex)
    return splat(kind, scalar(element, value))


def full_like(value: ir.Value, number: complex | np.generic) -> ir.Value:
    return full(value.type, number)


def elementwise(name: str, *operands: ir.Value, result: ir.Type | None = None) -> ir.Value:
    return value_of(f"stablehlo.{name}", result or operands[0].type, operands)


def add(x: ir.Value, y: ir.Value) -> ir.Value:
    return elementwise("add", x, y)


def subtract(x: ir.Value, y: ir.Value) -> ir.Value:
    return elementwise("subtract", x, y)


def multiply(x: ir.Value, y: ir.Value) -> ir.Value:
    return elementwise("multiply", x, y)


def divide(x: ir.Value, y: ir.Value) -> ir.Value:
    return elementwise("divide", x, y)


def accumulator(element: ir.Type) -> ir.Type:
    """What sums of the element are computed in."""
    return ir.F32Type.get() if isinstance(element, ir.FloatType) and element.width < 32 else element


def bitcast(value: ir.Value, kind: ir.Type) -> ir.Value:
    """The bits of `value` as a tensor of `kind`; `value` itself where that is its type."""
    return value if value.type == kind else elementwise("bitcast_convert", value, result=kind)


def convert(value: ir.Value, element: ir.Type) -> ir.Value:
    return value if element_of(value) == element else value_of("stablehlo.convert", tensor(shape_of(value), element), [value])


def reshape(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    if shape_of(value) == list(shape):
        return value
    return value_of("stablehlo.reshape", tensor(shape, element_of(value)), [value])


def transpose(value: ir.Value, permutation: Sequence[int]) -> ir.Value:
    if list(permutation) == list(range(len(permutation))):
        return value
    shape = shape_of(value)
    kind = tensor([shape[d] for d in permutation], element_of(value))
    return value_of("stablehlo.transpose", kind, [value], permutation=i64_array(permutation))


def broadcast(value: ir.Value, shape: Sequence[int], dimensions: Sequence[int]) -> ir.Value:
    """`dimensions[i]` is the result's dimension that operand dimension `i` becomes."""
    if shape_of(value) == list(shape) and list(dimensions) == list(range(len(shape))):
        return value
    kind = tensor(shape, element_of(value))
    return value_of("stablehlo.broadcast_in_dim", kind, [value], broadcast_dimensions=i64_array(dimensions))


def broadcast_to(value: ir.Value, shape: Sequence[int]) -> ir.Value:
    """By NumPy's rules."""
    own = shape_of(value)
    offset = len(shape) - len(own)
    kept = [d for d, size in enumerate(own) if size == shape[offset + d]]
    return broadcast(reshape(value, [own[d] for d in kept]), shape, [offset + d for d in kept])


def iota(shape: Sequence[int], element: ir.Type, dimension: int) -> ir.Value:
    attribute = i64_attr(dimension)
    return value_of("stablehlo.iota", tensor(shape, element), iota_dimension=attribute)


def slice_(value: ir.Value, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int] | None = None) -> ir.Value:
    strides = strides or [1] * len(starts)
    shape = [max(0, -(-(limit - start) // stride)) for start, limit, stride in zip(starts, limits, strides)]
    if shape == shape_of(value):
        return value
    attributes = {"start_indices": i64_array(starts), "limit_indices": i64_array(limits), "strides": i64_array(strides)}
    return value_of("stablehlo.slice", tensor(shape, element_of(value)), [value], **attributes)


def slice_dim(value: ir.Value, dimension: int, start: int, limit: int) -> ir.Value:
    """`value[start:limit]` along one dimension."""
    starts, limits = [0] * len(shape_of(value)), shape_of(value)
    starts[dimension], limits[dimension] = start, limit
    return slice_(value, starts, limits)


def concatenate(values: Sequence[ir.Value], dimension: int) -> ir.Value:
    if len(values) == 1:
        return values[0]
    shape = shape_of(values[0])
    shape[dimension] = sum(shape_of(v)[dimension] for v in values)
    attribute = i64_attr(dimension)
    return value_of("stablehlo.concatenate", tensor(shape, element_of(values[0])), values, dimension=attribute)


def interleave(values: Sequence[ir.Value], dimension: int) -> ir.Value:
    """The values' elements in turn along a dimension."""
    if len(values) == 1:
        return values[0]
    shape = shape_of(values[0])
    if all(value == values[0] for value in values):
        kept = [d for d in range(len(shape) + 1) if d != dimension + 1]
        repeated = broadcast(values[0], [*shape[: dimension + 1], len(values), *shape[dimension + 1 :]], kept)
        return reshape(repeated, [*shape[:dimension], shape[dimension] * len(values), *shape[dimension + 1 :]])
    thin = [reshape(value, [*shape[: dimension + 1], 1, *shape[dimension + 1 :]]) for value in values]
    shape[dimension] *= len(values)
    return reshape(concatenate(thin, dimension + 1), shape)


def take(value: ir.Value, dimension: int, places: ir.Value, batch: int = 0) -> ir.Value:
    """The elements at `places`, integers, along one dimension, in whose place the result has the dimensions of `places`; the first
    `batch` dimensions of both go together."""
    shape, at = shape_of(value), shape_of(places)
    inserted = len(at) - batch
    together = list(range(batch))
    numbers = _stablehlo.GatherDimensionNumbers.get(
        offset_dims=[*range(batch, dimension), *range(dimension + inserted, len(shape) - 1 + inserted)],
        collapsed_slice_dims=[dimension],
        operand_batching_dims=together,
        start_indices_batching_dims=together,
        start_index_map=[dimension],
        index_vector_dim=len(at),
    )
    kind = tensor([*shape[:dimension], *at[batch:], *shape[dimension + 1 :]], element_of(value))
    sizes = i64_array([1 if d in (*together, dimension) else n for d, n in enumerate(shape)])
    return value_of("stablehlo.gather", kind, [value, places], dimension_numbers=numbers, slice_sizes=sizes)


def windows(value: ir.Value, dimension: int, starts: ir.Value, size: int) -> ir.Value:
    """The `size` elements from each of `starts` on along one dimension, in whose place the result has windows and their elements."""
    shape, (count,) = shape_of(value), shape_of(starts)
    numbers = _stablehlo.GatherDimensionNumbers.get(
        offset_dims=[*range(dimension), *range(dimension + 1, len(shape) + 1)],
        collapsed_slice_dims=[],
        operand_batching_dims=[],
        start_indices_batching_dims=[],
        start_index_map=[dimension],
        index_vector_dim=1,
    )
    kind = tensor([*shape[:dimension], count, size, *shape[dimension + 1 :]], element_of(value))
    sizes = i64_array([size if d == dimension else n for d, n in enumerate(shape)])
    return value_of("stablehlo.gather", kind, [value, starts], dimension_numbers=numbers, slice_sizes=sizes)


def scatter(
    value: ir.Value, moved: int, places: ir.Value, updates: ir.Value, combine: str | None, together: Sequence[int] = ()
) -> ir.Value:
    """The value with `updates` at `places` along the dimension `moved`, in the stead of what is there or combined with it by an op.

    The first dimensions of the updates are those of `places`; what follows are the dimensions of the value that are neither `moved` nor in
    `together`, whole. A dimension in `together` goes with the dimension of `places` of the same number.
    """
    count = len(shape_of(places))
    return _scatter(value, [moved], places, updates, combine, range(count, len(shape_of(updates))), together)


def put(value: ir.Value, moved: Sequence[int], places: Sequence[ir.Value], updates: ir.Value, first: int, combine: str | None) -> ir.Value:
    """The value with `updates` at `places`, one for each dimension in `moved` and all of one shape, which stands in the updates from
    `first` on; the other dimensions of the updates are those of the value that do not move, whole."""
    count = len(shape_of(places[0]))
    components = concatenate([reshape(each, [*shape_of(each), 1]) for each in places], count)
    windows = [d for d in range(len(shape_of(updates))) if not first <= d < first + count]
    return _scatter(value, moved, components, updates, combine, windows)


def _scatter(
    value: ir.Value,
    moved: Sequence[int],
    places: ir.Value,
    updates: ir.Value,
    combine: str | None,
    windows: Sequence[int],
    together: Sequence[int] = (),
) -> ir.Value:
    """The components of an index lie along the last dimension of `places` where it has one more than the updates have beside windows."""
    numbers = _stablehlo.ScatterDimensionNumbers.get(
        update_window_dims=list(windows),
        inserted_window_dims=list(moved),
        input_batching_dims=list(together),
        scatter_indices_batching_dims=list(together),
        scattered_dims_to_operand_dims=list(moved),
        index_vector_dim=len(shape_of(updates)) - len(windows),
    )
    op = create("stablehlo.scatter", [value.type], [value, places, updates], regions=1, scatter_dimension_numbers=numbers)
    scalar_kind = tensor([], element_of(value))
    block = op.regions[0].blocks.append(scalar_kind, scalar_kind)
    with ir.InsertionPoint(block):
        old, new = block.arguments
        create("stablehlo.return", [], [elementwise(combine, old, new) if combine else new])
    return op.results[0]


def dynamic_slice(value: ir.Value, starts: Sequence[ir.Value], sizes: Sequence[int]) -> ir.Value:
    return value_of("stablehlo.dynamic_slice", tensor(sizes, element_of(value)), [value, *starts], slice_sizes=i64_array(sizes))


def dynamic_update_slice(value: ir.Value, update: ir.Value, starts: Sequence[ir.Value]) -> ir.Value:
    return value_of("stablehlo.dynamic_update_slice", value.type, [value, update, *starts])


def while_loop(values: Sequence[ir.Value], goes_on: Callable[..., ir.Value], step: Callable[..., Sequence[ir.Value]]) -> list[ir.Value]:
    """The values after as many steps as `goes_on` says; it and `step` get the values of the step before."""
    kinds = [value.type for value in values]
    op = create("stablehlo.while", kinds, list(values), regions=2)
    condition, body = (region.blocks.append(*kinds) for region in op.regions)
    with ir.InsertionPoint(condition):
        create("stablehlo.return", [], [goes_on(*condition.arguments)])
    with ir.InsertionPoint(body):
        create("stablehlo.return", [], list(step(*body.arguments)))
    return list(op.results)


def count_loop(
    count: int | ir.Value, values: Sequence[ir.Value], step: Callable[..., Sequence[ir.Value]], index: ir.Type
) -> list[ir.Value]:
    """The values after `count` steps, each of which gets the step's number, a scalar, and the values of the step before."""
    first = zero([], index)

    def goes_on(number: ir.Value, *_: ir.Value) -> ir.Value:
        return compare("LT", number, count if isinstance(count, ir.Value) else splat(first.type, scalar(index, count)))

    def counted(number: ir.Value, *before: ir.Value) -> list[ir.Value]:
        after = step(number, *before)
        return [elementwise("add", number, splat(first.type, scalar(index, 1))), *after]

    return while_loop([first, *values], goes_on, counted)[1:]


def pad(value: ir.Value, filling: ir.Value, low: Sequence[int], high: Sequence[int], interior: Sequence[int] | None = None) -> ir.Value:
    """`interior[i]` elements between neighbours along dimension `i`; negative `low` and `high` cut."""
    interior = interior or [0] * len(low)
    if not any((*low, *high, *interior)):
        return value
    shape = [lo + size + max(size - 1, 0) * gap + hi for size, lo, hi, gap in zip(shape_of(value), low, high, interior)]
    attributes = {"edge_padding_low": i64_array(low), "edge_padding_high": i64_array(high), "interior_padding": i64_array(interior)}
    return value_of("stablehlo.pad", tensor(shape, element_of(value)), [value, filling], **attributes)


def pad_with_zeros(value: ir.Value, low: Sequence[int], high: Sequence[int], interior: Sequence[int] | None = None) -> ir.Value:
    return pad(value, zero([], element_of(value)), low, high, interior) if any((*low, *high, *(interior or ()))) else value


def reverse(value: ir.Value, dimensions: Sequence[int]) -> ir.Value:
    return value_of("stablehlo.reverse", value.type, [value], dimensions=i64_array(dimensions))


def sum_along(value: ir.Value, dimensions: Sequence[int]) -> ir.Value:
    """The sum along those dimensions, which the result lacks."""
    element = element_of(value)
    return reduce([value], [zero([], element)], dimensions, lambda x, y: [elementwise("add", x, y)])[0]


Combine = Callable[..., Sequence[ir.Value]]
"""The body of a reduction of n operands: from n scalars gathered so far and n that come, the n that both make."""


def reduce(values: Sequence[ir.Value], starts: Sequence[ir.Value], dimensions: Sequence[int], combine: Combine) -> list[ir.Value]:
    """The values, of one shape, reduced together along those dimensions, which the results lack."""
    shape = [n for d, n in enumerate(shape_of(values[0])) if d not in dimensions]
    kinds = [tensor(shape, element_of(value)) for value in values]
    return _reduction("reduce", kinds, values, starts, combine, dimensions=i64_array(sorted(dimensions)))


def reduce_window(
    values: Sequence[ir.Value],
    starts: Sequence[ir.Value],
    window: Sequence[int],
    strides: Sequence[int],
    dilations: Sequence[int],
    padding: Sequence[tuple[int, int]],
    combine: Combine,
) -> list[ir.Value]:
    """The values, of one shape, reduced together over windows; each list holds one entry a dimension."""
    spans = [(size - 1) * step + 1 for size, step in zip(window, dilations)]
    padded = [low + size + high for size, (low, high) in zip(shape_of(values[0]), padding)]
    shape = [max(0, (size - span) // stride + 1) for size, span, stride in zip(padded, spans, strides)]
    pairs = np.array(padding, np.int64).reshape(len(shape), 2)
    return _reduction(
        "reduce_window",
        [tensor(shape, element_of(value)) for value in values],
        values,
        starts,
        combine,
        window_dimensions=i64_array(window),
        window_strides=i64_array(strides),
        window_dilations=i64_array(dilations),
        padding=ir.DenseElementsAttr.get(pairs, type=ir.IntegerType.get_signless(64)),
    )


def scan(values: Sequence[ir.Value], starts: Sequence[ir.Value], dimension: int, combine: Combine) -> list[ir.Value]:
    """The values, of one shape, reduced from the first element up to each along one dimension."""
    shape = shape_of(values[0])
    ones = [1] * len(shape)
    window = [extent if d == dimension else 1 for d, extent in enumerate(shape)]
    return reduce_window(values, starts, window, ones, ones, [(extent - 1, 0) for extent in window], combine)


def _reduction(
    name: str, kinds: Sequence[ir.Type], values: Sequence[ir.Value], starts: Sequence[ir.Value], combine: Combine, **given: ir.Attribute
) -> list[ir.Value]:
    op = create(f"stablehlo.{name}", kinds, [*values, *starts], regions=1, **given)
    scalars = [tensor([], element_of(value)) for value in values]
    block = op.regions[0].blocks.append(*scalars, *scalars)
    with ir.InsertionPoint(block):
        create("stablehlo.return", [], combine(*block.arguments))
    return list(op.results)


def sort(values: Sequence[ir.Value], dimension: int, before: Callable[..., ir.Value]) -> list[ir.Value]:
    """The values, of one shape, sorted together, what is alike in its order. `before` gets two scalars of each value."""
    place = i64_attr(dimension)
    kinds, stable = [value.type for value in values], ir.BoolAttr.get(True)
    op = create("stablehlo.sort", kinds, values, regions=1, dimension=place, is_stable=stable)
    block = op.regions[0].blocks.append(*(tensor([], element_of(value)) for value in values for _ in "ab"))
    with ir.InsertionPoint(block):
        create("stablehlo.return", [], [before(*block.arguments)])
    return list(op.results)


def compare(direction: str, x: ir.Value, y: ir.Value, total: bool = False) -> ir.Value:
    """`direction` is EQ, NE, LT, LE, GT or GE. `total`: floats by IEEE's total order."""
    kind = tensor(shape_of(x), ir.IntegerType.get_signless(1))
    attributes = {"comparison_direction": _stablehlo.ComparisonDirectionAttr.get(direction)}
    if total and isinstance(element_of(x), ir.FloatType):
        attributes["compare_type"] = _stablehlo.ComparisonTypeAttr.get("TOTALORDER")
    return value_of("stablehlo.compare", kind, [x, y], **attributes)


def select(chosen: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
    """`x` where `chosen` holds, else `y`."""
    return value_of("stablehlo.select", x.type, [chosen, x, y])


def zero(shape: Sequence[int], element: ir.Type) -> ir.Value:
    """A splat of 0 (false for i1)."""
    return full(tensor(shape, element), 0)


def scalar(element: ir.Type, value: float | int | bool | np.generic) -> ir.Attribute:
    """The attribute of one element, `value` rounded to the element type."""
    if isinstance(element, ir.FloatType):
        return ir.FloatAttr.get(element, float(value))
    bits = element.width
    number = int(value) & ((1 << bits) - 1)
    if not element.is_unsigned and number >> (bits - 1):
        number -= 1 << bits
    if element.is_unsigned and bits == 64 and number >> 63:  # IntegerAttr.get takes no more than 63 bits
        return ir.Attribute.parse(f"{number} : ui64")
    return ir.IntegerAttr.get(element, number)


def extreme(element: ir.Type, sign: int) -> float | int:
    """The neutral element of maximum (sign -1) or minimum (sign 1): an infinity, or the least or the largest integer."""
    if isinstance(element, ir.FloatType):
        return sign * math.inf
    if element.width == 1 or element.is_unsigned:
        return 0 if sign < 0 else (1 << element.width) - 1
    return -(1 << (element.width - 1)) if sign < 0 else (1 << (element.width - 1)) - 1


def dot_dimensions(
    lhs_batch: Sequence[int], rhs_batch: Sequence[int], lhs_contracting: Sequence[int], rhs_contracting: Sequence[int]
) -> ir.Attribute:
    return _stablehlo.DotDimensionNumbers.get(
        lhs_batching_dimensions=list(lhs_batch),
        rhs_batching_dimensions=list(rhs_batch),
        lhs_contracting_dimensions=list(lhs_contracting),
        rhs_contracting_dimensions=list(rhs_contracting),
    )
