"""simplify-loops: while loops carry what changes and is used, and compute in the body what depends on the turn.

Before:
    %r:4 = stablehlo.while(%i = %c0, %j = %c0, %w = %arg0, %x = %arg1) cond { %i < 10 } do {
      %0 = stablehlo.exponential %w                               // does not depend on the turn
      %1 = stablehlo.compare LT, %j, %c0                          // %j counts as %i does, from 0 to 9
      …
      stablehlo.return %i + 1, %j + 1, %w, %x'
    }
After:
    %0 = stablehlo.exponential %arg0
    %r:2 = stablehlo.while(%i = %c0, %x = %arg1) cond { %i < 10 } do { …, stablehlo.return %i + 1, %x' }

In this order: a carry that never changes becomes the value it had; counters that run alike become one; comparisons of a counter with a
constant beyond its range are decided; carries that only feed themselves go; ops on values from outside move out. Constants, iotas,
broadcasts, reshapes and cheap arithmetic on those alone stay inside, where they cost nothing, unless an op that moves needs them.
Upstream's loop-invariant-code-motion does not know stablehlo.while. Must hold: nothing. Declined: moving ops with regions that read the
body's values; loops whose counter is unknown keep their comparisons.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.ops import FREE, OPS, Kind, kind_of
from ..common.rewriting import captured_values, defining_op, is_block_argument, is_used, ops_in, replace
from ..registry import register_pass
from .rules import loops
from .support import build, constants
from .support.driver import drop_dead

_FREE = FREE - {"stablehlo.slice"}


@register_pass(
    "simplify-loops", "drops carries that do not change or are not used, moves invariant ops out of loops", ops=("stablehlo.while",)
)
def simplify_loops(module: ir.Operation) -> None:
    for found in loops.while_ops(module):
        loop = _drop_invariant(found)
        _merge_counters(loop)
        _decide_comparisons(loop)
        loop = _drop_unused(loop)
        _hoist(loop)
    drop_dead(module)


def _drop_invariant(loop: ir.Operation) -> ir.Operation:
    arguments, inits = loops.body_block(loop).arguments, list(loop.operands)
    replacements = {
        index: inits[index] for index, value in enumerate(loops.yielded(loop)) if value == arguments[index] or _equal(value, inits[index])
    }
    if not replacements:
        return loop
    return loops.keep_carries(loop, [i for i in range(len(inits)) if i not in replacements], replacements)


def _equal(a: ir.Value, b: ir.Value) -> bool:
    """The same value, or constants of the same elements."""
    if a == b:
        return True
    left, right = constants.elements_attribute(a), constants.elements_attribute(b)
    return left is not None and right is not None and left == right


def _merge_counters(loop: ir.Operation) -> None:
    first: dict[tuple[int, int, str], int] = {}
    for index, init in enumerate(loop.operands):
        found = loops.step_of(loop, index)
        if found is None:
            continue
        same = first.setdefault((*found, str(init.type)), index)
        if same != index:
            for block in (loops.condition_block(loop), loops.body_block(loop)):
                block.arguments[index].replace_all_uses_with(block.arguments[same])
            loop.results[index].replace_all_uses_with(loop.results[same])


def _decide_comparisons(loop: ir.Operation) -> None:
    counter = loops.find_counter(loop)
    if counter is None or counter.trips == 0:
        return
    body = loops.body_block(loop)
    argument = body.arguments[counter.index]
    for use in list(argument.uses):
        compare = use.owner.operation
        if compare.name != "stablehlo.compare" or compare.operands[0] != argument:
            continue
        limit = constants.constant_index(compare.operands[1])
        if limit is None or loops.direction(compare) in ("EQ", "NE") or compare.block == loops.condition_block(loop):
            continue
        outcomes = {loops.holds(compare, value, limit) for value in (counter.low, counter.high)}
        if len(outcomes) == 1:
            kind = compare.results[0].type
            with compare.location, ir.InsertionPoint(compare):
                replace(compare, [build.full(kind, outcomes.pop())])


def _drop_unused(loop: ir.Operation) -> ir.Operation:
    """Liveness over the carries: each value of the body knows the carries it depends on, as bits of a number."""
    condition, body = loops.condition_block(loop), loops.body_block(loop)
    reads = _dependencies(body)
    live = {i for i, result in enumerate(loop.results) if is_used(result)}
    live |= {i for i, argument in enumerate(condition.arguments) if is_used(argument)}
    values, pending = loops.yielded(loop), list(live)
    while pending:
        bits = reads.get(values[pending.pop()], 0)
        for index in range(len(values)):
            if bits >> index & 1 and index not in live:
                live.add(index)
                pending.append(index)
    return loops.keep_carries(loop, sorted(live), {}) if len(live) < len(values) else loop


def _dependencies(body: ir.Block) -> dict[ir.Value, int]:
    bits = {argument: 1 << index for index, argument in enumerate(body.arguments)}
    _add_dependencies(body, bits)
    return bits


def _add_dependencies(block: ir.Block, bits: dict[ir.Value, int]) -> int:
    """Adds those of the block's values to `bits`; returns all of them together."""
    union = 0
    for op in ops_in(block):
        mine = 0
        for value in op.operands:
            mine |= bits.get(value, 0)
        for region in op.regions:
            for inner in region.blocks:
                mine |= _add_dependencies(inner, bits)
        for result in op.results:
            bits[result] = mine
        union |= mine
    return union


def _hoist(loop: ir.Operation) -> None:
    body = loops.body_block(loop)
    ops = ops_in(body)[:-1]
    invariant: dict[ir.Value, bool] = {}  # whether a value of the body that depends on none of its arguments is made of constants alone
    moving: set[ir.Value] = set()
    for op in ops:
        if not op.name.startswith("stablehlo.") or kind_of(op) is Kind.CONTROL or op.name == "stablehlo.custom_call" or captured_values(op):
            continue
        if any(_is_inside(value, body) and value not in invariant for value in op.operands):
            continue
        fresh = all(invariant.get(value, _is_free(value)) for value in op.operands)
        scalar = all(build.count_of(result) == 1 for result in op.results)
        invariant.update((result, fresh) for result in op.results)
        if op.name not in _FREE and not (_is_cheap(op) and fresh and not scalar):
            moving.update(op.results)
    for op in reversed(ops):  # what moves takes along what it is made of
        if any(result in moving for result in op.results):
            moving.update(value for value in op.operands if value in invariant)
    for op in ops:
        if any(result in moving for result in op.results):
            op.move_before(loop)


def _is_inside(value: ir.Value, body: ir.Block) -> bool:
    return value.owner == body if is_block_argument(value) else value.owner.operation.block == body


def _is_free(value: ir.Value) -> bool:
    op = defining_op(value)
    return op is not None and op.name in _FREE and all(_is_free(v) for v in op.operands)


def _is_cheap(op: ir.Operation) -> bool:
    """Whether it is about as much work as an addition, and folded."""
    info = OPS.get(op.name)
    return info is not None and info.scalar is not None and info.fold is not None and info.work == 1
