"""Rules of ops that only move elements: chains of reshape, broadcast, transpose, slice and concatenate become one op or none.

Canonical forms: a change of unit dimensions alone is a reshape; a broadcast reads an operand without the unit dimensions that a reshape had
put in; an elementwise op stands before the reshape that adds unit dimensions, not after it; a splat is one constant of the full shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import prod

from torch_mlir import ir

from ...common.ops import Kind, named
from ...common.rewriting import attributes_of, defining_op, has_one_use, integer, integers
from ..support import build, constants
from ..support.driver import Rule, Rules

Values = list[ir.Value] | None

_MOST_COPIES = 8
"""A concatenation of more is no less than a remainder of each place."""


def _producer(value: ir.Value, name: str) -> ir.Operation | None:
    op = defining_op(value)
    return op if op is not None and op.name == f"stablehlo.{name}" else None


def unit_mapping(source: Sequence[int], target: Sequence[int]) -> list[int] | None:
    """For a reshape that only adds and drops dimensions of extent 1: the target's dimension of each source dimension, -1 for a dropped one.

    None for any other reshape.
    """
    if [e for e in source if e != 1] != [e for e in target if e != 1]:
        return None
    mapping, position = [], 0
    for extent in source:
        while position < len(target) and target[position] == 1 != extent:
            position += 1
        if position < len(target) and target[position] == extent:
            mapping.append(position)
            position += 1
        else:
            mapping.append(-1)
    return mapping


# -- broadcast_in_dim ------------------------------------------------------------------------------------------------------------------


def _broadcast(op: ir.Operation) -> Values:
    x, result = op.operands[0], op.results[0]
    dimensions, shape = integers(op, "broadcast_dimensions"), build.shape_of(result)
    if x.type == result.type and dimensions == sorted(dimensions):
        return [x]
    if inner := _producer(x, "broadcast_in_dim"):
        composed = [dimensions[d] for d in integers(inner, "broadcast_dimensions")]
        return [build.broadcast(inner.operands[0], shape, composed)]
    if inner := _producer(x, "iota"):
        axis = integer(inner, "iota_dimension")
        if build.shape_of(x)[axis] == shape[dimensions[axis]]:
            return [build.iota(shape, build.element_of(x), dimensions[axis])]
    if inner := _producer(x, "reshape"):
        source = inner.operands[0]
        mapping = unit_mapping(build.shape_of(source), build.shape_of(x))
        if mapping is not None and -1 not in mapping:
            return [build.broadcast(source, shape, [dimensions[d] for d in mapping])]
    if _is_unit_change(x, shape, dimensions):
        return [build.reshape(x, shape)]
    return None


def _is_unit_change(x: ir.Value, shape: list[int], dimensions: list[int]) -> bool:
    wide = [d for d, extent in zip(dimensions, build.shape_of(x)) if extent != 1]
    return wide == sorted(wide) and build.count_of(x) == _product(shape) and _product(shape) > 0


def _product(shape: Sequence[int]) -> int:
    return list(accumulate(shape, lambda a, b: a * b, initial=1))[-1]


# -- reshape, transpose, reverse --------------------------------------------------------------------------------------------------------


def _reshape(op: ir.Operation) -> Values:
    x, shape = op.operands[0], build.shape_of(op.results[0])
    if x.type == op.results[0].type:
        return [x]
    if inner := _producer(x, "reshape"):
        return [build.reshape(inner.operands[0], shape)]
    mapping = unit_mapping(build.shape_of(x), shape)
    if mapping is None:
        return _reshape_of_concatenate(x, shape)
    if inner := _producer(x, "broadcast_in_dim"):
        source = inner.operands[0]
        moved = [mapping[d] for d in integers(inner, "broadcast_dimensions")]
        if -1 not in moved:
            return [build.broadcast(source, shape, moved)]
    if inner := _producer(x, "iota"):
        axis = mapping[integer(inner, "iota_dimension")]
        if axis >= 0:
            return [build.iota(shape, build.element_of(x), axis)]
    return None


def _reshape_of_concatenate(x: ir.Value, shape: list[int]) -> Values:
    """What is put together is put together in the new shape, where each piece is whole rows of one of its dimensions."""
    whole = _producer(x, "concatenate")
    if whole is None or not has_one_use(x) or 0 in shape:
        return None
    axis = integer(whole, "dimension")
    outer, sizes = _product(build.shape_of(x)[:axis]), [_product(build.shape_of(piece)[axis:]) for piece in whole.operands]
    for dim in range(len(shape)):
        row = _product(shape[dim + 1 :])
        if _product(shape[:dim]) == outer and not any(size % row for size in sizes):
            pieces = zip(whole.operands, sizes)
            return [
                build.concatenate([build.reshape(piece, [*shape[:dim], size // row, *shape[dim + 1 :]]) for piece, size in pieces], dim)
            ]
    return None


def _transpose(op: ir.Operation) -> Values:
    x, permutation = op.operands[0], integers(op, "permutation")
    if permutation == sorted(permutation):
        return [x]
    if inner := _producer(x, "transpose"):
        first = integers(inner, "permutation")
        return [build.transpose(inner.operands[0], [first[d] for d in permutation])]
    wide = [d for d in permutation if build.shape_of(x)[d] != 1]
    if wide == sorted(wide):
        return [build.reshape(x, build.shape_of(op.results[0]))]
    if inner := _producer(x, "broadcast_in_dim"):
        moved = [permutation.index(d) for d in integers(inner, "broadcast_dimensions")]
        return [build.broadcast(inner.operands[0], build.shape_of(op.results[0]), moved)]
    before = _turned_back(x, permutation)
    return None if before is None else [build.reshape(before, build.shape_of(op.results[0]))]


def _turned_back(x: ir.Value, permutation: list[int]) -> ir.Value | None:
    """What a transpose, and a reshape that only adds and drops dimensions of extent 1, had before `permutation` turns the others back."""
    reshape = _producer(x, "reshape")
    first = _producer(reshape.operands[0], "transpose") if reshape else None
    places = unit_mapping(build.shape_of(first.results[0]), build.shape_of(x)) if first else None
    if first is None or places is None:
        return None
    before, taken = first.operands[0], integers(first, "permutation")
    source = {place: d for place, d in zip(places, taken, strict=True) if build.shape_of(before)[d] != 1}
    order = [source[d] for d in permutation if d in source]
    return before if order == sorted(order) else None


def _reverse(op: ir.Operation) -> Values:
    x, dimensions = op.operands[0], integers(op, "dimensions")
    kept = [d for d in dimensions if build.shape_of(x)[d] > 1]
    if kept == dimensions:
        return None
    return [build.reverse(x, kept) if kept else x]


# -- slice ------------------------------------------------------------------------------------------------------------------------------


def _slice(op: ir.Operation) -> Values:
    x, shape = op.operands[0], build.shape_of(op.results[0])
    if x.type == op.results[0].type:
        return [x]
    starts, limits, strides = (integers(op, name) for name in ("start_indices", "limit_indices", "strides"))
    if inner := _producer(x, "slice"):
        first = [integers(inner, name) for name in ("start_indices", "strides")]
        begin = [a + s * b for a, s, b in zip(*first, starts)]
        steps = [s * t for s, t in zip(first[1], strides)]
        return [build.slice_(inner.operands[0], begin, [b + max(n - 1, 0) * s + (n > 0) for b, n, s in zip(begin, shape, steps)], steps)]
    if inner := _producer(x, "concatenate"):
        return _slice_of_concatenate(op, inner, starts, limits, strides)
    if inner := _producer(x, "broadcast_in_dim"):
        return _slice_of_broadcast(inner, shape, starts, limits, strides)
    if inner := _producer(x, "iota"):
        axis = integer(inner, "iota_dimension")
        if starts[axis] == 0 and strides[axis] == 1:
            return [build.iota(shape, build.element_of(x), axis)]
    if inner := _producer(x, "reshape"):
        repeated = _slice_of_repetition(inner, starts, limits, strides)
        return _slice_of_reshape(inner, shape, starts, limits, strides) if repeated is None else repeated
    return None


def _slice_of_repetition(inner: ir.Operation, starts: list[int], limits: list[int], strides: list[int]) -> Values:
    """Of a few copies of an array one after the other, some whole and the first or last in part: the copies put together."""
    copies = _producer(inner.operands[0], "broadcast_in_dim")
    if copies is None or strides != [1]:
        return None
    source, dimensions, (count, *rest) = copies.operands[0], integers(copies, "broadcast_dimensions"), build.shape_of(copies.results[0])
    length, places = prod(rest), dict(zip(dimensions, build.shape_of(source)))
    if places.pop(0, 1) != 1 or list(places.items()) != list(enumerate(rest, 1)) or not length or count == 1:
        return None
    (start,), (limit,) = starts, limits
    bounds = [start, *range(start // length * length + length, limit, length), limit]
    if len(bounds) - 1 > _MOST_COPIES:
        return None
    flat = build.reshape(source, [length])
    return [build.concatenate([build.slice_(flat, [a % length], [a % length + b - a], [1]) for a, b in pairwise(bounds)], 0)]


def _slice_of_concatenate(op: ir.Operation, inner: ir.Operation, starts: list[int], limits: list[int], strides: list[int]) -> Values:
    """The operands that the slice reads, sliced; more than one only without stride."""
    axis = integer(inner, "dimension")
    ends = list(accumulate(build.shape_of(v)[axis] for v in inner.operands))
    pieces = []
    for operand, end in zip(inner.operands, ends):
        begin = end - build.shape_of(operand)[axis]
        lo, hi = max(starts[axis], begin), min(limits[axis], end)
        if lo < hi:
            pieces.append((operand, lo - begin, hi - begin))
    if not pieces or (len(pieces) > 1 and strides[axis] != 1) or len(pieces) == len(ends) > 1:
        return None
    if len(pieces) > 1 and not has_one_use(inner.results[0]):
        return None
    cut = []
    for operand, lo, hi in pieces:
        from_, to = list(starts), list(limits)
        from_[axis], to[axis] = lo, hi
        cut.append(build.slice_(operand, from_, to, strides))
    return [build.concatenate(cut, axis)]


def _slice_of_broadcast(inner: ir.Operation, shape: list[int], starts: list[int], limits: list[int], strides: list[int]) -> Values:
    source, dimensions = inner.operands[0], integers(inner, "broadcast_dimensions")
    begin, end, step = [], [], []
    for d, extent in zip(dimensions, build.shape_of(source)):
        whole = extent == 1
        begin.append(0 if whole else starts[d])
        end.append(1 if whole else limits[d])
        step.append(1 if whole else strides[d])
    if any(shape[d] == 0 for d in range(len(shape))):
        return None
    return [build.broadcast(build.slice_(source, begin, end, step), shape, dimensions)]


def _slice_of_reshape(inner: ir.Operation, shape: list[int], starts: list[int], limits: list[int], strides: list[int]) -> Values:
    """Past a reshape that only adds or drops unit dimensions."""
    source = inner.operands[0]
    mapping = unit_mapping(build.shape_of(source), build.shape_of(inner.results[0]))
    if mapping is None or 0 in shape:
        return None
    begin = [starts[d] if d >= 0 else 0 for d in mapping]
    end = [limits[d] if d >= 0 else 1 for d in mapping]
    step = [strides[d] if d >= 0 else 1 for d in mapping]
    return [build.reshape(build.slice_(source, begin, end, step), shape)]


# -- concatenate, pad -------------------------------------------------------------------------------------------------------------------


def _concatenate(op: ir.Operation) -> Values:
    axis, operands = integer(op, "dimension"), list(op.operands)
    if len(operands) == 1:
        return [operands[0]]
    kept = [v for v in operands if build.shape_of(v)[axis] > 0]
    if kept and len(kept) < len(operands):
        return [build.concatenate(kept, axis)]
    flat = [inner for v in operands for inner in _same_concatenate(v, axis)]
    if len(flat) > len(operands):
        return [build.concatenate(flat, axis)]
    joined = _join_slices(operands, axis)
    if len(joined) < len(operands):
        return [build.concatenate(joined, axis)]
    return None


def _same_concatenate(value: ir.Value, axis: int) -> list[ir.Value]:
    inner = _producer(value, "concatenate")
    return list(inner.operands) if inner and integer(inner, "dimension") == axis and has_one_use(value) else [value]


def _join_slices(operands: list[ir.Value], axis: int) -> list[ir.Value]:
    """Neighbouring slices of one value, the second starting where the first ends, as one slice."""
    joined = [operands[0]]
    for value in operands[1:]:
        left, right = _producer(joined[-1], "slice"), _producer(value, "slice")
        merged = _adjacent(left, right, axis) if left and right else None
        if left and merged:
            starts, limits = merged
            joined[-1] = build.slice_(left.operands[0], starts, limits)
        else:
            joined.append(value)
    return joined


def _adjacent(left: ir.Operation, right: ir.Operation, axis: int) -> tuple[list[int], list[int]] | None:
    names = ("start_indices", "limit_indices", "strides")
    a, b = ([integers(op, name) for name in names] for op in (left, right))
    if left.operands[0] != right.operands[0] or set(a[2] + b[2]) != {1} or a[1][axis] != b[0][axis]:
        return None
    if any(a[i][d] != b[i][d] for i in (0, 1) for d in range(len(a[0])) if d != axis):
        return None
    limits = list(a[1])
    limits[axis] = b[1][axis]
    return a[0], limits


def _pad(op: ir.Operation) -> Values:
    amounts = [integers(op, name) for name in ("edge_padding_low", "edge_padding_high", "interior_padding")]
    x = op.operands[0]
    if not any(map(any, amounts)):
        return [x]
    if build.count_of(x) == 0 and build.count_of(op.results[0]):
        return [build.broadcast(op.operands[1], build.shape_of(op.results[0]), [])]
    return None


# -- elementwise ------------------------------------------------------------------------------------------------------------------------


def _past_reshapes(op: ir.Operation) -> Values:
    """f(reshape(x), reshape(y), splat) → reshape(f(x, y, splat)) where the reshapes add unit dimensions to the same shape."""
    sources: list[ir.Value | None] = []
    source = None
    shape = build.shape_of(op.results[0])
    for value in op.operands:
        inner = _producer(value, "reshape")
        if inner is None:
            if constants.splat_attribute(value) is None:
                return None
            sources.append(None)
            continue
        source = source or inner.operands[0]
        if build.shape_of(inner.operands[0]) != build.shape_of(source):
            return None
        sources.append(inner.operands[0])
    if source is None or len(build.shape_of(source)) >= len(shape) or -1 in (unit_mapping(build.shape_of(source), shape) or [-1]):
        return None
    inner_shape = build.shape_of(source)
    operands = []
    for value, found in zip(op.operands, sources):
        if found is None and build.shape_of(value):
            found = build.splat(build.tensor(inner_shape, build.element_of(value)), constants.splat_attribute(value))
        operands.append(found if found is not None else value)
    kind = build.tensor(inner_shape, build.element_of(op.results[0]))
    moved = ir.Operation.create(op.name, results=[kind], operands=operands, attributes=attributes_of(op)).results[0]
    return [build.reshape(moved, shape)]


SHAPES: dict[str, list[Rule]] = {
    "stablehlo.broadcast_in_dim": [_broadcast],
    "stablehlo.reshape": [_reshape],
    "stablehlo.transpose": [_transpose],
    "stablehlo.reverse": [_reverse],
    "stablehlo.slice": [_slice],
    "stablehlo.concatenate": [_concatenate],
    "stablehlo.pad": [_pad],
}


def elementwise_rules() -> Rules:
    return dict.fromkeys(named(Kind.ELEMENTWISE), (_past_reshapes,))
