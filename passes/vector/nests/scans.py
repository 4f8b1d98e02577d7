"""Scans: each step of one loop needs the step before, and a result is stored at every step.

Along any other loop than the vector loop, the totals of a chunk stay in registers:

    for columns in chunks: total = init; for row: total = op(total, f(row, columns)); store total

Along the vector loop, elements of one register are combined in log2(lanes) steps, with what lies 1, 2, 4, … lanes before; the total of the
registers before comes last, so that one op is all that a register waits for:

    for row: total = init
      for chunk of one register: v = f(chunk); v = op(v moved by 1, v); v = op(v moved by 2, v); …
        store op(total, v);  total = op(total, last lane of v)

Where what a row reads turns at a place, as concatenations do, it is scanned piece by piece (segments.py).

The order of the elements is kept: the body need not commute. A body whose partial results no op of its own combines, or so many ops that
log2(lanes) times as many take longer than elements far apart, is scanned for several rows side by side, or lane by lane where there is one.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from hloom.dialects.target import TargetView

from ...common.affine import used_dims
from ...common.combiner import Combiner, goes_down, is_long, split
from ...common.control_flow import for_loop, nest_each
from ...common.linear_index import LinearIndex
from ...common.rewriting import is_used
from ...common.tiled_function import size_bound
from ...common.vectors import broadcast, lane_of, static_mask, vector_of
from .body import Captured
from .lanes import Lanes
from .nests import chunks, lane_count, point_indices, vector_loop
from .segments import cuts, known_cuts, loop_carrying, segments
from .work import Point, Work

_REGISTERS = 16
"""Totals that the loop over rows keeps."""


def scans(work: Work) -> bool:
    """Whether a result is stored at every step of a loop that is no parallel one."""
    return bool(_stored(work))


def _stored(work: Work) -> list[int]:
    """The results that are stored at every step."""
    return [n for n, m in enumerate(work.output_maps) if any(not work.parallel[d] for e in m.results for d in used_dims(e))]


def emit_scan(work: Work, captured: Captured, target: TargetView) -> None:
    """Emits `work`, one loop of which is scanned."""
    _Scan(work, captured, target).emit()


class _Scan:
    def __init__(self, work: Work, captured: Captured, target: TargetView):
        self.work, self.captured, self.target = work, captured, target
        self.rank = len(work.extents)
        (self.scanned,) = (d for d in range(self.rank) if not work.parallel[d])
        self.stored = _stored(work)
        self.totals = [n for n in range(len(work.outputs)) if n not in self.stored]
        self.vector, self.combiner = vector_loop([work]), None
        if self.vector == self.scanned:
            assert work.block is not None
            self.combiner = split(work.block, len(work.inputs), len(self.totals))
            self.vector = self._row_loop() if is_long(self.combiner) else self.vector
        self.outer = [d for d in range(self.rank) if d not in (self.scanned, self.vector)]
        self.turns = known_cuts([work], self.scanned, shortest=work.lanes(target))
        """Where a body turns that compares the scanned loop's index."""

    def _row_loop(self) -> int | None:
        """A loop of several rows where there is one, else the scanned one."""
        one = self.work.lanes(self.target)
        wide = [d for d in range(self.rank) if self.work.parallel[d] and size_bound(self.work.extents[d]) >= one]
        return wide[-1] if wide else self.scanned

    def emit(self) -> None:
        nest_each([self.work.extents[d] for d in self.outer], lambda at: self._at(dict(zip(self.outer, at))))

    def _at(self, fixed: dict[int, LinearIndex]) -> None:
        if self.combiner is not None and self.vector == self.scanned:
            self._row(fixed, self.combiner)
        elif self.vector in (None, self.scanned):
            self._columns(fixed, None, Lanes(1))
        else:
            assert self.vector is not None
            one = self.work.lanes(self.target)
            extent = self.work.extents[self.vector]
            registers = max(1, _REGISTERS // len(self.totals))
            if size_bound(extent) >= one:  # a power of two, as the columns of a tile are: their last chunk is not masked
                registers = 1 << (registers.bit_length() - 1)
            count = lane_count([self.work], self.vector, self.target, registers)
            turns = cuts([self.work], self.vector, shortest=one)
            if turns is None:
                chunks(extent, count, one, lambda start, lanes: self._columns(fixed, start, lanes))
            else:
                segments(extent, turns, self.captured, count, one, lambda start, lanes: self._columns(fixed, start, lanes))

    def _point(self, fixed: dict[int, LinearIndex], lanes: Lanes, start: LinearIndex | None = None) -> Point:
        return Point(lanes, point_indices(self.rank, fixed, self.vector, start, lanes), self.captured)

    def _columns(self, fixed: dict[int, LinearIndex], start: LinearIndex | None, lanes: Lanes) -> None:
        """Scans side by side, one a lane."""
        first = self._point(fixed, lanes, start)
        begun = [lanes.widen(first.init(self.work, number)) for number in self.totals]

        extent = self.work.extents[self.scanned]
        down = goes_down(self.work.op)

        def step(index: LinearIndex, totals: list[ir.Value]) -> list[ir.Value]:
            index = LinearIndex.of(extent) - index - 1 if down else index
            point = self._point({**fixed, self.scanned: index}, lanes, start)
            results = point.evaluate(self.work, [*totals, *(LinearIndex() for _ in self.stored)])
            return self._results(point, [lanes.widen(r) for r in results])

        turns = self.turns.backwards() if self.turns is not None and down else self.turns
        self._store_totals(first, loop_carrying(extent, turns, begun, step))

    def _results(self, point: Point, results: list[ir.Value]) -> list[ir.Value]:
        """Stores what is stored at every step; gives the rest."""
        for number in self.stored:
            point.store(self.work, number, results[number])
        return [results[number] for number in self.totals]

    def _store_totals(self, point: Point, totals: list[ir.Value]) -> None:
        for number, total in zip(self.totals, totals):
            if is_used(self.work.values[number]):
                point.store(self.work, number, total)

    def _row(self, fixed: dict[int, LinearIndex], combiner: Combiner) -> None:
        """One scan, along the lanes."""
        extent = self.work.extents[self.scanned]
        assert isinstance(extent, int)  # what is scanned is whole in a tile
        count = lane_count([self.work], self.scanned, self.target, 1)
        before = self._point(fixed, Lanes(1))
        totals = [broadcast(Lanes(1).widen(before.init(self.work, number)), count) for number in self.totals]
        for first, end in [(0, extent)] if self.turns is None else self.turns.pieces():
            totals = self._piece(fixed, combiner, first, end - first, count, totals)
        self._store_totals(before, [lane_of(total, 0) for total in totals])

    def _piece(
        self, fixed: dict[int, LinearIndex], combiner: Combiner, first: int, extent: int, count: int, totals: list[ir.Value]
    ) -> list[ir.Value]:
        """So many elements of a row from `first` on, in registers of `count` lanes."""
        whole = extent - extent % count

        def chunk(start: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
            return self._chunk(fixed, combiner, start + first, Lanes(count), count, carried)

        totals = for_loop(0, whole, count, totals, chunk)
        if whole == extent:
            return totals
        rest = Lanes(count, static_mask(count, extent - whole))
        return self._chunk(fixed, combiner, LinearIndex(constant=first + whole), rest, extent - whole, totals)

    def _chunk(
        self, fixed: dict[int, LinearIndex], combiner: Combiner, start: LinearIndex, lanes: Lanes, live: int, totals: list[ir.Value]
    ) -> list[ir.Value]:
        """One register's elements; `totals` are in every lane, as are those that it gives."""
        point = self._point(fixed, lanes, start)
        body = point.body(self.work, [LinearIndex()] * len(self.work.outputs))
        body.run(combiner.before)
        known, whole = dict(body.reps), Lanes(lanes.count)
        arguments = list(self.work.block.arguments)[len(self.work.inputs) :] if self.work.block else []

        def combined(before: list[ir.Value], after: list[ir.Value]) -> list[ir.Value]:
            body.reps = {**known, **dict(zip(arguments, before)), **dict(zip(combiner.values, after))}
            body.run(combiner.ops)
            return [whole.widen(body.rep(value)) for value in combiner.returned]

        sums, step = [whole.widen(body.rep(value)) for value in combiner.values], 1
        while step < live:
            moved = [_picked(total, [max(lane - step, 0) for lane in range(lanes.count)]) for total in sums]
            sums = [arith.select(_from(step, lanes.count), new, old) for new, old in zip(combined(moved, sums), sums)]
            step *= 2
        results = combined(totals, sums)
        for number, value in zip(self.stored, results):
            point.store(self.work, number, value)
        last = [live - 1] * lanes.count
        if all(combiner.names):  # one op: the next register waits for that alone
            return combined(totals, [_picked(total, last) for total in sums])
        return [_picked(total, last) for total in results]


def _picked(value: ir.Value, lanes: list[int]) -> ir.Value:
    """The elements of a vector at these lanes."""
    return vector.shuffle(value, value, lanes)


def _from(first: int, lanes: int) -> ir.Value:
    """A mask of i1 that holds from the lane `first` on."""
    kind = vector_of(lanes, ir.IntegerType.get_signless(1))
    bits = [ir.IntegerAttr.get(kind.element_type, int(lane >= first)) for lane in range(lanes)]
    return arith.constant(kind, ir.DenseElementsAttr.get(bits, kind))
