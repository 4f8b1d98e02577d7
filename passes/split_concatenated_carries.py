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

The pieces are the concatenate's operands; one of extent 1 loses the dimension. What is yielded may be an elementwise op, or several, over the
concatenate: each is done piece by piece, the other operands being sliced. So the body holds vectors and no copy.
Declined: carries of which the body reads anything but slices that lie within a piece (other than on the way to what is yielded).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate

from torch_mlir import ir

from .registry import register_pass
from .rewriting import defining_op
from .stablehlo import build, constants, loops
from .stablehlo.driver import drop_dead
from .stablehlo.evaluate import EVALUATORS

_ELEMENTWISE = {f"stablehlo.{name}" for name in EVALUATORS if name != "bitcast_convert"}


@register_pass("split-concatenated-carries", "splits loop carries that are concatenated and sliced again")
def split_concatenated_carries(module: ir.Operation) -> None:
    for number in range(len(loops.while_ops(module))):
        loop = loops.while_ops(module)[number]
        for index in reversed(range(len(list(loop.operands)))):
            plan = _plan(loop, index)
            if plan is not None:
                loop = _split(loop, index, plan)
        drop_dead(loop.parent)


@dataclass(frozen=True)
class _Plan:
    """Pieces [bounds[i], bounds[i + 1]) along `axis`."""

    axis: int
    bounds: tuple[int, ...]

    @property
    def pieces(self) -> list[tuple[int, int]]:
        return list(zip(self.bounds, self.bounds[1:]))


def _plan(loop: ir.Operation, index: int) -> _Plan | None:
    argument = loops.body_block(loop).arguments[index]
    if next(iter(loops.condition_block(loop).arguments[index].uses), None):
        return None
    value = loops.yielded(loop)[index]
    concatenate = _find_concatenate(value, loops.body_block(loop))
    if concatenate is None:
        return None
    axis = build.integer(concatenate, "dimension")
    plan = _Plan(axis, (0, *accumulate(build.shape_of(v)[axis] for v in concatenate.operands)))
    path = _path_to(value, concatenate)
    sliced = 0
    for use in argument.uses:
        user = use.owner.operation
        if user.name == "stablehlo.slice" and _inside_a_piece(user, plan):
            sliced += 1
        elif not any(user == op for op in path) and user.name != "stablehlo.return":
            return None
    return plan if sliced else None


def _inside_a_piece(op: ir.Operation, plan: _Plan) -> bool:
    start, limit = (build.integers(op, name)[plan.axis] for name in ("start_indices", "limit_indices"))
    return any(a <= start and limit <= b for a, b in plan.pieces)


def _find_concatenate(value: ir.Value, body: ir.Block) -> ir.Operation | None:
    """The concatenate that `value` is, up to elementwise ops of the same shape in the body."""
    pending, seen = [value], set()
    while pending:
        op = defining_op(pending.pop())
        if op is None or op in seen or op.block != body:
            continue
        seen.add(op)
        if op.name == "stablehlo.concatenate":
            return op
        if op.name in _ELEMENTWISE:
            pending.extend(v for v in op.operands if build.shape_of(v) == build.shape_of(value))
    return None


def _path_to(value: ir.Value, concatenate: ir.Operation) -> list[ir.Operation]:
    """The elementwise ops between `value` and the concatenate."""
    found: list[ir.Operation] = []

    def reaches(value: ir.Value) -> bool:
        op = defining_op(value)
        if op is None or op.name not in (*_ELEMENTWISE, "stablehlo.concatenate"):
            return False
        if op == concatenate or any(op == other for other in found):
            return True
        if op.name in _ELEMENTWISE and any([reaches(v) for v in op.operands]):
            found.append(op)
            return True
        return False

    reaches(value)
    return found


