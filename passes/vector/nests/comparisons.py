"""What is known of indices while code is emitted: their bounds in the live lanes, which of two is the greater, what a comparison or a
division gives."""

from __future__ import annotations

from torch_mlir import ir

from ...common.linear_index import LinearIndex
from ...common.rewriting import is_block_argument
from ...common.scalars import INTEGER_PREDICATES, constant_integer
from .divisors import quotient_of
from .lanes import Lanes, Rep

PREDICATES = {number: name for name, number in INTEGER_PREDICATES.items()}


def bounds(index: LinearIndex, lanes: Lanes) -> tuple[int, int] | None:
    """The least and the greatest value of an index in the live lanes; None where that is not known."""
    reaches = [(factor, _reach(variable, lanes)) for variable, factor in index.terms.items()]
    live = lanes.live or lanes.known_live()
    if index.lanes and not live:
        return None
    ends = [(index.lanes * (live - 1), 0)] if index.lanes else []
    for factor, reach in reaches:
        if reach is None:
            return None
        ends.append((factor * reach[0], factor * reach[1]))
    return index.constant + sum(map(min, ends)), index.constant + sum(map(max, ends))


def _reach(value: ir.Value, lanes: Lanes) -> tuple[int, int] | None:
    """The least and the greatest value of an index, where that is told, of a loop with constant bounds, and of quotients of both."""
    if value in lanes.reach:
        return lanes.reach[value]
    if (divided := quotient_of(value, lanes.multiples)) is not None:
        reach = _reach(divided[0], lanes)
        return None if reach is None else (reach[0] // divided[1], reach[1] // divided[1])
    loop = ir.BlockArgument(value).owner.owner if is_block_argument(value) else None
    if loop is None or loop.name != "scf.for" or ir.BlockArgument(value).arg_number:
        return None
    lower, upper, step = map(constant_integer, list(loop.operands)[:3])
    if lower is None or upper is None or step is None or upper <= lower:
        return None
    return lower, lower + (upper - lower - 1) // step * step


def clamped(name: str, a: LinearIndex, b: LinearIndex, lanes: Lanes) -> LinearIndex | None:
    """The one of two indices that is the greater (arith.maxsi) or the lesser (arith.minsi) in all live lanes; None if that is not known."""
    between = bounds(a - b, lanes) if name in ("arith.maxsi", "arith.minsi") else None
    if between is None or between[0] < 0 < between[1]:
        return None
    return a if (between[0] >= 0) == (name == "arith.maxsi") else b


def divided(name: str, a: LinearIndex, b: LinearIndex, lanes: Lanes) -> LinearIndex | None:
    """The quotient (arith.divui) or remainder (arith.remui) of an index where the quotient is one number in all live lanes; else None."""
    between = bounds(a, lanes) if name in ("arith.divui", "arith.remui") and b.is_constant and b.constant > 0 else None
    if between is None or between[0] < 0 or between[0] // b.constant != between[1] // b.constant:
        return None
    quotient = between[0] // b.constant
    return LinearIndex(constant=quotient) if name == "arith.divui" else a - quotient * b.constant


def compared(op: ir.Operation, a: Rep, b: Rep, lanes: Lanes) -> bool | None:
    """What a comparison of two indices gives in all live lanes; None where that is not known."""
    if not isinstance(a, LinearIndex) or not isinstance(b, LinearIndex):
        return None
    predicate = PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
    between = bounds(a - b, lanes)
    if between is None:
        return None
    sure, possible = truth(predicate, *between) or (False, True)
    return True if sure else None if possible else False


def truth(predicate: str, low: int, high: int) -> tuple[bool, bool] | None:
    """Whether a comparison of two numbers that differ by `low` to `high` holds for sure, and whether it can; None of unsigned ones."""
    none, some = low == high == 0, low <= 0 <= high
    holds = {
        "slt": (high < 0, low < 0), "sle": (high <= 0, low <= 0), "sgt": (low > 0, high > 0), "sge": (low >= 0, high >= 0),
        "eq": (none, some), "ne": (not some, not none),
    }  # fmt: skip
    return holds.get(predicate)
