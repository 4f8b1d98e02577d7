"""Reads a group at stage linalg as two contractions with a maximum and a sum of rows between them, as join-contractions makes them.

    s = Σ q k;  m = max(f(s));  l = Σ e(s, m);  o = Σ p(s, m) v;  results = g(o, m, l)

Rows, columns and batches are loops of the first contraction, by linear forms, as in contraction.py; the second sums over the columns and
has a loop of its own. All values between are evaluated at a row and a column, by f, e and p.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from ...common.axes import TileOp
from ...common.linear_index import LinearIndex, linear_results
from ...common.rewriting import defining_op, element_of, is_block_argument, ops_in, walk
from ..contraction.contraction import (
    ContractionGroup,
    LoopGroup,
    Operand,
    address_of,
    factors_of,
    operand_of,
    results_of,
    split_loops,
    tile_ops,
)
from ..contraction.epilogue import Check
from .forms import Forms, TakenApart, follow, indices, split_extents, taken_apart


@dataclass(frozen=True)
class AttentionGroup:
    """The two contractions, whose `forms` are those of all values that depend on either; the reductions; and p before it is widened."""

    first: ContractionGroup
    second: ContractionGroup
    largest: TileOp
    total: TileOp
    weights: tuple[TileOp, ir.Value]
    """The second contraction, and the value in its body that it multiplies with v."""
    loops: Mapping[ir.Operation, Sequence[LinearIndex]]
    """The loops of each op that depends on the first contraction."""


def read_attention(function: ir.Operation) -> AttentionGroup | None:
    """The group that `function` is, or None."""
    ops = tile_ops(function)
    tiles = [ops[op.results[0]] for op in walk(function, "linalg.generic")]
    reducing = [tile for tile in tiles if not all(tile.parallel)]
    if len(reducing) != 4 or walk(function, "tensor.extract"):
        return None
    parts: list[list[int]] | None = [[extent] for extent in reducing[0].extents]
    while parts is not None:
        try:
            return _read(function, ops, reducing, parts)
        except TakenApart as wish:
            parts = taken_apart(parts, wish)
    return None


def _read(
    function: ir.Operation, ops: Mapping[ir.Value, TileOp], reducing: Sequence[TileOp], parts: Sequence[Sequence[int]]
) -> AttentionGroup | None:
    """The group, where the loops of the first contraction are `parts`."""
    score, largest, total, product = reducing
    loops, sizes, parallel = split_extents(score, parts)
    factors = [factors_of(tile.op.regions[0].blocks[0]) for tile in (score, product)]
    first = [indices(m, loops) for m in score.maps][-1]
    if factors[0] is None or factors[1] is None or first is None:
        return None
    left, right = (operand_of(score, factor, loops, sizes) for factor in factors[0])
    if left is None or right is None:
        return None
    shape = ir.RankedTensorType(score.op.results[0].type).shape
    split = split_loops(sizes, parallel, left, right, address_of(shape, first))
    if split is None:
        return None
    (left, right), (batch, rows, cols, inner) = split
    forms: Forms = {score.op.results[0]: first}
    own = len(sizes)
    known = {score.op: loops, **follow(function, ops, forms, (product.op, own))}
    if product.op not in known:
        return None
    stored = results_of(function, forms)
    extent = next((e for e, loop in zip(product.extents, known[product.op]) if loop.coefficient(own)), 1)
    extents = (*sizes, extent)
    values = [operand_of(product, factor, known[product.op], extents) for factor in factors[1]]
    at = next((n for n, operand in enumerate(values) if operand is not None), None)
    if stored is None or at is None or (v := values[at]) is None or len(cols.loops) != 1 or len(inner.loops) != 1:
        return None
    accumulator = element_of(score.op.results[0])
    one = ContractionGroup(function, score.op, left, right, accumulator, batch, rows, cols, inner, extents, forms, tuple(stored))
    two = ContractionGroup(
        function, product.op, left, v, accumulator, batch, rows, LoopGroup(((own, extent),)), cols, extents, forms, tuple(stored)
    )
    weight = before_widening(factors[1][1 - at])
    group = AttentionGroup(one, two, largest, total, (product, weight), known)
    return group if _is_attention(group, ops) else None


def before_widening(value: ir.Value) -> ir.Value:
    """The value before it is widened."""
    op = None if is_block_argument(value) else defining_op(value)
    return op.operands[0] if op is not None and op.name == "arith.extf" else value


def _is_attention(group: AttentionGroup, ops: Mapping[ir.Value, TileOp]) -> bool:
    """Whether the reductions are along the columns, what the second contraction multiplies is of one type, and results read rows alone."""
    column = group.first.cols.last
    for tile in (group.largest, group.total, group.weights[0]):
        reduced = [loop for loop, parallel in zip(group.loops[tile.op], tile.parallel) if not parallel]
        if reduced != [LinearIndex({column: 1})]:
            return False
    if [combiner(tile).name for tile in (group.largest, group.total)] != ["arith.maximumf", "arith.addf"]:
        return False
    kinds = {str(each) for each in (group.first.left.element, group.first.right.element, group.second.right.element, group.weights[1].type)}
    if len(kinds) != 1 or kinds & {"f32", "f64"}:
        return False
    if not all(reads_elements(group.first, tile, group.loops[tile.op]) for tile in ops.values() if tile.op in group.loops):
        return False
    return all(value not in ops or all(ops[value].parallel) for value in _behind(group) - _known(group))


def _known(group: AttentionGroup) -> set[ir.Value]:
    """What is known where results are evaluated."""
    return {group.second.op.results[0], group.largest.op.results[0], group.total.op.results[0]}


def _behind(group: AttentionGroup) -> set[ir.Value]:
    """The values that results are made of, back to those that are known there."""
    found: set[ir.Value] = set()
    waiting = [value for value, _ in group.second.results]
    while waiting:
        value = waiting.pop()
        if value in group.first.forms and value not in found:
            found.add(value)
            waiting += [] if value in _known(group) else list(value.owner.operation.operands)
    return found


def reads_maximum(group: AttentionGroup) -> bool:
    """Whether results are made of the rows' maxima too (the logarithms of their sums are)."""
    return group.largest.op.results[0] in _behind(group)


def reads_elements(first: ContractionGroup, tile: TileOp, loops: Sequence[LinearIndex], check: Check | None = None) -> bool:
    """Whether all that an op reads, but what the group computes, can be read at a point."""
    check = check or Check(first)
    for value, affine_map in zip([*tile.inputs, *tile.inits], tile.maps):
        at = linear_results(affine_map, loops)
        if value in first.forms or not isinstance(value.type, ir.RankedTensorType):
            continue
        if at is None or not (_is_empty(value) or check.readable(value, at)):
            return False
    return True


def _is_empty(value: ir.Value) -> bool:
    op = None if is_block_argument(value) else defining_op(value)
    return op is not None and op.name == "tensor.empty"


def combiner(tile: TileOp) -> ir.Operation:
    """The op by which a reduction combines."""
    return ops_in(tile.op.regions[0].blocks[0])[-1].operands[0].owner.operation


def operands_of(group: AttentionGroup) -> tuple[Operand, Operand, Operand]:
    """q, k and v."""
    return group.first.left, group.first.right, group.second.right
