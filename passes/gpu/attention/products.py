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
or none of the second. An f32 p beside bf16 w is three numbers of bf16, whose products are added. A tile that one contraction multiplies
as rows and another as columns (dS K, where S = Q K) is copied once. Where a mask leaves columns out (hloom.live, hloom.begins), a block
begins at the first that its rows see, and ends behind the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import e as EULER
from math import log2, prod

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.target import TargetView

from ...common.attention import BEGINS, BLOCK_ROWS, PARTS
from ...common.axes import TileOp
from ...common.contraction import LIVE
from ...common.control_flow import if_then, loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import defining_op, index_constant, is_block_argument
from ...common.scalar_body import clone_on
from ...common.vectors import elements, extract, from_elements, from_lanes, is_vector, splat
from ...tiled.schedules.gpu_contraction import TileSchedule
from ..contraction.contraction import ContractionGroup, LoopGroup, Operand, element_access
from ..contraction.cp_async import TileCopy, TileShape, commit, tile_shape, wait
from ..contraction.mma import HalfWarp
from ..contraction.runs import Run
from ..contraction.tile_results import TileResults
from ..support.emit import all_of, barrier, divide, less_than, remainder, shuffle, thread_id
from ..support.launch import OpenKernel, open_kernel, shared_bytes, shared_view
from ..support.layout import power_above
from .blocks import place
from .exponents import power_of_2
from .group import combiner
from .kernel import fragment
from .numbers_ahead import NumbersAhead
from .points import Known, OpLoops, Points, by_hardware
from .products_group import START, ProductsGroup
from .strip import QUAD

_WARPS = 4
_STAGES = 2
_NARROW = 64
"""Of rows up to this width a step has 64 columns."""


