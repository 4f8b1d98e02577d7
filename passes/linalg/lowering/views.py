"""Reshapes as tensor.collapse_shape and tensor.expand_shape: no data moves."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from math import prod

from torch_mlir import ir

from ...common.edge import RESHAPES
from ...common.index_expression import Expr, Point, linearise
from ...common.rewriting import create, defining_op, i64_array, integers, ops_in, producer, shape_of, value_of
from ...common.slices import extract_slice
from .generic import signless_element

Group = list[int]


def reshape(source: ir.Value, shape: Sequence[int]) -> ir.Value:
    """`source` as a tensor of `shape` with as many elements: at most one collapse_shape, then one expand_shape."""
    old = shape_of(source)
    if list(shape) == old:
        return source
    if prod(old) == 0:
        return value_of("tensor.empty", ir.RankedTensorType.get(list(shape), signless_element(source)))
    runs = _equal_runs(old, shape)
    middle = [prod(old[d] for d in run) for run, _ in runs]
    value = collapse(source, [run for run, _ in runs]) if middle != old else source
    return expand(value, [run for _, run in runs], shape) if middle != list(shape) else value


def collapse(source: ir.Value, groups: Sequence[Group]) -> ir.Value:
    """Joins each group of adjacent dims into one dim."""
    shape = shape_of(source)
    kind = ir.RankedTensorType.get([prod(shape[d] for d in group) for group in groups], signless_element(source))
    return value_of("tensor.collapse_shape", kind, [source], reassociation=_reassociation(groups))


def expand(source: ir.Value, groups: Sequence[Group], shape: Sequence[int]) -> ir.Value:
    """Splits each dim into a group of adjacent dims of the result's `shape`."""
    kind = ir.RankedTensorType.get(list(shape), signless_element(source))
    static_shape = ir.DenseI64ArrayAttr.get(list(shape))
    return value_of("tensor.expand_shape", kind, [source], reassociation=_reassociation(groups), static_output_shape=static_shape)


def window(source: ir.Value, offsets: Sequence[int], shape: Sequence[int]) -> ir.Value:
    """The part of `source` of that shape from `offsets` on, as a tensor.extract_slice; `source` itself where that is all of it.

    Of a tensor.pad it is the padded part of what is inside, for kernels know padding by the op that they read.
    """
    if list(shape) == shape_of(source):
        return source
    pad = producer(source, "tensor.pad")
    return _part_of_padded(pad, offsets, shape) if pad is not None else extract_slice(source, offsets, shape)


def _part_of_padded(pad: ir.Operation, offsets: Sequence[int], shape: Sequence[int]) -> ir.Value:
    inside, starts, extents, pairs = pad.operands[0], [], [], []
    for low, extent, offset, count in zip(integers(pad, "static_low"), shape_of(inside), offsets, shape):
        first, end = offset - low, offset - low + count
        start = min(max(0, first), extent)
        starts.append(start)
        extents.append(max(min(extent, end), start) - start)
        pairs.append((min(max(0, -first), count), min(max(0, end - extent), count)))
    if 0 in extents:
        return extract_slice(pad.results[0], offsets, shape)
    (zero,) = ops_in(pad.regions[0].blocks[0])[-1].operands
    return surround(window(inside, starts, extents), pairs, zero)


def surround(source: ir.Value, pairs: Sequence[tuple[int, int]], zero: ir.Value) -> ir.Value:
    """`source` with so many zeros before and after it along each dim, as a tensor.pad."""
    shape = [before + extent + after for extent, (before, after) in zip(shape_of(source), pairs)]
    low, high = ([pair[side] for pair in pairs] for side in range(2))
    padded = create(
        "tensor.pad",
        [ir.RankedTensorType.get(shape, signless_element(source))],
        [source],
        regions=1,
        static_low=i64_array(low),
        static_high=i64_array(high),
        operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 0, 0]),
    )
    block = padded.regions[0].blocks.append(*[ir.IndexType.get()] * len(shape))
    with ir.InsertionPoint(block):
        create("tensor.yield", [], [zero])
    return padded.results[0]


