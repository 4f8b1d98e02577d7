"""A block's rows of a group of products, as threads have them: what lies between the contractions, at their points.

    a thread has of 16 rows two, and of eight columns two:    numbers of s and t       (registers, as mma.sync and wgmma leave them)
    p at (s, t)                                                with whatever is read at the row, the column, or both
    halves of p, pair by pair                                  as both instructions take a left operand
    m = max(m, r)                                              a thread's own columns; at the end those of four lanes

products.py and warpgroup_products.py are the loops around it. Where a mask leaves columns out (hloom.live, hloom.begins), a block begins
at the first that its rows see, and ends behind the last. Steps that no diagonal crosses (diagonals.py), and of which all columns are there,
are a loop of their own, without masks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from math import e as EULER
from math import frexp, log2, prod

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from ...common.attention import BEGINS, BLOCK_ROWS
from ...common.axes import TileOp
from ...common.contraction import LIVE
from ...common.control_flow import if_then, loop
from ...common.linear_index import LinearIndex
from ...common.ranges import Ranges
from ...common.rewriting import defining_op, index_constant, is_block_argument
from ...common.scalar_body import clone_on
from ...common.vectors import elements, from_elements, from_lanes, is_vector, splat
from ..contraction.contraction import ContractionGroup, element_access
from ..contraction.runs import Run
from ..support.emit import all_of, divide, less_than, remainder, shuffle
from .diagonals import diagonals
from .exponents import power_of_2
from .group import combiner
from .numbers_ahead import NumbersAhead
from .points import Known, OpLoops, Points, by_hardware
from .products_group import START, ProductsGroup
from .strip import QUAD

_MOST_EXPONENT = 64
Pairs = Sequence[Sequence[ir.Value]]
"""Of each of a thread's two rows the pairs of columns, or of what is computed at them, from left to right."""


class ProductRows:
    """The rows of a block while its kernel is emitted. `columns`: of a step."""

    def __init__(
        self,
        group: ProductsGroup,
        buffers: Sequence[ir.Value],
        place: tuple[LinearIndex, LinearIndex],
        columns: int,
        numbers: NumbersAhead,
        thread: ir.Value,
    ):
        """`place`: the batch, and the first row."""
        self.group, self.buffers, self.columns, self.numbers = group, buffers, columns, numbers
        self.batch, self.row = place
        self.between = _Between(group.first, buffers, group.loops, numbers)
        lane = remainder(thread, 32)
        self.lane_row, self.lane_col = divide(lane, 4), remainder(lane, 4)
        self.warp_row = LinearIndex.of(divide(thread, 32)) * 16
        self.whole = False
        numbers.read_rows([group.first.loops_at(self.batch, self._lane_row(half), 0) for half in (0, 1)], buffers)

    def loop(
        self, begin: ir.Value, end: ir.Value, start: Sequence[ir.Value], body: Callable[[LinearIndex, list[ir.Value]], list[ir.Value]]
    ) -> list[ir.Value]:
        """The steps of `span`, one after the other: those that need no mask are a loop of their own."""
        values = list(start)
        for first, behind, whole in self._parts(begin, end):
            self.whole = whole
            values = loop(first, behind, 1, values, body)
        self.whole = False
        return values

    def _parts(self, begin: ir.Value, end: ir.Value) -> list[tuple[ir.Value, ir.Value, bool]]:
        """The steps in order: from where to where, and whether none there needs a mask. Diagonals go by outermost loops, as in `span`."""
        first, sides = self.group.first, set(self.between.diagonals.values())
        count, ragged = divmod(first.cols.extent, self.columns)
        signs = {side.sign for side in sides}
        if len(signs) > 1 or not count or not (sides or ragged):
            return [(begin, end, False)]
        within_row, within_col = (prod(extent for _, extent in group.loops[1:]) for group in (first.rows, first.cols))
        ahead = min((side.ahead for side in sides), default=0)
        parts, limits = [], [index_constant(count)] if ragged else []
        if signs == {-1}:
            last = LinearIndex.of(divide((self.row + (BLOCK_ROWS - 1)).value(), within_row)) - ahead
            least = arith.minsi(arith.maxsi(begin, self._steps_before(last * within_col + (self.columns - 1))), end)
            parts.append((begin, least, False))
            begin = least
        elif sides:
            limits.append(self._steps_before((LinearIndex.of(divide(self.row.value(), within_row)) + (ahead + 1)) * within_col))
        if not limits:
            return [*parts, (begin, end, True)]
        most = arith.maxsi(begin, reduce(arith.minsi, limits, end))
        return [*parts, (begin, most, True), (most, end, False)]

    def _steps_before(self, column: LinearIndex) -> ir.Value:
        """How many steps end at a column or before it."""
        return divide(arith.maxsi(column.value(), index_constant(0)), self.columns)

    def starts(self) -> list[ir.Value]:
        """What reductions of a thread's rows start from."""
        return [splat(ir.F32Type.get(), START[combiner(tile).name]) for tile, _ in self.group.reduced for _ in (0, 1)]

    def reduce(self, found: Sequence[Pairs], sums: Sequence[ir.Value]) -> list[ir.Value]:
        """The reductions behind a step, of what each of them takes of it."""
        made = []
        for number, (tile, _) in enumerate(self.group.reduced):
            for half in (0, 1):
                total = sums[2 * number + half]
                for each in (e for pair in found[number][half] for e in elements(pair)):
                    total = clone_on(combiner(tile), [total, each])[0]
                made.append(total)
        return made

    def finish(self, sums: Sequence[ir.Value]) -> None:
        """The epilogues of the reductions."""
        for place, (number, (tile, _)) in enumerate(zip(self.group.numbers, self.group.reduced)):
            self._finish_number(number, combiner(tile), sums[2 * place : 2 * place + 2])

    def span(self) -> tuple[ir.Value, ir.Value]:
        """The first step, and the one behind the last, of those that a mask leaves to the block's rows.

        The mask goes by the outermost loop of the rows and of the columns: what is within (heads that share keys) is masked alike.
        """
        first, columns = self.group.first, self.columns
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

    def _lane_row(self, half: int) -> LinearIndex:
        """One of the two rows of a thread; the last where there is none."""
        row, extent = self.row + self.warp_row + self.lane_row + 8 * half, self.group.first.rows.extent
        return LinearIndex.of(arith.minui(row.value(), index_constant(extent - 1))) if extent % BLOCK_ROWS else row

    def weights(self, scores: Sequence[Pairs], column: LinearIndex, stage: ir.Value) -> list[list[list[ir.Value]]]:
        """What each product multiplies, and then what each reduction reduces, of what contractions are at the columns from `column` on."""
        first = self.group.first
        length = 2 if first.cols.last_extent % 2 == 0 else 1
        found: list[list[list[ir.Value]]] = [[[], []] for _ in (*self.group.weights, *self.group.reduced)]
        for half in (0, 1):
            row = self._lane_row(half)
            for j in range(len(scores[0][half])):
                pairs = [each[half][j] for each in scores]
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
        if first.cols.extent % self.columns and not self.whole:
            inside = less_than(column, first.cols.extent)
            column = LinearIndex.of(arith.minui(column.value(), index_constant(first.cols.extent - length)))
        known: Known = {(each.op.results[0], ()): score for each, score in zip(self.group.scores, scores)}
        run = Run(first.loops_at(self.batch, row, column), first.cols.last if length > 1 else None, length)
        self.between.inside = self.whole
        self.between.go(run, known)
        made = [self.between.element(tile, value) for tile, value in (*self.group.weights, *self.group.reduced)]
        if inside is not None:
            outside = [*(0.0 for _ in self.group.weights), *(START[combiner(tile).name] for tile, _ in self.group.reduced)]
            made = [arith.select(inside, each, splat(each.type, number)) for each, number in zip(made, outside)]
        return made


