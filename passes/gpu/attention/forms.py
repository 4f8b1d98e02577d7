"""By which loops of a group each value is indexed, through elementwise ops, reductions and reshapes, also those within indexing maps.

A loop that some op or reshape sees as two (heads as groups and heads of a group) is two loops of the group. So every index is linear, and
quotients and remainders by what the loops take are too.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from torch_mlir import ir

from ...common.affine import evaluate, used_dims
from ...common.axes import TileOp
from ...common.edge import RESHAPES, reassociation
from ...common.linear_index import LinearIndex, Loop, NotLinear, linear_results
from ...common.rewriting import shape_of, walk
from ...common.storage import row_major
from ..contraction.contraction import address_of

Forms = dict[ir.Value, list[LinearIndex]]


class TakenApart(Exception):
    """Something sees a loop as several, of these extents, outermost first."""

    def __init__(self, loop: int, extents: Sequence[int]):
        super().__init__(loop, extents)
        self.loop, self.extents = loop, list(extents)


def split_extents(tile: TileOp, parts: Sequence[Sequence[int]]) -> tuple[list[LinearIndex], list[int], list[bool]]:
    """The op's loops by those of the group, where each is `parts`; the group's extents, and which of its loops are parallel."""
    loops: list[LinearIndex] = []
    extents: list[int] = []
    parallel: list[bool] = []
    for number, sizes in enumerate(parts):
        terms = {Loop(len(extents) + n, sizes[n]): stride for n, stride in enumerate(row_major(tuple(sizes))) if sizes[n] > 1}
        loops.append(LinearIndex(terms))
        extents += sizes
        parallel += [tile.parallel[number]] * len(sizes)
    return loops, extents, parallel


def taken_apart(parts: Sequence[Sequence[int]], wish: TakenApart) -> list[list[int]] | None:
    """The parts of an op's loops where one of them is several; None where that leads nowhere."""
    flat = [(n, place) for n, sizes in enumerate(parts) for place in range(len(sizes))]
    if len(wish.extents) < 2 or wish.loop >= len(flat):
        return None
    number, place = flat[wish.loop]
    return [[*sizes[:place], *wish.extents, *sizes[place + 1 :]] if n == number else list(sizes) for n, sizes in enumerate(parts)]


