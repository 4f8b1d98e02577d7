"""Code of elementwise nests over pairs: the last loop has two steps, along which results lie in one piece, as complex numbers do.

The vector loop is the one along which the pairs follow one another. A chunk computes the first of each pair, then the second, and stores
both at once, in turn; what it reads of other pairs is loaded in one piece likewise (lanes.py).
"""

from __future__ import annotations

from hloom.dialects.target import TargetView

from ...common.control_flow import nest_each
from ...common.linear_index import LinearIndex
from .body import Captured, LanesBody
from .lanes import Lanes
from .nests import chunks, lane_count, point_indices
from .work import Point, Work, stride_along

_REGISTERS = 2
"""Of a value, in each of the two points."""


def pair_loop(works: list[Work]) -> int | None:
    """The loop along which pairs follow one another in every result, or None where results are no pairs."""
    extents = works[0].extents
    last = len(extents) - 1
    if last < 1 or extents[last] != 2 or any(work.reduces for work in works):
        return None
    results = [(m, s) for work in works for m, s in zip(work.output_maps, work.outputs) if s is not None]
    if not results or any(stride_along(m, s, last) != 1 for m, s in results):
        return None
    following = (d for d in range(last) if extents[d] != 1 and all(stride_along(m, s, d) == 2 for m, s in results))
    return next(following, None)


def emit_pairs(works: list[Work], along: int, captured: Captured, target: TargetView) -> None:
    """A nest of parallel works of equal extents, of which `along` is the pair loop."""
    extents = works[0].extents
    last = len(extents) - 1
    outer = [d for d in range(last) if d != along]
    one = max(1, target.vector_bits // max(work.widest() for work in works))

    def at(indices: list[LinearIndex]) -> None:
        def chunk(start: LinearIndex, lanes: Lanes) -> None:
            fixed = dict(zip(outer, indices))
            places = [point_indices(len(extents), {**fixed, last: LinearIndex(constant=n)}, along, start, lanes) for n in range(2)]
            points = [Point(lanes, place, captured) for place in places]
            for work in works:
                _compute(work, points)

        chunks(extents[along], lane_count(works, along, target, _REGISTERS), one, chunk)

    nest_each([extents[d] for d in outer], at)


def _compute(work: Work, points: list[Point]) -> None:
    """Evaluates the work at both points; other works of the nest know its results there, and those that have a place are stored."""
    found = [point.evaluate(work) for point in points]
    for number, value in enumerate(work.values):
        for point, results in zip(points, found):
            point.known[value] = results[number]
        storage = work.outputs[number]
        if storage is None:
            continue
        first = points[0]
        address = storage.address(LanesBody(first.lanes, first.indices, first.captured).at(work.output_maps[number]))
        first.lanes.store_pairs(found[0][number], found[1][number], storage, address)
