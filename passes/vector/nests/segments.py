"""Loops cut where their body's comparisons with constants turn: between two cuts they are known, and so is what a select takes.

    select (%i < 64), %x[min (%i, 63)], %y[max (%i - 64, 0)]          for %i in 0 to 64: %x[%i]; for %i in 64 to 128: %y[%i - 64]

So are concatenations and pads: what was a gather at clamped indices and a select is a load of neighbours. Where the tile has a part of the
loop, the index is that of the loop and where the tile begins: each piece is what the tile has of it, often nothing.

Where an index is made of several loops', as rows and columns of what was one row are, the outer one is cut where a comparison may turn
and where it has: between, at most a row, nothing is known.

Vector loops are cut, too, where a quotient of the index changes, as where rows stand side by side: between, it is one number, and the
remainder lies along the lanes. Comparisons of quotients and remainders turn where these do.

Must hold: what the loop's index is compared with is constant, and so is the extent of the loop, or of all tiles' loops together.
Declined: more than six cuts, and more than eight pieces of several loops together, but of bodies that mostly choose what
they read, as those of concatenations of many: little of them is left in a piece. Bodies of many ops, of loops other than the vector loop,
where much of them is left in the pieces. Quotients that change more often than every 32 steps, or six times.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.control_flow import Body, LoopBound, for_each, for_loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import defining_op, is_block_argument, ops_in
from ...common.scalars import constant_integer
from .body import Captured
from .comparisons import PREDICATES
from .divisors import factor
from .lanes import Lanes
from .left_over import Piece, Span, known_span, ops_left, span_of
from .nests import chunks
from .work import Work

_MOST_CUTS = 6
_MOST_PIECES = 8
"""Of all loops together: so often is the body emitted."""
_SHORT_BODY = 64
_MOST_OPS = 32768
"""Of a body, as often as it is emitted for the pieces of one loop."""
_LEAST_QUOTIENT = 32
"""Steps, on the average, of the pieces of which a quotient is known: of fewer, lanes have quotients that lie close together (places.py)."""
_COMPUTED = 32
"""What an op of a body that every piece computes counts as: it is emitted for several registers, and stays."""
_CHOOSING = ("arith.constant", "arith.cmpi", "arith.select", "tensor.extract", "linalg.yield")

Reach = Mapping[ir.Value, tuple[int, int]]


@dataclass(frozen=True)
class Cuts:
    """Where a loop is cut, in order: places of its index and `base`, which is where the tile begins. Both together stay below `total`:
    that alone is told where there is a base and no place."""

    at: list[int]
    base: ir.Value | None
    total: int

    def pieces(self) -> list[tuple[int, int]]:
        return list(zip([0, *self.at], [*self.at, self.total]))

    def backwards(self) -> Cuts:
        """The cuts of a loop that takes the steps from the last to the first."""
        return replace(self, at=[self.total - place for place in reversed(self.at)])


def cuts(works: list[Work], loop: int, shortest: int = 1) -> Cuts | None:
    """The cuts of the loop; None where there are none, or too many: more than six want pieces of `shortest` elements on the average."""
    turns = [_Turns(work, loop) for work in works if work.block is not None]
    found = {turn for each in turns for turn in each.found}
    divided = {turn for each in turns for turn in each.divided} if shortest > 1 else set()
    pieces = _cut_at(works, loop, found | divided, shortest) if divided else None
    if pieces is not None and pieces.total >= _LEAST_QUOTIENT * len(pieces.at):
        return pieces
    return _cut_at(works, loop, found, shortest)


def _cut_at(works: list[Work], loop: int, turns: set[tuple[ir.Value | None, int]], shortest: int) -> Cuts | None:
    bases = {base for base, _ in turns}
    if len(bases) != 1:
        return None
    (base,) = bases
    total = _total(works[0], loop, base)
    places = sorted({place for _, place in turns if total is not None and 0 < place < total})
    if total is None or not (places or base):
        return None
    most = min(_most_pieces(works), total // shortest)
    return Cuts(places, base, total) if len(places) < max(_MOST_CUTS + 1, most) else None


def cuts_around(works: list[Work], loops: Sequence[int], inner: Cuts | None) -> dict[int, Cuts]:
    """The cuts of loops around a vector loop that has the cuts `inner`, the outermost first, as far as the pieces are few, or little of the
    bodies is left in them."""
    found: dict[int, Cuts] = {}
    pieces = 1 if inner is None else len(inner.pieces())
    several = _MOST_PIECES if sum(work.body_size() for work in works) <= _SHORT_BODY else 0
    for loop in loops:
        known = cuts(works, loop)
        if known is None:
            continue
        most = several if pieces > 1 else max(several, _most_pieces(works))
        if pieces * len(known.pieces()) <= most or pieces * _left(works, loop, known) <= _MOST_PIECES * _SHORT_BODY:
            found[loop] = known
            pieces *= len(known.pieces())
    return found


def known_cuts(works: list[Work], loop: int, shortest: int = 1) -> Cuts | None:
    """The cuts of a loop of which a tile has all."""
    found = cuts(works, loop, shortest)
    return None if found is None or found.base is not None else found


def pieces_of(works: list[Work], loops: Sequence[int]) -> dict[int, list[tuple[int, int]]]:
    """The pieces of those of the loops that are cut and of which a tile has all."""
    return {loop: known.pieces() for loop in loops if (known := known_cuts(works, loop)) is not None}


def _left(works: list[Work], loop: int, known: Cuts) -> int:
    """How many ops are left of the bodies in all pieces of a loop."""
    pieces = [{loop: Piece(known.base, low, end - 1)} for low, end in known.pieces()]
    return sum(ops_left(work.block, piece) for work in works if work.block is not None for piece in pieces)


def _most_pieces(works: list[Work]) -> int:
    """How many pieces of one loop the bodies may be emitted for."""
    ops = [op for work in works if work.block is not None for op in ops_in(work.block)]
    computed = [op for op in ops if op.name not in _CHOOSING and not isinstance(op.results[0].type, ir.IndexType)]
    return _MOST_OPS // (len(ops) + _COMPUTED * len(computed))


def _total(work: Work, loop: int, base: ir.Value | None) -> int | None:
    """What the loop's index and `base` stay below: the extent of the loop over tiles, where `base` tells where a tile begins."""
    extent = work.extents[loop]
    if base is None:
        return extent if isinstance(extent, int) else None
    tiles = ir.BlockArgument(base).owner.owner if is_block_argument(base) else None
    if tiles is None or tiles.name != "scf.forall":
        return None
    number = ir.BlockArgument(base).arg_number
    bounds, steps = (list(ir.DenseI64ArrayAttr(tiles.attributes[name])) for name in ("staticUpperBound", "staticStep"))
    if number >= len(bounds):
        return None
    total, step = bounds[number], steps[number]
    if isinstance(extent, int):
        return total if extent == step and total % step == 0 else None
    return total if any(_is_rest(size, base, total) for size in _sizes(work)) else None


