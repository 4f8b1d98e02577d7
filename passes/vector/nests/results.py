"""What becomes of sums while they are in registers: they are stored, or what follows each of them is computed first.

    acc = sums of a block                       acc = sums of a block
    y = acc                             →       y = relu(acc + bias)
    y = relu(y + bias)

Must hold: what follows is computed at every result, of as many lanes, in few ops; along the lanes its operands lie side by side, or are
one. Declined: long bodies, which would be there once for each register of a block.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.storage import Storage
from .lanes import Rep
from .work import Point, Work, stride_along

_SHORT = 8
"""Ops that follow a sum, at most."""


def follows_in_registers(work: Work, vector: int | None, after: Sequence[Work], target: TargetView) -> bool:
    """Whether the works `after` one, which are computed at each of its results, can be where it is vectorised along a loop."""
    if vector is None or not work.parallel[vector] or len(work.outputs) != 1:
        return False
    if sum(each.body_size() for each in after) > _SHORT or any(each.lanes(target) != work.lanes(target) for each in after):
        return False
    lane = sum(work.parallel[:vector])
    return all(_is_plain(m, storage, lane) for each in after for m, storage in each.operands())


def _is_plain(m: ir.AffineMap, storage: Storage, lane: int) -> bool:
    return not any(storage.bounds) and stride_along(m, storage, lane) in (0, 1)


def store_results(points: Sequence[Point], work: Work, totals: Sequence[Sequence[Rep]], after: Sequence[Work]) -> None:
    """Stores the sums of points that are wanted in memory, and computes what comes `after` them: of all points, before any of it is stored.
    What is rounded then is rounded together (round-to-bf16)."""
    following = []
    for point, sums in zip(points, totals, strict=True):
        for number, total in enumerate(sums):
            if work.outputs[number] is not None:
                point.store(work, number, total)
        parallel = [index for index, alone in zip(point.indices, work.parallel) if alone]
        following.append(Point(point.lanes, parallel, point.captured, dict(zip(work.values, sums))))
    for at in following:
        for each in after:
            at.know(each)
    for at in following:
        for each in after:
            at.keep(each)
