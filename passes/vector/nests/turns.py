"""Code of nests whose results lie in turn: the last loop has a few steps, along which results lie in one piece, as complex numbers, the
pixels of a picture of few channels and what pixel_shuffle makes do. And of reductions of rows that are such turns: sums of three columns.

The vector loop is the one along which the turns follow one another. A chunk computes the first of each turn, then the second and so on, and
stores all of them at once; what it reads of other pairs is loaded in one piece likewise (lanes.py). Of a reduction each lane has a row.
"""

from __future__ import annotations

from dataclasses import replace

from hloom.dialects.target import TargetView

from ...common.linear_index import LinearIndex
from ...common.tiled_function import size_bound
from .body import Captured, LanesBody
from .lanes import Lanes, Rep
from .nests import chunks, lane_count, point_indices
from .periods import chunks_together
from .segments import Reach, cuts, cuts_around, nest_cut, segments
from .windows import is_surrounded
from .work import Point, Work, stride_along

_REGISTERS = 4
"""Of a result, at all points of a chunk."""
_LEAST_BITS = 32
"""Chunks of narrower elements have no more lanes than those of so many bits."""
_MOST_POINTS = 8
"""Elements of longer turns are more registers than there are."""


def turn_loop(works: list[Work], target: TargetView) -> int | None:
    """The loop along which turns follow one another in every result, or None where results do not lie in turn, or nothing is gained."""
    extents = works[0].extents
    last = len(extents) - 1
    points = extents[last] if last > 0 else None
    if not isinstance(points, int) or not 2 <= points <= _MOST_POINTS or any(work.reduces for work in works):
        return None
    results = [(m, s) for work in works for m, s in zip(work.output_maps, work.outputs) if s is not None]
    if not results or any(stride_along(m, s, last) != 1 for m, s in results):
        return None
    following = (d for d in range(last) if extents[d] != 1 and all(stride_along(m, s, d) == points for m, s in results))
    along = next(following, None)
    return along if along is None or points == 2 or _pays(works, along, last, target) else None


def row_loop(works: list[Work], target: TargetView) -> int | None:
    """The loop along which rows of a few elements follow one another that some of the works reduce, or None where there are no such."""
    extents = works[0].extents
    last = len(extents) - 1
    points = extents[last] if last > 0 else None
    if not isinstance(points, int) or not 2 <= points <= _MOST_POINTS or any(is_surrounded(work) for work in works):
        return None
    if any(work.parallel[d] == (d == last) for work in works if work.reduces for d in range(len(extents)) if extents[d] != 1):
        return None
    least = target.lanes(max(_LEAST_BITS, *(work.widest() for work in works)))
    return next((d for d in range(last) if size_bound(extents[d]) >= least and _follow(works, d, last)), None)


def _follow(works: list[Work], along: int, last: int) -> bool:
    """Whether rows, and what is computed of each, lie side by side, or are parts of such rows: results of a reduction as neighbours."""
    points = works[0].extents[last]
    inputs = [(stride_along(m, s, along), stride_along(m, s, last)) for work in works for m, s in work.inputs_in_memory()]
    results = [
        (stride_along(m, s, along), stride_along(m, s, last), work.reduces)
        for work in works
        for m, s in zip(work.output_maps, work.outputs)
        if s is not None
    ]
    rows = [(step, within) for step, within in inputs if within == 1 and step and points <= step <= _MOST_POINTS]
    read = all(pair in ((1, 0), (0, 1), (0, 0), *rows) for pair in inputs) and rows
    return bool(read) and all(each == ((1, 0, True) if each[2] else (points, 1, False)) for each in results)


def _pays(works: list[Work], along: int, last: int, target: TargetView) -> bool:
    """Whether whole registers are read along the turns, or turns of few, and of some input elements that lie apart within a turn, or turns
    from the last to the first, or each of a turn's elements is computed otherwise. Turns of whole registers are transposed."""
    inputs = [pair for work in works for pair in work.inputs_in_memory()]
    widest = max(work.widest() for work in works)
    follow, points = (size_bound(works[0].extents[loop]) for loop in (along, last))
    if follow < target.lanes(max(_LEAST_BITS, widest)) or points % target.lanes(widest) == 0:
        return False
    along_turns, within = ({stride_along(m, s, loop) for m, s in inputs} for loop in (along, last))
    chooses = any(work.chooses_by(last) for work in works)
    near = all(step is not None and (step in (1, -points) or 0 <= step <= _MOST_POINTS) for step in along_turns)
    return near and (chooses or -points in along_turns or not within <= {-1, 0, 1})


def emit_in_turn(works: list[Work], along: int, captured: Captured, target: TargetView) -> None:
    """A nest of parallel works of equal extents, of which `along` is the turn loop."""
    extents = works[0].extents
    last = len(extents) - 1
    turn = size_bound(extents[last])
    outer = [d for d in range(last) if d != along]
    one = max(1, target.vector_bits // max(work.widest() for work in works))

    following = cuts(works, along, shortest=2)
    around = cuts_around(works, outer, following)
    count = lane_count(works, along, target, max(1, _REGISTERS // turn))
    together = chunks_together(works, along, count)

    def at(indices: list[LinearIndex], reach: Reach) -> None:
        def chunk(start: LinearIndex, lanes: Lanes) -> None:
            fixed, lanes = dict(zip(outer, indices)), replace(lanes, reach={**lanes.reach, **reach})
            places = [point_indices(len(extents), {**fixed, last: LinearIndex(constant=n)}, along, start, lanes) for n in range(turn)]
            points = [Point(lanes, place, captured) for place in places]
            for work in works:
                _compute(work, points)

        if following is None:
            chunks(extents[along], count, one, chunk, together)
        else:
            segments(extents[along], following, captured, count, one, chunk, together)

    nest_cut([(extents[d], around.get(d)) for d in outer], captured, at)


def _compute(work: Work, points: list[Point]) -> None:
    """Evaluates the work at all points; other works of the nest know its results there, and those that have a place are stored."""
    if work.reduces:
        _reduce(work, points)
        return
    found = [point.evaluate(work) for point in points]
    for number, value in enumerate(work.values):
        for point, results in zip(points, found):
            point.known[value] = results[number]
        storage = work.outputs[number]
        if storage is None:
            continue
        first = points[0]
        address = storage.address(LanesBody(first.lanes, first.indices, first.captured).at(work.output_maps[number]))
        first.lanes.store_in_turn([results[number] for results in found], storage, address)


def _reduce(work: Work, points: list[Point]) -> None:
    """Takes the points of each lane's row one after the other, and stores what they come to."""
    first = points[0]
    values: list[Rep] = [first.init(work, number) for number in range(len(work.outputs))]
    for point in points:
        values = point.evaluate(work, values)
    for number, value in enumerate(values):
        first.store(work, number, value)
