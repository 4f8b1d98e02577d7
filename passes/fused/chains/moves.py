"""What a kernel of attention does by itself: moves before and behind the two contractions become their dimension numbers, and masks that
are made of indices alone are computed where they are needed.

    %t = transpose %q, dims = [0, 2, 1, 3];  %r = reshape %t : tensor<96x512x64>;  dot_general %r, …, batching_dims = [0] x [0]
becomes
    dot_general %q, …, batching_dims = [0, 2] x [0, 2];  reshape

Must hold: a GPU's kernel, whose operands TMA or cp.async fetch by any strides, as long as the elements of a head lie together.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ...common.rewriting import body_ops, callee_of, defining_op, erase_unused, is_block_argument, ops_in
from ...stablehlo.support import build
from ...stablehlo.support.dimensions import DotDims
from .chain import Chain, Groups
from .on_gpu import EVALUATED
from .views import MOVES, Runs, View, emit, itself, refined, view_of

_MOST_OF_INDICES = 24
"""Ops of a mask that is computed again in each kernel that reads it."""


def moves_around(chain: Chain, groups: Groups) -> tuple[list[ir.Operation], list[ir.Operation]]:
    """The calls before the chain that only move what it alone reads, and the call behind it that only moves what it makes."""
    before = []
    for call in (chain.calls[0], chain.calls[2]):
        for value in call.operands:
            maker = defining_op(value)
            if maker is not None and maker not in before and only_moves(maker, groups) and _read_by(maker, chain.calls):
                before.append(maker)
    last = chain.calls[2]
    users = {use.owner.operation for value in last.results for use in value.uses}
    behind = [user for user in users if len(users) == len(last.results) == 1 and only_moves(user, groups) and len(user.results) == 1]
    return before, behind


def made_of_indices(call: ir.Operation, groups: Groups) -> list[ir.Operation]:
    """The calls before a group that compute what it reads of indices alone (masks), in order: the kernel knows its rows and columns."""
    found: list[ir.Operation] = []
    for value in call.operands:
        maker = defining_op(value)
        if maker is not None and maker not in found and _is_of_indices(maker, groups):
            found += [each for each in (*made_of_indices(maker, groups), maker) if each not in found]
    return found


def _is_of_indices(call: ir.Operation, groups: Groups) -> bool:
    """Whether a call has constants and indices for its ground, and few ops."""
    function = groups.get(callee_of(call)) if call.name == "func.call" else None
    if function is None or len(call.results) != 1:
        return False
    ops = body_ops(function)
    if len(ops) > _MOST_OF_INDICES or not all(op.name.removeprefix("stablehlo.") in EVALUATED and not op.regions for op in ops):
        return False
    return all((maker := defining_op(value)) is not None and _is_of_indices(maker, groups) for value in call.operands)


def only_moves(call: ir.Operation, groups: Groups) -> bool:
    """Whether a call has another array's elements in another order, or a part of them."""
    function = groups.get(callee_of(call)) if call.name == "func.call" else None
    if function is None or len(call.operands) != 1 or len(call.results) != 1:
        return False
    return all(op.name in MOVES for op in body_ops(function))


def _read_by(maker: ir.Operation, calls: Sequence[ir.Operation]) -> bool:
    return all(use.owner.operation in calls for use in maker.results[0].uses)


def fold_moves(function: ir.Operation, second: ir.Operation) -> ir.Operation | None:
    """Has both contractions of a group read arguments as they lie; returns the second one. None where the elements of a head would not lie
    together, or something is no stride: the function is to be thrown away then."""
    first = next(op for op in ops_in(function.regions[0].blocks[0]) if op.name == "stablehlo.dot_general")
    last = _folded(second, _weights_and_values(second)) if _folded(first, _queries_and_keys(first)) is not None else None
    erase_unused([op for op in ops_in(function.regions[0].blocks[0]) if op.name in (*MOVES, "stablehlo.dot_general")])
    return last


def keeps_heads(function: ir.Operation) -> bool:
    """Whether elements that a contraction reads of one head lie together in the arguments that moves lead back to."""
    for dot in [op for op in ops_in(function.regions[0].blocks[0]) if op.name == "stablehlo.dot_general"]:
        views = [_argument(value) for value in dot.operands]
        at_points = all(is_block_argument(view.source) for view in views)
        heads = DotDims.of(dot).contracting if at_points else [DotDims.of(dot).free(side) for side in (0, 1)]
        for view, head in zip(views, heads):
            if is_block_argument(view.source) and [stride for _, stride in _runs(view, head)][-1:] != [1]:
                return False
    return True


def _queries_and_keys(dot: ir.Operation) -> list[tuple[View, Sequence[int]]]:
    """Both operands' views, and the dimensions of a head's elements."""
    return [(_argument(value), DotDims.of(dot).contracting[side]) for side, value in enumerate(dot.operands)]


def _weights_and_values(dot: ir.Operation) -> list[tuple[View, Sequence[int]]]:
    weights, values = dot.operands
    return [(itself(weights), ()), (_argument(values), DotDims.of(dot).free(1))]


def _argument(value: ir.Value) -> View:
    """The value as a view of an argument, or of itself."""
    view = view_of(value)
    return view if is_block_argument(view.source) else itself(value)


def _folded(dot: ir.Operation, operands: Sequence[tuple[View, Sequence[int]]]) -> ir.Operation | None:
    """The contraction of what the views are of."""
    for view, head in operands:
        if is_block_argument(view.source) and [stride for _, stride in _runs(view, head)][-1:] != [1]:
            return None
    numbers, views = DotDims.of(dot), [itself(v) if view.repeats else view for v, (view, _) in zip(dot.operands, operands)]
    batch, summed = (refined(*(_runs(view, dims) for view, dims in zip(views, pair))) for pair in (numbers.batch, numbers.contracting))
    if batch is None or summed is None:
        return None
    free = [_runs(view, numbers.free(side)) for side, view in enumerate(views)]
    with ir.InsertionPoint(dot), dot.location:
        left, right = (emit(view, (*batch[side], *summed[side], *free[side])) for side, view in enumerate(views))
        if left is None or right is None:
            return None
        places = left[1], right[1]
        ends = len(batch[0]), len(batch[0]) + len(summed[0])
        if any(each[ends[1] :] != sorted(each[ends[1] :]) for each in places):
            return None  # the result would have these in another order
        pairs = [(tuple(places[0][a:b]), tuple(places[1][a:b])) for a, b in ((0, ends[0]), ends)]
        dims = DotDims(pairs[0], pairs[1], (len(places[0]), len(places[1])))
        shape = [extent for extent, _ in (*batch[0], *free[0], *free[1])]
        result = dims.emit(dot, left[0], right[0], build.tensor(shape, build.element_of(dot.results[0])))
        dot.results[0].replace_all_uses_with(build.reshape(result, build.shape_of(dot.results[0])))
    return result.owner.operation


def _runs(view: View, dims: Sequence[int]) -> Runs:
    return tuple(run for d in dims for run in view.dims[d])
