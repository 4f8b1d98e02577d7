"""Reductions whose accumulators stay in registers while the reduced loops run: contractions, convolutions, sums of columns, and any
other body.

The vector loop is parallel (columns of a matrix product, pixels of a convolution); a second parallel loop is unrolled and jammed, so
that what is loaded along the vector loop serves several rows. The accumulators of a block, rows × lanes, are carried by the loops over
the reduced dimensions:

    for n in chunks: for m in blocks of U:
      acc[0..U) = init
      for k: b = load B[k, n…]; for u: acc[u] = fma(broadcast A[m+u, k], b, acc[u])
      store acc

With no loop to vectorise the same code runs with one lane: any reduction body, several operands included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from math import ceil

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.axes import even_size
from ...common.contraction import MOST_ROWS, block_registers, block_rows
from ...common.control_flow import NestBody, either, for_each, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.strips import STRIP_PIXELS, Strip
from ...common.tiled_function import size_bound
from .body import Captured
from .channel_chunks import LEAST_SUMS, registers_of_channels
from .contraction_loops import falling_sizes, goes_over_images, jam_loop, part_of_panels
from .deep_sums import lines_inside, steps_inside, store_inits
from .dense_blocks import is_dense_block
from .few_rows import STREAMED_ROWS, is_shallow, streams
from .image_copies import copy_image, room_for_images
from .lanes import Lanes, Rep
from .near_panel import prefetch_near
from .nests import chunks, lane_count, point_indices, whole_part
from .next_panel import prefetch_behind
from .next_rows import prefetch_rows
from .next_tile import Asked, prefetch_pixels
from .packing import Part, Scratch, pack, packable, rows_packable, summed
from .partial_sums import PartialSums, added, float_that_is_summed, is_long, steps_together, sum_loops
from .periods import chunks_together
from .results import follows_in_registers, store_results
from .segments import Cuts, Reach, cuts, cuts_around, nest_cut, pieces_of, segments
from .spare_lanes import SharedColumns, SpareLanes
from .strips import PixelsBelow, asks_for_pixels_alone, registers_of_a_line, strip_of_work
from .tile_prefetch import PAGE_BYTES
from .windows import Taps, Window, both, one_by_one, pieces, taps_missing, windows_of
from .work import Point, Work, stride_along, walked_as_one

_STEPS_A_TURN, _MANY_REGISTERS = 4, 32
"""With fewer vector registers a step has few products: counting steps and finding operands would take as long, so a turn has several."""
_LINE_ROWS = 14
"""Rows of a block that is one register wide, where they divide all: half as many wait for their own sums, and load nearly twice as much."""
_BESIDE = 2
"""Registers that hold neither sums nor pixels: one for a weight, one for what lanes have picked."""
_FEW_TAPS = 8
"""A line has at most this many taps if they are unrolled; each pixel is then loaded once for all of them."""
Step = Callable[[Point, list[ir.Value]], list[Rep]]
"""Adds what one point of the reduced loops gives to the accumulators."""


def emit_contraction(
    work: Work,
    vector: int | None,
    captured: Captured,
    target: TargetView,
    scratch: Scratch,
    step: Step | None = None,
    after: Sequence[Work] = (),
    parts: int = 1,
) -> None:
    """Emits `work`, a reduction, vectorised along the parallel loop `vector` (None: scalar code), and the works `after` it at its results.

    `scratch` makes a buffer on the stack. A `step`, if given, replaces the work's body: its operands already lie as it wants them, and it
    splits each register that it loads along the vector loop into `parts`.
    """
    _Contraction(work, vector, captured, target, scratch, step, after, parts).emit()


def takes_after(work: Work, vector: int | None, after: Sequence[Work], target: TargetView) -> bool:
    """Whether the works `after` it can be computed on its results while these are in registers: no sum waits in the cache for another
    part."""
    if not after or not follows_in_registers(work, vector, after, target):
        return False
    assert vector is not None
    jam = jam_loop(work, vector)
    in_parts = steps_inside(work, jam, target) is not None or part_of_panels(work, vector, jam, target) is not None
    return not in_parts and not streams(work, vector, jam, target)


class _Contraction:
    def __init__(
        self,
        work: Work,
        vector: int | None,
        captured: Captured,
        target: TargetView,
        scratch: Scratch,
        step: Step | None = None,
        after: Sequence[Work] = (),
        parts: int = 1,
    ):
        self.work, self.vector, self.captured, self.target = work, vector, captured, target
        self.scratch, self.step, self.after, self.parts = scratch, step, after, parts
        self.rank = len(work.extents)
        self.jam = jam_loop(work, vector)
        self.outer = [d for d in range(self.rank) if work.parallel[d] and d not in (vector, self.jam)]
        self.reduced = [d for d in range(self.rank) if not work.parallel[d]]
        windows = windows_of(work)
        self.across = [w for w in windows if w.step(self.jam)]
        self.along = [w for w in windows if not w.step(self.jam)]
        self.one = work.lanes(target)
        self.turn = _STEPS_A_TURN if target.vector_registers < _MANY_REGISTERS and is_dense_block(work, vector, self.jam) else 1
        """The innermost loop takes at most this many steps in a turn."""
        self.part: dict[int, Taps] = {}
        """The range of the first reduced loop, where blocks sum only a part of it."""
        self.inside = 0
        """The number of steps in that range."""
        self.shared: SharedColumns | None = None
        """The columns of a block in which several lanes sum one column."""
        self.strip: Strip | None = None
        """The strips of pixels that it goes over, if it does."""
        self.whole = False
        """Whether the code being emitted is for windows of which only taps along the jammed loop may be missing."""
        self.in_chunks = False
        """Whether the loop over chunks of channels is outside the loop over the lines of a tile."""
        self.reach: Reach = {}
        """Of the outer loops' indices, where they are between two cuts."""
        self.asked: Asked | None = None
        """What blocks prefetch of the pixels that are read after them."""

    def emit(self) -> None:
        strip = strip_of_work(self.work, self.vector, self.jam, self.target) if self.step is None else None
        if strip is not None:
            self._strips(strip)
            return
        registers = registers_of_channels(self.work, self.vector, self.jam, self.target) if self.step is None else None
        self.asked = prefetch_pixels(self.work, self.vector, self.jam, self.target)
        if self.vector is None:
            self._over_outer(lambda fixed: self._rows(fixed, LinearIndex(), Lanes(1)))
        elif registers is not None:
            self._channels(self.vector, registers)
        elif self.step is None and goes_over_images(self.work, self.vector, self.jam, self.target):
            self._images(self.vector)
        else:
            self._over_outer(partial(self._product, self.vector))

    def _over_outer(self, body: Callable[[dict[int, LinearIndex]], None]) -> None:
        """Loops of `body(indices)` over the outer loops, cut where the body turns."""
        around = {} if self.step is not None else cuts_around([self.work], self.outer, self._turns())

        def at(indices: list[LinearIndex], reach: Reach) -> None:
            self.reach = reach
            body(dict(zip(self.outer, indices)))

        nest_cut([(self.work.extents[d], around.get(d)) for d in self.outer], self.captured, at)

    def _product(self, vector: int, fixed: dict[int, LinearIndex]) -> None:
        """Emits all rows and columns for fixed outer loops, the sum in parts where it is long."""
        part = part_of_panels(self.work, vector, self.jam, self.target) if self.step is None else None
        outputs = len(self.work.outputs)
        if self.step is None and part is None:
            self._pack(fixed, vector, lane_count([self.work], vector, self.target, block_registers(self.target, outputs)))
        streaming = self.step is None and streams(self.work, vector, self.jam, self.target)
        registers = block_registers(self.target, outputs) if self.jam is not None else 4 if streaming else max(1, 16 // outputs)
        count = self._chunk(vector, registers)
        if is_shallow(self.work, self.jam):
            self._lines(fixed, vector, count)
            return
        columns = partial(self._columns, fixed, vector, count)
        deep = steps_inside(self.work, self.jam, self.target) if self.step is None else None
        some = STREAMED_ROWS if streaming else deep
        steps = part if part and not streaming else {self.reduced[0]: some} if some else None
        self._in_parts(columns, steps, partial(self._pack, fixed, vector, count) if part else None, fixed) if steps else columns()

    def _channels(self, vector: int, registers: int) -> None:
        """Emits a loop over chunks of channels, in each over the outer loops: the lines of a tile (channel_chunks.py)."""

        def lines(start: LinearIndex, lanes: Lanes) -> None:
            self._over_outer(lambda fixed: self._rows(fixed, start, lanes))

        columns = partial(self._chunks, vector, self._chunk(vector, registers), lines)
        deep, some = steps_inside(self.work, self.jam, self.target), lines_inside(self.work, self.jam, self.target)
        self.in_chunks = not (deep or some or self.work.picked)
        images, *inside = self.reduced
        if some:
            self._in_parts(columns, {images: 1, inside[0]: some}, None, {})
        elif deep:
            self._in_parts(columns, {images: deep}, None, {})
        else:
            columns()

    def _images(self, vector: int) -> None:
        """Emits a loop over images, in each over the outer loops."""
        images, count = self.reduced[0], self._chunk(vector, block_registers(self.target, len(self.work.outputs)))
        columns = partial(self._over_outer, lambda fixed: self._columns(fixed, vector, count))
        copies = room_for_images(self.work, images, self.target, self.scratch)

        def copied(part: Part) -> None:
            self.work = copy_image(self.work, copies, part[images][0], self.one)

        self._in_parts(columns, {images: 1}, copied, {})

    def _strips(self, strip: Strip) -> None:
        """Emits loops over strips of pixels, in each over all lines, in each over all chunks of channels."""
        assert self.vector is not None
        vector, count = self.vector, self._chunk(self.vector, registers_of_a_line(self.work, self.target))
        self.work, *self.after = map(asks_for_pixels_alone, (self.work, *self.after))
        self.strip = strip
        self.asked = PixelsBelow.of(self.work, strip, self.target)

        def channels(fixed: dict[int, LinearIndex], rows: int, row: LinearIndex, whole: bool) -> None:
            self.whole = whole
            self._chunks(vector, count, lambda start, lanes: self._block(fixed, start, lanes, rows, row))

        def line(rows: int, row: LinearIndex, fixed: dict[int, LinearIndex]) -> None:
            some, whole = (partial(channels, fixed, rows, row, whole) for whole in (False, True))
            either(taps_missing(self.along, fixed), some, whole)

        self._row_blocks(Lanes(count), lambda rows, row: self._over_outer(partial(line, rows, row)))

    def _chunk(self, vector: int, registers: int) -> int:
        """Lanes of a chunk of at most `registers` registers. No chunk ends within a panel of an operand that has several panels."""
        count, columns = lane_count([self.work], vector, self.target, registers), self.work.extents[vector]
        widths = [storage.panels.width for storage in self.work.inputs if isinstance(storage, Storage) and storage.panels is not None]
        return count if isinstance(columns, int) and columns % count == 0 else min([count, *widths])

    def _in_parts(
        self, columns: Callable[[], None], steps: Mapping[int, int], packed: Callable[[Part], None] | None, fixed: Mapping[int, LinearIndex]
    ) -> None:
        """Splits the last of these reduced loops into parts of so many steps, in each step of those before it, and sums each part for all
        columns before the next; `packed`, if given, packs panels of a part. Nothing is prefetched here: the processor itself prefetches
        so few rows."""
        *before, last = steps
        count, depth = steps[last], self.work.extents[last]
        assert isinstance(depth, int) and self.vector is not None
        inputs = [replace(source, ahead=0) if isinstance(source, Storage) else source for source in self.work.inputs]
        self.work = first = replace(self.work, inputs=inputs)

        def part(outer: list[LinearIndex], count: int, start: LinearIndex) -> None:
            taken = dict(zip(steps, [*((index, 1) for index in outer), (start, count)]))
            self.part, self.inside = {d: (at.value(), (at + n).value()) for d, (at, n) in taken.items()}, count
            unpacked = self.work
            if packed is not None:
                packed(taken)
            columns()
            self.work = unpacked

        def parts(begin: int, outer: list[LinearIndex]) -> None:
            whole = depth - depth % count
            for_each(begin, whole, count, partial(part, outer, count))
            if whole < depth:
                part(outer, depth - whole, LinearIndex(constant=whole))

        if before:
            store_inits(first, self.vector, self.one, self.captured, fixed)
        else:
            part([], count, LinearIndex())
        self.work = replace(first, inits=list(first.outputs), fill=[None])
        nest_each([self.work.extents[d] for d in before], partial(parts, 0 if before else count))
        self.work, self.part = first, {}

    def _pack(self, fixed: dict[int, LinearIndex], vector: int, chunk: int, part: Part | None = None) -> None:
        work = self.work
        for number in range(len(work.inputs)):
            if packable(work, number, vector, self.jam, self.target):
                self.work = pack(self.work, number, summed(work, number), vector, fixed, self.one, self.scratch, self.target, part, chunk)
            elif self.jam is not None and rows_packable(work, number, vector, self.jam, self.target):
                self.work = pack(self.work, number, summed(work, number), self.jam, fixed, self.one, self.scratch, self.target, part)

    def _columns(self, fixed: dict[int, LinearIndex], vector: int, count: int) -> None:
        """Emits all rows for each chunk of columns. Last columns that would leave lanes idle share lanes (spare_lanes.py)."""
        shared = SharedColumns.of(self.work, vector, self.jam, self.target) if self.step is None and not self.part else None
        if shared is None:
            self._chunks(vector, count, partial(self._rows, fixed))
            return
        chunks(shared.spare.first, count, self.one, partial(self._rows, fixed))
        whole, self.shared = self.work, shared
        self.work = shared.packed(whole, fixed, self.captured, self.scratch)
        first = LinearIndex(constant=shared.spare.first)
        self._row_blocks(Lanes(shared.lanes), partial(self._block, fixed, first, Lanes(self.one)))
        self.work, self.shared = whole, None

    def _chunks(self, vector: int, count: int, body: Callable[[LinearIndex, Lanes], None]) -> None:
        """Emits all chunks of columns. Where the body compares a column's number with constants, as concatenations do, chunks are cut at
        these constants, so that what each chunk reads is known (segments.py)."""
        extent = self.work.extents[vector]
        turns, together = self._turns(), chunks_together([self.work], vector, count) if self.step is None else 1
        if turns is None:
            chunks(extent, count, self.one, body, together)
        else:
            segments(extent, turns, self.captured, count, self.one, body, together)

    def _turns(self) -> Cuts | None:
        return None if self.vector is None or self.step is not None else cuts([self.work], self.vector, shortest=self.one)

    def _rows(self, fixed: dict[int, LinearIndex], start: LinearIndex, lanes: Lanes) -> None:
        """Emits all rows of the jam loop for one chunk."""
        self._row_blocks(lanes, partial(self._block, fixed, start, lanes))

    def _lines(self, fixed: dict[int, LinearIndex], vector: int, count: int) -> None:
        """Emits all chunks of some rows, then of the next rows, so that results of short sums are stored line by line."""

        def lines(rows: int, row: LinearIndex) -> None:
            self._chunks(vector, count, lambda start, lanes: self._block(fixed, start, lanes, rows, row))

        self._row_blocks(Lanes(count), lines)

    def _row_blocks(self, lanes: Lanes, block: Callable[[int, LinearIndex], None]) -> None:
        """Emits loops of `block(rows, first row)` over the jam loop: blocks of as many rows as fit the registers, then smaller ones. In a
        loop of blocks the constant of `first row` is that of the first block."""
        if self.jam is None:
            block(1, LinearIndex())
            return
        extent = self.work.extents[self.jam]
        if isinstance(extent, int):
            for lower, upper, rows in self._blocks(lanes, extent):
                self._each_block(lower, upper, rows, block)
            return
        done: int | ir.Value = 0
        for rows in falling_sizes(self._most_rows(lanes)):
            left = (LinearIndex.of(extent) - LinearIndex.of(done)).value()
            upper = (LinearIndex.of(done) + LinearIndex.of(whole_part(left, rows))).value()
            for_each(done, upper, rows, partial(block, rows))
            done = upper

    @staticmethod
    def _each_block(lower: int, upper: int, rows: int, block: Callable[[int, LinearIndex], None]) -> None:
        for_each(0, upper - lower, rows, lambda ahead: block(rows, ahead + lower))

    def _blocks(self, lanes: Lanes, extent: int) -> list[tuple[int, int, int]]:
        """Loops (first row, end, rows of a block) that cover all rows: as few and as equal blocks as possible, one loop for blocks that
        leave out the same taps."""
        rows = self._rows_of_block(lanes, extent)
        loops: list[tuple[int, int, int]] = []
        first = 0
        while first < extent:
            left = extent - first
            few = (
                not self.across and rows < left <= rows + rows // 2
            )  # the last two are alike, since a block of few rows waits for its own sums
            end = first + ceil(left / 2) if few else min(first + rows, extent)
            size = end - first
            if loops and loops[-1][2] == size and all(w.are_alike(first - size, first, size) for w in self.across):
                loops[-1] = (loops[-1][0], end, size)
            else:
                loops.append((first, end, size))
            first = end
        return loops

    def _rows_of_block(self, lanes: Lanes, extent: int) -> int:
        """Rows of blocks as equal as possible. Rows whole pages apart would evict each other from a set of the first cache: fewer of
        these."""
        if self.strip is not None:
            return even_size(extent, STRIP_PIXELS)
        inputs = self.work.inputs_in_memory()
        apart = max(((stride_along(m, s, self.jam or 0) or 0) * element_bytes(s.element) for m, s in inputs), default=0)
        free = self.target.vector_registers >= _MANY_REGISTERS and (apart == 0 or apart % PAGE_BYTES != 0)
        alone = lanes.count <= self.one and not self.work.picked and free
        if alone and extent % _LINE_ROWS == 0 and self._most_rows(lanes, _LINE_ROWS) == _LINE_ROWS:
            return _LINE_ROWS
        return even_size(extent, self._most_rows(lanes))

    def _most_rows(self, lanes: Lanes, most: int = MOST_ROWS) -> int:
        rows = block_rows(self.target, max(1, lanes.count // self.one), len(self.work.outputs), self.parts, most)
        return min(rows, self._rows_sharing(self.across[0])) if self.work.picked and self.across else rows

    def _rows_sharing(self, window: Window) -> int:
        """How many rows have their pixels of a line in registers beside their sums; lanes pick the channels of their groups from these
        pixels."""
        step, reach = window.step(self.jam), (window.taps - 1) * window.dilation
        room = self.target.vector_registers - _BESIDE - reach - 1
        return max(LEAST_SUMS, (room + step) // (1 + step))

    def _point(self, fixed: dict[int, LinearIndex], start: LinearIndex, lanes: Lanes, row: LinearIndex, inner: list[LinearIndex]) -> Point:
        dims = {**fixed, **dict(zip(self.reduced, inner))}
        if self.jam is not None:
            dims[self.jam] = row
        at = point_indices(self.rank, dims, self.vector, start, lanes)
        return Point(replace(lanes, reach={**lanes.reach, **self.reach}) if self.reach else lanes, at, self.captured)

    def _block(self, fixed: dict[int, LinearIndex], start: LinearIndex, lanes: Lanes, rows: int, row: LinearIndex) -> None:
        """Emits the results of some rows at one chunk."""
        work, outputs = self.work, len(self.work.outputs)
        loops = self._loops(fixed, row, rows)
        passed = LinearIndex(row.terms)  # rows since the loop's first block, whose taps `loops` are
        moves = {w.tap: passed * w.taps_a_row for w in self.across if isinstance(loops[self.reduced.index(w.tap)], list)}
        loops = self._unrolled(loops)
        parts = [(start, lanes)] if self.shared is None else self.shared.parts()
        summed = dict(zip(self.reduced, loops))
        columns = lanes.count
        if self.shared is not None:
            columns = self.shared.columns
            loops = [*loops[:-1], self.shared.in_turns(loops[-1])]

        def inits() -> list[ir.Value]:
            points = [self._point(fixed, first, part.columns, row + u, []) for u in range(rows) for first, part in parts]
            return [point.lanes.widen(point.init(work, number)) for point in points for number in range(outputs)]

        def step(indices: list[LinearIndex], values: list[ir.Value]) -> list[ir.Value]:
            updated = []
            taps = dict(zip(self.reduced, indices))
            indices = [taps[d] - moves[d] if d in moves else taps[d] for d in self.reduced]
            if self.shared is not None:
                indices[-1] = indices[-1] * self.shared.together
            if self.jam is not None:
                point = self._point(fixed, start, lanes, row, indices)
                self._prefetch(point, rows, columns, summed)
            for u, (number, (first, part)) in product(range(rows), enumerate(parts)):
                place = (u * len(parts) + number) * outputs
                sums = values[place : place + outputs]
                if self._exists(row + u, taps):
                    point = self._point(fixed, first, part, row + u, indices)
                    results = point.evaluate(work, sums) if self.step is None else self.step(point, sums)
                    sums = [part.widen(r) for r in results]
                updated += sums
            return updated

        if self.asked is not None:
            self.asked.before_sums(self._point(fixed, start, lanes, row, []).indices, rows, columns)
        totals = self._total(loops, parts[0][1], rows * len(parts), inits, step)
        for place, (u, (first, part)) in enumerate(product(range(rows), parts)):
            point = self._point(fixed, first, part.columns, row + u, [])
            store_results([point], work, [totals[place * outputs : (place + 1) * outputs]], self.after)

    def _unrolled(self, loops: list[Taps]) -> list[Taps]:
        """Emits the sums with taps one by one, from the first loop on in which lanes pick elements, or whose taps share the pixels of a
        line."""
        firsts = [each.loop for each in self.work.picked.values() if each.loop in self.reduced]
        if self.strip is not None:
            firsts.append((self.strip.lines if self.whole else self.strip.pixels).tap)
        elif self.in_chunks and self.asked is None:  # the same pixels would be prefetched at each of them
            firsts += [window.tap for window in self.across if window.taps <= _FEW_TAPS]
        first = min(map(self.reduced.index, firsts), default=len(loops))
        return [*loops[:first], *map(one_by_one, loops[first:])]

    def _prefetch(self, point: Point, rows: int, columns: int, summed: dict[int, Taps]) -> None:
        """Prefetches at a step of a block's sums what other blocks read after it."""
        assert self.jam is not None
        prefetch_near(self.work, self.jam, point, summed, self.target, self.inside)
        prefetch_behind(self.work, self.jam, rows, point, summed, self.target, self.inside)
        prefetch_rows(self.work, self.vector, self.jam, rows, point, summed, self.target)
        if self.asked is not None:
            self.asked.at_step(point.indices, rows, columns)

    def _total(self, loops: list[Taps], lanes: Lanes, count: int, inits: Callable[[], list[ir.Value]], step: NestBody) -> list[ir.Value]:
        """`count` sums, each of `lanes`."""
        steps = [self._steps(d, taps) for d, taps in zip(self.reduced, loops)]
        goes_on = bool(self.part) and self.work.fill[0] is None
        element = float_that_is_summed(self.work) if self.step is None else None
        spare = lanes if isinstance(lanes, SpareLanes) else None
        if element is None or not (goes_on or spare or is_long(steps)):
            return sum_loops(loops, inits(), step, together=steps_together(loops[-1], self.turn) if loops else 1)
        zero = lanes.widen(arith.constant(element, -0.0))  # what adds nothing to -0 either
        totals = PartialSums(loops, steps, step, [zero] * count, self.turn).total()
        return added(inits(), totals if spare is None else list(map(spare.folded, totals)))

    def _steps(self, dim: int, taps: Taps) -> int:
        """How many steps one reduced loop has, at most."""
        spans = [taps] if isinstance(taps, tuple) else taps
        known = [upper - lower for lower, upper in spans if isinstance(lower, int) and isinstance(upper, int)]
        return sum(known) if len(known) == len(spans) else self.inside if dim in self.part else size_bound(self.work.extents[dim])

    def _exists(self, row: LinearIndex, taps: dict[int, LinearIndex]) -> bool:
        """Whether a row of the first block of its loop has the taps. A tap that is a loop's index exists in all rows."""
        return all(w.exists(row.constant, taps[w.tap].constant) for w in self.across if taps[w.tap].is_constant)

    def _loops(self, fixed: dict[int, LinearIndex], row: LinearIndex, rows: int) -> list[Taps]:
        """The range of each reduced loop for a block of rows. Where not all rows have all taps, it is the list of the taps that some row of
        the loop's first block has."""
        loops: dict[int, Taps] = {d: self.part.get(d, (0, self.work.extents[d])) for d in self.reduced}
        if not self.whole:
            loops |= {w.tap: both(w.existing(fixed), self.part.get(w.tap)) for w in self.along}
        for window in self.across:
            has = [[window.exists(row.constant + u, tap) for u in range(rows)] for tap in range(window.taps)]
            if not all(map(all, has)):
                loops[window.tap] = pieces(has)
        if self.step is None and self.shared is None:
            loops |= pieces_of([self.work], [d for d in self.reduced if loops[d] == (0, self.work.extents[d])])
        for outer, inner in zip(self.reduced, self.reduced[1:]):
            if (
                loops[outer] == (0, self.work.extents[outer])
                and loops[inner] == (0, self.work.extents[inner])
                and walked_as_one(self.work, outer, inner)
            ):
                loops |= {outer: (0, 1), inner: (0, self.work.extents[outer] * self.work.extents[inner])}
        return list(loops.values())
