"""The kernel of products.py on sm_90a: all contractions by wgmma, what they have of the columns fetched by TMA.

    block → (batch, 64 rows), one warp group
    what contractions have of the rows (q, g) to shared memory, once
    for 64 columns at a time, or 32 where registers are few:
        ask for what they have of the columns a step or two ahead; wait for this step's (k, v, w)
        s = q k;  t = g v          start; wait
        p at (s, t)                 product_rows.py
        o = o + p w                 start, p in the registers in which s and t were; wait
        m = max(m, r)
    the epilogue on each o and m

A block waits for its products twice a step. The other blocks of the multiprocessor hide that, which are elsewhere in their own steps: the
tensor cores multiply for one while another computes p. So blocks are of one warp group: two that share a barrier would run in step.

Declined: targets other than sm_90a, fewer than 64 rows, operands of the columns that TMA does not fetch (computed, or lines no multiple of
16 bytes apart), and groups whose accumulators leave no registers for what is between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.vectors import from_elements
from ...tiled.schedules.gpu_contraction import TileSchedule
from ..contraction.cp_async import TileCopy, commit, wait
from ..contraction.pipeline import show_to_async_proxy
from ..contraction.tile_results import TileResults
from ..contraction.tma import BARRIER_BYTES, StageBarriers, TensorMapParameter, TmaCopy, tensor_map
from ..contraction.wgmma import GROUP_ROWS, GROUP_THREADS, WIDEST_SWIZZLE, WarpGroups, fence_registers, wait_for_products
from ..support.emit import barrier, remainder, thread_id
from ..support.launch import SWIZZLE_ALIGNMENT, OpenKernel, open_kernel
from ..support.layout import power_above
from ..support.registers import held, pinned, registers_of, word
from .blocks import place
from .numbers_ahead import NumbersAhead
from .points import Points
from .product_rows import Pairs, ProductRows, halves_of
from .product_tiles import ProductTiles
from .products_group import ProductsGroup

_COLUMNS = (64, 32)
"""Of a step; the fewer where the accumulators of 64 are too many."""
_MOST_REGISTERS = 208
"""Of a thread's 255, for accumulators and halves; the rest is for addresses and what is computed between."""
_RESIDENT = 3
"""Blocks of a multiprocessor, where that does not make the kernel spill."""
_STAGES = 2


@dataclass(frozen=True)
class _Plan:
    """The schedules of all contractions, the tiles, and their tensor maps: of rows there may be none."""

    columns: int
    scores: tuple[TileSchedule, ...]
    products: tuple[TileSchedule, ...]
    tiles: ProductTiles
    rows_maps: tuple[TensorMapParameter | None, ...]
    columns_maps: tuple[TensorMapParameter, ...]

    @property
    def maps(self) -> list[TensorMapParameter]:
        return [*(each for each in self.rows_maps if each is not None), *self.columns_maps]