def _split(loop: ir.Operation, index: int, plan: _Plan) -> ir.Operation:
    inits, count = list(loop.operands), len(plan.pieces)
    old = (loops.condition_block(loop), loops.body_block(loop))
    shape = build.shape_of(inits[index])
    with loop.location, ir.InsertionPoint(loop):
        pieces = [_piece(inits[index], plan, number, {}) for number in range(count)]

    def position(i: int) -> int:
        return i if i < index else i + count - 1

    def fill(*blocks: ir.Block) -> list[ir.Value]:
        for before, after in zip(old, blocks):
            for i in range(len(inits)):
                if i != index:
                    before.arguments[i].replace_all_uses_with(after.arguments[position(i)])
        body = blocks[1]
        end = loops.terminator(body)
        parts = list(body.arguments)[index : index + count]
        split = {old[1].arguments[index]: parts}
        with end.location, ir.InsertionPoint(end):
            parted = [_piece(end.operands[index], plan, number, split) for number in range(count)]
        with loop.location, ir.InsertionPoint.at_block_begin(body):
            old[1].arguments[index].replace_all_uses_with(_whole(parts, plan, shape))
        values = list(end.operands)
        return [*values[:index], *parted, *values[index + 1 :]]

    new = loops.rebuild(loop, [*inits[:index], *pieces, *inits[index + 1 :]], fill)
    for i, result in enumerate(loop.results):
        if i != index:
            result.replace_all_uses_with(new.results[position(i)])
        elif next(iter(result.uses), None):
            with loop.location, ir.InsertionPoint(loop):
                result.replace_all_uses_with(_whole(list(new.results)[index : index + count], plan, shape))
    loop.erase()
    return new


def _whole(parts: list[ir.Value], plan: _Plan, shape: list[int]) -> ir.Value:
    rows = []
    for part, (start, limit) in zip(parts, plan.pieces):
        extents = list(shape)
        extents[plan.axis] = limit - start
        rows.append(build.reshape(part, extents))
    return build.concatenate(rows, plan.axis)


def _piece(value: ir.Value, plan: _Plan, number: int, split: dict[ir.Value, list[ir.Value]]) -> ir.Value:
    """Piece `number` of `value`: of a split carry, of a concatenate, or an elementwise op on the operands' pieces where it leads to one."""
    if value in split:
        return split[value][number]
    op = defining_op(value)
    if op is not None and op.name == "stablehlo.concatenate" and build.integer(op, "dimension") == plan.axis:
        bounds = (0, *accumulate(build.shape_of(v)[plan.axis] for v in op.operands))
        if bounds == plan.bounds:
            return _squeezed(op.operands[number], plan.axis)
    if op is not None and op.name in _ELEMENTWISE and _leads_to_pieces(op, plan, split):
        operands = [_piece(v, plan, number, split) if build.shape_of(v) else v for v in op.operands]
        kind = build.tensor(build.shape_of(operands[-1]), build.element_of(value))
        return ir.Operation.create(op.name, results=[kind], operands=operands, attributes=build.attributes_of(op)).results[0]
    start, limit = plan.pieces[number]
    attribute = constants.splat_attribute(value)
    if attribute is not None:
        extents = build.shape_of(value)
        extents[plan.axis] = limit - start
        return _squeezed(build.splat(build.tensor(extents, build.element_of(value)), attribute), plan.axis)
    return _squeezed(build.slice_dim(value, plan.axis, start, limit), plan.axis)


def _leads_to_pieces(op: ir.Operation, plan: _Plan, split: dict[ir.Value, list[ir.Value]]) -> bool:
    for value in op.operands:
        inner = defining_op(value)
        if value in split:
            return True
        if inner is None:
            continue
        if inner.name == "stablehlo.concatenate" and build.integer(inner, "dimension") == plan.axis:
            return True
        if inner.name in _ELEMENTWISE and build.shape_of(value) and _leads_to_pieces(inner, plan, split):
            return True
    return False


def _squeezed(value: ir.Value, axis: int) -> ir.Value:
    shape = build.shape_of(value)
    return build.reshape(value, [*shape[:axis], *shape[axis + 1 :]]) if shape[axis] == 1 else value