def indices(affine_map: ir.AffineMap, loops: Sequence[LinearIndex]) -> list[LinearIndex] | None:
    """The results of a map. Raises TakenApart where they were linear if a loop were two."""
    try:
        return [LinearIndex.of(evaluate(expr, loops)) for expr in affine_map.results]
    except NotLinear as error:
        if error.loop is None:
            return None
        raise TakenApart(error.loop, [error.loop.extent // error.inner, error.inner]) from None


def follow(
    function: ir.Operation, ops: Mapping[ir.Value, TileOp], forms: Forms, own: tuple[ir.Operation, int]
) -> dict[ir.Operation, Sequence[LinearIndex]]:
    """Adds the forms of all values behind those in `forms`, as far as they are known; returns the loops of the ops that make them.

    `own` is an op that brings along a loop, and that loop's number. Raises TakenApart.
    """
    known: dict[ir.Operation, Sequence[LinearIndex]] = {}
    for op in walk(function, lambda o: o.name in (*RESHAPES, "linalg.generic")):
        if op.name in RESHAPES:
            if op.operands[0] in forms:
                forms[op.results[0]] = viewed(op, forms[op.operands[0]])
            continue
        tile = ops[op.results[0]]
        if op.results[0] in forms or not any(value in forms for value in [*tile.inputs, *tile.inits]):
            continue
        loops = loops_by(tile, forms, own[1] if op == own[0] else None)
        found = [] if loops is None else [indices(m, loops) for m in tile.maps][len(tile.inputs) :]
        if loops is None or None in found:
            break
        known[op] = loops
        forms.update(zip(op.results, (f for f in found if f is not None)))
    return known


def loops_by(tile: TileOp, forms: Forms, own: int | None) -> list[LinearIndex] | None:
    """The group's index that each loop of an op is, `own` where no operand tells it. None where two operands tell different ones, and where
    one is read in part: an op is evaluated at each point of the group."""
    found: dict[int, LinearIndex] = {}
    for value, affine_map in zip([*tile.inputs, *tile.inits], tile.maps):
        if value not in forms:
            continue
        read = {dim for expr in affine_map.results for dim in used_dims(expr)}
        if prod(tile.extents[dim] for dim in read) != prod(shape_of(value)):
            return None
        for loop, index in solved(affine_map, forms[value], tile.extents).items():
            if found.setdefault(loop, index) != index:
                return None
    for loop, extent in enumerate(tile.extents):
        if loop in found:
            continue
        if extent > 1 and own is None:
            return None
        found[loop] = LinearIndex() if extent == 1 or own is None else LinearIndex({Loop(own, extent): 1})
        own = own if extent == 1 else None
    return [found[loop] for loop in range(len(tile.extents))]


def solved(affine_map: ir.AffineMap, form: Sequence[LinearIndex], extents: Sequence[int]) -> dict[int, LinearIndex]:
    """The op's loops where the results of its map are `form`, as far as these tell."""
    found: dict[int, LinearIndex] = {}
    alone: dict[int, list[tuple[ir.AffineExpr, LinearIndex]]] = {}
    for expr, index in zip(affine_map.results, form):
        dims = sorted(used_dims(expr))
        if len(dims) == 1:
            alone.setdefault(dims[0], []).append((expr, index))
        elif len(dims) > 1:
            at = [LinearIndex({d: 1}) for d in range(len(extents))]
            linear = linear_results(ir.AffineMap.get(affine_map.n_dims, 0, [expr]), at)
            if linear is not None:
                order = sorted(dims, key=lambda d: -linear[0].coefficient(d))
                found |= zip(order, _digits(index, [extents[d] for d in order]))
    for loop, several in alone.items():
        if isinstance(several[0][0], ir.AffineDimExpr):
            found[loop] = several[0][1]
            continue
        lines = [[int(evaluate(expr, [x] * len(extents))) for x in range(extents[loop])] for expr, _ in several]
        strides = [line.index(1) if 1 in line else 0 for line in lines]
        if all(sum(s * digit for s, digit in zip(strides, digits)) == x for x, digits in enumerate(zip(*lines))):
            found[loop] = sum((index * s for s, (_, index) in zip(strides, several)), LinearIndex())
    return found


def _digits(index: LinearIndex, extents: Sequence[int]) -> list[LinearIndex]:
    """The digits of an index to the mixed radix `extents`, most significant first."""
    found = []
    for stride, extent in zip(row_major(tuple(extents)), extents):
        found.append(LinearIndex({loop: c // stride for loop, c in index.terms.items() if stride <= c < stride * extent}))
    whole = address_of(extents, found) == index
    bounded = all(sum(c * (loop.extent - 1) for loop, c in each.terms.items()) < extent for each, extent in zip(found, extents))
    if not whole or not bounded:
        loop = next(iter(index.terms), 0)
        raise TakenApart(loop, [extent for extent in extents if extent > 1] if len(index.terms) == 1 else [])
    return found


def viewed(op: ir.Operation, form: Sequence[LinearIndex]) -> list[LinearIndex]:
    """The indices of a reshape."""
    groups = reassociation(op)
    if op.name == "tensor.collapse_shape":
        shape = ir.RankedTensorType(op.operands[0].type).shape
        return [address_of([shape[d] for d in group], [form[d] for d in group]) for group in groups]
    shape = ir.RankedTensorType(op.results[0].type).shape
    found = [LinearIndex()] * len(shape)
    for index, group in zip(form, groups):
        if prod(shape[d] for d in group) == 1:
            continue
        for d, digit in zip(group, _digits(index, [shape[d] for d in group])):
            found[d] = digit
    return found
