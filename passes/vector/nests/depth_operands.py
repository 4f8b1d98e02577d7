"""Operands that lie by depth, as the tiles of a product want them: turned, rows with the steps of a part side by side, or paired, columns
with two steps side by side.

    X[oh * 2 + kh, ow * 2 + kw, c]   of a tap (kh, kw), for some lines oh of the steps ow
    turned    P[c][oh][ow]           squares of 32 × 32 are transposed in registers
    paired    P[oh][ow / 2][c][2]    rows of neighbours in depth are interleaved

Steps that lie on zeros around the image are zeros, and so is what fills up lines to pairs, and parts to whole tiles.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from ...common.control_flow import LoopBound, for_each
from ...common.linear_index import LinearIndex
from ...common.storage import Bounds, Storage
from ...common.tiled_function import size_bound
from ...common.vectors import broadcast, splat, static_mask, vector_of
from .access import Access
from .amx_panels import Depth
from .amx_tiles import BLOCK, Operand
from .lanes import Lanes
from .nests import dynamic_mask
from .packing import transpose_square

Point = dict[int, LinearIndex]


@dataclass(frozen=True)
class Steps:
    """A part of the depth: so many `lines` of as many steps, `pitch` from one to the next, which are whole pairs. `across` and `along` are
    their loops; None: there is one line."""

    across: int | None
    along: int
    lines: int
    line: int
    pitch: int

    @property
    def count(self) -> int:
        """The steps of all lines."""
        return self.lines * self.pitch

    def each_line(self, at: Point, body: Callable[[Point, LinearIndex], None]) -> None:
        """`body(point, place)` of the first step of each line from the point `at` on, and its place among all."""

        def of_line(index: LinearIndex) -> None:
            point = at if self.across is None else {**at, self.across: at[self.across] + index}
            body(point, index * self.pitch)

        for_each(0, self.lines, 1, of_line)


@dataclass(frozen=True)
class ByDepth:
    """An operand whose elements of a step lie side by side, `extent` of them, those of several taps one after the other where `beside` is
    their loop, with `each` a tap. `bounds`: its dims of which not all elements exist, as indices of loops."""

    access: Access
    extent: LoopBound
    bounds: list[tuple[LinearIndex, Bounds]]
    beside: int | None = None
    each: int = 0

    @property
    def wide(self) -> int:
        """The elements of a step, filled up to whole blocks."""
        return ceil(size_bound(self.extent) / BLOCK) * BLOCK

    def turn(self, at: Point, steps: Steps, panel: Storage, pitch: int) -> None:
        """The steps from a point on, as rows of a panel that are so far apart: there is room for two blocks behind the last step."""
        zeros = splat(vector_of(BLOCK, self.access.storage.element), 0)

        def of_line(point: Point, place: LinearIndex) -> None:
            def square(k: LinearIndex, c: LinearIndex, live: int) -> None:
                loads = [self._load(point, steps.along, k + i, c) for i in range(live)] + [zeros] * (BLOCK - live)
                for number, value in enumerate(transpose_square(loads)):
                    Lanes(BLOCK).store(value, panel, (panel.offset + (c + number) * pitch + place + k).along_lanes())

            whole = steps.line - steps.line % BLOCK
            for_each(0, whole, BLOCK, lambda k: for_each(0, self.wide, BLOCK, lambda c: square(k, c, BLOCK)))
            if whole < steps.line:  # the next line overwrites what the squares have beyond this one
                for_each(0, self.wide, BLOCK, lambda c: square(LinearIndex(constant=whole), c, steps.line - whole))

        steps.each_line(at, of_line)
        behind = panel.offset + steps.count
        for_each(0, self.wide, 1, lambda i: Lanes(BLOCK).store(zeros, panel, (behind + i * pitch).along_lanes()))

    def pair(self, at: Point, steps: Steps, panel: Callable[[LinearIndex], Operand], depth: Depth) -> None:
        """The steps from a point on, two by two: 32 elements from c on go to `panel(c)`."""
        zeros = splat(vector_of(BLOCK, self.access.storage.element), 0)

        def store(c: LinearIndex, k: LinearIndex, first: ir.Value, second: ir.Value) -> None:
            target = panel(c)
            Lanes(2 * BLOCK).store(vector.interleave(first, second), target.storage, target.at(LinearIndex(), k, {}).along_lanes())

        def missing(place: LinearIndex, first: int, end: int) -> None:
            for_each(first, end, 2, lambda k: for_each(0, self.wide, BLOCK, lambda c: store(c, place + k, zeros, zeros)))

        def of_line(point: Point, place: LinearIndex) -> None:
            def two(k: LinearIndex, c: LinearIndex) -> None:
                store(c, place + k, *(self._load(point, steps.along, k + i, c) for i in range(2)))

            whole = LinearIndex(constant=steps.line - 1)
            for_each(0, steps.line - 1, 2, lambda k: for_each(0, self.wide, BLOCK, lambda c: two(k, c)))
            if steps.line % 2:
                for_each(0, self.wide, BLOCK, lambda c: store(c, place + whole, self._load(point, steps.along, whole, c), zeros))
            missing(place, steps.line + steps.line % 2, steps.pitch)

        steps.each_line(at, of_line)
        missing(LinearIndex(), steps.count, depth.padded)

    def _load(self, at: Point, along: int, k: LinearIndex, c: LinearIndex) -> ir.Value:
        """The elements from `c` on of the step `k` behind a point; zeros where it does not exist."""
        point, lanes, exists = {**at, along: at.get(along, LinearIndex()) + k}, Lanes(BLOCK), None
        if self.extent != self.wide:
            lanes = lanes.where(_first_lanes(LinearIndex.of(self.extent) - c))
        for index, (low, high) in self.bounds:
            place = sum((point[d] * step for d, step in index.terms.items() if d in point), LinearIndex(constant=index.constant))
            if self.beside in index.terms:
                missing, existing = (_first_lanes((bound - place) * self.each - c) for bound in (low, high))
                lanes = lanes.where(existing).where(arith.xori(missing, static_mask(BLOCK, BLOCK)))
                continue
            for less, bound in ((arith.CmpIPredicate.sge, low), (arith.CmpIPredicate.slt, high)):
                inside = arith.cmpi(less, place.value(), bound.value())
                exists = inside if exists is None else arith.andi(exists, inside)
        if exists is not None:
            lanes = lanes.where(_all_lanes(exists))
        return lanes.load(self.access.storage, (self.access.at(point) + c).along_lanes())


def _first_lanes(live: LinearIndex) -> ir.Value:
    """A mask of so many first lanes: of none where that is negative."""
    return dynamic_mask(BLOCK, arith.maxsi(live.value(), LinearIndex().value()))


def _all_lanes(exists: ir.Value) -> ir.Value:
    """A mask of all lanes, or of none: the bits of a number, which is one instruction, where those of a splat are several."""
    i32 = ir.IntegerType.get_signless(BLOCK)
    bits = arith.select(exists, splat(i32, -1), splat(i32, 0))
    return vector.bitcast(vector_of(BLOCK, ir.IntegerType.get_signless(1)), broadcast(bits, 1))
