"""Vectors of one dimension while code is emitted: made of scalars, taken apart, and what they have in common with scalars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from .rewriting import intrinsic, value_of

ACCESS_BYTES = 16
"""The widest access of a GPU's thread."""


def is_vector(value: ir.Value) -> bool:
    """Whether `value` has several elements, one a lane."""
    return isinstance(value.type, ir.VectorType)


def vector_of(length: int, element: ir.Type) -> ir.VectorType:
    """The type of a vector, also of length 1."""
    return ir.VectorType.get([length], element)


def lanes_of(count: int, element: ir.Type) -> ir.Type:
    """The type of one element a lane: of one lane, the scalar's."""
    return element if count == 1 else vector_of(count, element)


def element_of(kind: ir.Type) -> ir.Type:
    """The type of a vector's elements, or the scalar type itself."""
    return ir.VectorType(kind).element_type if isinstance(kind, ir.VectorType) else kind


def splat(kind: ir.Type, number: float) -> ir.Value:
    """`number` as a scalar or in all elements of a vector."""
    element = element_of(kind)
    value = ir.FloatAttr.get(element, number) if isinstance(element, ir.FloatType) else ir.IntegerAttr.get(element, int(number))
    return splat_of(kind, value)


def splat_of(kind: ir.Type, value: ir.Attribute) -> ir.Value:
    """The constant scalar `value`, or a vector of it."""
    return value_of("arith.constant", kind, value=ir.DenseElementsAttr.get_splat(kind, value) if isinstance(kind, ir.VectorType) else value)


def steps(length: int, step: int) -> ir.Value:
    """The vector 0, step, 2 * step, … of type index."""
    index = ir.IndexType.get()
    numbers = [ir.IntegerAttr.get(index, step * lane) for lane in range(length)]
    kind = vector_of(length, index)
    return arith.constant(kind, ir.DenseElementsAttr.get(numbers, kind))


def static_mask(lanes: int, live: int) -> ir.Value:
    """A mask of i1 that holds in the first `live` lanes."""
    return mask_of([lane < live for lane in range(lanes)])


def mask_of(live: Sequence[bool]) -> ir.Value:
    """A mask of i1 that holds in the lanes that are `live`."""
    i1 = ir.IntegerType.get_signless(1)
    kind = vector_of(len(live), i1)
    return arith.constant(kind, ir.DenseElementsAttr.get([ir.IntegerAttr.get(i1, int(each)) for each in live], kind))


def broadcast(value: ir.Value, length: int) -> ir.Value:
    """`value` as a vector, if it is none yet."""
    return value if is_vector(value) else value_of("vector.broadcast", vector_of(length, value.type), [value])


def widened(value: ir.Value, lanes: int) -> ir.Value:
    """`value` with one element a lane: of one lane, a scalar."""
    return value if lanes == 1 else broadcast(value, lanes)


def extract(value: ir.Value, position: int) -> ir.Value:
    """The element of a vector (the row, of a matrix) at `position`."""
    return vector.extract(value, [], [position])


def lane_of(value: ir.Value, lane: int) -> ir.Value:
    """The element of a vector, or the scalar itself."""
    return extract(value, lane) if is_vector(value) else value


def elements(value: ir.Value) -> list[ir.Value]:
    """The elements of a vector; a scalar is one."""
    return [extract(value, i) for i in range(ir.VectorType(value.type).shape[0])] if is_vector(value) else [value]


def from_elements(values: Sequence[ir.Value]) -> ir.Value:
    """The vector of these elements, also of one."""
    return vector.from_elements(vector_of(len(values), values[0].type), values)


def intrinsic_of_each(name: str, value: ir.Value) -> ir.Value:
    """An intrinsic of LLVM of a scalar, or of each element of a vector; the result has their type."""
    made = [intrinsic(name, each.type, [each]) for each in elements(value)]
    return from_elements(made) if is_vector(value) else made[0]


def from_lanes(values: Sequence[ir.Value]) -> ir.Value:
    """The vector of these elements; of one, the scalar."""
    return values[0] if len(values) == 1 else from_elements(values)


def part(value: ir.Value, start: int, length: int) -> ir.Value:
    """`length` elements (or rows) of a vector from `start` on."""
    kind = ir.VectorType(value.type)
    if kind.shape[0] == length:
        return value
    return vector.extract_strided_slice(ir.VectorType.get([length, *kind.shape[1:]], kind.element_type), value, [start], [length], [1])


def reduced(value: ir.Value, kind: vector.CombiningKind, **more: Any) -> ir.Value:
    """One value from the elements of a vector."""
    return vector.reduction(element_of(value.type), kind, value, **more)


def joined(parts: Sequence[ir.Value]) -> ir.Value:
    """Vectors side by side: a power of two of them, all of one length."""
    while len(parts) > 1:
        length = 2 * ir.VectorType(parts[0].type).shape[0]
        parts = [vector.shuffle(a, b, list(range(length))) for a, b in zip(parts[::2], parts[1::2])]
    return parts[0]


def in_turn(parts: Sequence[ir.Value]) -> ir.Value:
    """The first elements of all vectors, then their second elements and so on."""
    count = len(parts)
    if count == 1:
        return parts[0]
    if count % 2 == 0:
        a, b = in_turn(parts[::2]), in_turn(parts[1::2])
        length = ir.VectorType(a.type).shape[0]
        return vector.shuffle(a, b, [place for lane in range(length) for place in (lane, length + lane)])
    lanes = ir.VectorType(parts[0].type).shape[0]
    most, length = in_turn(parts[:-1]), (count - 1) * lanes
    order = [length + lane if last else lane * (count - 1) + n for lane in range(lanes) for n in range(count) for last in [n == count - 1]]
    return vector.shuffle(most, parts[-1], order)
