"""How often a counted loop turns: one whose condition compares an integer counter with a constant."""

from __future__ import annotations

from torch_mlir import ir

FLIPPED = {"EQ": "EQ", "NE": "NE", "LT": "GT", "LE": "GE", "GT": "LT", "GE": "LE"}
"""The direction of a comparison whose operands change places."""


def integer_range(element: ir.Type) -> tuple[int, int]:
    """The least and the largest integer of the type."""
    return (0, 2**element.width - 1) if element.is_unsigned else (-(2 ** (element.width - 1)), 2 ** (element.width - 1) - 1)


def trip_count(start: int, step: int, direction: str, limit: int, low: int, high: int) -> int | None:
    """How many of start, start + step, … satisfy the comparison before the first that does not.

    None if that is never, or if the counter would leave the range from `low` to `high` on the way.
    """
    if not low <= start <= high:
        return None
    if direction in ("GT", "GE"):
        start, step, limit, low, high = -start, -step, -limit, -high, -low
        direction = FLIPPED[direction]
    if direction == "LE":
        direction, limit = "LT", limit + 1
    if direction == "LT":
        count = 0 if start >= limit else -(-(limit - start) // step) if step > 0 else None
    elif direction == "NE" and step and (limit - start) % step == 0 and (limit - start) // step >= 0:
        count = (limit - start) // step
    else:
        return None
    return count if count is not None and low <= start + count * step <= high else None
