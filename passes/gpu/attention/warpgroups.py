"""The kernel of attention on sm_90a: both products by wgmma, keys and values fetched by TMA.

    block → (batch, 64 rows a warp group)
    s = q k of the first columns
    weights p of them, as kernel.py has it
    for the columns behind:
        s = q k                 starts
        o = o + p v             starts, of the columns before
        wait for s; maximum, weights and sums while the tensor cores go on
        wait for o; o = c o
    o = o + p v; m and l through shared memory; the epilogue on o

q, k and v lie in shared memory as wgmma reads them (contraction/wgmma.py): v, whose lines run along the head, is transposed on the way. The
weights are the left operand of the second product in the registers in which the first has left the scores. The keys of a step are fetched
while the one before runs, the values of a step while its weights are computed.

Declined: targets other than sm_90a, fewer than 64 rows, keys or values that TMA does not fetch (computed, or lines no multiple of 16 bytes
apart).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.control_flow import loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.vectors import from_elements, splat
from ...tiled.schedules.gpu_contraction import TileSchedule
from ..contraction.cp_async import TileCopy, TileShape, commit, tile_shape, wait
from ..contraction.pipeline import show_to_async_proxy
from ..contraction.tile_results import TileResults
from ..contraction.tma import BARRIER_BYTES, StageBarriers, TensorMapParameter, TmaCopy, tensor_map
from ..contraction.wgmma import (
    GROUP_ROWS,
    WIDEST_SWIZZLE,
    WarpGroups,
    fence_registers,
    wait_for_products,
)
from ..support.emit import barrier, remainder, thread_id
from ..support.launch import SWIZZLE_ALIGNMENT, OpenKernel, open_kernel, shared_bytes, shared_view
from ..support.layout import power_above
from ..support.registers import held, pinned, registers_of, word
from .blocks import place
from .group import AttentionGroup, operands_of
from .strip import Block, Strip, Weights

_LEAST_ROWS = 64
_NARROW = 64
"""Heads up to it: two blocks share a multiprocessor, so that products of one run beside the softmax of the other. Measured on an H200, 32
heads of 2048 tokens × 64: 104 us, causal 65; one block of three warp groups and 128 columns a step 122 and 72. Of 128 wide, causal, 4096
tokens: 64 columns a step 367 us, 128 columns 297."""
_STEPS = {True: (64,), False: (128, 64)}
"""Columns of a step; the fewer where there are no more."""
_STAGES = {True: (4, 4), False: (2, 3)}
"""Of keys and of values, of narrow heads, and of wider ones, where they fill the shared memory."""
_GROUPS = (2, 1)
"""Warp groups of a block."""
_PADDING = 1.15


@dataclass(frozen=True)
class _Plan:
    """How the kernel is cut: the schedules of both products, the tiles of q, k and v, and their tensor maps."""

    scores: TileSchedule
    values: TileSchedule
    shapes: tuple[TileShape, TileShape, TileShape]
    maps: tuple[TensorMapParameter | None, TensorMapParameter, TensorMapParameter]

    @property
    def narrow(self) -> bool:
        return max(self.scores.depth, self.values.cols) <= _NARROW

    @property
    def columns(self) -> int:
        """Of a step."""
        return self.scores.cols


def try_emit(group: AttentionGroup, target: TargetView) -> bool:
    """Emits the kernel of `group`, if it can be one."""
    first = group.first
    if target.cpu != "sm_90a" or first.rows.extent < _LEAST_ROWS:
        return False
    plan = _plan(group, target)
    if plan is None:
        return False
    rows, threads = plan.scores.rows, plan.scores.threads
    row_tiles = -(-first.rows.extent // rows)
    layout: dict[str, str | int] = {
        "tile": f"{rows}x{plan.columns}",
        "heads": f"{plan.scores.depth}, {plan.values.cols}",
        "warps": f"{plan.scores.warp_rows}x1",
        "stages": f"{plan.scores.stages}, {plan.values.stages}",
    }
    maps = [tensor for tensor in plan.maps if tensor is not None]
    kernel = open_kernel(first.function, first.batch.extent * row_tiles, threads, layout, maps)
    if plan.narrow:
        kernel.keep_resident(2 * threads)
    with kernel.body:
        _Kernel(group, kernel, plan, row_tiles, target).emit()
    return True


def _plan(group: AttentionGroup, target: TargetView) -> _Plan | None:
    first, second = group.first, group.second
    depth, width = (max(16, power_above(extent)) for extent in (first.inner.extent, second.cols.extent))
    narrow = max(depth, width) <= _NARROW
    steps, stages = _STEPS[narrow], _STAGES[narrow]
    columns = next((n for n in steps if first.cols.extent >= n), steps[-1])
    groups = _groups(first.rows.extent, first.batch.extent, _GROUPS, target)
    scores = TileSchedule(GROUP_ROWS * groups, columns, depth, stages[0], 4 * groups, 1)
    values = TileSchedule(GROUP_ROWS * groups, width, columns, stages[1], 4 * groups, 1)
    q, k, v = operands_of(group)
    longest = WIDEST_SWIZZLE // element_bytes(q.element)
    shapes = (
        tile_shape(q, (first.rows, first.inner), scores.rows, depth, scores.threads, longest=longest),
        tile_shape(k, (first.cols, first.inner), columns, depth, scores.threads, longest=longest),
        tile_shape(v, (second.cols, second.inner), width, columns, scores.threads, longest=longest),
    )
    query, key, value = (
        tensor_map(contraction, operand, shape) for contraction, operand, shape in zip((first, first, second), (q, k, v), shapes)
    )
    return None if key is None or value is None else _Plan(scores, values, shapes, (query, key, value))


def _groups(rows: int, batches: int, choices: Sequence[int], target: TargetView) -> int:
    """The most warp groups of a block with which few rows are padding, and every multiprocessor has a block."""
    tiles = {groups: -(-rows // (GROUP_ROWS * groups)) for groups in choices}
    least = min(count * groups for groups, count in tiles.items())
    fitting = [n for n, count in tiles.items() if count * n <= _PADDING * least and count * batches >= target.multiprocessors]
    return max(fitting, default=1)


@dataclass(frozen=True)
class _Carried:
    """What a thread carries from step to step: of its rows, and the weights of the last columns, as words."""

    largest: list[ir.Value]
    total: list[ir.Value]
    words: list[ir.Value]
    sums: ir.Value

    def flat(self) -> list[ir.Value]:
        return [*self.largest, *self.total, *self.words, self.sums]

    @staticmethod
    def of(values: Sequence[ir.Value]) -> _Carried:
        return _Carried(list(values[:2]), list(values[2:4]), list(values[4:-1]), values[-1])


class _Kernel:
    """A kernel while it is emitted."""

    def __init__(self, group: AttentionGroup, kernel: OpenKernel, plan: _Plan, row_tiles: int, target: TargetView):
        first, second, self.columns = group.first, group.second, plan.columns
        stages = self.stages = plan.scores.stages, plan.values.stages
        thread = self.thread = thread_id()
        self.batch, row_tile = place(first, second, row_tiles, target)
        self.row = LinearIndex.of(row_tile) * plan.scores.rows
        self.strip = Strip(group, kernel.buffers, Block(self.batch, self.row, plan.scores.rows, plan.columns), thread)
        rings = [[count, shape.lines, shape.length] for count, shape in zip((1, *stages), plan.shapes)]
        sizes = [shared_bytes(ring, shape.element) for ring, shape in zip(rings, plan.shapes)]
        places = [sum(sizes[:n]) for n in range(3)]
        self.results = TileResults(second, plan.values, sum(sizes))
        room = max(sum(sizes), self.results.staging_bytes)
        row_values = [2, plan.scores.rows]
        at = room + shared_bytes(row_values, ir.F32Type.get())
        self.arena = kernel.arena(at + BARRIER_BYTES * (1 + sum(stages)), SWIZZLE_ALIGNMENT)
        self.row_values = shared_view(self.arena, room, row_values, ir.F32Type.get())
        self.rings = [shared_view(self.arena, at, ring, shape.element) for at, ring, shape in zip(places, rings, plan.shapes)]
        q, *_ = operands_of(group)
        parameters = iter(kernel.maps)
        query, key, value = plan.maps
        self.query: TileCopy | TmaCopy
        self.asked: StageBarriers | None = None
        if query is None:
            self.query = TileCopy(first, q, plan.shapes[0], kernel.buffers, self.rings[0], thread, plan.scores.threads)
        else:
            self.asked = StageBarriers(self.arena, at, 1, 1, thread)
            self.query = TmaCopy(first, query, next(parameters), plan.shapes[0], (self.arena, places[0]), self.asked)
        at += BARRIER_BYTES
        self.barriers = [StageBarriers(self.arena, at + n * BARRIER_BYTES * stages[0], stages[n], 1, thread) for n in (0, 1)]
        self.copies = [
            TmaCopy(contraction, tensor, next(parameters), shape, (self.arena, begin), barriers)
            for contraction, tensor, shape, begin, barriers in zip(
                (first, second), (key, value), plan.shapes[1:], places[1:], self.barriers
            )
        ]
        kinds = (str(q.element),) * 2
        self.score = WarpGroups(plan.scores, plan.shapes[:2], thread, kinds, first.accumulator)
        self.value = WarpGroups(plan.values, (plan.shapes[0], plan.shapes[2]), thread, kinds, second.accumulator)

    def emit(self) -> None:
        zero = LinearIndex()
        steps = self.strip.steps()
        asked = self.query.fetch(self.batch, self.row, zero, index_constant(0))
        for which in (0, 1):
            for step in range(self.stages[which] - 2 * which):
                self._fetch(which, LinearIndex(constant=step), steps)
        self._queries_arrive(asked)
        self.barriers[0].wait(index_constant(0))
        (zeros,) = self.score.zeros()
        fence_registers()
        scores = self._start_scores(index_constant(0), zeros)
        wait_for_products(0)
        f32 = ir.F32Type.get()
        found, words = self._weigh(scores, zero, steps, [splat(f32, -inf)] * 2, [splat(f32, 0)] * 2)
        values = _Carried(found.largest, found.total, words, self.value.zeros()[0]).flat()

        def body(index: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
            return self._step(index, steps, _Carried.of(carried)).flat()

        start: LinearIndex = LinearIndex(constant=1)
        whole = self.strip.whole_steps(steps)
        if whole is not None:
            self.strip.whole = True
            values = loop(start, whole, 1, values, body)
            self.strip.whole = False
            start = LinearIndex.of(arith.maxsi(whole, index_constant(1)))
        self._finish(steps, _Carried.of(loop(start, steps, 1, values, body)))

    def _queries_arrive(self, asked: list[ir.Value]) -> None:
        if self.asked is not None:
            self.asked.wait(index_constant(0))
            return
        if asked:
            wait(commit(asked), 0)
        show_to_async_proxy()
        barrier()

    def _fetch(self, which: int, step: LinearIndex, steps: ir.Value) -> None:
        """Starts the copy of the keys (0) or values (1) of a step, if there is such a step."""
        inside = None if step.is_constant and not step.constant else arith.cmpi(CmpIPredicate.ult, step.value(), steps)
        place = (step * self.columns, LinearIndex()) if which == 0 else (LinearIndex(), step * self.columns)
        self.copies[which].fetch(self.batch, *place, remainder(step.value(), self.stages[which]), inside)

    def _start_scores(self, step: ir.Value, zeros: ir.Value) -> ir.Value:
        return self.score.start(self.rings[0], self.rings[1], (index_constant(0), remainder(step, self.stages[0])), zeros, begins=True)

    def _weigh(
        self, scores: ir.Value, index: LinearIndex, steps: ir.Value, largest: Sequence[ir.Value], total: Sequence[ir.Value]
    ) -> tuple[Weights, list[ir.Value]]:
        """What a step makes of its scores, and the weights as words, those of each instruction together."""
        numbers = held(registers_of(scores))
        pieces = [[from_elements(numbers[at : at + 2]) for at in range(2 * half, len(numbers), 4)] for half in (0, 1)]
        found = self.strip.weigh(pieces, index * self.columns, largest, total, lambda: self._next(index, steps))
        return found, [word(found.weights[half][piece]) for piece in range(len(pieces[0])) for half in (0, 1)]

    def _step(self, index: LinearIndex, steps: ir.Value, carried: _Carried) -> _Carried:
        """The scores of a step, and the products of the weights of the one before."""
        step, before = index.value(), (index - 1).value()
        self.barriers[0].wait(step)
        self.barriers[1].wait(before)
        words, (zeros,) = held(carried.words), self.score.zeros()
        fence_registers()
        scores = self._start_scores(step, zeros)
        sums = self._start_values(words, before, carried.sums)
        wait_for_products(1)
        found, others = self._weigh(scores, index, steps, carried.largest, carried.total)
        others = held(others)  # or LLVM would compute them behind the wait
        wait_for_products(0)
        held(words)  # until here the tensor cores read them
        numbers = held(registers_of(sums))
        numbers = [arith.mulf(number, found.factors[at // 2 % 2]) for at, number in enumerate(numbers)]
        return _Carried(found.largest, found.total, others, pinned(numbers))

    def _next(self, index: LinearIndex, steps: ir.Value) -> None:
        """Asks for keys and values where all threads have done with those of this step, and of two steps before."""
        barrier()
        self._fetch(0, index + self.stages[0], steps)
        self._fetch(1, index + (self.stages[1] - 2), steps)

    def _start_values(self, words: list[ir.Value], step: ir.Value, sums: ir.Value) -> ir.Value:
        fragments = [words[at : at + 4] for at in range(0, len(words), 4)]
        return self.value.start_on_registers(fragments, self.rings[2], remainder(step, self.stages[1]), sums)

    def _finish(self, steps: ir.Value, carried: _Carried) -> None:
        last = (LinearIndex.of(steps) - 1).value()
        self.barriers[1].wait(last)
        words = held(carried.words)
        fence_registers()
        sums = self._start_values(words, last, carried.sums)
        behind = self.strip.results(carried.largest, carried.total, self.row_values)
        wait_for_products(0)
        held(words)
        self.results.finish(behind, self.value, [sums], (self.batch, self.row, LinearIndex()), self.thread, self.arena)
