"""Reads a group at stage linalg as contractions at rows and columns, and contractions over the columns of what is made of them.

    s = Σ q k;  t = Σ g v;  o = Σ p(s, t) w, over the columns;  m = max r(s, t) or Σ r(s, t);  results = g(o), h(m), …

as recompute-operands makes them. Rows, columns and batches are loops of the first contraction, by linear forms, as in group.py; each other
contraction has a loop of its own besides.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from torch_mlir import ir

from ...common.affine import used_dims
from ...common.attention import ALL_PARTS, PARTS
from ...common.axes import TileOp
from ...common.edge import RESHAPES
from ...common.linear_index import LinearIndex, Loop
from ...common.rewriting import defining_op, integer, is_block_argument, ops_in, walk
from ..contraction.contraction import (
    ContractionGroup,
    ElementAccess,
    LoopGroup,
    Operand,
    address_of,
    factors_of,
    operand_of,
    result_number,
    results_of,
    split_loops,
    tile_ops,
)
from .forms import Forms, TakenApart, indices, loops_by, solved, split_extents, taken_apart, viewed
from .group import before_widening, combiner, reads_elements

START = {"arith.maximumf": -inf, "arith.addf": 0.0}
"""What reductions of rows start from."""
Weight = tuple[TileOp, ir.Value]
"""An op over the columns, and the value in its body of which it takes all of a row."""


@dataclass(frozen=True)
class ProductsGroup:
    """The contractions of both kinds, which share rows, columns, batches and forms, and reductions of the rows."""

    scores: tuple[ContractionGroup, ...]
    products: tuple[ContractionGroup, ...]
    weights: tuple[Weight, ...]
    """Of each product what it multiplies with its right operand, before it is widened."""
    numbers: tuple[ContractionGroup, ...]
    """The reductions: as contractions without columns, for what follows them."""
    reduced: tuple[Weight, ...]
    """What each of them reduces."""
    loops: Mapping[ir.Operation, Sequence[LinearIndex]]
    """The loops of each op that depends on a contraction."""

    @property
    def first(self) -> ContractionGroup:
        return self.scores[0]

    @property
    def parts(self) -> int:
        """How many numbers of bf16 stand for one of f32."""
        return integer(self.first.function, PARTS, ALL_PARTS)

    @property
    def text(self) -> str:
        """What the kernel's layout says of it."""
        numbers = f", {len(self.numbers)} numbers of rows" if self.numbers else ""
        return f"{len(self.scores)} at points, {len(self.products)} over columns{numbers}"


def _depends(operand: Operand, loops: LoopGroup) -> bool:
    """Whether an operand changes along some of these loops."""
    return any(operand.depends_on(loop) for loop, _ in loops.loops)


def _reduces_rows(tile: TileOp, made: set[ir.Value]) -> bool:
    """Whether an op reduces what is made of contractions and has no loop beside that's: its rows are numbers."""
    told = {dim for value, at in zip(tile.inputs, tile.maps) if value in made for expr in at.results for dim in used_dims(expr)}
    return combiner(tile).name in START and all(loop in told for loop, n in enumerate(tile.extents) if n > 1)


def read_products(function: ir.Operation) -> ProductsGroup | None:
    """The group that `function` is, or None."""
    if walk(function, "tensor.extract"):
        return None
    reader = _Reader(function)
    if not reader.scores or not (reader.products or reader.numbers):
        return None
    parts: list[list[int]] | None = [[extent] for extent in reader.scores[0].extents]
    while parts is not None:
        try:
            return reader.read(parts)
        except TakenApart as wish:
            parts = taken_apart(parts, wish)
    return None


