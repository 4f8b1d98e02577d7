"""The transform of the inputs of a convolution by Winograd's algorithm: V = Bᵀ d B of all tiles of some lines (winograd.py).

The (m + 2)² pixels of a tile are read where they lie, if all of them exist. At the edges they are copied first, with the zeros around them,
to a window of one tile:

    for rows and columns of tiles:
        V[side²] = Bᵀ d B, where d = pixels if all exist, else window = zeros and pixels

Neighbours share pixels, which are loaded again: a copy of whole lines would leave no near cache to what it reads and writes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from ...common.control_flow import LoopBound, for_each, if_else, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.vectors import splat
from ...common.winograd import TAPS, transform_inputs
from .access import Access
from .lanes import Lanes
from .packing import Scratch
from .winograd_loops import WinogradLoops


@dataclass(frozen=True)
class Tiles:
    """The Winograd tiles of a kernel: m, their rows and columns, of as many phases each; the lanes of a register, and of a cache line."""

    outputs: int
    rows: int
    columns: int
    phases: int
    one: int
    line: int

    @property
    def side(self) -> int:
        return self.outputs + TAPS - 1

    @property
    def count(self) -> int:
        return self.rows * self.phases * self.columns

    def number(self, row: LinearIndex, phase: LinearIndex, column: LinearIndex) -> LinearIndex:
        return (row * self.phases + phase) * self.columns + column


@dataclass(frozen=True)
class _Corner:
    """Where the inputs of a tile, or of all, begin: the first line, the first of the pixels `phase` and so on, and the first channel."""

    high: LinearIndex
    wide: LinearIndex
    phase: LinearIndex
    channel: LinearIndex


class InputsTransform:
    """Transforms lines of tiles of `source`, `to` [side²][plane][tile][channel] in f32."""

    def __init__(self, source: Access, loops: WinogradLoops, tiles: Tiles, to: Storage, scratch: Scratch):
        self.source, self.loops, self.tiles, self.to = source, loops, tiles, to
        self.window = scratch((tiles.side, tiles.side, tiles.line), to.element)

    def emit(
        self, fixed: dict[int, LinearIndex], plane: LinearIndex, rows: LoopBound, phase: LinearIndex, start: LinearIndex, lanes: Lanes
    ) -> None:
        """V of a line of channels, from `start` on, of a plane's pixels `phase`, and in steps of `phases` behind it; `fixed` are the loops
        around them. Lanes of channels that do not exist are zeros."""
        tiles, lanes = self.tiles, Lanes(self.tiles.line, lanes.mask)
        corner = _Corner(fixed[self.loops.high], LinearIndex(), phase, start)
        strides = self.source.strides
        steps = strides[self.loops.high] * self.loops.apart[0], strides[self.loops.wide] * tiles.phases

        def tile(at: list[LinearIndex]) -> None:
            row, column = at
            place = [plane, tiles.number(row, phase, column)]
            here = replace(corner, high=corner.high + row * (tiles.outputs * self.loops.apart[0]), wide=column * tiles.outputs)

            def copied() -> list[ir.Value]:
                self._fill_window(fixed, here, lanes)
                first = self.window.offset.along_lanes()
                self._transform(self.window, first, self.window.strides[:2], Lanes(tiles.line), here, place)
                return []

            def read() -> list[ir.Value]:
                self._transform(self.source.storage, self._address(fixed, here), steps, lanes, here, place)
                return []

            if lanes.mask is not None and tiles.one < tiles.line:  # the mask is of whole lines
                copied()
            else:
                if_else(self._exists(here), [], read, copied)

        nest_each([rows, tiles.columns], tile)

    def _exists(self, corner: _Corner) -> ir.Value:
        """Whether all inputs of the tile there do."""
        reach, pixel = self.tiles.side - 1, corner.wide * self.tiles.phases + corner.phase
        first, last = (LinearIndex(constant=bound) for bound in self.loops.column_bounds)
        lines = _are_within(corner.high, corner.high + reach * self.loops.apart[0], *self.loops.row_bounds)
        return arith.andi(lines, _are_within(pixel, pixel + reach * self.tiles.phases, first, last))

    def _fill_window(self, fixed: dict[int, LinearIndex], corner: _Corner, lanes: Lanes) -> None:
        """Copies the pixels from a corner on, with the zeros around them."""
        line, zero = Lanes(self.tiles.line), splat(lanes.type(self.to.element), 0.0)
        first, last = (self._columns_before(bound, corner) for bound in self.loops.column_bounds)

        def row(r: LinearIndex) -> None:
            def place(c: LinearIndex) -> LinearIndex:
                return self.window.address([r, c, LinearIndex().along_lanes()])

            def zeros(lower: LoopBound, upper: LoopBound) -> None:
                for_each(lower, upper, 1, lambda c: line.store(zero, self.window, place(c)))

            def copy(c: LinearIndex) -> None:
                address = self._address(fixed, replace(corner, high=at, wide=corner.wide + c))
                line.store(self._wide(lanes.load(self.source.storage, address)), self.window, place(c))

            def inside() -> list[ir.Value]:
                zeros(0, first)
                for_each(first, last, 1, copy)
                zeros(last, self.window.sizes[1])
                return []

            def outside() -> list[ir.Value]:
                zeros(0, self.window.sizes[1])
                return []

            at = r * self.loops.apart[0] + corner.high
            if_else(_are_within(at, at, *self.loops.row_bounds), [], inside, outside)

        for_each(0, self.window.sizes[0], 1, row)

    def _columns_before(self, bound: int, corner: _Corner) -> LoopBound:
        """How many columns of the window, which begins at a corner, lie before `bound` of the input."""
        most, phases = self.window.sizes[1], self.tiles.phases
        assert isinstance(most, int)
        if corner.phase.is_constant and corner.wide.is_constant:
            return min(most, max(0, -(-(bound - corner.phase.constant) // phases) - corner.wide.constant))
        ahead = LinearIndex(constant=bound + phases - 1) - corner.phase  # not below 0, as bounds and phases are not
        before = ahead if phases == 1 else LinearIndex.of(arith.divui(ahead.value(), LinearIndex(constant=phases).value()))
        inside = arith.maxsi((before - corner.wide).value(), LinearIndex().value())
        return arith.minsi(inside, LinearIndex(constant=most).value())

    def _address(self, fixed: dict[int, LinearIndex], corner: _Corner) -> LinearIndex:
        pixel = corner.wide * self.tiles.phases + corner.phase
        at = {self.loops.high: corner.high, self.loops.wide: pixel, self.loops.channel: corner.channel}
        return self.source.at({**fixed, **at}).along_lanes()

    def _transform(
        self, storage: Storage, first: LinearIndex, steps: Sequence[int], lanes: Lanes, corner: _Corner, place: list[LinearIndex]
    ) -> None:
        """V of a tile whose pixels begin at the address `first`, `steps` apart by lines and by pixels; `place` is the tile's in V."""
        side, outputs, lanes = self.tiles.side, self.tiles.outputs, Lanes(self.tiles.one, lanes.mask)
        scaled = scaled_sums(lanes.type(self.to.element))

        def part(at: list[LinearIndex]) -> None:
            channel = at[0] * lanes.count
            pixels = [[self._wide(value) for value in line] for line in square(side, lanes, storage, first + channel, steps)]
            half = [transform_inputs(line, outputs, scaled) for line in pixels]
            for i in range(side):
                for j, value in enumerate(transform_inputs([line[i] for line in half], outputs, scaled)):
                    point = [LinearIndex(constant=i * side + j), *place, (corner.channel + channel).along_lanes()]
                    Lanes(lanes.count).store(value, self.to, self.to.address(point))

        nest_each([self.tiles.line // lanes.count], part)

    def _wide(self, value: ir.Value) -> ir.Value:
        """Halves as f32."""
        kind = Lanes(ir.VectorType(value.type).shape[0]).type(self.to.element)
        return value if value.type == kind else arith.extf(kind, value)


def square(side: int, lanes: Lanes, storage: Storage, corner: LinearIndex, steps: Sequence[int]) -> list[list[ir.Value]]:
    """side² values, columns of lines; `steps` are those between lines and between columns."""
    return [[lanes.load(storage, corner + (i * steps[0] + j * steps[1])) for i in range(side)] for j in range(side)]


def scaled_sums(kind: ir.Type) -> Callable[[ir.Value, float, ir.Value], ir.Value]:
    """x + factor * y, of values of that type."""

    def scaled(x: ir.Value, factor: float, y: ir.Value) -> ir.Value:
        if factor in (1, -1):
            return arith.addf(x, y) if factor == 1 else arith.subf(x, y)
        return math.fma(splat(kind, factor), y, x)

    return scaled


def _are_within(first: LinearIndex, last: LinearIndex, low: LinearIndex, high: LinearIndex) -> ir.Value:
    """Whether indices from `first` to `last` are `low` or more, and less than `high`."""
    after = arith.cmpi(arith.CmpIPredicate.sge, first.value(), low.value())
    return arith.andi(after, arith.cmpi(arith.CmpIPredicate.slt, last.value(), high.value()))