def _reassociation(groups: Sequence[Group]) -> ir.ArrayAttr:
    i64 = ir.IntegerType.get_signless(64)
    return ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, d) for d in group]) for group in groups])


def _equal_runs(old: Sequence[int], new: Sequence[int]) -> list[tuple[Group, Group]]:
    """The dims of both shapes cut into the shortest runs of equal product; dims of size 1 join the run before them (or the first)."""
    runs: list[tuple[Group, Group]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        left: Group = []
        right: Group = []
        a = b = 1
        while True:
            if i < len(old) and (a < b or not left):
                a *= old[i]
                left.append(i)
                i += 1
            elif j < len(new) and (b < a or not right):
                b *= new[j]
                right.append(j)
                j += 1
            else:
                break
            if a == b and left and right:
                break
        if left and right:
            runs.append((left, right))
        elif runs:
            runs[-1][0].extend(left)
            runs[-1][1].extend(right)
    return runs


def fitted(source: ir.Value, point: Sequence[Expr], extents: Sequence[int]) -> ir.Value:
    """`source` such that `point` may be an indexing map over loops of `extents`.

    linalg takes a map's bare loop to run over the whole dimension: a leading part of a longer one is cut off first.
    """
    shape = shape_of(source)
    wanted = [extent if index.dim is None else extents[index.dim] for index, extent in zip(point, shape)]
    return window(source, [0] * len(wanted), wanted)


def restored(source: ir.Value, point: Sequence[Expr]) -> tuple[ir.Value, Point]:
    """A view of an argument or constant in which `point` is just loops, if the point walks over all of it in row-major order; else one in
    which the point has fewer quotients and remainders.

    `x[d0, d1 * 64 + d2]` becomes `view[d0, d1, d2]`, and `x[d0 + 1, d1 floordiv 49, d1 mod 49]` becomes `view[d0 + 1, d1]`. Results of
    other ops stay: reshapes stand at the function's edge only.
    """
    point = tuple(point)
    if all(index.dim is not None or index.is_constant for index in point) or not at_edge(source):
        return source, point
    return _as_loops(source, point) or _without_digits(source, point)


def _as_loops(source: ir.Value, point: Point) -> tuple[ir.Value, Point] | None:
    """The view in which the point is just loops, where it walks over all of `source` in row-major order."""
    shape = shape_of(source)
    address = linearise(point, shape)
    if address.constant or not address.is_linear or any(c < 0 for _, c in address.terms):
        return None
    terms = sorted((term for term in address.terms if term[0].extent > 1), key=lambda term: -term[1])
    span = 1
    for atom, coefficient in reversed(terms):
        if coefficient != span:
            return None
        span *= atom.extent
    if span != prod(shape):
        return None
    return reshape(source, [atom.extent for atom, _ in terms]), tuple(Expr(0, ((atom, 1),)) for atom, _ in terms)


def _without_digits(source: ir.Value, point: Point) -> tuple[ir.Value, Point]:
    """The view in which adjacent dims are one whose indices are the digits of a linear one: what is left of the reshape of a slice."""
    shape = shape_of(source)
    groups: list[Group] = []
    joined: list[Expr] = []
    while (start := sum(map(len, groups))) < len(point):
        digits = list(itertools.takewhile(lambda d: not point[d].is_linear, range(start, len(point))))
        ends = [end for end in range(start + len(digits), start + 1, -1) if linearise(point[start:end], shape[start:end]).is_linear]
        group = list(range(start, ends[0])) if ends else [start]
        groups.append(group)
        joined.append(linearise([point[d] for d in group], [shape[d] for d in group]))
    return (source, point) if len(groups) == len(point) else (collapse(source, groups), tuple(joined))


def at_edge(value: ir.Value) -> bool:
    """An argument or constant, or a reshape of one."""
    op = defining_op(value)
    if op is not None and op.name in RESHAPES:
        return at_edge(op.operands[0])
    return op is None or op.name == "arith.constant"