def _sizes(work: Work) -> list[ir.Value]:
    """The sizes that a tile computes of what it writes, slices and values of its own."""
    made = [defining_op(value) for value in work.op.operands]
    written = [defining_op(op.operands[1]) if op is not None and op.name == "linalg.fill" else op for op in made]
    first = {"tensor.extract_slice": 1, "tensor.empty": 0}
    return [size for op in written if op is not None and op.name in first for size in list(op.operands)[first[op.name] :]]


def _is_rest(size: ir.Value, base: ir.Value, total: int) -> bool:
    """Whether a size is at most what is left from `base` on."""
    made = defining_op(size)
    if made is None or made.name != "affine.min" or list(made.operands) != [base]:
        return False
    left = ir.AffineExpr.get_dim(0) * -1 + total
    return any(expression == left for expression in ir.AffineMapAttr(made.attributes["map"]).value.results)


@dataclass(frozen=True)
class _Line:
    """A value that is made of the loop's index, or of the index and `base` from outside, by `ways`, one after the other; it rises as the
    index does, but for remainders."""

    base: ir.Value | None = None
    total: int = 0
    """What the index and `base` stay below; 0 where that is not known."""
    ways: tuple[tuple[str, int, int], ...] = ()
    """(op, number, number): what is added lies between two numbers, as other loops tell; of factors and divisors both are one."""

    def reaches(self, number: int) -> set[int]:
        """Where it can be `number` or more for the first time, and where it is for sure; of remainders, each time."""
        places = {number}
        for place in range(len(self.ways) - 1, -1, -1):
            way, low, high = self.ways[place]
            if way == "addi":
                places = {each - more for each in places for more in (low, high)}
            elif way == "muli":
                places = {-(-each // low) for each in places}
            elif way == "divui":
                places = {each * low for each in places}
            else:
                lengths = range(0, replace(self, ways=self.ways[:place]).most() + 1, low)
                places = {first + each for first in lengths for each in (*(each for each in places if 0 < each < low), 0)}
        return places

    def most(self) -> int:
        """The greatest that it can be."""
        value = self.total - 1
        for way, _, number in self.ways:
            if way == "remui":
                value = min(value, number - 1)
            else:
                value = value + number if way == "addi" else value * number if way == "muli" else value // number
        return value

    def then(self, way: str, low: int, high: int) -> _Line:
        return replace(self, ways=(*self.ways, (way, low, high)))

    def quotients(self, divisor: int) -> range:
        """What it comes to, divided, but for the first; none where that is not known, or these are too many."""
        most = self.most() // divisor if self.total and divisor > 0 else 0
        return range(1, most + 1 if most < _MOST_CUTS else 1)


class _Turns:
    """What is known of a body's indices, op by op. `found` are the values of the loop's index, or of it and a base, from which on a
    comparison or clamp of it gives something else, or may, as other loops go on; `divided` those from which on a quotient does."""

    def __init__(self, work: Work, loop: int):
        assert work.block is not None
        self.work, self.loop = work, loop
        self.lines: dict[ir.Value, _Line] = {}
        self.spans: dict[ir.Value, Span] = {}
        self.loops: dict[ir.Value, int] = {}
        self.found: set[tuple[ir.Value | None, int]] = set()
        self.divided: set[tuple[ir.Value | None, int]] = set()
        for op in ops_in(work.block):
            self._read(op)

    def _read(self, op: ir.Operation) -> None:
        if op.name == "linalg.index":
            self._index(op.results[0], ir.IntegerAttr(op.attributes["dim"]).value)
        if len(op.operands) != 2 or not len(op.results):
            return
        one, other = op.operands
        if op.name == "arith.addi" and one not in self.lines and other in self.lines:
            one, other = other, one
        number = constant_integer(other)
        if one not in self.lines or (op.name == "arith.addi" and number is None):
            self._add(op, one, other)
        elif number is not None:
            self._compute(op, self.lines[one], number)

    def _index(self, index: ir.Value, dim: int) -> None:
        extent = self.work.extents[dim]
        self.loops[index] = dim
        if dim == self.loop:
            self.lines[index] = _Line(None, _total(self.work, dim, None) or 0)
        elif isinstance(extent, int):
            self.spans[index] = 0, extent - 1

    def _add(self, op: ir.Operation, one: ir.Value, other: ir.Value) -> None:
        """What a line, or what other loops tell, and another number come to."""
        result = op.results[0]
        if one in self.lines and other in self.spans:
            self.lines[result] = self.lines[one].then("addi", *self.spans[other])
        elif op.name == "arith.addi" and one in self.loops and is_block_argument(other):
            if one in self.lines:
                self.lines[result] = _Line(other, _total(self.work, self.loop, other) or 0)
            elif (total := _total(self.work, self.loops[one], other)) is not None:
                self.spans[result] = 0, total - 1
        elif one not in self.lines and op.name != "arith.cmpi":
            span = span_of(op, known_span(one, self.spans), known_span(other, self.spans))
            self.spans |= {} if span is None else {result: span}

    def _compute(self, op: ir.Operation, line: _Line, number: int) -> None:
        """What comes of a line and a constant."""
        result = op.results[0]
        if op.name in ("arith.addi", "arith.subi"):
            more = number if op.name == "arith.addi" else -number
            self.lines[result] = line.then("addi", more, more)
        elif op.name == "arith.muli" and number > 0:
            self.lines[result] = line.then("muli", number, number)
        elif op.name in ("arith.divui", "arith.remui") and (quotients := line.quotients(number)):
            self.lines[result] = line.then(op.name.removeprefix("arith."), number, number)
            quotient = line.then("divui", number, number)
            self.divided |= {(line.base, place) for each in quotients for place in quotient.reaches(each)}
        elif op.name in ("arith.maxsi", "arith.minsi"):
            self.found |= {(line.base, place) for place in line.reaches(number + (op.name == "arith.minsi"))}
            self.lines[result] = line
        elif op.name == "arith.cmpi":
            self.found |= {(line.base, place) for step in _steps(op, number) for place in line.reaches(step)}


def _steps(op: ir.Operation, number: int) -> set[int]:
    """What a number reaches where its comparison with `number` turns."""
    predicate = PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
    return {"slt": {number}, "sge": {number}, "sle": {number + 1}, "sgt": {number + 1}}.get(predicate, {number, number + 1})


def segments(
    extent: LoopBound, at: Cuts, captured: Captured, count: int, least: int, body: Callable[[LinearIndex, Lanes], None], together: int = 1
) -> None:
    """Chunks of each piece between two cuts, whose lanes know how far their indices reach."""
    if at.base is not None:
        start = captured(at.base)
        for low, high, inside in _parts(extent, at, start):

            def part(index: LinearIndex, lanes: Lanes, low: ir.Value = low, inside: tuple[int, int] = inside) -> None:
                steps = LinearIndex(index.terms)
                place, reach = _placed(steps + low, start, (inside[0] - index.constant, inside[1] - index.constant))
                multiple = gcd(inside[0], factor(start, 0), factor(steps, 0))  # the piece begins where the tile does, or at its place
                body(place + index.constant, replace(lanes, live=1, reach=reach, multiples={whole: multiple for whole in reach}))

            chunks(arith.subi(high, low), count, least, part, together)
        return
    for first, end in at.pieces():
        length = end - first

        def chunk(start: LinearIndex, lanes: Lanes, first: int = first, length: int = length) -> None:
            if start.is_constant:
                live = min(lanes.count, length - start.constant)
                body(start + first, replace(lanes, live=live))
                return
            body(start + first, reaching(lanes, start, length))

        chunks(length, count, least, chunk, together)


def reaching(lanes: Lanes, start: LinearIndex, length: int) -> Lanes:
    """The lanes of a whole chunk of a piece of so many elements, which know how far `start` reaches in it."""
    last = length - length % lanes.count - lanes.count
    return replace(lanes, live=lanes.count, reach={variable: (0, last) for variable in start.terms})


def nest_cut(loops: Sequence[tuple[LoopBound, Cuts | None]], captured: Captured, body: Callable[[list[LinearIndex], Reach], None]) -> None:
    """Loops over all extents, the first outermost, some of them cut; `body` gets their indices and how far those reach."""
    if not loops:
        body([], {})
        return
    (extent, at), *others = loops

    def step(index: LinearIndex, reach: Reach) -> None:
        nest_cut(others, captured, lambda inner, further: body([index, *inner], {**reach, **further}))

    if at is None:
        for_each(0, extent, 1, lambda index: step(index, {}))
    else:
        _each_segment(extent, at, captured, step)


def loop_carrying(extent: LoopBound, at: Cuts | None, carried: list[ir.Value], body: Body) -> list[ir.Value]:
    """A loop whose cuts are places that are known; `body(index, carried)` returns what is carried on."""
    for first, end in [(0, extent)] if at is None else at.pieces():
        carried = for_loop(first, end, 1, carried, body)
    return carried


def _each_segment(extent: LoopBound, at: Cuts, captured: Captured, body: Callable[[LinearIndex, Reach], None]) -> None:
    """Steps of each piece between two cuts, and how far their index reaches."""
    start = None if at.base is None else captured(at.base)
    if start is None:
        for first, end in at.pieces():

            def known(index: LinearIndex, inside: tuple[int, int] = (first, end - 1)) -> None:
                body(index, {v: inside for v in index.terms})

            for_each(first, end, 1, known)
        return
    for low, high, inside in _parts(extent, at, start):

        def placed(index: LinearIndex, inside: tuple[int, int] = inside) -> None:
            body(*_placed(index, start, inside))

        for_each(low, high, 1, placed)


def _parts(extent: LoopBound, at: Cuts, start: LinearIndex) -> list[tuple[ir.Value, ir.Value, tuple[int, int]]]:
    """Of each piece, of which the tile has what lies between two of its own indices: those."""
    end = LinearIndex.of(extent).value()
    zero = LinearIndex().value()
    bounds = [zero]
    for place in at.at:
        within = (LinearIndex(constant=place) - start).value()
        bounds.append(arith.maxsi(arith.minsi(within, end), zero))
    bounds.append(end)
    return [(low, high, (first, last - 1)) for (first, last), low, high in zip(at.pieces(), bounds, bounds[1:])]


def _placed(index: LinearIndex, start: LinearIndex, inside: tuple[int, int]) -> tuple[LinearIndex, Reach]:
    """A tile's index as one that is known to lie, with the tile's start, `inside` two places."""
    whole = (index + start).value()
    return LinearIndex.of(whole) - start, {whole: inside}
