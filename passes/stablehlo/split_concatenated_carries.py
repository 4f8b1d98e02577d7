"""split-concatenated-carries: a loop carry that the body takes apart by slices and puts together by a concatenate becomes several carries.

Before:
    %r = stablehlo.while(%s = %arg0) … do {                        // %s: tensor<4x2048xf32>
      %a = stablehlo.slice %s [0:1, 0:2048]; …                     // and [1:2], [2:3], [3:4]
      %c = stablehlo.concatenate %a', %b', %c', %d', dim = 0
      %n = stablehlo.select %p, %fresh, %c
      stablehlo.return %n
    }
After:
    %r:4 = stablehlo.while(%s0 = …, %s1 = …, %s2 = …, %s3 = …) … do {    // tensor<2048xf32> each
      …
      %n0 = stablehlo.select %p', %fresh[0:1], %a'; …
      stablehlo.return %n0, %n1, %n2, %n3
    }
    %whole = stablehlo.concatenate …                               // only if the loop's result is used whole

The pieces are the concatenate's operands; one of extent 1 loses the dimension. What is yielded may be an elementwise op, or several, over
the concatenate: each is done piece by piece, the other operands being sliced. So the body holds vectors and no copy. Must hold: nothing.
Declined: carries of which the body reads anything but slices that lie within a piece (other than on the way to what is yielded).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from torch_mlir import ir

from ..common.ops import Kind, kind_of
from ..common.rewriting import attributes_of, defining_op, integer, integers, is_used, ops_in, producer, value_of
from ..registry import register_pass
from .rules import loops
from .support import build
from .support.driver import drop_dead


@register_pass("split-concatenated-carries", "splits loop carries that are concatenated and sliced again", ops=("stablehlo.while",))
def split_concatenated_carries(module: ir.Operation) -> None:
    for found in loops.while_ops(module):
        loop = found
        for index in reversed(range(len(loop.operands))):
            plan = _plan(loop, index)
            if plan is not None:
                loop = _split(loop, index, plan)
    drop_dead(module)


@dataclass(frozen=True)
class _Plan:
    """Pieces [bounds[i], bounds[i + 1]) along `axis`; `path` holds the values from the concatenate to what is yielded."""

    axis: int
    bounds: tuple[int, ...]
    path: set[ir.Value]

    @property
    def pieces(self) -> list[tuple[int, int]]:
        return list(zip(self.bounds, self.bounds[1:]))


def _plan(loop: ir.Operation, index: int) -> _Plan | None:
    body = loops.body_block(loop)
    argument, value = body.arguments[index], loops.yielded(loop)[index]
    behind = _elementwise_producers(value, body)
    concatenate = next((op for value in behind if (op := producer(value, "stablehlo.concatenate"))), None)
    if concatenate is None or is_used(loops.condition_block(loop).arguments[index]):
        return None
    axis, bounds = integer(concatenate, "dimension"), _bounds(concatenate)
    path: set[ir.Value] = set()
    for op in ops_in(body):
        if len(op.results) == 1 and op.results[0] in behind and _leads(op, axis, bounds, path | {argument}):
            path.add(op.results[0])
    plan = _Plan(axis, bounds, path)
    sliced = False
    for use in argument.uses:
        user = use.owner.operation
        inside = user.name == "stablehlo.slice" and _inside_a_piece(user, plan)
        sliced |= inside
        if not inside and user.name != "stablehlo.return" and not (len(user.results) == 1 and user.results[0] in path):
            return None
    return plan if sliced and value in path else None


def _elementwise_producers(value: ir.Value, body: ir.Block) -> set[ir.Value]:
    """`value`, and what it is made of by elementwise ops of the body; concatenates end the search."""
    found, pending = set(), [value]
    while pending:
        value = pending.pop()
        op = defining_op(value)
        if value in found or op is None or op.block != body:
            continue
        found.add(value)
        if kind_of(op) is Kind.ELEMENTWISE:
            pending.extend(v for v in op.operands if build.shape_of(v))
    return found


def _bounds(concatenate: ir.Operation) -> tuple[int, ...]:
    axis = integer(concatenate, "dimension")
    return (0, *accumulate(build.shape_of(v)[axis] for v in concatenate.operands))


def _leads(op: ir.Operation, axis: int, bounds: tuple[int, ...], path: set[ir.Value]) -> bool:
    if op.name == "stablehlo.concatenate":
        return integer(op, "dimension") == axis and _bounds(op) == bounds
    return kind_of(op) is Kind.ELEMENTWISE and any(value in path for value in op.operands)


def _inside_a_piece(op: ir.Operation, plan: _Plan) -> bool:
    start, limit = (integers(op, name)[plan.axis] for name in ("start_indices", "limit_indices"))
    return any(a <= start and limit <= b for a, b in plan.pieces)


def _split(loop: ir.Operation, index: int, plan: _Plan) -> ir.Operation:
    inits = list(loop.operands)
    old = (loops.condition_block(loop), loops.body_block(loop))
    shape = build.shape_of(inits[index])
    with loop.location, ir.InsertionPoint(loop):
        pieces = _cut(inits[index], plan)

    def fill(*blocks: ir.Block) -> list[ir.Value]:
        for before, after in zip(old, blocks):
            _replace_others(before.arguments, after.arguments, index)
        body, argument = blocks[1], old[1].arguments[index]
        parts = {argument: list(body.arguments)[index : index + len(pieces)]}
        for op in ops_in(body):
            if len(op.results) == 1 and op.results[0] in plan.path:
                with op.location, ir.InsertionPoint(op):
                    parts[op.results[0]] = _parts(op, plan, parts)
        with loop.location, ir.InsertionPoint.at_block_begin(body):
            argument.replace_all_uses_with(_whole(parts[argument], plan, shape))
        values = list(loops.terminator(body).operands)  # another carry may be the argument
        return [*values[:index], *parts[values[index]], *values[index + 1 :]]

    new = loops.rebuild(loop, [*inits[:index], *pieces, *inits[index + 1 :]], fill)
    _replace_others(loop.results, new.results, index)
    if is_used(loop.results[index]):
        with loop.location, ir.InsertionPoint(loop):
            parts = list(new.results)[index : index + len(pieces)]
            loop.results[index].replace_all_uses_with(_whole(parts, plan, shape))
    loop.erase()
    return new


def _replace_others(before: Sequence[ir.Value], after: Sequence[ir.Value], index: int) -> None:
    """Replaces the values but that at `index`, in whose place there are several."""
    more = len(after) - len(before)
    for i, value in enumerate(before):
        if i != index:
            value.replace_all_uses_with(after[i if i < index else i + more])


def _parts(op: ir.Operation, plan: _Plan, known: dict[ir.Value, list[ir.Value]]) -> list[ir.Value]:
    """The pieces of an op on the path, from those of its operands."""
    if op.name == "stablehlo.concatenate":
        return [_squeezed(value, plan.axis) for value in op.operands]
    cut = [known.get(v) or (_cut(v, plan) if build.shape_of(v) else [v] * len(plan.pieces)) for v in op.operands]
    element = build.element_of(op.results[0])
    kinds = [build.tensor(max(map(build.shape_of, operands), key=len), element) for operands in zip(*cut)]
    return [value_of(op.name, kind, operands, **attributes_of(op)) for kind, operands in zip(kinds, zip(*cut))]


def _cut(value: ir.Value, plan: _Plan) -> list[ir.Value]:
    return [_squeezed(build.slice_dim(value, plan.axis, start, limit), plan.axis) for start, limit in plan.pieces]


def _whole(parts: list[ir.Value], plan: _Plan, shape: list[int]) -> ir.Value:
    rows = []
    for part, (start, limit) in zip(parts, plan.pieces):
        extents = list(shape)
        extents[plan.axis] = limit - start
        rows.append(build.reshape(part, extents))
    return build.concatenate(rows, plan.axis)


def _squeezed(value: ir.Value, axis: int) -> ir.Value:
    shape = build.shape_of(value)
    return build.reshape(value, [*shape[:axis], *shape[axis + 1 :]]) if shape[axis] == 1 else value
