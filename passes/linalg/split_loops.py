"""split-loops: loops of a group's ops are split where others walk the same elements in more dimensions.

Before (eight products of matrices, as two groups of four for the mask that is added):
    %c = generic (d0, d1, d2, k) ins(%q, %k) outs(%f : tensor<8x64x64xf32>)   { mulf, addf }
    %v = tensor.expand_shape %c [[0, 1], [2], [3]] : … into tensor<2x4x64x64xf32>
    %r = generic (d0, d1, d2, d3) ins(%v (d0, d1, d2, d3), %mask (d0, d2, d3)) outs(tensor<2x4x64x64xf32>)   { addf }
After:
    %c = generic (d0, d1, d2, d3, k) ins(%q as 2x4x64x32, %k as 2x4x32x64) outs(%g : tensor<2x4x64x64xf32>)   { mulf, addf }
    %r = generic (d0, d1, d2, d3) ins(%c, %mask (d0, d2, d3)) outs(tensor<2x4x64x64xf32>)   { addf }

So all ops of the group have loops of their own for what is tiled. A loop is also split where another op reads its elements in digits
(`14 * d1 + d2`, as a sum in parts reads what it sums), and where a contraction reads an operand at quotients or remainders of it alone, as
grouped queries read the keys they share; what reads the result of such a one by the digits of a loop then reads it through a collapse.
For CPUs a loop is split that walks parts of lines, or lines in another order, as one row (`x[d0, d1 floordiv 40, d1 mod 40]`, what is left
of a reshape of columns, or of a transposition), and one whose body chooses among up to eight values by its remainder, as what is put in
turn (stacks, pixels, the rests of a pool's strides) does: each turn then reads neighbours, and the results of a turn are stored at once
(passes/vector/nests/turns.py). Where something is summed it has a lane each, whatever turn it is (places.py). Loops are split, too, where
they read at quotients by many, what is repeated: what follows one another is then a loop of its own.
collapse-loop-dims joins again what nothing holds apart.

Dims and loops that are one at every use are an axis, and an axis is cut in all its places or in none. Must hold: narrow-producers has run.
Declined: axes that are summed, but for such rows whose sums may be taken in any order; axes that are read at computed indices or otherwise
than by a loop, and those whose places each have a window of taps in zeros; reshapes whose dims have no common factors (6 as 2x3 and as
3x2), and those that join dims of a contraction's result alone, which fold-views lets it compute in the joined shape.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.affine import dim_position, index_at, to_affine, used_dims
from ..common.combiner import SEQUENTIAL
from ..common.edge import RESHAPES, before_edge
from ..common.index_expression import Expr, delinearise, digits_of, linearise, loops_of
from ..common.rewriting import defining_op, erase_unused, i64_attr, integer, producer, replace, shape_of, value_of, walk
from ..common.scalars import Scalars, constant_integer
from ..registry import register_pass
from .inlining.inlining import VIEWS, point_in_base, view_base
from .lower_to_linalg import group_functions
from .lowering import generic
from .lowering.generic import PARALLEL, Generic, is_contraction, is_tensor, quotients, read_generic, resized_start
from .lowering.shown_collapses import show_collapses
from .lowering.views import fitted, reshape

_DIVISIONS = ("arith.divui", "arith.remui")
_MOST_TURNS = 8
"""So many results are stored in turn (passes/vector/nests/turns.py)."""
_LONG_RUN = 31
"""What is repeated more often fills registers, which is read as a scalar."""
Place = tuple[ir.Value, int] | tuple[ir.Operation, int]
"""A dim of a value, or a loop of a generic."""


@register_pass("split-loops", "splits loops where other ops of the group walk the same elements in more dimensions")
def split_loops(module: ir.Operation) -> None:
    for_cpu = target_of(module).kind == "cpu"
    for function in group_functions(module):
        with module.context, function.location:
            for reader in walk(function, "linalg.generic"):
                show_collapses(reader, _wants_cuts)
            nests = [read_generic(op) for op in walk(function, "linalg.generic")]
            axes = _Axes(nests, for_cpu)
            if axes.cut():
                _rebuild(function, nests, axes)


def _wants_cuts(producer: ir.Operation) -> bool:
    """Whether it is a contraction that reads at quotients of its loops; what reads its result by digits would hold these whole."""
    nest = read_generic(producer)
    return is_contraction(nest) and any(steps for _, steps in quotients(nest))


class _Axes:
    """The axes of a function's generics, and where they are cut: an axis is an extent, a cut the product of the factors behind it."""

    def __init__(self, nests: Sequence[Generic], for_cpu: bool):
        self.nests = nests
        self.for_cpu = for_cpu
        self.made = {result for nest in nests for result in nest.op.results}
        self.parent: dict[Place, Place] = {}
        self.whole: set[Place] = set()
        self.cuts: dict[Place, frozenset[int]] = {}
        self.digits: list[tuple[Place, int, set[int]]] = []
        """Dims of values between generics that a reader walks in digits: their extents, and the steps at which those cut them."""
        for nest in nests:
            for value, indexing in (*zip(nest.op.results, nest.out_maps), *_operands(nest)):
                if value in self.made:
                    self._tie(nest, value, indexing)
            for extract in walk(nest.op, "tensor.extract"):
                self._keep_whole(extract.operands[0])
            self.whole |= {(nest.op, loop) for loop in _windows(nest) | _in_order(nest)}
        for value in self.made:
            if any(use.owner.operation.name == "tensor.insert_slice" for use in value.uses):
                self._keep_whole(value)
        lines = {self.find((nest.op, loop)) for nest in nests for loop, _ in _lines(nest)} if for_cpu else set()
        summed = {self.find((nest.op, i)) for nest in nests for i, kind in enumerate(nest.iterators) if kind != PARALLEL}
        self.whole = {self.find(place) for place in self.whole} | (summed - lines)

    def _tie(self, nest: Generic, value: ir.Value, indexing: ir.AffineMap) -> None:
        for d, (expression, extent) in enumerate(zip(indexing.results, shape_of(value))):
            loop = dim_position(expression)
            if loop is not None and nest.extents[loop] == extent:
                self.parent[self.find((value, d))] = self.find((nest.op, loop))
            elif extent != 1 and (steps := _digit_steps(nest, expression, extent)):
                self.digits.append(((value, d), extent, steps))
            elif extent != 1:
                self.whole.add((value, d))

    def _keep_whole(self, value: ir.Value) -> None:
        base = view_base(value)
        if base in self.made:
            self.whole |= {(base, d) for d in range(len(shape_of(base)))}

    def find(self, place: Place) -> Place:
        while (parent := self.parent.setdefault(place, place)) != place:
            place = parent
        return place

    def cuts_of(self, place: Place) -> frozenset[int]:
        return self.cuts.get(self.find(place), frozenset())

    def factors(self, place: Place, extent: int) -> list[int]:
        """The extents that an axis is split into, the outermost first."""
        bounds = [extent, *sorted(self.cuts_of(place), reverse=True), 1]
        return [outer // inner for outer, inner in pairwise(bounds)]

    def cut(self) -> bool:
        """Cuts the axes until every view between two generics that can be is a view of equal factors; whether any was cut."""
        for nest in self.nests:
            on_cpu = [*_lines(nest), *(_turns(nest) if nest.is_parallel else [])] if self.for_cpu else []
            for loop, steps in quotients(nest) if is_contraction(nest) else on_cpu:
                self._add({(nest.op, loop): steps}, {(nest.op, loop): nest.extents[loop]})
        for place, extent, steps in self.digits:
            self._add({place: steps}, {place: extent})
            if not steps <= self.cuts_of(place):
                self.whole.add(self.find(place))
        views = [view for nest in self.nests for value, indexing in _operands(nest) if (view := self._view(nest, value, indexing))]
        while any(self._agree(*view) for view in views):
            pass
        return bool(self.cuts)

    def _view(
        self, nest: Generic, value: ir.Value, indexing: ir.AffineMap
    ) -> tuple[list[tuple[Place, int]], list[tuple[Place, int]]] | None:
        """The axes of the dims of a reshape of what another generic makes, and of the loops that read it."""
        base = before_edge(value, RESHAPES)
        if base == value or base not in self.made:
            return None
        loops = [dim_position(expression) for expression in indexing.results]
        read = [(loop, extent) for loop, extent in zip(loops, shape_of(value)) if extent != 1]
        if any(loop is None or nest.extents[loop] != extent for loop, extent in read):
            return None
        theirs = [((base, d), extent) for d, extent in enumerate(shape_of(base)) if extent != 1]
        return theirs, [((nest.op, loop), extent) for loop, extent in read if loop is not None]

    def _agree(self, base: list[tuple[Place, int]], reader: list[tuple[Place, int]]) -> bool:
        """Cuts the axes on both sides of a view where either has a border; whether that changed any."""
        borders = self._borders(base) | self._borders(reader)
        joins = borders == self._borders(base) and not any(self.cuts_of(place) for place, _ in base)
        if joins or not _divide(borders):
            return False
        added: dict[Place, set[int]] = {}
        for side in (base, reader):
            inner = 1
            for place, extent in reversed(side):
                added.setdefault(self.find(place), set()).update(b // inner for b in borders if inner < b < inner * extent)
                inner *= extent
        return self._add(added, {self.find(place): extent for place, extent in (*base, *reader)})

    def _borders(self, side: list[tuple[Place, int]]) -> set[int]:
        """The steps in memory of the dims, and of the factors they are cut into."""
        found, inner = set[int](), 1
        for place, extent in reversed(side):
            found |= {inner, *(inner * cut for cut in self.cuts_of(place))}
            inner *= extent
        return found

    def _add(self, added: dict[Place, set[int]], extents: dict[Place, int]) -> bool:
        """Adds cuts to axes, to all or to none; whether any was new."""
        cuts = {self.find(place): self.cuts_of(place) | new for place, new in added.items() if new}
        new = {place: found for place, found in cuts.items() if found != self.cuts_of(place)}
        whole = {self.find(place): extent for place, extent in extents.items()}
        if any(place in self.whole or not _divide({*found, 1, whole[place]}) for place, found in new.items()):
            return False
        self.cuts |= new
        return bool(new)


def _operands(nest: Generic) -> list[tuple[ir.Value, ir.AffineMap]]:
    return [(value, indexing) for value, indexing in zip((*nest.inputs, *nest.outs), nest.maps) if is_tensor(value)]


def _divide(borders: Iterable[int]) -> bool:
    """Whether each is a multiple of the one before."""
    return all(outer % inner == 0 for inner, outer in pairwise(sorted(borders)))


def _turns(nest: Generic) -> list[tuple[int, set[int]]]:
    """(loop, steps) of the loops along which the body chooses a few values in turn, and how many they are; and of those that walk lines one
    after the other, of which it reads parts."""
    turns: dict[int, set[int]] = {}
    lines: list[tuple[int, set[int]]] = []
    for op in walk(nest.op, lambda op: op.name in _DIVISIONS):
        index, count = producer(op.operands[0], "linalg.index"), constant_integer(op.operands[1])
        if index is None or count is None:
            continue
        if 1 < count <= _MOST_TURNS:
            turns.setdefault(integer(index, "dim"), set()).add(count)
        elif count > _MOST_TURNS:
            lines.append((integer(index, "dim"), {count}))
    return [*turns.items(), *(lines if walk(nest.op, "tensor.extract") else [])]


def _lines(nest: Generic) -> list[tuple[int, set[int]]]:
    """(loop, steps) of the loops whose remainders are read: of each line a part, or lines in another order. Of long
    quotients too, what is repeated so often that a register has few of it."""
    least = [_LONG_RUN if kind == PARALLEL else _MOST_TURNS for kind in nest.iterators]
    far = [(loop, {step for step in steps if step > least[loop]}) for loop, steps in quotients(nest)]
    return [*quotients(nest, ("mod",)), *(cut for cut in far if cut[1])]


def _in_order(nest: Generic) -> set[int]:
    """The loops whose steps are taken in order, or have a result each."""
    summed = {loop for loop, kind in enumerate(nest.iterators) if kind != PARALLEL}
    shown = {loop for indexing in nest.out_maps for expression in indexing.results for loop in used_dims(expression)}
    return summed if SEQUENTIAL in nest.op.attributes or shown & summed else set()


def _windows(nest: Generic) -> set[int]:
    """The loops of which each turn has a window of taps in an operand with zeros around it: one loop alone tells which taps exist."""
    found: set[int] = set()
    for value, indexing in _operands(nest):
        pad = defining_op(before_edge(value, RESHAPES))
        if pad is None or pad.name != "tensor.pad":
            continue
        for expression in indexing.results:
            summed = any(nest.iterators[loop] != PARALLEL for loop in used_dims(expression))
            plain = [atom.dims for atom, _ in index_at(expression, loops_of(nest.extents)).terms if atom.is_plain]
            found.update(loop for dims in plain for loop in dims if summed and nest.iterators[loop] == PARALLEL)
    return found


def _digit_steps(nest: Generic, expression: ir.AffineExpr, extent: int) -> set[int]:
    """Where an index cuts a dim that it walks in digits (`14 * d1 + d2`): the products of the extents of its inner loops."""
    loops = digits_of(index_at(expression, loops_of(nest.extents)), extent)
    return {prod(nest.extents[loop] for loop in loops[n:]) for n in range(1, len(loops))}


def _rebuild(function: ir.Operation, nests: Sequence[Generic], axes: _Axes) -> None:
    scalars = Scalars(function)
    new: dict[ir.Value, ir.Value] = {}
    for nest in nests:
        loops = [axes.factors((nest.op, i), extent) for i, extent in enumerate(nest.extents)]
        bases = [(value, base) for value, _ in _operands(nest) if (base := view_base(value)) in new]
        changed = any(value != base or shape_of(new[base]) != shape_of(base) for value, base in bases)
        if changed or any(len(factors) > 1 for factors in loops):
            new |= zip(nest.op.results, _split(nest, loops, axes, new, scalars))
    for old, value in new.items():
        uses = [use.owner.operation for use in old.uses]
        if uses:
            with ir.InsertionPoint.after(value.owner), old.owner.location:
                old.replace_all_uses_with(reshape(value, shape_of(old)))
    erase_unused(walk(function, lambda op: op.name in ("linalg.generic", "linalg.fill", "tensor.empty", *VIEWS)))


def _split(nest: Generic, loops: list[list[int]], axes: _Axes, new: dict[ir.Value, ir.Value], scalars: Scalars) -> list[ir.Value]:
    """The generic with a loop for each factor of its loops; its results."""
    numbers = [0]
    for factors in loops:
        numbers.append(numbers[-1] + len(factors))
    extents = [factor for factors in loops for factor in factors]
    split = loops_of(extents)
    point = [linearise(split[first:last], factors) for first, last, factors in zip(numbers, numbers[1:], loops)]
    operands, maps = [], []
    with ir.InsertionPoint(nest.op), nest.op.location:
        for value, indexing in zip((*nest.inputs, *nest.outs), nest.maps):
            at = [index_at(expression, point) for expression in indexing.results]
            if is_tensor(value):
                value, at = _operand(value, at, indexing, loops, axes, new)
                value = fitted(value, at, extents)
            operands.append(value)
            maps.append(generic.affine_map(len(extents), [to_affine(index) for index in at]))
        iterators = [kind for kind, factors in zip(nest.iterators, loops) for _ in factors]
        count = len(nest.inputs)
        op = generic.new_generic(operands[:count], operands[count:], maps, iterators, nest.op)
    _renumber(nest, numbers, loops, scalars)
    block = nest.block
    block.append_to(op.regions[0])
    with ir.InsertionPoint(op), op.location:
        return list(generic.lend_extents(op, extents).results)


def _operand(
    value: ir.Value, at: list[Expr], indexing: ir.AffineMap, loops: list[list[int]], axes: _Axes, new: dict[ir.Value, ir.Value]
) -> tuple[ir.Value, list[Expr]]:
    """The operand as it is read now, and where: what another generic makes in its factors, others with their dims split as the loops."""
    base = view_base(value)
    if base in axes.made:
        at = list(point_in_base(value, tuple(at)))
        factors = [axes.factors((base, d), extent) for d, extent in enumerate(shape_of(base))]
        return new.get(base, base), [index for each, parts in zip(at, factors) for index in delinearise(each, parts)]
    bare = [dim_position(expression) for expression in indexing.results]
    factors = [loops[loop] if loop is not None and prod(loops[loop]) == extent else [extent] for loop, extent in zip(bare, shape_of(value))]
    shape = [factor for parts in factors for factor in parts]
    start = resized_start(value, shape)
    split = start if start is not None else reshape(value, shape)
    return split, [index for each, parts in zip(at, factors) for index in delinearise(each, parts)]


def _renumber(nest: Generic, numbers: list[int], loops: list[list[int]], scalars: Scalars) -> None:
    """The index of a loop that was split is put together from those of its factors; quotients and remainders of it are made of some."""
    for op in walk(nest.op, "linalg.index"):
        loop = integer(op, "dim")
        kind, factors = op.results[0].type, loops[loop]
        with ir.InsertionPoint(op), op.location:
            parts = [value_of("linalg.index", kind, dim=i64_attr(number)) for number in range(numbers[loop], numbers[loop + 1])]
            for user in [use.owner.operation for use in op.results[0].uses]:
                cut = _cut_of(user, factors)
                if cut is not None:
                    kept = slice(cut) if user.name == "arith.divui" else slice(cut, None)
                    replace(user, [_joined(parts[kept], factors[kept], scalars)])
            index = _joined(parts, factors, scalars)
        replace(op, [index])


def _cut_of(op: ir.Operation, factors: list[int]) -> int | None:
    """How many of a loop's factors the quotient that an op computes of its index has, whose remainder has the others."""
    count = constant_integer(op.operands[1]) if op.name in _DIVISIONS else None
    return next((n for n in range(1, len(factors)) if prod(factors[n:]) == count), None)


def _joined(parts: list[ir.Value], factors: list[int], scalars: Scalars) -> ir.Value:
    index = parts[0]
    for part, factor in zip(parts[1:], factors[1:]):
        index = scalars.op("arith.addi", scalars.op("arith.muli", index, scalars.index(factor)), part)
    return index
