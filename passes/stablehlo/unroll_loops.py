"""unroll-loops: short counted loops become straight code.

Before:
    %r:2 = stablehlo.while(%i = %c0, %x = %arg0) cond { %i < 3 } do { %0 = stablehlo.tanh %x; stablehlo.return %i + 1, %0 }
After:
    %0 = stablehlo.tanh %arg0
    %1 = stablehlo.tanh %0
    %2 = stablehlo.tanh %1

For loops with a known trip count of at most `max-trips` and a body of at most `max-ops` ops that is nested in a loop or only computes
elementwise and moves data (threefry's rounds are such loops); inner loops first. A loop that turns once or never is inlined whatever its
size. A policy's `[[loop]]` rules go before: `unroll = true` asks for straight code wherever the trip count is known and `_MOST_OPS` ops
are enough for it, `false` leaves a loop that turns more than once. Upstream unrolls loops of affine and scf alone. Must hold: nothing.
Declined: unknown trip counts, and outermost loops over dots, convolutions and reductions, whose kernels would be compiled once a turn.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.ops import Kind, named
from ..common.rewriting import around, replace, walk
from ..fused.planner.loop_wishes import LoopWishes
from ..fused.planner.policy import policy_of
from ..registry import register_pass
from .rules import loops
from .support.driver import clone_into

_HEAVY = named(Kind.REDUCE, Kind.WINDOW, Kind.SORT, Kind.MATMUL, Kind.CONV, Kind.SCATTER, Kind.CONTROL)
_MOST_OPS = 4096
"""No policy makes more than so many ops of a loop."""


@register_pass("unroll-loops", "unrolls short counted loops")
def unroll_loops(module: ir.Operation, *, max_trips: int = 16, max_ops: int = 64) -> None:
    wishes = LoopWishes(policy_of(module).loop, lambda rule: rule.unroll is not None)
    for loop in loops.while_ops(module):
        counter = loops.find_counter(loop)
        trips = None if counter is None else counter.trips
        wanted = _wanted(wishes, loop, trips)
        if trips is not None and (trips <= 1 or (_is_small(loop, trips, max_trips, max_ops) if wanted is None else wanted)):
            _unroll(loop, trips)
    wishes.tell(module)


def _wanted(wishes: LoopWishes, loop: ir.Operation, trips: int | None) -> bool | None:
    """Whether the first rule that matches wants straight code, and that can be; None where no rule matches."""
    number = wishes.rule_for(loop, trips)
    if number is None:
        return None
    unroll = bool(wishes.rules[number].unroll)
    obstacle = _obstacle(loop, trips) if unroll else ""
    wishes.became(number, loop, obstacle)
    return unroll and not obstacle


def _obstacle(loop: ir.Operation, trips: int | None) -> str:
    """Why a loop cannot become straight code."""
    if trips is None:
        return "nobody knows how often it turns"
    ops = trips * len(walk(loop))
    return f"it would be {ops} ops, and {_MOST_OPS} are the most" if ops > _MOST_OPS else ""


def _unroll(loop: ir.Operation, trips: int) -> None:
    body = loops.body_block(loop)
    values = list(loop.operands)
    with ir.InsertionPoint(loop):
        for _ in range(trips):
            values = clone_into(body, dict(zip(body.arguments, values)))
    replace(loop, values)


def _is_small(loop: ir.Operation, trips: int, max_trips: int, max_ops: int) -> bool:
    ops = [op for op in walk(loop) if op.name not in ("stablehlo.constant", "stablehlo.return")]
    in_body = len(ops) - 1 - len(list(loops.condition_block(loop).operations))
    if trips > max_trips or in_body > max_ops:
        return False
    return _is_nested(loop) or not any(op.name in _HEAVY for op in ops[:-1])


def _is_nested(loop: ir.Operation) -> bool:
    return any(outer.name == "stablehlo.while" for outer in around(loop))
