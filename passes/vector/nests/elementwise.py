"""Code of elementwise nests: every loop but the vector loop in order, then chunks along the vector loop.

An input that lies in one piece along another loop, as in a transposition, is first copied to where the vector loop is contiguous
(packing.py): lane by lane, each element would be loaded with a cache line of its own. Results that lie in turn have nests of their
own (turns.py), and so have short rows (short_rows.py).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from hloom.dialects.target import TargetView

from ...common.control_flow import nest_each
from ...common.linear_index import LinearIndex
from .body import Captured
from .even_first import computes_even_first
from .lanes import Lanes
from .nests import chunks, chunks_one_by_one, knows_places, lane_count, point_indices, vector_loop
from .packing import Scratch, pack, transposed
from .periods import chunks_together
from .segments import Reach, cuts, cuts_around, nest_cut, segments
from .short_rows import ShortRows
from .turns import emit_in_turn, turn_loop
from .work import Point, Work

MOST_TURNED = 32
"""A square that is transposed in registers has at most this many rows and columns: as many as a tile."""


def emit_elementwise(works: list[Work], captured: Captured, target: TargetView, scratch: Scratch) -> bool:
    """Emits a nest of parallel works of equal extents that read each other only at their own point. Returns whether it is vector code that
    computes all addresses from the loops, none from an index in each lane.

    `scratch` makes a buffer on the stack.
    """
    rows = ShortRows.of(works, target)
    along = None if rows is not None and rows.tells_places else turn_loop(works, target)
    if along is not None:
        emit_in_turn(works, along, captured, target)
        return _is_straight(works, along)
    if rows is not None:
        rows.emit(works, captured)
        return not any(work.looks_up() for work in works)
    return _emit_rows(works, captured, target, scratch)


def _emit_rows(works: list[Work], captured: Captured, target: TargetView, scratch: Scratch) -> bool:
    """The same, along the loop that is best for it."""
    extents = works[0].extents
    vector = vector_loop(works)
    one = max(1, target.vector_bits // max(work.widest() for work in works))
    square = min(one, MOST_TURNED)
    crossing, turned = (None, []) if vector is None else _turned(works, vector, square)
    outer = [d for d in range(len(extents)) if d not in (vector, crossing)]
    inner = [] if crossing is None else [crossing]

    along_vector = None if vector is None else cuts(works, vector, shortest=2)
    around = cuts_around(works, outer, along_vector)

    def at(indices: list[LinearIndex], reach: Reach) -> None:
        here = list(works)
        for place, number in turned:
            assert vector is not None
            here[place] = pack(here[place], number, inner, vector, dict(zip(outer, indices)), square, scratch, target)

        def row(index: list[LinearIndex]) -> None:
            def chunk(start: LinearIndex | None, lanes: Lanes) -> None:
                at = point_indices(len(extents), dict(zip([*outer, *inner], [*indices, *index])), vector, start, lanes)
                point = Point(replace(lanes, reach={**lanes.reach, **reach}), at, captured)
                for work in here:
                    point.compute(work)

            if vector is None:
                chunk(None, Lanes(1))
            elif knows_places(here, vector, one):
                chunks_one_by_one(extents[vector], one, chunk)
            elif along_vector is not None:
                count = lane_count(here, vector, target)
                segments(extents[vector], along_vector, captured, count, one, chunk, chunks_together(here, vector, count))
            else:
                _chunks(here, vector, one, target, chunk)

        nest_each([extents[d] for d in inner], row)

    nest_cut([(extents[d], around.get(d)) for d in outer], captured, at)
    return vector is not None and _is_straight(works, vector)


def _is_straight(works: list[Work], vector: int) -> bool:
    return not any(work.looks_up() or work.gathers(vector) for work in works)


def _chunks(works: list[Work], vector: int, one: int, target: TargetView, chunk: Callable[[LinearIndex, Lanes], None]) -> None:
    """Emits all chunks of the loop `vector`; chunks of paired bf16 are at least two registers of f32."""
    extent, count = works[0].extents[vector], lane_count(works, vector, target)
    if computes_even_first(works, vector, target):
        chunks(extent, count, 2 * one, lambda start, lanes: chunk(start, replace(lanes, even_first=lanes.count > 1)))
    else:
        chunks(extent, count, one, chunk, chunks_together(works, vector, count))


def _turned(works: list[Work], vector: int, least: int) -> tuple[int | None, list[tuple[int, int]]]:
    """The first loop, other than the vector loop, along which inputs are contiguous; and these inputs, each as (work, number)."""
    places = [(place, number) for place, work in enumerate(works) for number in range(len(work.inputs))]
    found = {(place, number): transposed(works[place], number, vector, least) for place, number in places}
    crossing = next((along for along in found.values() if along is not None), None)
    return crossing, [key for key, along in found.items() if crossing is not None and along == crossing]
