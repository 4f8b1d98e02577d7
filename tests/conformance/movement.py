"""Ops that move elements, as methods over a Program: the attributes and the result's shape from the parameters."""

from __future__ import annotations

from collections.abc import Sequence

from programs import Program, Value, integers


def i64(value: int) -> str:
    return f"{value} : i64"


def slice_(p: Program, x: Value, start: Sequence[int], limit: Sequence[int], strides: Sequence[int]) -> Value:
    shape = [max(0, -(-(b - a) // s)) for a, b, s in zip(start, limit, strides)]
    attributes = f"start_indices = {integers(start)}, limit_indices = {integers(limit)}, strides = {integers(strides)}"
    return p.op("slice", [x], shape, attributes=attributes)


def pad(p: Program, x: Value, value: Value, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> Value:
    shape = [a + b + n + max(0, n - 1) * i for n, a, b, i in zip(x.shape, low, high, interior)]
    names = f"edge_padding_low = {integers(low)}, edge_padding_high = {integers(high)}, interior_padding = {integers(interior)}"
    return p.op("pad", [x, value], shape, attributes=names)


def transpose(p: Program, x: Value, order: Sequence[int]) -> Value:
    return p.op("transpose", [x], [x.shape[d] for d in order], attributes=f"permutation = {integers(order)}")


def reshape(p: Program, x: Value, shape: Sequence[int]) -> Value:
    return p.op("reshape", [x], shape)


def broadcast(p: Program, x: Value, shape: Sequence[int], dims: Sequence[int]) -> Value:
    return p.op("broadcast_in_dim", [x], shape, attributes=f"broadcast_dimensions = {integers(dims)}")


def reverse(p: Program, x: Value, dims: Sequence[int]) -> Value:
    return p.op("reverse", [x], attributes=f"dimensions = {integers(dims)}")


def concatenate(p: Program, values: Sequence[Value], dim: int) -> Value:
    shape = list(values[0].shape)
    shape[dim] = sum(v.shape[dim] for v in values)
    return p.op("concatenate", values, shape, attributes=f"dimension = {i64(dim)}")


def dynamic_slice(p: Program, x: Value, starts: Sequence[Value], sizes: Sequence[int]) -> Value:
    return p.op("dynamic_slice", [x, *starts], sizes, attributes=f"slice_sizes = {integers(sizes)}")


def dynamic_update_slice(p: Program, x: Value, update: Value, starts: Sequence[Value]) -> Value:
    return p.op("dynamic_update_slice", [x, update, *starts])


def iota(p: Program, shape: Sequence[int], element: str, dim: int) -> Value:
    return p.op("iota", [], shape, element, attributes=f"iota_dimension = {i64(dim)}")


def gather(
    p: Program,
    x: Value,
    indices: Value,
    shape: Sequence[int],
    *,
    offset: Sequence[int],
    collapsed: Sequence[int],
    start: Sequence[int],
    vector: int,
    sizes: Sequence[int],
    operand_batch: Sequence[int] = (),
    index_batch: Sequence[int] = (),
) -> Value:
    numbers = (
        f"offset_dims = {list(offset)}, collapsed_slice_dims = {list(collapsed)}, operand_batching_dims = {list(operand_batch)}, "
        f"start_indices_batching_dims = {list(index_batch)}, start_index_map = {list(start)}, index_vector_dim = {vector}"
    )
    attributes = f"dimension_numbers = #stablehlo.gather<{numbers}>, slice_sizes = {integers(sizes)}"
    return p.op("gather", [x, indices], shape, attributes=attributes)


def check_moves(p: Program, x: Value, y: Value, zero: Value) -> None:
    """Moves of two values of shape 5x17; `zero` is a scalar of their type."""
    p.check("slice", slice_(p, x, [1, 2], [5, 17], [2, 3]))
    p.check("pad", pad(p, x, zero, [1, -2], [0, 3], [1, 0]))
    p.check("transpose", transpose(p, x, [1, 0]))
    p.check("reshape", reshape(p, x, [85]))
    p.check("broadcast", broadcast(p, x, [5, 3, 17], [0, 2]))
    p.check("reverse", reverse(p, x, [0, 1]))
    p.check("concatenate", concatenate(p, [x, y, x], 1))
