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

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from torch_mlir import ir
from torch_mlir.dialects import arith, vector
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.target import TargetView

from ...common.attention import BLOCK_ROWS
from ...common.control_flow import loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.vectors import elements, extract, from_elements, splat
from ...tiled.schedules.gpu_contraction import TileSchedule
from ..contraction.cp_async import TileCopy, TileShape, commit, share_copies, tile_shape
from ..contraction.mma import HalfWarp
from ..contraction.tile_results import TileResults
from ..support.emit import remainder, thread_id
from ..support.launch import OpenKernel, open_kernel, shared_bytes, shared_view
from ..support.layout import power_above
from .blocks import place
from .group import AttentionGroup, operands_of
from .strip import Block, Strip

_WARPS = 4
_STAGES = 2
_NARROW, _RESIDENT_THREADS = 64, 384
"""Of heads up to this width a multiprocessor holds so many threads, without spills."""


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
        self.batch, row_tile = place(first, second, row_tiles, target)
        self.row = LinearIndex.of(row_tile) * BLOCK_ROWS
        self.strip = Strip(group, kernel.buffers, Block(self.batch, self.row, BLOCK_ROWS, BLOCK_ROWS), thread)
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
        self.copied: ir.Value | None = None

    def emit(self) -> None:
        zero = LinearIndex()
        tokens = self.copies[0].fetch(self.batch, self.row, zero, index_constant(0))
        self._fetch(zero, index_constant(0), None, tokens)
        share_copies(self.copied)
        queries = [self.score.left(self.rings[0], index_constant(0), 0, n) for n in range(self.schedules[0].depth // 16)]
        steps = self.strip.steps()
        f32 = ir.F32Type.get()
        start = _Rows([splat(f32, -inf)] * 2, [splat(f32, 0)] * 2, self.value.zeros())

        def body(index: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
            step = index.value()
            share_copies(self.copied)
            ahead = index + 1
            inside = arith.cmpi(CmpIPredicate.ult, ahead.value(), steps)
            self._fetch(ahead * BLOCK_ROWS, remainder(ahead.value(), _STAGES), inside, [])
            return self._step(queries, index * BLOCK_ROWS, remainder(step, _STAGES), _Rows.of(carried)).flat()

        whole, carried = self.strip.whole_steps(steps), start.flat()
        if whole is not None:
            self.strip.whole = True
            carried = loop(0, whole, 1, carried, body)
            self.strip.whole = False
        rows = _Rows.of(loop(0 if whole is None else whole, steps, 1, carried, body))
        share_copies(self.copied)
        behind = self.strip.results(rows.largest, rows.total, self.row_values)
        self.results.finish(behind, self.value, rows.sums, (self.batch, self.row, zero), self.thread, self.arena)

    def _fetch(self, column: LinearIndex, stage: ir.Value, inside: ir.Value | None, tokens: list[ir.Value]) -> None:
        """Starts the copies of k and v from a column on."""
        zero = LinearIndex()
        tokens = [*tokens, *self.copies[1].fetch(self.batch, column, zero, stage, inside)]
        tokens += self.copies[2].fetch(self.batch, zero, column, stage, inside)
        group = commit(tokens) if tokens else None
        self.copied = self.copied or group  # which group a wait names makes no difference; the first is known everywhere

    def _step(self, queries: Sequence[ir.Value], column: LinearIndex, stage: ir.Value, rows: _Rows) -> _Rows:
        scores = self.score.zeros()
        for number, query in enumerate(queries):
            for j, key in enumerate(self.score.right(self.rings[1], stage, number)):
                scores[j] = self.score.multiply(query, key, scores[j])
        pieces = [[extract(each, half) for each in scores] for half in (0, 1)]
        found = self.strip.weigh(pieces, column, rows.largest, rows.total)
        factors = found.factors
        kind = ir.VectorType.get([2, 2], ir.F32Type.get())
        both = vector.shape_cast(kind, from_elements([factors[0], factors[0], factors[1], factors[1]]))
        sums = [arith.mulf(each, both) for each in rows.sums]
        for number in range(BLOCK_ROWS // 16):
            left = fragment(found.weights, number)
            for j, right in enumerate(self.value.right(self.rings[2], stage, number)):
                sums[j] = self.value.multiply(left, right, sums[j])
        return _Rows(found.largest, found.total, sums)


def fragment(weights: Sequence[Sequence[ir.Value]], number: int) -> ir.Value:
    """The left fragment of 16 columns, of two pieces of 8: rows lane/4 and lane/4 + 8 of the first, then of the second."""
    flat = [e for j in (2 * number, 2 * number + 1) for half in (0, 1) for e in elements(weights[half][j])]
    return vector.shape_cast(ir.VectorType.get([4, 2], flat[0].type), from_elements(flat))
