"""Loops cut where their body's comparisons with constants turn: between two cuts they are known, and so is what a select takes.

    select (%i < 64), %x[min (%i, 63)], %y[max (%i - 64, 0)]          for %i in 0 to 64: %x[%i]; for %i in 64 to 128: %y[%i - 64]

So are concatenations and pads: what was a gather at clamped indices and a select is a load of neighbours. Where the tile has a part of the
loop, the index is that of the loop and where the tile begins: each piece is what the tile has of it, often nothing.

Must hold: what the loop's index is compared with is constant, and so is the extent of the loop, or of all tiles' loops together.
Declined: more than six cuts, and more than eight pieces of several loops together, but of bodies that mostly choose what
they read, as those of concatenations of many: little of them is left in a piece. Bodies of many ops, of loops other than the vector loop,
where much of them is left in the pieces.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.control_flow import LoopBound, for_each
from ...common.linear_index import LinearIndex
from ...common.rewriting import defining_op, is_block_argument, ops_in
from ...common.scalars import constant_integer
from .body import Captured
from .comparisons import PREDICATES
from .lanes import Lanes
from .left_over import Piece, ops_left
from .nests import chunks
from .work import Work

_MOST_CUTS = 6
_MOST_PIECES = 8
"""Of all loops together: so often is the body emitted."""
_SHORT_BODY = 64
_MOST_OPS = 32768
"""Of a body, as often as it is emitted for the pieces of one loop."""
_COMPUTED = 32
"""What an op of a body that every piece computes counts as: it is emitted for several registers, and stays."""
_CHOOSING = ("arith.constant", "arith.cmpi", "arith.select", "tensor.extract", "linalg.yield")

Reach = Mapping[ir.Value, tuple[int, int]]


@dataclass(frozen=True)
class Cuts:
    """Where a loop is cut, in order: places of its index and `base`, which is where the tile begins. Both together stay below `total`."""

    at: list[int]
    base: ir.Value | None
    total: int

    def pieces(self) -> list[tuple[int, int]]:
        return list(zip([0, *self.at], [*self.at, self.total]))


def cuts(works: list[Work], loop: int, shortest: int = 1) -> Cuts | None:
    """The cuts of the loop; None where there are none, or too many: more than six want pieces of `shortest` elements on the average."""
    found = [cut for work in works if work.block is not None for cut in _turns(work.block, loop)]
    bases = {base for base, _ in found}
    if len(bases) != 1:
        return None
    (base,) = bases
    total = _total(works[0], loop, base)
    places = sorted({place for _, place in found if total is not None and 0 < place < total})
    if total is None or not places:
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
    """The sizes that a tile computes of the slices that it writes."""
    made = [defining_op(value) for value in work.op.operands]
    slices = [defining_op(op.operands[1]) if op is not None and op.name == "linalg.fill" else op for op in made]
    return [size for op in slices if op is not None and op.name == "tensor.extract_slice" for size in list(op.operands)[1:]]


def _is_rest(size: ir.Value, base: ir.Value, total: int) -> bool:
    """Whether a size is at most what is left from `base` on."""
    made = defining_op(size)
    if made is None or made.name != "affine.min" or list(made.operands) != [base]:
        return False
    left = ir.AffineExpr.get_dim(0) * -1 + total
    return any(expression == left for expression in ir.AffineMapAttr(made.attributes["map"]).value.results)


@dataclass(frozen=True)
class _Line:
    """A value that is `factor` times the loop's index, or the index and `base` from outside, and `offset`."""

    base: ir.Value | None = None
    factor: int = 1
    offset: int = 0

    def reaches(self, number: int) -> int:
        """Where it is `number` or more for the first time."""
        return -((self.offset - number) // self.factor)


def _turns(block: ir.Block, loop: int) -> set[tuple[ir.Value | None, int]]:
    """The values of the loop's index, or of it and a value from outside, from which on a comparison or clamp of it gives something else."""
    lines: dict[ir.Value, _Line] = {}
    found: set[tuple[ir.Value | None, int]] = set()
    for op in ops_in(block):
        if op.name == "linalg.index" and ir.IntegerAttr(op.attributes["dim"]).value == loop:
            lines[op.results[0]] = _Line()
        if len(op.operands) != 2 or op.operands[0] not in lines:
            continue
        line, other = lines[op.operands[0]], op.operands[1]
        number = constant_integer(other)
        if number is None:
            if op.name == "arith.addi" and line.base is None and line.factor == 1 and is_block_argument(other):
                lines[op.results[0]] = replace(line, base=other)
        elif op.name in ("arith.addi", "arith.subi"):
            lines[op.results[0]] = replace(line, offset=line.offset + (number if op.name == "arith.addi" else -number))
        elif op.name == "arith.muli" and number > 0:
            lines[op.results[0]] = _Line(line.base, line.factor * number, line.offset * number)
        elif op.name in ("arith.maxsi", "arith.minsi"):
            found.add((line.base, line.reaches(number + (op.name == "arith.minsi"))))
            lines[op.results[0]] = line
        elif op.name == "arith.cmpi":
            found |= {(line.base, line.reaches(place)) for place in _steps(op, number)}
    return found


def _steps(op: ir.Operation, number: int) -> set[int]:
    """What a number reaches where its comparison with `number` turns."""
    predicate = PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
    return {"slt": {number}, "sge": {number}, "sle": {number + 1}, "sgt": {number + 1}}.get(predicate, {number, number + 1})


def segments(extent: LoopBound, at: Cuts, captured: Captured, count: int, least: int, body: Callable[[LinearIndex, Lanes], None]) -> None:
    """Chunks of each piece between two cuts, whose lanes know how far their indices reach."""
    if at.base is not None:
        start = captured(at.base)
        for low, high, inside in _parts(extent, at, start):

            def part(index: LinearIndex, lanes: Lanes, low: ir.Value = low, inside: tuple[int, int] = inside) -> None:
                place, reach = _placed(LinearIndex.of(low) + index, start, inside)
                body(place, replace(lanes, live=1, reach=reach))

            chunks(arith.subi(high, low), count, least, part)
        return
    for first, end in at.pieces():
        length = end - first

        def chunk(start: LinearIndex, lanes: Lanes, first: int = first, length: int = length) -> None:
            if start.is_constant:
                live = min(lanes.count, length - start.constant)
                body(start + first, replace(lanes, live=live))
                return
            body(start + first, reaching(lanes, start, length))

        chunks(length, count, least, chunk)


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