class _Reader:
    def __init__(self, function: ir.Operation):
        self.function, self.ops = function, tile_ops(function)
        self.scores: list[TileOp] = []
        self.products: list[TileOp] = []
        self.numbers: list[TileOp] = []
        made: set[ir.Value] = set()
        for op in walk(function, lambda o: o.name in (*RESHAPES, "linalg.generic")):
            reads = any(value in made for value in op.operands)
            tile = self.ops[op.results[0]] if op.name == "linalg.generic" else None
            if tile is not None and not all(tile.parallel):
                over = self.numbers if _reduces_rows(tile, made) else self.products
                (over if reads else self.scores).append(tile)
                reads = True
            made.update(op.results if reads else ())

    def read(self, parts: Sequence[Sequence[int]]) -> ProductsGroup | None:
        """The group, where the loops of the first contraction are `parts`."""
        first, *others = self.scores
        loops, extents, parallel = split_extents(first, parts)
        operands = self._operands(first, loops, extents)
        form = indices(first.output_maps[0], loops)
        if operands is None or form is None or not self._start_as_they_should():
            return None
        split = split_loops(extents, parallel, *operands, address_of(ir.RankedTensorType(first.op.results[0].type).shape, form))
        if split is None:
            return None
        (left, right), (batch, rows, cols, inner) = split
        forms: Forms = {first.op.results[0]: form}
        depths = {tile.op: len(extents) + n for n, tile in enumerate(others)}
        extents += [next((n for n, kept in zip(tile.extents, tile.parallel) if not kept), 1) for tile in others]
        widths: dict[int, int] = {}
        known = self._follow(forms, extents, widths)
        stored = results_of(self.function, forms)
        reducing = [*self.products, *self.numbers]
        if stored is None or any(tile.op not in known for tile in reducing) or any(tile.op.results[0] not in forms for tile in others):
            return None
        if all(self._sums_over(tile, rows, known) for tile in reducing):
            left, right, rows, cols = right, left, cols, rows
        if not cols.loops or len(inner.loops) != 1 or not all(self._sums_over(tile, cols, known) for tile in reducing):
            return None
        accumulator = ir.F32Type.get()
        one = ContractionGroup(
            self.function, first.op, left, right, accumulator, batch, rows, cols, inner, tuple(extents), forms, tuple(stored)
        )
        scores = [one, *(self._score(tile, depths[tile.op], one) for tile in others)]
        products = [self._product(tile, known[tile.op], one, stored) for tile in self.products]
        numbers = [self._number(tile, one, stored) for tile in self.numbers]
        found = [each for each in scores if each is not None], [each for each in (*products, *numbers) if each is not None]
        if len(found[0]) < len(scores) or len(found[1]) < len(reducing):
            return None
        (contractions, weights), count = zip(*found[1]), len(products)
        group = ProductsGroup(tuple(found[0]), contractions[:count], weights[:count], contractions[count:], weights[count:], known)
        return group if self._is_evaluated(group) else None

    def _start_as_they_should(self) -> bool:
        for tile in (*self.scores, *self.products, *self.numbers):
            fill = self.ops.get(tile.inits[0]) if len(tile.op.results) == 1 else None
            constant = defining_op(fill.inputs[0]) if fill is not None and fill.op.name == "linalg.fill" else None
            start = START[combiner(tile).name] if tile in self.numbers else 0
            if constant is None or constant.name != "arith.constant" or ir.FloatAttr(constant.attributes["value"]).value != start:
                return False
            if str(tile.op.results[0].type.element_type) != "f32":
                return False
        return True

    def _operands(self, tile: TileOp, loops: Sequence[LinearIndex], extents: Sequence[int]) -> tuple[Operand, Operand] | None:
        factors = factors_of(tile.op.regions[0].blocks[0])
        found = [operand_of(tile, factor, loops, extents) for factor in factors or ()]
        return (found[0], found[1]) if len(found) == 2 and found[0] is not None and found[1] is not None else None

    def _follow(self, forms: Forms, extents: list[int], widths: dict[int, int]) -> dict[ir.Operation, Sequence[LinearIndex]]:
        """Adds the forms of all that is made of the contractions, and of the contractions beside the first by who reads both; and to
        `extents` those of the products' columns, by their number in `widths`. Returns the loops of the ops."""
        known: dict[ir.Operation, Sequence[LinearIndex]] = {}
        beside = {tile.op.results[0] for tile in self.scores[1:]}
        for op in walk(self.function, lambda o: o.name in (*RESHAPES, "linalg.generic")):
            if op.name in RESHAPES:
                if op.operands[0] in forms:
                    forms[op.results[0]] = viewed(op, forms[op.operands[0]])
                continue
            tile = self.ops[op.results[0]]
            if tile in self.scores or not any(value in forms for value in op.operands):
                continue
            own = None
            if tile in self.products:
                width = self._width(tile, forms)
                if width not in widths:
                    widths[width] = len(extents)
                    extents.append(width)
                own = widths[width]
            loops = loops_by(tile, forms, own)
            found = [] if loops is None else [indices(m, loops) for m in tile.maps]
            if loops is None or None in found:
                break
            known[op] = loops
            forms.update((value, form) for value, form in zip(op.operands, found) if value in beside and form is not None)
            forms.update((value, form) for value, form in zip(op.results, found[len(tile.inputs) :]) if form is not None)
        return known

    def _width(self, tile: TileOp, forms: Forms) -> int:
        """The extent of the loop that what is known of an op's operands does not tell."""
        told: set[int] = set()
        for value, affine_map in zip(tile.inputs, tile.maps):
            if value in forms:
                told |= set(solved(affine_map, forms[value], tile.extents))
        return next((n for loop, n in enumerate(tile.extents) if loop not in told and n > 1), 1)

    def _sums_over(self, tile: TileOp, loops: LoopGroup, known: Mapping[ir.Operation, Sequence[LinearIndex]]) -> bool:
        """Whether an op reduces these loops and no others."""
        summed = [loop for loop, parallel, n in zip(known[tile.op], tile.parallel, tile.extents) if not parallel and n > 1]
        return len(summed) == len(loops.loops) and all(LinearIndex({loop: 1}) in summed for loop, _ in loops.loops)

    def _score(self, tile: TileOp, depth: int, first: ContractionGroup) -> ContractionGroup | None:
        """A contraction beside the first, at the same rows and columns."""
        told = solved(tile.output_maps[0], first.forms[tile.op.results[0]], tile.extents)
        summed = [n for n, parallel in enumerate(tile.parallel) if not parallel and tile.extents[n] > 1]
        if len(summed) != 1:
            return None
        told[summed[0]] = LinearIndex({Loop(depth, tile.extents[summed[0]]): 1})
        operands = self._operands(tile, [told.get(n, LinearIndex()) for n in range(len(tile.extents))], first.extents)
        if operands is None:
            return None
        left, right = operands if _depends(operands[1], first.cols) else operands[::-1]
        mixed = _depends(left, first.cols) or _depends(right, first.rows)
        inner = LoopGroup(((depth, tile.extents[summed[0]]),))
        return None if mixed else replace(first, op=tile.op, left=left, right=right, inner=inner)

    def _product(
        self, tile: TileOp, loops: Sequence[LinearIndex], first: ContractionGroup, stored: Sequence[tuple[ir.Value, ElementAccess]]
    ) -> tuple[ContractionGroup, Weight] | None:
        """A contraction over the columns, and what it multiplies with its right operand."""
        factors = factors_of(tile.op.regions[0].blocks[0])
        found = [operand_of(tile, factor, loops, first.extents) for factor in factors or ()]
        at = next((n for n, operand in enumerate(found) if operand is not None), None)
        own = [(loop, n) for (loop, n) in enumerate(first.extents) if any(i.coefficient(loop) for i in loops)]
        shared = {loop for group in (first.batch, first.rows, first.cols) for loop, _ in group.loops}
        width = [each for each in own if each[0] not in shared]
        if at is None or factors is None or len(width) != 1 or (right := found[at]) is None:
            return None
        if _depends(right, first.rows):
            return None
        results = tuple(each for each in stored if self._is_made_of(each[0], tile.op.results[0]))
        made = replace(first, op=tile.op, right=right, cols=LoopGroup((width[0],)), inner=first.cols, results=results)
        return (made, (tile, before_widening(factors[1 - at]))) if results else None

    def _number(
        self, tile: TileOp, first: ContractionGroup, stored: Sequence[tuple[ir.Value, ElementAccess]]
    ) -> tuple[ContractionGroup, Weight] | None:
        """A reduction along the columns, and what it reduces."""
        results = tuple(each for each in stored if self._is_made_of(each[0], tile.op.results[0]))
        accumulator = tile.op.regions[0].blocks[0].arguments[len(tile.inputs)]
        values = [value for value in combiner(tile).operands if value != accumulator]
        made = replace(first, op=tile.op, cols=LoopGroup(()), inner=first.cols, results=results)
        return (made, (tile, values[0])) if results and len(values) == 1 else None

    def _is_made_of(self, value: ir.Value, product: ir.Value) -> bool:
        """Whether a value depends on that product; of an op with several results each by what its own scalar reads."""
        if value == product or is_block_argument(value):
            return value == product
        op = defining_op(value)
        assert op is not None
        if op.name != "linalg.generic":
            return any(self._is_made_of(each, product) for each in op.operands)
        tile, waiting = self.ops[value], []
        waiting.append(ops_in(op.regions[0].blocks[0])[-1].operands[result_number(tile, value)])
        while waiting:
            each = waiting.pop()
            if is_block_argument(each):
                if self._is_made_of([*tile.inputs, *tile.inits][ir.BlockArgument(each).arg_number], product):
                    return True
            elif (maker := defining_op(each)) is not None and maker.block == op.regions[0].blocks[0]:
                waiting += list(maker.operands)
        return False

    def _is_evaluated(self, group: ProductsGroup) -> bool:
        """Whether all between the contractions can be read at a point, and each result is made of one product or number; of operands of
        one type."""
        operands = [each for score in group.scores for each in (score.left, score.right)] + [each.right for each in group.products]
        kinds = {str(each.element) for each in operands}
        if kinds not in ({"f16"}, {"bf16"}) or {str(value.type) for _, value in group.weights} - kinds - (
            {"f32"} if "bf16" in kinds else set()
        ):
            return False
        results = [value for made in (*group.products, *group.numbers) for value, _ in made.results]
        if len(results) != len(set(results)) or len(results) != len(group.first.results):
            return False
        return all(reads_elements(group.first, tile, group.loops[tile.op]) for tile in self.ops.values() if tile.op in group.loops)
