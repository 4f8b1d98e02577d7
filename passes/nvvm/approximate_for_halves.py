"""approximate-for-halves: exponentials in sums that only results of f16 and bf16 depend on, as those of sigmoids, may be approximate.

Before:
    %e = math.exp %x : f32
    %y = arith.addf %e, %one : f32
    %r = arith.truncf %y : f32 to bf16
After:
    %e = math.exp %x fastmath<afn> : f32

`approximate-powers` makes it the hardware's power of 2 of x log2(e), whose rounding is off by |x| 2^-24 of the result: 5e-6 at the ends of
f32's range, where half a unit of bf16 is 2e-3, of f16 (whose numbers end at |x| = 17) 5e-4.

The hardware's power takes numbers below 2^-126 for 0. So the exponential must only be added to what is much larger, such as the 1 of a
sigmoid. Followed are sums, products, quotients, extremes and choices between values: what depends on a value continuously.

Must hold: stage nvvm. Declined: exponentials that anything else reads (comparisons, roundings to integers, stores, loops), those that are
not only added, and other types.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.ranges import Ranges
from ..common.rewriting import walk
from ..common.vectors import element_of
from ..registry import register_pass

_INVISIBLE = 2.0**-100
"""Numbers from here on are the same with a number below 2^-126 added."""
_CONTINUOUS = {
    "arith.addf",
    "arith.divf",
    "arith.maximumf",
    "arith.minimumf",
    "arith.mulf",
    "arith.negf",
    "arith.select",
    "arith.subf",
    "math.absf",
    "math.fma",
    "vector.extract",
    "vector.from_elements",
}


@register_pass("approximate-for-halves", "lets exponentials be approximate that only halves depend on", ops=("math.exp",))
def approximate_for_halves(module: ir.Operation) -> None:
    known: dict[ir.Operation, bool] = {}
    for op in walk(module, "math.exp"):
        if isinstance(element_of(op.results[0].type), ir.F32Type) and _is_added(op.results[0]) and _ends_in_halves(op, known):
            op.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<afn>")


def _ends_in_halves(op: ir.Operation, known: dict[ir.Operation, bool]) -> bool:
    """Whether all that `op` computes is rounded to halves before anything else is done with it. What is used comes before its uses."""
    pending = [op]
    while pending:
        users = {use.owner.operation for result in pending[-1].results for use in result.uses}
        open_users = [user for user in users if user.name in _CONTINUOUS and user not in known]
        if open_users:
            pending += open_users
            continue
        done = pending.pop()
        known[done] = bool(users) and all(known.get(user, False) or _rounds_to_half(user) for user in users)
    return known[op]


def _rounds_to_half(op: ir.Operation) -> bool:
    return op.name == "arith.truncf" and isinstance(element_of(op.results[0].type), (ir.F16Type, ir.BF16Type))


def _is_added(value: ir.Value) -> bool:
    """Whether a value is only added to what is much larger than the least numbers."""
    ranges = Ranges()
    users = [use.owner.operation for use in value.uses]
    if not all(user.name == "arith.addf" for user in users):
        return False
    others = [ranges.of(operand) for user in users for operand in user.operands if operand != value]
    return bool(others) and all(low >= _INVISIBLE or high <= -_INVISIBLE for low, high in others)
