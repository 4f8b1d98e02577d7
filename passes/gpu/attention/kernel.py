"""The kernel of two contractions with a maximum and a sum of rows between them (flash attention): nothing between them leaves registers.

    block → (batch, 64 rows); a warp has 16 of them, its q as fragments
    for 64 columns at a time:
        wait for k and v, start the copies of the next
        s = q k                              mma.sync, accumulators of 16 x 64
        m' = max(m, rows of f(s))            registers, then the four lanes that share a row
        e, p at (s, m');  c = exp(m - m')
        l = c l + rows of e;  o = c o + p v  a thread's accumulators of s are its part of the left operand of mma.sync
    m and l through shared memory; the epilogue on o

Where m' is -inf, which e may not be subtracted from, 0 stands for it while columns are gone through: rows of which all is masked so far sum
to 0. Behind the last column the group's own ops see m as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from torch_mlir import ir
from torch_mlir.dialects import arith, vector
from torch_mlir.dialects.arith import CmpFPredicate, CmpIPredicate

from hloom.dialects.target import TargetView

from ...common.attention import BLOCK_ROWS
from ...common.contraction import LIVE
from ...common.control_flow import if_then, loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.vectors import elements, extract, from_elements, from_lanes, splat
from ...tiled.schedules.gpu_contraction import TileSchedule
from ..contraction.cp_async import TileCopy, TileShape, commit, tile_shape, wait
from ..contraction.mma import HalfWarp
from ..contraction.tile_results import TileResults
from ..support.emit import all_of, barrier, divide, less_than, load, remainder, shuffle, store, thread_id
from ..support.launch import OpenKernel, open_kernel, shared_bytes, shared_view
from ..support.layout import power_above
from .blocks import place
from .group import AttentionGroup, operands_of
from .points import Behind, Between

_WARPS = 4
_STAGES = 2
_STRIP = BLOCK_ROWS // _WARPS
_NARROW, _RESIDENT_THREADS = 64, 384
"""Of heads up to this width a multiprocessor holds so many threads, without spills."""
_QUAD = (1, 2)
"""The four lanes that share a row differ by these."""


def emit(group: AttentionGroup, target: TargetView) -> None:
    """The kernel of `group`."""
    first, second = group.first, group.second
    depth, width = (max(16, power_above(extent)) for extent in (first.inner.extent, second.cols.extent))
    scores = TileSchedule(BLOCK_ROWS, BLOCK_ROWS, depth, _STAGES, _WARPS, 1)
    values = TileSchedule(BLOCK_ROWS, width, BLOCK_ROWS, _STAGES, _WARPS, 1)
    q, k, v = operands_of(group)
    shapes = (
        tile_shape(q, (first.rows, first.inner), BLOCK_ROWS, depth, scores.threads),
        tile_shape(k, (first.cols, first.inner), BLOCK_ROWS, depth, scores.threads),
        tile_shape(v, (second.cols, second.inner), width, BLOCK_ROWS, scores.threads),
    )
    row_tiles = -(-first.rows.extent // BLOCK_ROWS)
    layout: dict[str, str | int] = {
        "tile": f"{BLOCK_ROWS}x{BLOCK_ROWS}",
        "heads": f"{depth}, {width}",
        "warps": f"{_WARPS}x1",
        "stages": _STAGES,
    }
    kernel = open_kernel(first.function, first.batch.extent * row_tiles, scores.threads, layout)
    if max(depth, width) <= _NARROW:
        kernel.keep_resident(_RESIDENT_THREADS)
    with kernel.body:
        _Kernel(group, kernel, (scores, values), shapes, row_tiles, target).emit()


@dataclass(frozen=True)
class _Rows:
    """What a thread carries of its two rows, and its accumulators of the second contraction."""

    largest: list[ir.Value]
    total: list[ir.Value]
    sums: list[ir.Value]

    def flat(self) -> list[ir.Value]:
        return [*self.largest, *self.total, *self.sums]

    @staticmethod
    def of(values: Sequence[ir.Value]) -> _Rows:
        return _Rows(list(values[:2]), list(values[2:4]), list(values[4:]))


class _Kernel:
    """A kernel while it is emitted."""

    def __init__(
        self,
        group: AttentionGroup,
        kernel: OpenKernel,
        schedules: tuple[TileSchedule, TileSchedule],
        shapes: tuple[TileShape, TileShape, TileShape],
        row_tiles: int,
        target: TargetView,
    ):
        self.group, self.buffers, self.schedules = group, kernel.buffers, schedules
        first, second = group.first, group.second
        thread = self.thread = thread_id()
        self.batch, row_tile = place(group, row_tiles, target)
        self.row = LinearIndex.of(row_tile) * BLOCK_ROWS
        rings = [[stages, shape.lines, shape.length] for stages, shape in zip((1, _STAGES, _STAGES), shapes)]
        sizes = [shared_bytes(ring, shape.element) for ring, shape in zip(rings, shapes)]
        self.results = TileResults(second, schedules[1], sum(sizes))
        room = max(sum(sizes), self.results.staging_bytes)
        f32 = ir.F32Type.get()
        self.arena = kernel.arena(room + shared_bytes([2, BLOCK_ROWS], f32))
        places = [sum(sizes[:n]) for n in range(3)]
        self.rings = [shared_view(self.arena, at, ring, shape.element) for at, ring, shape in zip(places, rings, shapes)]
        self.row_values = shared_view(self.arena, room, [2, BLOCK_ROWS], f32)
        q, k, v = operands_of(group)
        self.copies = [
            TileCopy(contraction, operand, shape, kernel.buffers, ring, thread, schedules[0].threads)
            for contraction, operand, shape, ring in zip((first, first, second), (q, k, v), shapes, self.rings)
        ]
        self.score = HalfWarp(schedules[0], (shapes[0], shapes[1]), thread)
        self.value = HalfWarp(schedules[1], (shapes[0], shapes[2]), thread)
        lane = remainder(thread, 32)
        self.lane_row, self.lane_col = divide(lane, 4), remainder(lane, 4)
        self.between = Between(group, kernel.buffers)
        self.copied: ir.Value | None = None
        self.whole = False
        """Whether all columns of a step are there, and before every diagonal of a mask."""

    def emit(self) -> None:
        zero = LinearIndex()
        tokens = self.copies[0].fetch(self.batch, self.row, zero, index_constant(0))
        self._fetch(zero, index_constant(0), None, tokens)
        self._arrive()
        queries = [self.score.left(self.rings[0], index_constant(0), 0, n) for n in range(self.schedules[0].depth // 16)]
        steps = self._steps()
        f32 = ir.F32Type.get()
        start = _Rows([splat(f32, -inf)] * 2, [splat(f32, 0)] * 2, self.value.zeros())

        def body(index: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
            step = index.value()
            self._arrive()
            ahead = index + 1
            inside = arith.cmpi(CmpIPredicate.ult, ahead.value(), steps)
            self._fetch(ahead * BLOCK_ROWS, remainder(ahead.value(), _STAGES), inside, [])
            return self._step(queries, index * BLOCK_ROWS, remainder(step, _STAGES), _Rows.of(carried)).flat()

        whole, carried = self._whole_steps(steps), start.flat()
        if whole is not None:
            self.whole = True
            carried = loop(0, whole, 1, carried, body)
            self.whole = False
        rows = _Rows.of(loop(0 if whole is None else whole, steps, 1, carried, body))
        self._arrive()
        self._finish(rows)

    def _fetch(self, column: LinearIndex, stage: ir.Value, inside: ir.Value | None, tokens: list[ir.Value]) -> None:
        """Starts the copies of k and v from a column on."""
        zero = LinearIndex()
        tokens = [*tokens, *self.copies[1].fetch(self.batch, column, zero, stage, inside)]
        tokens += self.copies[2].fetch(self.batch, zero, column, stage, inside)
        group = commit(tokens) if tokens else None
        self.copied = self.copied or group  # which group a wait names makes no difference; the first is known everywhere

    def _arrive(self) -> None:
        """What was copied is there for all threads, and what was read by all may be overwritten."""
        if self.copied is not None:
            wait(self.copied, 0)
        barrier()

    def _steps(self) -> ir.Value:
        """How many times 64 columns a block goes through: where a mask leaves the others out, up to those of its last row."""
        first = self.group.first
        count = -(-first.cols.extent // BLOCK_ROWS)
        attributes = first.function.attributes
        live = list(ir.DenseI64ArrayAttr(attributes[LIVE])) if LIVE in attributes else None
        row = self._position()
        if live is None or live[:2] != [first.rows.last_extent, first.cols.extent] or row is None:
            return index_constant(count)
        last = (row + (BLOCK_ROWS - 1 + live[2])).value()
        last = arith.maxsi(last, index_constant(1))
        return arith.minsi(divide((LinearIndex.of(last) + (BLOCK_ROWS - 1)).value(), BLOCK_ROWS), index_constant(count))

    def _whole_steps(self, steps: ir.Value) -> ir.Value | None:
        """How many of these steps need no mask, of those that are known; None where that is all or none."""
        columns = self.group.first.cols.extent
        count, aheads, row = columns // BLOCK_ROWS, self.between.diagonals.values(), self._position()
        if aheads and row is None:
            return None
        if row is None or not aheads:
            return arith.minsi(steps, index_constant(count)) if count and columns % BLOCK_ROWS else None
        before = arith.maxsi((row + (min(aheads) + 1)).value(), index_constant(0))
        return arith.minsi(arith.minsi(divide(before, BLOCK_ROWS), index_constant(count)), steps)

    def _position(self) -> LinearIndex | None:
        """The block's first row as the last of the rows' loops counts it; None where a block may go beyond that loop's end."""
        rows = self.group.first.rows
        if len(rows.loops) == 1:
            return self.row
        return LinearIndex.of(remainder(self.row.value(), rows.last_extent)) if rows.last_extent % BLOCK_ROWS == 0 else None

    def _step(self, queries: Sequence[ir.Value], column: LinearIndex, stage: ir.Value, rows: _Rows) -> _Rows:
        scores = self.score.zeros()
        for number, query in enumerate(queries):
            for j, key in enumerate(self.score.right(self.rings[1], stage, number)):
                scores[j] = self.score.multiply(query, key, scores[j])
        pieces = [[extract(each, half) for each in scores] for half in (0, 1)]
        largest = [self._largest(half, pieces[half], column, rows.largest[half]) for half in (0, 1)]
        safe = [_finite_or_zero(each) for each in largest]
        factors = [self.between.exponents.against(old, new) for old, new in zip(rows.largest, safe)]
        terms, weights = zip(*(self._weights(half, pieces[half], column, safe[half]) for half in (0, 1)))
        total = [_sum([arith.mulf(rows.total[half], factors[half]), *terms[half]]) for half in (0, 1)]
        kind = ir.VectorType.get([2, 2], ir.F32Type.get())
        both = vector.shape_cast(kind, from_elements([factors[0], factors[0], factors[1], factors[1]]))
        sums = [arith.mulf(each, both) for each in rows.sums]
        for number in range(BLOCK_ROWS // 16):
            left = _fragment(weights, number)
            for j, right in enumerate(self.value.right(self.rings[2], stage, number)):
                sums[j] = self.value.multiply(left, right, sums[j])
        return _Rows(largest, total, sums)

    def _largest(self, half: int, pieces: Sequence[ir.Value], column: LinearIndex, before: ir.Value) -> ir.Value:
        """The maximum of a row, with these columns."""

        def evaluate() -> list[ir.Value]:
            return [self.between.candidate()]

        found = [each for (value,) in self._evaluated(half, pieces, column, None, evaluate, (-inf,)) for each in elements(value)]
        mine = _tree(arith.maximumf, found)
        for distance in _QUAD:
            mine = arith.maximumf(mine, shuffle(mine, distance))
        return arith.maximumf(before, mine)

    def _weights(
        self, half: int, pieces: Sequence[ir.Value], column: LinearIndex, largest: ir.Value
    ) -> tuple[list[ir.Value], list[ir.Value]]:
        """What is summed of a row, and what the second contraction multiplies, pair by pair."""

        def evaluate() -> list[ir.Value]:
            return [self.between.term(), self.between.weights()]

        found = self._evaluated(half, pieces, column, largest, evaluate, (0, 0))
        return [each for term, _ in found for each in elements(term)], [weight for _, weight in found]

    def _evaluated(
        self,
        half: int,
        pieces: Sequence[ir.Value],
        column: LinearIndex,
        largest: ir.Value | None,
        evaluate: Callable[[], list[ir.Value]],
        outside: Sequence[float],
    ) -> list[list[ir.Value]]:
        """What `evaluate` gives at each pair of columns of a row, `outside` behind the last column."""
        first = self.group.first
        columns = first.cols.extent
        length = 2 if columns % 2 == 0 else 1
        ragged = columns % BLOCK_ROWS != 0 and not self.whole
        row = self.row + self.score.origins[0] + self.lane_row + 8 * half
        if first.rows.extent % BLOCK_ROWS:
            row = LinearIndex.of(arith.minui(row.value(), index_constant(first.rows.extent - 1)))
        found = []
        for j, pair in enumerate(pieces):
            parts: list[list[ir.Value]] = []
            for number, score in enumerate([pair] if length == 2 else elements(pair)):
                at = column + LinearIndex.of(self.lane_col) * 2 + (8 * j + number)
                inside = less_than(at, columns) if ragged else None
                if ragged:
                    at = LinearIndex.of(arith.minui(at.value(), index_constant(columns - length)))
                self.between.at(first.loops_at(self.batch, row, at), score, largest, length, self.whole)
                made = evaluate()
                if inside is not None:
                    made = [arith.select(inside, each, splat(each.type, number)) for each, number in zip(made, outside)]
                parts.append(made)
            found.append([from_lanes([e for part in each for e in elements(part)]) if len(each) > 1 else each[0] for each in zip(*parts)])
        return found

    def _finish(self, rows: _Rows) -> None:
        total = list(rows.total)
        for distance in _QUAD:
            total = [arith.addf(each, shuffle(each, distance)) for each in total]
        leader = arith.cmpi(CmpIPredicate.eq, self.lane_col, index_constant(0))
        with if_then(all_of([leader])):
            for half in (0, 1):
                row = (self.score.origins[0] + self.lane_row + 8 * half).value()
                store(self.between.exponents.maximum(rows.largest[half]), self.row_values, [index_constant(0), row])
                store(total[half], self.row_values, [index_constant(1), row])
        barrier()
        tile = self.batch, self.row, LinearIndex()
        behind = Behind(self.group, self.buffers, self._row_values)
        self.results.finish(behind, self.value, rows.sums, tile, self.thread, self.arena)

    def _row_values(self, loops: Mapping[int, LinearIndex]) -> dict[ir.Value, ir.Value]:
        """The maximum and the sum of the row at a point."""
        row, stride = LinearIndex() - self.row, 1
        for number, extent in reversed(self.group.first.rows.loops):
            row, stride = row + loops[number] * stride, stride * extent
        results = (self.group.largest.op.results[0], self.group.total.op.results[0])
        return {value: load(self.row_values, [index_constant(n), row.value()]) for n, value in enumerate(results)}


def _finite_or_zero(value: ir.Value) -> ir.Value:
    """The value, 0 where it is -inf."""
    lowest = arith.cmpf(CmpFPredicate.OEQ, value, splat(value.type, -inf))
    return arith.select(lowest, splat(value.type, 0), value)


def _fragment(weights: Sequence[Sequence[ir.Value]], number: int) -> ir.Value:
    """The left fragment of 16 columns, of two pieces of 8: rows lane/4 and lane/4 + 8 of the first, then of the second."""
    flat = [e for j in (2 * number, 2 * number + 1) for half in (0, 1) for e in elements(weights[half][j])]
    return vector.shape_cast(ir.VectorType.get([4, 2], flat[0].type), from_elements(flat))


def _sum(values: Sequence[ir.Value]) -> ir.Value:
    return _tree(arith.addf, values)


def _tree(combine: Callable[[ir.Value, ir.Value], ir.Value], values: Sequence[ir.Value]) -> ir.Value:
    """All of the values, combined in pairs."""
    values = list(values)
    while len(values) > 1:
        odd = values[len(values) // 2 * 2 :]
        values = [combine(a, b) for a, b in zip(values[::2], values[1::2])] + odd
    return values[0]
