"""Two rows of a thread between the contractions: their maximum and sum so far, and the weights of some columns more.

Accumulators of tensor cores lie so that a warp has 16 rows: a thread those of lane / 4 and 8 behind it, in them pairs of columns from
2 (lane mod 4) on, eight apart; four lanes share a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpFPredicate, CmpIPredicate

from ...common.contraction import LIVE
from ...common.control_flow import if_else, if_then
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.vectors import elements, from_lanes, splat
from ..support.emit import all_of, barrier, divide, less_than, load, remainder, shuffle, store
from .group import AttentionGroup, reads_maximum
from .points import Behind, Between

QUAD = (1, 2)
"""The four lanes that share a row differ by these."""
ROWS = 16
"""Of a warp."""


@dataclass(frozen=True)
class Block:
    """Which rows a block has, and how many columns it takes at a time."""

    batch: LinearIndex
    row: LinearIndex
    rows: int
    columns: int


@dataclass(frozen=True)
class Weights:
    """What a step makes of scores: the rows' maxima and sums, the factors of sums so far, and the weights pair by pair, for each row."""

    largest: list[ir.Value]
    total: list[ir.Value]
    factors: list[ir.Value]
    weights: list[list[ir.Value]]


class Strip:
    """The rows of a thread of a block; `whole` while all columns of a step are there, and before every diagonal of a mask."""

    def __init__(self, group: AttentionGroup, buffers: Sequence[ir.Value], block: Block, thread: ir.Value):
        self.group, self.buffers, self.block = group, buffers, block
        lane = remainder(thread, 32)
        self.lane_row, self.lane_col = divide(lane, 4), remainder(lane, 4)
        self.origin = LinearIndex.of(divide(thread, 32)) * ROWS
        self.between = Between(group, buffers)
        self.whole = False

    def steps(self) -> ir.Value:
        """How many steps a block takes: where a mask leaves the others out, up to those of its last row."""
        first = self.group.first
        count = -(-first.cols.extent // self.block.columns)
        attributes = first.function.attributes
        live = list(ir.DenseI64ArrayAttr(attributes[LIVE])) if LIVE in attributes else None
        row = self._position()
        if live is None or live[:2] != [first.rows.last_extent, first.cols.extent] or row is None:
            return index_constant(count)
        last = (row + (self.block.rows - 1 + live[2])).value()
        last = arith.maxsi(last, index_constant(1))
        return arith.minsi(divide((LinearIndex.of(last) + (self.block.columns - 1)).value(), self.block.columns), index_constant(count))

    def whole_steps(self, steps: ir.Value) -> ir.Value | None:
        """How many of these steps need no mask, of those that are known; None where that is all or none."""
        columns = self.group.first.cols.extent
        count, row = columns // self.block.columns, self._position()
        aheads = [side.ahead for side in self.between.diagonals.values()]
        if aheads and row is None:
            return None
        if row is None or not aheads:
            return arith.minsi(steps, index_constant(count)) if count and columns % self.block.columns else None
        before = arith.maxsi((row + (min(aheads) + 1)).value(), index_constant(0))
        return arith.minsi(arith.minsi(divide(before, self.block.columns), index_constant(count)), steps)

    def _position(self) -> LinearIndex | None:
        """The block's first row as the last of the rows' loops counts it; None where a block may go beyond that loop's end."""
        rows = self.group.first.rows
        if len(rows.loops) == 1:
            return self.block.row
        return LinearIndex.of(remainder(self.block.row.value(), rows.last_extent)) if rows.last_extent % self.block.rows == 0 else None

    def weigh(
        self,
        pieces: Sequence[Sequence[ir.Value]],
        column: LinearIndex,
        before: Sequence[ir.Value],
        total: Sequence[ir.Value],
        meanwhile: Callable[[], None] = lambda: None,
    ) -> Weights:
        """With the scores of the columns from `column` on, pair by pair for each row; `before` and `total` are maxima and sums so far.

        What is to happen `meanwhile` stands between the maxima and the weights.
        """
        largest = [self._largest(half, pieces[half], column, before[half]) for half in (0, 1)]
        safe = [_finite_or_zero(each) for each in largest]
        meanwhile()
        exponents, count = self.between.exponents, len(pieces[0])

        def made(small: bool) -> list[ir.Value]:
            self.between.small = small
            factors = [exponents.shift(old, new, small) for old, new in zip(before, safe)]
            found = [self._weights(half, pieces[half], column, safe[half]) for half in (0, 1)]
            return [*factors, *(_sum(terms) for terms, _ in found), *(each for _, weights in found for each in weights)]

        f32, weight = ir.F32Type.get(), ir.VectorType.get([2], self.group.weights[1].type)
        small = arith.andi(*(exponents.is_small(each) for each in safe))
        values = if_else(small, [f32] * 4 + [weight] * (2 * count), lambda: made(True), lambda: made(False))
        factors, parts, weights = values[:2], values[2:4], [values[4 : 4 + count], values[4 + count :]]
        sums = [arith.addf(arith.mulf(total[half], factors[half]), parts[half]) for half in (0, 1)]
        return Weights(largest, sums, factors, list(weights))

    def _largest(self, half: int, pieces: Sequence[ir.Value], column: LinearIndex, before: ir.Value) -> ir.Value:
        """The maximum of a row, with these columns."""

        def evaluate() -> list[ir.Value]:
            return [self.between.candidate()]

        found = [each for (value,) in self._evaluated(half, pieces, column, None, evaluate, (-inf,)) for each in elements(value)]
        mine = _tree(arith.maximumf, found)
        for distance in QUAD:
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
        ragged = columns % self.block.columns != 0 and not self.whole
        row = self.block.row + self.origin + self.lane_row + 8 * half
        if first.rows.extent % self.block.rows:
            row = LinearIndex.of(arith.minui(row.value(), index_constant(first.rows.extent - 1)))
        found = []
        for j, pair in enumerate(pieces):
            parts: list[list[ir.Value]] = []
            for number, score in enumerate([pair] if length == 2 else elements(pair)):
                at = column + LinearIndex.of(self.lane_col) * 2 + (8 * j + number)
                inside = less_than(at, columns) if ragged else None
                if ragged:
                    at = LinearIndex.of(arith.minui(at.value(), index_constant(columns - length)))
                self.between.at(first.loops_at(self.block.batch, row, at), score, largest, length, self.whole)
                made = evaluate()
                if inside is not None:
                    made = [arith.select(inside, each, splat(each.type, number)) for each, number in zip(made, outside)]
                parts.append(made)
            found.append([from_lanes([e for part in each for e in elements(part)]) if len(each) > 1 else each[0] for each in zip(*parts)])
        return found

    def results(self, largest: Sequence[ir.Value], total: Sequence[ir.Value], memory: ir.Value) -> Behind:
        """Evaluates results of the block, of whose rows the maximum and the sum go through `memory`: 2 numbers a row."""
        total = list(total)
        for distance in QUAD:
            total = [arith.addf(each, shuffle(each, distance)) for each in total]
        leader = arith.cmpi(CmpIPredicate.eq, self.lane_col, index_constant(0))
        with if_then(all_of([leader])):
            for half in (0, 1):
                row = (self.origin + self.lane_row + 8 * half).value()
                store(total[half], memory, [index_constant(0), row])
                if reads_maximum(self.group):
                    store(self.between.exponents.maximum(largest[half]), memory, [index_constant(1), row])
        barrier()

        def row_values(loops: Mapping[int, LinearIndex]) -> dict[ir.Value, ir.Value]:
            row, stride = LinearIndex() - self.block.row, 1
            for number, extent in reversed(self.group.first.rows.loops):
                row, stride = row + loops[number] * stride, stride * extent
            results = (self.group.total.op.results[0], self.group.largest.op.results[0])
            return {value: load(memory, [index_constant(n), row.value()]) for n, value in enumerate(results)}

        return Behind(self.group, self.buffers, row_values)


def _finite_or_zero(value: ir.Value) -> ir.Value:
    """The value, 0 where it is -inf."""
    lowest = arith.cmpf(CmpFPredicate.OEQ, value, splat(value.type, -inf))
    return arith.select(lowest, splat(value.type, 0), value)


def _sum(values: Sequence[ir.Value]) -> ir.Value:
    return _tree(arith.addf, values)


def _tree(combine: Callable[[ir.Value, ir.Value], ir.Value], values: Sequence[ir.Value]) -> ir.Value:
    """All of the values, combined in pairs."""
    values = list(values)
    while len(values) > 1:
        odd = values[len(values) // 2 * 2 :]
        values = [combine(a, b) for a, b in zip(values[::2], values[1::2])] + odd
    return values[0]
