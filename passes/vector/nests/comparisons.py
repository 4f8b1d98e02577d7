"""What is known of indices while code is emitted: their bounds in the live lanes, which of two is the greater, what a comparison gives."""

from __future__ import annotations

from torch_mlir import ir

from ...common.linear_index import LinearIndex
from ...common.rewriting import is_block_argument
from ...common.scalars import INTEGER_PREDICATES, constant_integer
from .lanes import Lanes, Rep

PREDICATES = {number: name for name, number in INTEGER_PREDICATES.items()}


def bounds(index: LinearIndex, lanes: Lanes) -> tuple[int, int] | None:
    """The least and the greatest value of an index in the live lanes; None where that is not known."""
    reaches = [(factor, lanes.reach.get(variable) or _reach(variable)) for variable, factor in index.terms.items()]
    live = lanes.live or lanes.known_live()
    if index.lanes and not live:
        return None
    ends = [(index.lanes * (live - 1), 0)] if index.lanes else []
    for factor, reach in reaches:
        if reach is None:
            return None
        ends.append((factor * reach[0], factor * reach[1]))
    return index.constant + sum(map(min, ends)), index.constant + sum(map(max, ends))


def _reach(value: ir.Value) -> tuple[int, int] | None:
    """The least and the greatest value of a loop's index, where the loop's bounds are constants."""
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