def halves_of(weights: Pairs, count: int) -> list[Pairs]:
    """Weights in halves: themselves, or as f32 so many of bf16 whose sum they are, the largest first."""
    kind = weights[0][0].type
    if str(kind.element_type) != "f32":
        return [weights]
    half = ir.VectorType.get(kind.shape, ir.BF16Type.get())
    parts: list[Pairs] = []
    rest = weights
    for number in range(count):
        part = [[arith.truncf(half, pair) for pair in row] for row in rest]
        parts.append(part)
        if number + 1 < count:
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
        self.diagonals = diagonals(contraction.rows.loops[0][0], contraction.cols.loops[0][0], loops, self._ops)

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
        """Divisions by numbers of rows and columns are products with the hardware's reciprocals (2 ulp, for divisors below 2^126)."""
        if op.name == "arith.divf" and not self._is_made_of_scores(tile, op.operands[1]):
            return _by_reciprocal(super()._emitted(tile, op))
        if op.name != "math.exp" or not isinstance(op.results[0].type, ir.F32Type):
            return super()._emitted(tile, op)
        exponent = _exponent(self._scalar(tile, op.operands[0]))
        return from_lanes([power_of_2(each) for each in elements(exponent)]) if is_vector(exponent) else power_of_2(exponent)

    def _clone(self, op: ir.Operation, operands: Sequence[ir.Value]) -> ir.Value:
        made = super()._clone(op, operands)
        return _by_reciprocal(made) if op.name == "arith.divf" else made

    def _is_made_of_scores(self, tile: TileOp, value: ir.Value) -> bool:
        """Whether a value in the body of an op differs from element to element."""
        if is_block_argument(value):
            return [*tile.inputs, *tile.inits][ir.BlockArgument(value).arg_number] in self.contraction.forms
        op = defining_op(value)
        return op is not None and any(self._is_made_of_scores(tile, each) for each in op.operands)


def _exponent(number: ir.Value) -> ir.Value:
    """What 2 is raised to instead of e; (s - m / c) * (c log2(e)) of s * c - m, where c is a power of 2, with which no bit changes."""
    scale = log2(EULER)
    difference = _made_by("arith.subf", number)
    scaled = None if difference is None else _made_by("arith.mulf", difference.operands[0])
    factor = None if scaled is None else _power_of_2(scaled.operands[1])
    if difference is None or scaled is None or factor is None:
        return arith.mulf(number, splat(number.type, scale))
    less = arith.mulf(difference.operands[1], splat(number.type, 1 / factor))
    return arith.mulf(arith.subf(scaled.operands[0], less), splat(number.type, factor * scale))


def _power_of_2(value: ir.Value) -> float | None:
    """The power of 2, of no extreme size, that a value is known to be."""
    least, most = Ranges().of(value)
    digits, exponent = frexp(least)
    return least if least == most and digits == 0.5 and abs(exponent) < _MOST_EXPONENT else None


def _made_by(name: str, value: ir.Value) -> ir.Operation | None:
    """The op of that name that makes a value."""
    op = None if is_block_argument(value) else defining_op(value)
    return op if op is not None and op.name == name else None


def _by_reciprocal(quotient: ir.Value) -> ir.Value:
    """The same as a product: what divides at many points has one reciprocal."""
    op = quotient.owner
    dividend, divisor = op.operands
    product = arith.mulf(dividend, by_hardware(arith.divf(splat(divisor.type, 1.0), divisor)))
    op.erase()
    return product
