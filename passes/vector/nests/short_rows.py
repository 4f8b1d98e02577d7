"""Elementwise nests of short rows, as pixels of three channels: a register holds several rows, not one and idle lanes.

    y[i, c] = x[i, c] * s[i] + b[c]    of 3 channels, a block of 16 rows:    %y[3 i + 0 … 15], %y[3 i + 16 … 31], %y[3 i + 32 … 47]
                                                                            with %s[i], shuffled [0, 0, 0, 1, …], and %b, [0, 1, 2, 0, …]

Which row and which column a lane has is the same in every block, so that what it reads lies at known places from where the block begins:
neighbours, or a load and a shuffle (places.py). Where a constant tells the places (the pixels that a resize reads), or the row's number
chooses (pads), the whole loop is one block. Many rows of which some are chosen by their number, as of concatenations, are cut where that
turns (segments.py), and have blocks between. What is left of the last block is one of fewer rows; of a tile whose rows are known only
at run time, row by row.

Must hold: results have their rows one after the other; what a block reads of an input spans few registers. Declined: turns (turns.py) and
rows that fill a register; more of them than one block may have, where places are told.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import gcd

import numpy as np
from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.control_flow import for_each, nest_each
from ...common.linear_index import LinearIndex
from ...common.rewriting import integer, ops_in
from ...common.storage import Storage
from ...common.vectors import static_mask
from .body import Captured, LanesBody
from .lanes import Block, Lanes, Place, Rep
from .nests import whole_part
from .places import FOLDS, MOST_REGISTERS
from .segments import known_cuts
from .work import Point, Work, stride_along

_MOST_POINTS = 8
"""Longer rows leave few lanes idle."""
_LEAST_BITS, _SHUFFLED_BITS = 32, 128
"""Chunks of narrower elements have no more lanes than those of so many bits, or as many as bytes are shuffled among."""
_REGISTERS = 4
"""A block has so many, at least."""
_FEW_OPS, _MOST_OPS = 512, 8192
"""A block of all rows is emitted as so many ops at most; as the more where cuts do not halve them."""


@dataclass(frozen=True)
class ShortRows:
    """The loop along the rows, that within a row, how many elements that has, and the lanes of a register."""

    along: int
    last: int
    points: int
    lanes: int
    pieces: list[tuple[int, int]]
    """From which row to which blocks go on: all, or those between two cuts. None where rows are known only at run time."""
    whole: bool
    """Whether all rows are one block."""
    tells_places: bool
    """Whether constants or the rows' number tell places, and choose no elements of a row."""

    @staticmethod
    def of(works: list[Work], target: TargetView) -> ShortRows | None:
        """None where rows are no such, or nothing is gained."""
        extents = works[0].extents
        last, widest = len(extents) - 1, max(work.widest() for work in works)
        lanes = max(target.lanes(max(_LEAST_BITS, widest)), _SHUFFLED_BITS // widest)
        points = extents[last] if last > 0 else None
        if not isinstance(points, int) or not 2 <= points <= min(_MOST_POINTS, lanes - 1) or any(work.reduces for work in works):
            return None
        results = [(m, s) for work in works for m, s in zip(work.output_maps, work.outputs) if s is not None]
        follows = (d for d in range(last) if extents[d] != 1 and all(stride_along(m, s, d) == points for m, s in results))
        along = next(follows, None)
        if along is None or any(stride_along(m, s, last) != 1 for m, s in results):
            return None
        tells, rows = any(_tells_places(work, (along, last)) for work in works), extents[along]
        if tells and not isinstance(rows, int):
            return None
        tells_places = tells and not any(work.chooses_by(last) for work in works)
        found = ShortRows(along, last, points, lanes, [(0, rows)] if isinstance(rows, int) else [], tells, tells_places)
        a_row = points * sum(work.body_size() for work in works)
        if tells and found.emitted * a_row > _MOST_OPS * lanes:
            return None
        if tells and found.emitted * a_row > _FEW_OPS * lanes and (pieces := _pieces(works, along)):
            cut = replace(found, pieces=pieces, whole=False)
            found = cut if 2 * cut.emitted <= found.emitted else found
        return found if all(found._reads_near(work, tells) for work in works) else None

    @property
    def emitted(self) -> int:
        """How many rows code is emitted for, where rows are known: of a loop one block, and what is left."""
        lengths = [end - first for first, end in self.pieces]
        return sum(lengths) if self.whole else sum(min(length, self.rows + length % self.rows) for length in lengths)

    @property
    def rows(self) -> int:
        """Of a block: whole registers."""
        registers = self.points // gcd(self.points, self.lanes)
        return self.lanes * registers * -(-_REGISTERS // registers) // self.points

    def emit(self, works: list[Work], captured: Captured) -> None:
        """The nest."""
        extents = works[0].extents
        outer, rows = [d for d in range(self.last) if d != self.along], extents[self.along]

        def at(indices: list[LinearIndex]) -> None:
            block = partial(self._block, works, captured, dict(zip(outer, indices)))
            if isinstance(rows, int):
                for first, end in self.pieces:
                    self._blocks(block, first, end)
                return
            whole = whole_part(rows, self.rows)
            for_each(0, whole, self.rows, partial(block, self.rows))
            for_each(whole, rows, 1, partial(block, 1))

        nest_each([extents[d] for d in outer], at)

    def _blocks(self, block: Callable[[int, LinearIndex], None], first: int, end: int) -> None:
        """The rows from `first` to `end`: one block, or whole blocks and one of what is left."""
        if self.whole:
            block(end - first, LinearIndex(constant=first))
            return
        count, left = self.rows, (end - first) % self.rows
        if end - left > first + count:
            for_each(first, end - left, count, partial(block, count))
        elif end - left > first:
            block(count, LinearIndex(constant=first))
        if left:
            block(left, LinearIndex(constant=end - left))

    def _block(self, works: list[Work], captured: Captured, fixed: dict[int, LinearIndex], rows: int, start: LinearIndex) -> None:
        """So many rows from `start` on."""
        size = rows * self.points
        numbers = np.arange(size)
        for first in range(0, size, self.lanes):
            lanes = self.lanes
            while lanes > 2 and lanes // 2 >= size - first:
                lanes //= 2
            part, live = np.minimum(first + np.arange(lanes), size - 1), min(lanes, size - first)
            chunk = Lanes(lanes, None if live == lanes else static_mask(lanes, live))
            index = ir.IndexType.get()
            places = {self.along: Place(start, numbers // self.points), self.last: Place(LinearIndex(), numbers % self.points)}
            made = {dim: chunk.at(place.first, place.numbers[part], index) for dim, place in places.items()}
            block = Block(size, part, {made[dim]: place for dim, place in places.items()})
            begin = {**fixed, self.along: start + first // self.points, self.last: LinearIndex(constant=first % self.points)}
            dims = range(len(works[0].extents))
            uniform = [begin.get(dim, LinearIndex()) for dim in dims]
            point = _Chunk(Lanes(lanes, chunk.mask, block=block), [made.get(dim, uniform[dim]) for dim in dims], uniform, captured)
            for work in works:
                point.compute(work)

    def _reads_near(self, work: Work, tells: bool) -> bool:
        """Whether what a register holds lies near, and all places are known."""
        if work.looks_up() and not (tells and _knows_places(work, (self.along, self.last))):
            return False
        return all(s.panels is None and not any(s.bounds) and self._is_near(m, s) for m, s in work.inputs_in_memory())

    def _is_near(self, m: ir.AffineMap, storage: Storage) -> bool:
        steps = [stride_along(m, storage, dim) for dim in (self.along, self.last)]
        apart = [step for step in steps if step is not None]
        if len(apart) < 2:
            return False
        numbers = np.arange(self.rows * self.points)
        places = (numbers // self.points * apart[0] + numbers % self.points * apart[1]).reshape(-1, self.lanes)
        return int(np.ptp(places, axis=1).max()) < (MOST_REGISTERS - 1) * self.lanes


class _Chunk(Point):
    """A register of a block, of which `first` is the place of the first lane."""

    def __init__(self, lanes: Lanes, indices: list[Rep], first: list[LinearIndex], captured: Captured):
        super().__init__(lanes, indices, captured)
        self.first = first

    def store(self, work: Work, number: int, value: Rep) -> None:
        """Stores `value` as result `number` of the work, whose elements are neighbours."""
        storage = work.outputs[number]
        assert storage is not None
        address = storage.address(LanesBody(self.lanes, self.first, self.captured).at(work.output_maps[number]))
        self.lanes.store(value, storage, address.along_lanes())


def _tells_places(work: Work, loops: Sequence[int]) -> bool:
    """Whether something that the body reads or asks for tells places, once the loops are known."""
    return any(s.table for _, s in work.inputs_in_memory()) or any(map(work.asks_for_index, loops))


def _pieces(works: list[Work], along: int) -> list[tuple[int, int]]:
    """The rows between two cuts, in which the number of a row chooses nothing; none where a constant tells places, or there are no cuts."""
    found = None if any(s.table for work in works for _, s in work.inputs_in_memory()) else known_cuts(works, along)
    return [] if found is None else found.pieces()


def _knows_places(work: Work, loops: Sequence[int]) -> bool:
    """Whether the elements that the body reads at indices that it computes lie where a constant and the loops tell."""
    assert work.block is not None
    moving, unknown, same = set[ir.Value](), set[ir.Value](), set[ir.Value]()
    for argument, m, source in zip(work.block.arguments, work.maps, work.inputs):
        if isinstance(source, Storage) and any(stride_along(m, source, loop) != 0 for loop in loops):
            (moving if source.table else unknown).add(argument)
        elif isinstance(source, Storage):
            same.add(argument)
    for op in ops_in(work.block):
        read = set(op.operands)
        if op.name == "linalg.index":
            moving.update(op.results if integer(op, "dim") in loops else ())
        elif op.name == "tensor.extract" and not unknown.isdisjoint(list(op.operands)[1:]):
            return False
        elif not unknown.isdisjoint(read) or not moving.isdisjoint(read):
            folds = op.name in FOLDS and unknown.isdisjoint(read) and same.isdisjoint(read)
            (moving if folds else unknown).update(op.results)
        elif op.name != "arith.constant":
            same.update(op.results)
    return True
