"""Sums of few products for few columns, as points are turned by matrices of 3 × 3: a row in each lane.

    y[i, j] += x[i, k] * w[k, j]    of 3 and 3:    %x0, %x1, %x2 of 16 rows;  %y0 = %x0 * w[0, 0] + %x1 * w[1, 0] + %x2 * w[2, 0], …

A block of columns would leave most of a register idle, and a row of the sum too. All columns and steps are emitted one by one; what
several columns read of the rows is loaded once, and the results are stored in turn (turns.py).

Must hold: rows of the result lie one after the other; what is read along them lies near. Declined: windows with padding around them, and
results of one column, which are rows that are reduced (turns.py).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.control_flow import nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .body import Captured, LanesBody
from .lanes import Lanes, Rep
from .nests import chunks, lane_count, point_indices
from .windows import is_surrounded
from .work import Point, Work, stride_along

_MOST_COLUMNS, _MOST_STEPS = 8, 16
_REGISTERS = 4
_FARTHEST = 12
"""Elements of neighbouring rows that are further apart are gathered."""


@dataclass(frozen=True)
class ShortProducts:
    """The loop along the rows, those over the columns, and those that are summed."""

    rows: int
    columns: tuple[int, ...]
    summed: tuple[int, ...]

    @staticmethod
    def of(work: Work, target: TargetView) -> ShortProducts | None:
        """None where the work is no such sum."""
        loops = [d for d, extent in enumerate(work.extents) if extent != 1]
        summed = tuple(d for d in loops if not work.parallel[d])
        if is_surrounded(work) or work.asks_for_index() or work.looks_up() or len(work.outputs) != 1 or not summed:
            return None
        (result,), (m,) = work.outputs, work.output_maps
        if result is None or not 2 <= _points(work, summed) <= _MOST_STEPS:
            return None
        for rows in (d for d in loops if work.parallel[d] and size_bound(work.extents[d]) >= work.lanes(target)):
            count = stride_along(m, result, rows) or 0
            columns = tuple(d for d in loops if work.parallel[d] and 0 < (stride_along(m, result, d) or 0) < count)
            found = ShortProducts(rows, columns, summed)
            if 2 <= count == _points(work, columns) <= _MOST_COLUMNS and found._lie_near(work):
                return found
        return None

    def emit(self, work: Work, captured: Captured, target: TargetView) -> None:
        """The nest."""
        extents = work.extents
        inside = (self.rows, *self.columns, *self.summed)
        outer = [d for d in range(len(extents)) if d not in inside]
        columns, steps = _each(work, self.columns), _each(work, self.summed)

        def at(indices: list[LinearIndex]) -> None:
            def chunk(start: LinearIndex, lanes: Lanes) -> None:
                read: dict[tuple[object, ...], Rep] = {}
                points = [
                    [
                        _Shared(lanes, point_indices(len(extents), {**fixed, **column, **step}, self.rows, start, lanes), captured, read)
                        for step in steps
                    ]
                    for column in columns
                ]
                sums = [_summed(work, each) for each in points]
                first, storage = points[0][0], work.outputs[0]
                assert storage is not None
                address = storage.address(LanesBody(lanes, first.indices, captured).at(work.output_maps[0]))
                lanes.store_in_turn(sums, storage, address)

            fixed = dict(zip(outer, indices))
            count = lane_count([work], self.rows, target, max(1, _REGISTERS // len(columns)))
            chunks(extents[self.rows], count, work.lanes(target), chunk)

        nest_each([extents[d] for d in outer], at)

    def _lie_near(self, work: Work) -> bool:
        apart = [stride_along(m, s, self.rows) for m, s in work.inputs_in_memory()]
        return all(step is not None and 0 <= step <= _FARTHEST for step in apart) and any(apart)


class _Shared(Point):
    """A point that reads what others have read."""

    def __init__(self, lanes: Lanes, indices: list[LinearIndex], captured: Captured, read: dict[tuple[object, ...], Rep]):
        super().__init__(lanes, indices, captured)
        self.read = read

    def _input(self, work: Work, body: LanesBody, number: int) -> Rep:
        if not isinstance(work.inputs[number], Storage):
            return super()._input(work, body, number)
        place = (number, *body.at(work.maps[number]))
        if place not in self.read:
            self.read[place] = super()._input(work, body, number)
        return self.read[place]


def _summed(work: Work, steps: Sequence[Point]) -> Rep:
    values: list[Rep] = [steps[0].init(work, 0)]
    for point in steps:
        values = point.evaluate(work, values)
    return values[0]


def _points(work: Work, loops: Sequence[int]) -> int:
    """The steps of the loops together; 0 where these are known only at run time."""
    extents = [work.extents[d] for d in loops]
    return prod(extent for extent in extents if isinstance(extent, int)) if not any(isinstance(e, ir.Value) for e in extents) else 0


def _each(work: Work, loops: Sequence[int]) -> list[dict[int, LinearIndex]]:
    """All points of loops, in order."""
    ranges = [range(size_bound(work.extents[d])) for d in loops]
    return [dict(zip(loops, map(LinearIndex.of, at))) for at in product(*ranges)]