def emit(group: ProductsGroup, target: TargetView) -> None:
    """The kernel of `group`."""
    plan = _Plan.of(group)
    row_tiles = -(-group.first.rows.extent // BLOCK_ROWS)
    layout: dict[str, str | int] = {
        "tile": f"{BLOCK_ROWS}x{plan.columns}",
        "products": f"{len(group.scores)} at points, {len(group.products)} over columns"
        + (f", {len(group.numbers)} numbers of rows" if group.numbers else ""),
        "warps": f"{_WARPS}x1",
        "stages": _STAGES,
    }
    kernel = open_kernel(group.first.function, group.first.batch.extent * row_tiles, 32 * _WARPS, layout)
    with kernel.body:
        _Kernel(group, plan, kernel, row_tiles, target).emit()


@dataclass(frozen=True)
class _Tile:
    """An operand's tile in shared memory: whose it is, how it lies, and how often it is there."""

    contraction: ContractionGroup
    operand: Operand
    shape: TileShape
    stages: int


@dataclass(frozen=True)
class _Plan:
    """The schedules of all contractions, the tiles that are copied, and which of these each of their operands is."""

    columns: int
    scores: tuple[TileSchedule, ...]
    products: tuple[TileSchedule, ...]
    tiles: tuple[_Tile, ...]
    lefts: tuple[int, ...]
    rights: tuple[int, ...]
    values: tuple[tuple[int, TileShape], ...]
    """Of the products, with the tile as these read it."""

    @staticmethod
    def of(group: ProductsGroup) -> _Plan:
        depths, widths = (
            [each.extent for each in extents] for extents in ([s.inner for s in group.scores], [p.cols for p in group.products])
        )
        columns = BLOCK_ROWS if max([*depths, *widths]) <= _NARROW else BLOCK_ROWS // 2
        scores = tuple(TileSchedule(BLOCK_ROWS, columns, _whole(depth), _STAGES, _WARPS, 1) for depth in depths)
        products = tuple(TileSchedule(BLOCK_ROWS, _whole(width), columns, _STAGES, _WARPS, 1) for width in widths)
        lefts = [_tile(each, each.left, (each.rows, each.inner), (BLOCK_ROWS, each.inner.extent), 1) for each in group.scores]
        rights = [_tile(each, each.right, (each.cols, each.inner), (columns, each.inner.extent), _STAGES) for each in group.scores]
        tiles, values = [*lefts, *rights], []
        for each in group.products:
            new = _tile(each, each.right, (each.cols, each.inner), (each.cols.extent, columns), _STAGES)
            at = next((n for n, tile in enumerate(tiles) if tile in rights and _is_same(tile, new)), len(tiles))
            tiles += [new] if at == len(tiles) else []
            values.append((at, new.shape))
        count = len(lefts)
        return _Plan(columns, scores, products, tuple(tiles), tuple(range(count)), tuple(range(count, 2 * count)), tuple(values))


def _whole(extent: int) -> int:
    """So many rows or columns that fragments of 16 make them up."""
    return -(-extent // 16) * 16


def _tile(
    contraction: ContractionGroup, operand: Operand, groups: tuple[LoopGroup, LoopGroup], size: tuple[int, int], stages: int
) -> _Tile:
    free, depth = (max(16, power_above(extent)) for extent in size)
    return _Tile(contraction, operand, tile_shape(operand, groups, free, depth, 32 * _WARPS), stages)


def _is_same(tile: _Tile, other: _Tile) -> bool:
    """Whether the tile that a contraction has of the columns has the elements, in the same places, that a product reads there."""
    score, product, shape = tile.contraction, other.contraction, other.shape
    (own, extent), (inner, depth) = product.cols.loops[0], score.inner.loops[0]
    if tile.operand.is_computed or other.operand.is_computed or extent != depth:
        return False
    if (tile.shape.lines, tile.shape.length, tile.shape.along_inner) != (shape.lines, shape.length, not shape.along_inner):
        return False
    one, two = tile.operand.access, other.operand.access
    terms = {own if variable == inner else variable: factor for variable, factor in one.index.terms.items()}
    same = terms == dict(two.index.terms) and one.index.constant == two.index.constant
    return same and one.buffer == two.buffer and not one.edges and not two.edges


class _Kernel:
    """A kernel while it is emitted."""

    def __init__(self, group: ProductsGroup, plan: _Plan, kernel: OpenKernel, row_tiles: int, target: TargetView):
        self.group, self.plan, self.buffers = group, plan, kernel.buffers
        first, thread = group.first, thread_id()
        self.thread = thread
        self.batch, row_tile = place(first, [*group.products, first][0], row_tiles, target)
        self.row = LinearIndex.of(row_tile) * BLOCK_ROWS
        rings = [[tile.stages, tile.shape.lines, tile.shape.length] for tile in plan.tiles]
        sizes = [shared_bytes(ring, tile.shape.element) for ring, tile in zip(rings, plan.tiles)]
        self.results = [TileResults(each, schedule, sum(sizes)) for each, schedule in zip(group.products, plan.products)]
        self.numbers = NumbersAhead(group, _STAGES, plan.columns, 32 * _WARPS)
        self.arena = kernel.arena(max([sum(sizes) + self.numbers.bytes, *(each.staging_bytes for each in self.results)]))
        self.numbers.place(self.arena, sum(sizes))
        self.rings = [
            shared_view(self.arena, sum(sizes[:n]), ring, tile.shape.element) for n, (ring, tile) in enumerate(zip(rings, plan.tiles))
        ]
        self.copies = [
            TileCopy(tile.contraction, tile.operand, tile.shape, kernel.buffers, ring, thread, 32 * _WARPS)
            for tile, ring in zip(plan.tiles, self.rings)
        ]
        lefts = [plan.tiles[n].shape for n in plan.lefts]
        self.scores = [
            HalfWarp(schedule, (left, plan.tiles[n].shape), thread) for schedule, left, n in zip(plan.scores, lefts, plan.rights)
        ]
        self.values = [HalfWarp(schedule, (lefts[0], shape), thread) for schedule, (_, shape) in zip(plan.products, plan.values)]
        self.between = _Between(first, kernel.buffers, group.loops, self.numbers)
        lane = remainder(thread, 32)
        self.lane_row, self.lane_col = divide(lane, 4), remainder(lane, 4)
        self.warp_row = LinearIndex.of(divide(thread, 32)) * (BLOCK_ROWS // _WARPS)
        self.copied: ir.Value | None = None

    def emit(self) -> None:
        begin, end = self._span()
        zero = LinearIndex()
        rows = [self._lane_row(half) for half in (0, 1)]
        self.numbers.read_rows([self.group.first.loops_at(self.batch, row, 0) for row in rows], self.buffers)
        tokens = [token for n in self.plan.lefts for token in self.copies[n].fetch(self.batch, self.row, zero, index_constant(0))]
        self._fetch(LinearIndex.of(begin), end, tokens)
        start = [sums for value in self.values for sums in value.zeros()]
        start += [splat(ir.F32Type.get(), START[combiner(tile).name]) for tile, _ in self.group.reduced for _ in (0, 1)]

        def body(index: LinearIndex, sums: list[ir.Value]) -> list[ir.Value]:
            self._arrive()
            self._fetch(index + 1, end, [])
            return self._step(index * self.plan.columns, remainder(index.value(), _STAGES), sums)

        sums = loop(begin, end, 1, start, body)
        self._arrive()
        for product, value, results in zip(self.group.products, self.values, self.results):
            count = len(value.zeros())
            behind = Points(product, self.buffers, self.group.loops)
            results.finish(behind, value, sums[:count], (self.batch, self.row, zero), self.thread, self.arena)
            sums = sums[count:]
        for number, (tile, _) in zip(self.group.numbers, self.group.reduced):
            self._finish_number(number, combiner(tile), sums[:2])
            sums = sums[2:]

    def _finish_number(self, number: ContractionGroup, combine: ir.Operation, parts: Sequence[ir.Value]) -> None:
        """The epilogue of what both rows of a thread are reduced to, by the first of the lanes that share them."""
        for half, part in enumerate(parts):
            for distance in QUAD:
                part = clone_on(combine, [part, shuffle(part, distance)])[0]
            row = self.row + self.warp_row + self.lane_row + 8 * half
            leads = arith.cmpi(CmpIPredicate.eq, self.lane_col, index_constant(0))
            inside = [less_than(row, number.rows.extent)] if number.rows.extent % BLOCK_ROWS else []
            with if_then(all_of([leads, *inside])):
                _Behind(number, self.buffers, self.group.loops).finish(part, number.loops_at(self.batch, row, 0))

    def _span(self) -> tuple[ir.Value, ir.Value]:
        """The first step, and the one behind the last, of those that a mask leaves to the block's rows.

        The mask goes by the outermost loop of the rows and of the columns: what is within (heads that share keys) is masked alike.
        """
        first, columns = self.group.first, self.plan.columns
        zero, count = index_constant(0), index_constant(-(-first.cols.extent // columns))
        extents = [[extent for _, extent in group.loops] for group in (first.rows, first.cols)]
        name = next((each for each in (LIVE, BEGINS) if each in first.function.attributes), None)
        if name is None or any(each.count(each[0]) > 1 for each in extents):
            return zero, count
        *known, ahead = list(ir.DenseI64ArrayAttr(first.function.attributes[name]))
        if known != [each[0] for each in extents]:
            return zero, count
        within_row, within_col = (prod(each[1:]) for each in extents)
        row = divide((self.row + (BLOCK_ROWS - 1 if name == LIVE else 0)).value(), within_row)
        column = LinearIndex.of(arith.maxsi((LinearIndex.of(row) + ahead).value(), zero)) * within_col
        if name == LIVE:
            return zero, arith.minsi(divide((column + (columns - 1)).value(), columns), count)
        return arith.minsi(divide(column.value(), columns), count), count

    def _fetch(self, step: LinearIndex, end: ir.Value, tokens: list[ir.Value]) -> None:
        """Starts the copies of what contractions have of a step's columns, if there is such a step."""
        zero, at = LinearIndex(), step * self.plan.columns
        inside, stage = arith.cmpi(CmpIPredicate.ult, step.value(), end), remainder(step.value(), _STAGES)
        of_scores = len(self.plan.lefts) + len(self.plan.rights)
        for number in range(len(self.plan.lefts), len(self.plan.tiles)):
            where = (at, zero) if number < of_scores else (zero, at)
            tokens = [*tokens, *self.copies[number].fetch(self.batch, *where, stage, inside)]
        tokens = [*tokens, *self.numbers.fetch(self.buffers, self.thread, self.batch, at, stage, inside)]
        group = commit(tokens) if tokens else None
        self.copied = self.copied or group

    def _arrive(self) -> None:
        """What was copied is there for all threads, and what was read by all may be overwritten."""
        if self.copied is not None:
            wait(self.copied, 0)
        barrier()

    def _step(self, column: LinearIndex, stage: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        plan, found = self.plan, [self._score(n, stage) for n in range(len(self.scores))]
        weights = self._weights(found, column, stage)
        sums, place = list(sums), 0
        for value, (at, _), own in zip(self.values, plan.values, weights):
            parts = _parts(own)
            for number in range(plan.columns // 16):
                lefts = [fragment(part, number) for part in parts]
                for j, right in enumerate(value.right(self.rings[at], stage, number)):
                    for left in lefts:
                        sums[place + j] = value.multiply(left, right, sums[place + j])
            place += len(value.zeros())
        for (tile, _), own in zip(self.group.reduced, weights[len(self.values) :]):
            for half in (0, 1):
                for each in (e for pair in own[half] for e in elements(pair)):
                    sums[place] = clone_on(combiner(tile), [sums[place], each])[0]
                place += 1
        return sums

    def _score(self, which: int, stage: ir.Value) -> list[ir.Value]:
        """The accumulators of a contraction at the rows and columns of a step."""
        warp, plan = self.scores[which], self.plan
        found = warp.zeros()
        for number in range(plan.scores[which].depth // 16):
            left = warp.left(self.rings[plan.lefts[which]], index_constant(0), 0, number)
            for j, right in enumerate(warp.right(self.rings[plan.rights[which]], stage, number)):
                found[j] = warp.multiply(left, right, found[j])
        return found

    def _lane_row(self, half: int) -> LinearIndex:
        """One of the two rows of a thread; the last where there is none."""
        row, extent = self.row + self.warp_row + self.lane_row + 8 * half, self.group.first.rows.extent
        return LinearIndex.of(arith.minui(row.value(), index_constant(extent - 1))) if extent % BLOCK_ROWS else row

    def _weights(self, scores: Sequence[Sequence[ir.Value]], column: LinearIndex, stage: ir.Value) -> list[list[list[ir.Value]]]:
        """What each product multiplies, and each reduction reduces, pair by pair, of both rows of a thread."""
        first = self.group.first
        length = 2 if first.cols.last_extent % 2 == 0 else 1
        found: list[list[list[ir.Value]]] = [[[], []] for _ in (*self.group.weights, *self.group.reduced)]
        for half in (0, 1):
            row = self._lane_row(half)
            for j in range(len(scores[0])):
                pairs = [extract(each[j], half) for each in scores]
                parts = []
                for number in range(2 // length):
                    place = LinearIndex.of(self.lane_col) * 2 + (8 * j + number)
                    values = pairs if length == 2 else [elements(pair)[number] for pair in pairs]
                    self.between.near(half, stage, place)
                    parts.append(self._at(row, column + place, values, length))
                for own, each in zip(found, zip(*parts)):
                    own[half].append(each[0] if length == 2 else from_lanes([e for part in each for e in elements(part)]))
        return found

    def _at(self, row: LinearIndex, column: LinearIndex, scores: Sequence[ir.Value], length: int) -> list[ir.Value]:
        """What the products multiply, and reductions reduce, at a row and a column, or at two; what changes nothing behind the last."""
        first = self.group.first
        inside = None
        if first.cols.extent % self.plan.columns:
            inside = less_than(column, first.cols.extent)
            column = LinearIndex.of(arith.minui(column.value(), index_constant(first.cols.extent - length)))
        known: Known = {(each.op.results[0], ()): score for each, score in zip(self.group.scores, scores)}
        run = Run(first.loops_at(self.batch, row, column), first.cols.last if length > 1 else None, length)
        self.between.go(run, known)
        made = [self.between.element(tile, value) for tile, value in (*self.group.weights, *self.group.reduced)]
        if inside is not None:
            outside = [*(0.0 for _ in self.group.weights), *(START[combiner(tile).name] for tile, _ in self.group.reduced)]
            made = [arith.select(inside, each, splat(each.type, number)) for each, number in zip(made, outside)]
        return made


def _parts(weights: list[list[ir.Value]]) -> list[list[list[ir.Value]]]:
    """Weights in halves: themselves, or as f32 three of bf16 whose sum they are, the largest first."""
    kind = weights[0][0].type
    if str(kind.element_type) != "f32":
        return [weights]
    half = ir.VectorType.get(kind.shape, ir.BF16Type.get())
    parts, rest = [], weights
    for number in range(PARTS):
        part = [[arith.truncf(half, pair) for pair in row] for row in rest]
        parts.append(part)
        if number + 1 < PARTS:
            rest = [[arith.subf(pair, arith.extf(kind, each)) for pair, each in zip(*rows)] for rows in zip(rest, part)]
    return parts


class _Behind(Points):
    """Evaluates what follows a reduction, whose accumulators have started where it does."""

    def _start(self, op: ir.Operation) -> ir.Value | None:
        return None


class _Between(Points):
    """Evaluates what lies between the contractions. What becomes halves needs no exact exponentials: they are the hardware's."""

    def __init__(self, contraction: ContractionGroup, buffers: Sequence[ir.Value], loops: OpLoops, numbers: NumbersAhead):
        super().__init__(contraction, buffers, loops)
        self._numbers = numbers

    def near(self, half: int, stage: ir.Value, column: LinearIndex) -> None:
        """Goes to a thread's row, and to a column of the step that is in this stage."""
        self._place = (half, stage, column)

    def _outside(self, value: ir.Value, indices: Sequence[LinearIndex]) -> ir.Value:
        access = element_access(value, indices) if isinstance(value.type, ir.RankedTensorType) else None
        found = None if access is None else self._numbers.at(access, *self._place, self._run)
        return super()._outside(value, indices) if found is None else found

    def element(self, tile: TileOp, value: ir.Value) -> ir.Value:
        """A value in the body of an op; a vector where the run is."""
        found = self._scalar(tile, value)
        return found if self._run.length == 1 or is_vector(found) else from_elements([found] * self._run.length)

    def _emitted(self, tile: TileOp, op: ir.Operation) -> ir.Value:
        """Divisions by numbers of rows and columns are the hardware's, too (2 ulp, for divisors below 2^126)."""
        if op.name == "arith.divf" and not self._is_made_of_scores(tile, op.operands[1]):
            return by_hardware(super()._emitted(tile, op))
        if op.name != "math.exp" or not isinstance(op.results[0].type, ir.F32Type):
            return super()._emitted(tile, op)
        number = self._scalar(tile, op.operands[0])
        exponent = arith.mulf(number, splat(number.type, log2(EULER)))
        return from_lanes([power_of_2(each) for each in elements(exponent)]) if is_vector(exponent) else power_of_2(exponent)

    def _clone(self, op: ir.Operation, operands: Sequence[ir.Value]) -> ir.Value:
        made = super()._clone(op, operands)
        return by_hardware(made) if op.name == "arith.divf" else made

    def _is_made_of_scores(self, tile: TileOp, value: ir.Value) -> bool:
        """Whether a value in the body of an op differs from element to element."""
        if is_block_argument(value):
            return [*tile.inputs, *tile.inits][ir.BlockArgument(value).arg_number] in self.contraction.forms
        op = defining_op(value)
        return op is not None and any(self._is_made_of_scores(tile, each) for each in op.operands)
