"""The axes of a group."""

from __future__ import annotations

from dataclasses import dataclass

from ...common.index_expression import ZERO, Expr, Point, loop

Signature = Point
"""The index of a value in a group: one expression over the group's axes for each of its dimensions."""


def var(axis: int, extent: int) -> Expr:
    """The variable of an axis; an axis of extent 1 needs none."""
    return ZERO if extent == 1 else loop(axis, max(extent, 1))


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a group: parallel, or reduced by some reduction or contraction of the group.

    A reduced axis that a result of the group also has (softmax's row) is kept whole inside the tile.
    """

    extent: int
    reduced: bool = False
