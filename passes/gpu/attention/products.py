"""The kernel of contractions over columns of what contractions make at each row and column: nothing between them leaves registers.

    block → (batch, 64 rows); a warp has 16 of them
    what contractions have of the rows (q, g) to shared memory, once
    for 64 columns at a time, or 32 where rows are wider than 64:
        wait for what they have of the columns (k, v, w), start the copies of the next
        s = q k;  t = g v                    mma.sync, accumulators of 16 x 64
        p at (s, t)                          with whatever is read at the row, the column, or both
        o = o + p w                          a thread's accumulators are its part of the left operand of mma.sync
        m = max(m, r)                        or a sum: registers
    m of the four lanes that share a row; the epilogue on each o and m

As in kernel.py, but no step depends on what rows are reduced to, so nothing is rescaled; there may be several contractions of either kind,
or none of the second. What is between them is product_rows.py's. An f32 p beside bf16 w is two or three numbers of bf16, whose products
are added. A tile that one contraction multiplies as rows and another as columns (dS K, where S = Q K) is copied once.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.target import TargetView

from ...common.attention import BLOCK_ROWS
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.vectors import extract
from ...tiled.schedules.gpu_contraction import TileSchedule
from ..contraction.cp_async import TileCopy, commit, share_copies
from ..contraction.mma import HalfWarp
from ..contraction.tile_results import TileResults
from ..support.emit import remainder, thread_id
from ..support.launch import OpenKernel, open_kernel
from .blocks import place
from .kernel import fragment
from .numbers_ahead import NumbersAhead
from .points import Points
from .product_rows import ProductRows, halves_of
from .product_tiles import NARROW, ProductTiles
from .products_group import ProductsGroup

_WARPS = 4
_STAGES = 2


def emit(group: ProductsGroup, target: TargetView) -> None:
    """The kernel of `group`."""
    plan = _Plan.of(group)
    row_tiles = -(-group.first.rows.extent // BLOCK_ROWS)
    layout: dict[str, str | int] = {
        "tile": f"{BLOCK_ROWS}x{plan.columns}",
        "products": group.text,
        "warps": f"{_WARPS}x1",
        "stages": _STAGES,
    }
    kernel = open_kernel(group.first.function, group.first.batch.extent * row_tiles, 32 * _WARPS, layout)
    with kernel.body:
        _Kernel(group, plan, kernel, row_tiles, target).emit()


@dataclass(frozen=True)
class _Plan:
    """The schedules of all contractions, and the tiles that are copied."""

    columns: int
    scores: tuple[TileSchedule, ...]
    products: tuple[TileSchedule, ...]
    tiles: ProductTiles

    @staticmethod
    def of(group: ProductsGroup) -> _Plan:
        depths, widths = (
            [each.extent for each in extents] for extents in ([s.inner for s in group.scores], [p.cols for p in group.products])
        )
        columns = BLOCK_ROWS if max([*depths, *widths]) <= NARROW else BLOCK_ROWS // 2
        scores = tuple(TileSchedule(BLOCK_ROWS, columns, _whole(depth), _STAGES, _WARPS, 1) for depth in depths)
        products = tuple(TileSchedule(BLOCK_ROWS, _whole(width), columns, _STAGES, _WARPS, 1) for width in widths)
        return _Plan(columns, scores, products, ProductTiles.of(group, columns, 32 * _WARPS))


def _whole(extent: int) -> int:
    """So many rows or columns that fragments of 16 make them up."""
    return -(-extent // 16) * 16


class _Kernel:
    """A kernel while it is emitted."""

    def __init__(self, group: ProductsGroup, plan: _Plan, kernel: OpenKernel, row_tiles: int, target: TargetView):
        self.group, self.plan, self.buffers = group, plan, kernel.buffers
        first, thread = group.first, thread_id()
        self.thread = thread
        self.batch, row_tile = place(first, [*group.products, first][0], row_tiles, target)
        self.row = LinearIndex.of(row_tile) * BLOCK_ROWS
        tiles = plan.tiles
        room = tiles.places(_STAGES)[-1]
        self.results = [TileResults(each, schedule, room) for each, schedule in zip(group.products, plan.products)]
        self.numbers = NumbersAhead(group, _STAGES, plan.columns, 32 * _WARPS)
        self.arena = kernel.arena(max([room + self.numbers.bytes, *(each.staging_bytes for each in self.results)]))
        self.numbers.place(self.arena, room)
        self.rings = tiles.views(_STAGES, self.arena)
        self.copies = [
            TileCopy(tile.contraction, tile.operand, tile.shape, kernel.buffers, ring, thread, 32 * _WARPS)
            for tile, ring in zip(tiles.all, self.rings)
        ]
        lefts, rights = ([tile.shape for tile in each] for each in (tiles.lefts, tiles.rights))
        self.of_columns = len(lefts)
        self.scores = [HalfWarp(schedule, (left, right), thread) for schedule, left, right in zip(plan.scores, lefts, rights)]
        self.values = [HalfWarp(schedule, (lefts[0], shape), thread) for schedule, (_, shape) in zip(plan.products, tiles.values)]
        self.rows = ProductRows(group, kernel.buffers, (self.batch, self.row), plan.columns, self.numbers, thread)
        self.copied: ir.Value | None = None

    def emit(self) -> None:
        begin, end = self.rows.span()
        zero = LinearIndex()
        tokens = [token for copy in self.copies[: self.of_columns] for token in copy.fetch(self.batch, self.row, zero, index_constant(0))]
        self._fetch(LinearIndex.of(begin), end, tokens)
        start = [sums for value in self.values for sums in value.zeros()]
        start += self.rows.starts()

        def body(index: LinearIndex, sums: list[ir.Value]) -> list[ir.Value]:
            share_copies(self.copied)
            self._fetch(index + 1, end, [])
            return self._step(index * self.plan.columns, remainder(index.value(), _STAGES), sums)

        sums = self.rows.loop(begin, end, start, body)
        share_copies(self.copied)
        for product, value, results in zip(self.group.products, self.values, self.results):
            count = len(value.zeros())
            behind = Points(product, self.buffers, self.group.loops)
            results.finish(behind, value, sums[:count], (self.batch, self.row, zero), self.thread, self.arena)
            sums = sums[count:]
        self.rows.finish(sums)

    def _fetch(self, step: LinearIndex, end: ir.Value, tokens: list[ir.Value]) -> None:
        """Starts the copies of what contractions have of a step's columns, if there is such a step."""
        zero, at = LinearIndex(), step * self.plan.columns
        inside, stage = arith.cmpi(CmpIPredicate.ult, step.value(), end), remainder(step.value(), _STAGES)
        for number, copy in enumerate(self.copies[self.of_columns :]):
            where = (at, zero) if number < len(self.scores) else (zero, at)
            tokens = [*tokens, *copy.fetch(self.batch, *where, stage, inside)]
        tokens = [*tokens, *self.numbers.fetch(self.buffers, self.thread, self.batch, at, stage, inside)]
        group = commit(tokens) if tokens else None
        self.copied = self.copied or group

    def _step(self, column: LinearIndex, stage: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        plan, found = self.plan, [self._score(n, stage) for n in range(len(self.scores))]
        pairs = [[[extract(each, half) for each in score] for half in (0, 1)] for score in found]
        weights = self.rows.weights(pairs, column, stage)
        sums, place = list(sums), 0
        for value, (at, _), own in zip(self.values, plan.tiles.values, weights):
            parts = halves_of(own, self.group.parts)
            for number in range(plan.columns // 16):
                lefts = [fragment(part, number) for part in parts]
                for j, right in enumerate(value.right(self.rings[self.of_columns + at], stage, number)):
                    for left in lefts:
                        sums[place + j] = value.multiply(left, right, sums[place + j])
            place += len(value.zeros())
        return [*sums[:place], *self.rows.reduce(weights[len(self.values) :], sums[place:])]

    def _score(self, which: int, stage: ir.Value) -> list[ir.Value]:
        """The accumulators of a contraction at the rows and columns of a step."""
        warp, left_ring, right_ring = self.scores[which], self.rings[which], self.rings[self.of_columns + which]
        found = warp.zeros()
        for number in range(self.plan.scores[which].depth // 16):
            left = warp.left(left_ring, index_constant(0), 0, number)
            for j, right in enumerate(warp.right(right_ring, stage, number)):
                found[j] = warp.multiply(left, right, found[j])
        return found