def try_emit(group: ProductsGroup, target: TargetView) -> bool:
    """Emits the kernel of `group`, if it can be one."""
    if target.cpu != "sm_90a" or group.first.rows.extent < GROUP_ROWS:
        return False
    plan = _plan(group)
    if plan is None:
        return False
    row_tiles = -(-group.first.rows.extent // GROUP_ROWS)
    layout: dict[str, str | int] = {
        "tile": f"{GROUP_ROWS}x{plan.columns}",
        "products": group.text,
        "warps": f"{GROUP_THREADS // 32}x1",
        "stages": _STAGES,
    }
    kernel = open_kernel(group.first.function, group.first.batch.extent * row_tiles, GROUP_THREADS, layout, plan.maps)
    kernel.keep_resident(_RESIDENT * GROUP_THREADS)
    with kernel.body:
        _Kernel(group, plan, kernel, row_tiles, target).emit()
    return True


def _plan(group: ProductsGroup) -> _Plan | None:
    columns = next((n for n in _COLUMNS if _registers(group, n) <= _MOST_REGISTERS), None)
    if columns is None:
        return None
    tiles = ProductTiles.of(group, columns, GROUP_THREADS, WIDEST_SWIZZLE // element_bytes(group.first.left.element))
    rows_maps, columns_maps = (
        [tensor_map(tile.contraction, tile.operand, tile.shape) for tile in each] for each in (tiles.lefts, tiles.rights)
    )
    known = [each for each in columns_maps if each is not None]
    if len(known) < len(columns_maps):
        return None
    scores = tuple(TileSchedule(GROUP_ROWS, columns, _filled(each.inner.extent), _STAGES, 4, 1) for each in group.scores)
    products = tuple(TileSchedule(GROUP_ROWS, _filled(each.cols.extent), columns, _STAGES, 4, 1) for each in group.products)
    return _Plan(columns, scores, products, tiles, tuple(rows_maps), tuple(known))


def _filled(extent: int) -> int:
    """As wide as its tile is."""
    return max(16, power_above(extent))


def _registers(group: ProductsGroup, columns: int) -> int:
    """What a thread has of accumulators, and of the halves that are multiplied with them."""
    halves = sum(group.parts if str(value.type) == "f32" else 1 for _, value in group.weights) * columns // 4
    return halves + len(group.scores) * columns // 2 + sum(_filled(each.cols.extent) // 2 for each in group.products)


class _Kernel:
    """A kernel while it is emitted."""

    def __init__(self, group: ProductsGroup, plan: _Plan, kernel: OpenKernel, row_tiles: int, target: TargetView):
        self.group, self.plan, self.buffers = group, plan, kernel.buffers
        first, thread = group.first, thread_id()
        self.thread = thread
        self.batch, row_tile = place(first, [*group.products, first][0], row_tiles, target)
        self.row = LinearIndex.of(row_tile) * GROUP_ROWS
        tiles = plan.tiles
        *places, end = tiles.places(_STAGES)
        self.results = [TileResults(each, schedule, end) for each, schedule in zip(group.products, plan.products)]
        self.numbers = NumbersAhead(group, _STAGES, plan.columns, GROUP_THREADS)
        room = max([end, *(each.staging_bytes for each in self.results)])
        at = room + self.numbers.bytes
        self.arena = kernel.arena(at + BARRIER_BYTES * (1 + _STAGES), SWIZZLE_ALIGNMENT)
        self.numbers.place(self.arena, room)
        self.rings = tiles.views(_STAGES, self.arena)
        parameters = iter(kernel.maps)
        of_tma = sum(each is not None for each in plan.rows_maps)
        self.of_rows = StageBarriers(self.arena, at, 1, of_tma, thread) if of_tma else None
        self.of_columns = StageBarriers(self.arena, at + BARRIER_BYTES, _STAGES, len(tiles.rights), thread)
        count = len(tiles.lefts)
        self.left_copies: list[TileCopy | TmaCopy] = []
        for tile, tensor, begin, ring in zip(tiles.lefts, plan.rows_maps, places, self.rings):
            if tensor is None or self.of_rows is None:
                copy: TileCopy | TmaCopy = TileCopy(tile.contraction, tile.operand, tile.shape, kernel.buffers, ring, thread, GROUP_THREADS)
            else:
                copy = TmaCopy(tile.contraction, tensor, next(parameters), tile.shape, (self.arena, begin), self.of_rows)
            self.left_copies.append(copy)
        self.right_copies = [
            TmaCopy(tile.contraction, tensor, next(parameters), tile.shape, (self.arena, begin), self.of_columns)
            for tile, tensor, begin in zip(tiles.rights, plan.columns_maps, places[count:])
        ]
        self.lefts, self.rights = self.rings[:count], self.rings[count:]
        kinds = (str(first.left.element),) * 2
        shapes = [(left.shape, right.shape) for left, right in zip(tiles.lefts, tiles.rights)]
        self.scores = [
            WarpGroups(schedule, pair, thread, kinds, each.accumulator) for schedule, pair, each in zip(plan.scores, shapes, group.scores)
        ]
        self.values = [
            WarpGroups(schedule, (shapes[0][0], shape), thread, kinds, each.accumulator)
            for schedule, (_, shape), each in zip(plan.products, tiles.values, group.products)
        ]
        self.copied: ir.Value | None = None
        self.rows = ProductRows(group, kernel.buffers, (self.batch, self.row), plan.columns, self.numbers, thread)

    def emit(self) -> None:
        begin, end = self.rows.span()
        zero = LinearIndex()
        self.begin, self.steps = begin, arith.subi(end, begin)
        tokens = [token for copy in self.left_copies for token in copy.fetch(self.batch, self.row, zero, index_constant(0))]
        self._fetch(zero)
        self._rows_arrive(tokens)
        start = [sums for value in self.values for sums in value.zeros()] + self.rows.starts()
        sums = self.rows.loop(begin, end, start, self._step)
        for product, value, results, own in zip(self.group.products, self.values, self.results, sums):
            behind = Points(product, self.buffers, self.group.loops)
            results.finish(behind, value, [own], (self.batch, self.row, zero), self.thread, self.arena)
        self.rows.finish(sums[len(self.values) :])

    def _rows_arrive(self, tokens: list[ir.Value]) -> None:
        if tokens:
            wait(commit(tokens), 0)
            show_to_async_proxy()
            barrier()
        if self.of_rows is not None:
            self.of_rows.wait(index_constant(0))

    def _fetch(self, step: LinearIndex) -> None:
        """Starts the copies of what contractions have of a step's columns, if there is such a step."""
        zero, at = LinearIndex(), (LinearIndex.of(self.begin) + step) * self.plan.columns
        inside, stage = arith.cmpi(CmpIPredicate.ult, step.value(), self.steps), remainder(step.value(), _STAGES)
        for number, copy in enumerate(self.right_copies):
            where = (at, zero) if number < len(self.scores) else (zero, at)
            copy.fetch(self.batch, *where, stage, inside)
        tokens = self.numbers.fetch(self.buffers, self.thread, self.batch, at, stage, inside)
        group = commit(tokens) if tokens else None
        self.copied = self.copied or group

    def _step(self, index: LinearIndex, sums: list[ir.Value]) -> list[ir.Value]:
        number = index - LinearIndex.of(self.begin)
        step, column = number.value(), index * self.plan.columns
        if self.copied is not None:
            wait(self.copied, 0)
        barrier()  # the numbers are there for all threads, and all have done with the step before
        self._fetch(number + 1)
        self.of_columns.wait(step)
        stage = remainder(step, _STAGES)
        found = self._multiplied(stage)
        weights = self.rows.weights(found, column, stage)
        count = len(self.values)
        products = self._add_products(weights[:count], stage, sums[:count])
        return [*products, *self.rows.reduce(weights[count:], sums[count:])]

    def _multiplied(self, stage: ir.Value) -> list[Pairs]:
        """The contractions at the rows and columns of a step."""
        zeros = [score.zeros()[0] for score in self.scores]
        fence_registers()
        started = [
            score.start(left, right, (index_constant(0), stage), zero, begins=True)
            for score, left, right, zero in zip(self.scores, self.lefts, self.rights, zeros)
        ]
        wait_for_products(0)
        numbers = [held(registers_of(each)) for each in started]
        return [[[from_elements(own[at : at + 2]) for at in range(2 * half, len(own), 4)] for half in (0, 1)] for own in numbers]

    def _add_products(self, weights: Sequence[Pairs], stage: ir.Value, sums: Sequence[ir.Value]) -> list[ir.Value]:
        """The sums of the contractions over columns with those of a step."""
        if not weights:
            return []
        words = [[held(_words(part)) for part in halves_of(own, self.group.parts)] for own in weights]
        fence_registers()
        made = []
        for value, (at, _), parts, total in zip(self.values, self.plan.tiles.values, words, sums):
            for part in parts:
                fragments = [part[n : n + 4] for n in range(0, len(part), 4)]
                total = value.start_on_registers(fragments, self.rights[at], stage, total)
            made.append(total)
        wait_for_products(0)
        for part in (part for parts in words for part in parts):
            held(part)  # until here the tensor cores read them
        return [pinned(registers_of(total)) for total in made]


def _words(weights: Pairs) -> list[ir.Value]:
    """Pairs of halves as the instruction takes them: of each eight columns both rows."""
    return [word(pair) for both in zip(*weights) for pair in both]
