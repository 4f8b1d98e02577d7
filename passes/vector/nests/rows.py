"""Reductions along the vector loop: accumulators as wide as a chunk, combined across the lanes after the loop.

    for row: acc = neutral; for chunks of the row: acc = op(acc, f(chunk)); result = op(init, reduce(acc))

Elementwise works of equal loops take part: softmax's exponential is stored and summed in one pass. Where an input is the same for all
rows (a matrix stored by rows times a vector), several rows are jammed, so that it is loaded once for them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.vector import CombiningKind

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.control_flow import NestBody, for_each
from ...common.linear_index import LinearIndex
from ...common.reductions import VECTOR_KINDS, neutral_element
from ...common.scalar_body import clone_on
from ...common.storage import Storage
from ...common.vectors import element_of, is_vector, reduced, splat_of, static_mask
from .body import Captured
from .even_first import computes_even_first
from .lanes import Lanes
from .nests import dynamic_mask, in_turns, lane_count, point_indices, whole_part
from .periods import chunks_together
from .segments import Reach, cuts, cuts_around, known_cuts, loop_carrying, nest_cut, reaching
from .streams import AHEAD_BYTES, is_streamed
from .work import Point, Work, stride_along

Add = Callable[[LinearIndex, Lanes, list[ir.Value]], list[ir.Value]]
"""Adds one chunk to the accumulators."""

_JAMMED_ROWS = 4
_PAGE_BYTES, _MOST_AHEAD_BYTES = 4096, 16384
"""A page is what memory delivers while it answers twice; the first cache keeps four beside what is read."""


def sums_along(works: list[Work], vector: int | None) -> bool:
    """Whether every reducing work is a sum (maximum, …) along the vector loop whose lanes can be combined at the end."""
    reducing = [w for w in works if w.reduces]
    return vector is not None and all(not w.parallel[vector] and len(w.outputs) == 1 and reduction_kind(w.block) for w in reducing)


def emit_row_sums(works: list[Work], vector: int, captured: Captured, target: TargetView) -> None:
    """Emits works of which some reduce along the loop `vector`."""
    _RowSums(works, vector, captured, target).emit()


class _RowSums:
    def __init__(self, works: list[Work], vector: int, captured: Captured, target: TargetView):
        self.works, self.vector, self.captured = works, vector, captured
        self.extents = works[0].extents
        self.reducing = [w for w in works if w.reduces]
        self.kinds = [kind for w in self.reducing if (kind := reduction_kind(w.block)) is not None]
        kept = [d for d in range(len(self.extents)) if all(w.parallel[d] for w in works)]
        self.summed = [d for d in range(len(self.extents)) if d not in kept and d != vector]
        self.jam = self._jam_loop(kept)
        if self.jam is not None:
            streamed = [_streamed(work, vector, self.jam, target) for work in works]
            short = any(_are_short_rows(inputs, self.jam) for inputs in streamed)
            self.works = [_looking_ahead(work, inputs, None if short else self.jam) for work, inputs in zip(works, streamed)]
            self.reducing = [w for w in self.works if w.reduces]
            self.jam = None if short else self.jam
        self.kept = [d for d in kept if d != self.jam]
        count = lane_count(works, vector, target, 2 if self.jam is not None else None)
        self.lanes = Lanes(count, even_first=count >= 2 * target.lanes(32) and computes_even_first(works, vector, target))
        self.turns = known_cuts(works, vector, shortest=target.lanes(32))
        """Where a body turns that compares the vector loop's index, as concatenations do."""
        self.together = 1 if self.jam is not None else chunks_together(self.works, vector, count)
        """So many chunks are one turn, of whose quotients the places are known."""
        self.reach: Reach = {}
        """Of the rows' indices, where they are between two cuts."""

    def _jam_loop(self, kept: list[int]) -> int | None:
        """A loop over rows along which an input that moves with the vector loop stands still, and that is not cut."""
        if len(self.reducing) != len(self.works):
            return None
        for dim in reversed(kept):
            if (known := cuts(self.works, dim)) is not None and known.at:
                continue
            for work in self.works:
                for m, storage in zip(work.maps, work.inputs):
                    if not isinstance(storage, Storage) or self.extents[dim] == 1:
                        continue
                    if stride_along(m, storage, dim) == 0 and stride_along(m, storage, self.vector):
                        return dim
        return None

    def emit(self) -> None:
        around = cuts_around(self.works, self.kept, self.turns)
        nest_cut([(self.extents[d], around.get(d)) for d in self.kept], self.captured, self._rows)

    def _rows(self, at: list[LinearIndex], reach: Reach) -> None:
        fixed, self.reach = dict(zip(self.kept, at)), reach
        if self.jam is None:
            self._block(fixed, 1, LinearIndex())
            return
        extent = self.extents[self.jam]
        whole = whole_part(extent, _JAMMED_ROWS)
        for_each(0, whole, _JAMMED_ROWS, partial(self._block, fixed, _JAMMED_ROWS))
        for_each(whole, extent, 1, partial(self._block, fixed, 1))

    def _block(self, fixed: dict[int, LinearIndex], rows: int, first: LinearIndex) -> None:
        """`rows` neighbouring rows of the jam loop from `first` on, the loops that are kept at `fixed`."""
        if self.jam is not None:
            fixed = {**fixed, self.jam: first}
        starts = [self._neutral(work, op) for _ in range(rows) for work, (_, op) in zip(self.reducing, self.kinds)]
        totals = self._sum(self.summed, starts, lambda inner, values: self._along(fixed, rows, inner, values))
        for u in range(rows):
            point = Point(Lanes(1), self._at(fixed, u, [], None, Lanes(1)), self.captured)
            for number, (work, (kind, op)) in enumerate(zip(self.reducing, self.kinds)):
                value = _across_lanes(totals[u * len(self.reducing) + number], kind)
                point.store(work, 0, clone_on(op, [point.init(work, 0), value])[0])

    def _sum(self, loops: list[int], values: list[ir.Value], body: NestBody) -> list[ir.Value]:
        """Loops of `body(indices, values)`, the first outermost, each cut where a body turns."""
        if not loops:
            return body([], values)
        loop, *others = loops

        def step(index: LinearIndex, values: list[ir.Value]) -> list[ir.Value]:
            return self._sum(others, values, lambda inner, values: body([index, *inner], values))

        return loop_carrying(self.extents[loop], known_cuts(self.works, loop), values, step)

    def _neutral(self, work: Work, op: ir.Operation) -> ir.Value:
        assert work.block is not None
        element = work.block.arguments[len(work.block.arguments) - 1].type
        return splat_of(self.lanes.type(element), neutral_element(op.name, element))

    def _along(self, fixed: dict[int, LinearIndex], rows: int, inner: list[LinearIndex], values: list[ir.Value]) -> list[ir.Value]:
        add = partial(self._accumulate, fixed, rows, inner)
        if self.turns is None:
            return self._piece(LinearIndex(), self.extents[self.vector], add, values)
        for first, end in self.turns.pieces():
            values = self._piece(LinearIndex(constant=first), end - first, add, values)
        return values

    def _piece(self, first: LinearIndex, extent: int | ir.Value, add: Add, values: list[ir.Value]) -> list[ir.Value]:
        """Adds `extent` elements of a row from `first` on. Of a row that is cut, lanes know how far their indices reach."""
        count = self.lanes.count
        whole = whole_part(extent, count)

        def chunk(start: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
            known = self.turns is not None and isinstance(extent, int)
            return add(start + first, reaching(self.lanes, start, extent) if known else self.lanes, carried)

        values = in_turns(whole, count, self.together, values, chunk)
        if not isinstance(extent, int):
            lanes = replace(self.lanes, mask=dynamic_mask(count, arith.subi(extent, whole)))
        elif rest := extent % count:
            lanes = replace(self.lanes, mask=static_mask(count, rest), live=0 if self.turns is None else rest)
        else:
            return values
        return add(first + LinearIndex.of(whole), lanes, values)

    def _accumulate(
        self, fixed: dict[int, LinearIndex], rows: int, inner: list[LinearIndex], start: LinearIndex, lanes: Lanes, values: list[ir.Value]
    ) -> list[ir.Value]:
        updated: list[ir.Value] = []
        for u in range(rows):
            here = replace(lanes, reach={**lanes.reach, **self.reach})
            point = Point(here, self._at(fixed, u, inner, start, lanes), self.captured)
            for work in self.works:
                if work.reduces:
                    before = values[len(updated)]
                    after = lanes.widen(point.evaluate(work, [before])[0])
                    updated.append(lanes.select_live(after, before))
                    continue
                point.compute(work)
        return updated

    def _at(
        self, fixed: dict[int, LinearIndex], u: int, inner: list[LinearIndex], start: LinearIndex | None, lanes: Lanes
    ) -> list[LinearIndex]:
        dims = {**fixed, **dict(zip(self.summed, inner))}
        if self.jam is not None:
            dims[self.jam] = fixed[self.jam] + u
        vector = None if start is None else self.vector
        return point_indices(len(self.extents), dims, vector, start, lanes)


def _streamed(work: Work, vector: int, jam: int, target: TargetView) -> list[tuple[ir.AffineMap, Storage]]:
    """The matrices that lie along the vector loop, and of which each element is read once, if no near cache keeps them."""
    inputs = [(m, s) for m, s in work.inputs_in_memory() if not s.writable]
    rows = [(m, s) for m, s in inputs if stride_along(m, s, vector) == 1 and stride_along(m, s, jam)]
    return [(m, s) for m, s in rows if is_streamed(s, target)]


def _are_short_rows(streamed: list[tuple[ir.AffineMap, Storage]], jam: int) -> bool:
    """Whether several of the rows are in a page: the processor's own prefetching follows one line of addresses in each, so they are read
    one after the other."""
    rows = [(stride_along(m, s, jam), element_bytes(s.element)) for m, s in streamed]
    return any(step is not None and 0 < step * size < _PAGE_BYTES for step, size in rows)


def _looking_ahead(work: Work, streamed: list[tuple[ir.AffineMap, Storage]], jam: int | None) -> Work:
    """The work with the distance of its prefetches: some pages where rows follow each other, else the same place of the next block of rows.
    A place further on in the same row would be the next row of this block, and nobody would ask for where the next one begins."""
    inputs = list(work.inputs)
    for m, source in streamed:
        size, step = element_bytes(source.element), 0 if jam is None else stride_along(m, source, jam) or 0
        block = _JAMMED_ROWS * step * size
        if jam is None or 0 < block <= _MOST_AHEAD_BYTES:
            inputs[inputs.index(source)] = replace(source, ahead=(block or AHEAD_BYTES) // size)
    return replace(work, inputs=inputs)


def _across_lanes(total: ir.Value, kind: CombiningKind) -> ir.Value:
    """One value from the lanes of an accumulator."""
    if not is_vector(total):
        return total
    scalar = element_of(total.type)
    if not isinstance(scalar, ir.FloatType):
        return reduced(total, kind)
    # LLVM's own start of a sum is +0, and -0 + +0 is +0
    start = splat_of(scalar, neutral_element("arith.addf", scalar)) if kind is CombiningKind.ADD else None
    return reduced(total, kind, acc=start, fastmath=arith.FastMathFlags.reassoc)


def reduction_kind(block: ir.Block) -> tuple[CombiningKind, ir.Operation] | None:
    """(kind of vector.reduction, op) if the body is `yield op(acc, f(inputs))` with one accumulator that is used once, else None."""
    accumulator = block.arguments[len(block.arguments) - 1]
    uses = list(accumulator.uses)
    yielded = list(block.operations)[-1].operands
    if len(uses) != 1 or len(yielded) != 1:
        return None
    op = uses[0].owner.operation
    if op.name not in VECTOR_KINDS or yielded[0] != op.results[0] or len(list(op.results[0].uses)) != 1:
        return None
    return VECTOR_KINDS[op.name], op
