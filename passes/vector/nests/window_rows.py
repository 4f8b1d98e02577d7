"""Windows of an image as rows of a matrix whose depth is the taps along a line, with their channels; lines of taps are matrices of others.

    x[oh * 2 + kh, ow * 2 + kw, c]   for oh < 4, kh < 3, ow < 28, kw < 3, c < 64
    in place    row (oh, ow) of the line of taps kh is 192 elements of x from [oh * 2 + kh, ow * 2, 0] on; rows overlap
    lines       the same of a panel P[kh mod 2][oh + kh / 2][w][c], with the zeros around the image
    spread      P[kh mod 2][oh + kh / 2][ow][kw * 64 + c]: rows of all lines lie side by side

A tap of another line is so many rows further. Lines of one phase, those that windows of a stride reach by one tap, are together. Taps along
the deeper dims are panels of their own. What fills a row up to whole tiles is zero.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import ceil, prod

from torch_mlir.dialects import arith

from ...common.control_flow import LoopBound, bound_of, either, for_each, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Bounds, Storage
from ...common.tiled_function import size_bound
from ...common.vectors import splat
from .lanes import Lanes
from .nests import chunks
from .packing import Scratch

Row = Callable[[LinearIndex], tuple[LinearIndex, LinearIndex]]
"""Where a row begins in the image, and in the panel."""
_FILLED = 0.7
"""Of a tile, by lines whose rows overlap: more than what three times the elements, and rows that the first cache does not hold, cost."""


@dataclass(frozen=True)
class Axis:
    """A dim of the image: row i reads element `i * step + tap * dilation` of it by each of its taps; elements are `stride` apart.

    `loops` are those of the rows and of the taps, None for one of them. `bounds`: the elements that exist; None: all do.
    """

    stride: int
    loops: tuple[int | None, int | None]
    step: int
    rows: LoopBound
    dilation: int
    taps: int
    bounds: Bounds | None

    def existing(self, tap: int) -> tuple[LoopBound, LoopBound]:
        """The first row whose tap exists, and the one behind the last."""
        return self._first(self.low - tap * self.dilation, self.rows), self._first(self.high - tap * self.dilation, self.rows)

    @property
    def low(self) -> LinearIndex:
        return LinearIndex() if self.bounds is None else self.bounds[0]

    @property
    def high(self) -> LinearIndex:
        """Of what is nowhere near the end all exists."""
        return LinearIndex(constant=1 << 40) if self.bounds is None else self.bounds[1]

    def phases(self) -> list[int]:
        """By which of the elements from one row to the next windows begin."""
        return sorted({tap * self.dilation % self.step for tap in range(self.taps)})

    def further(self, tap: int) -> int:
        """How many rows further a tap reads the lines of its phase."""
        return tap * self.dilation // self.step

    def lines(self, phase: int) -> LoopBound:
        """The elements of a phase that windows read."""
        most = max(self.further(tap) for tap in range(self.taps) if tap * self.dilation % self.step == phase)
        return self.rows + most if isinstance(self.rows, int) else (LinearIndex.of(self.rows) + most).value()

    def of_phase(self, phase: int) -> tuple[LoopBound, LoopBound]:
        """The first element of a phase that exists, and the one behind the last."""
        return self._first(self.low - phase, self.lines(phase)), self._first(self.high - phase, self.lines(phase))

    def _first(self, distance: LinearIndex, most: LoopBound) -> LoopBound:
        """The first row that begins so far on, at most that many rows."""
        if distance.is_constant:
            first = max(0, ceil(distance.constant / self.step))
            if isinstance(most, int) or first == 0:
                return min(first, most) if isinstance(most, int) else first
            return arith.minsi(most, LinearIndex(constant=first).value())
        ahead = arith.maxsi((distance + (self.step - 1)).value(), LinearIndex().value())
        if self.step > 1:
            ahead = arith.divui(ahead, LinearIndex(constant=self.step).value())
        return arith.minsi(ahead, LinearIndex.of(most).value())


@dataclass(frozen=True)
class Windows:
    """An image as a tile reads it: the `channels` of a pixel side by side from `offset` on, and its dims, the outermost first, of which the
    last is along a line of pixels, the one before across lines; the others have taps alone."""

    storage: Storage
    offset: LinearIndex
    channels: int
    deep: tuple[Axis, ...]
    lines: Axis
    pixels: Axis

    @property
    def length(self) -> int:
        """Elements of a row: all taps along a line."""
        return self.pixels.taps * self.channels

    def limits(self) -> list[LinearIndex]:
        """What is known at run time alone of which elements exist, and of how many rows there are."""
        axes = (*self.deep, self.lines, self.pixels)
        ends = [end for axis in axes for end in axis.bounds or ()] + [LinearIndex.of(axis.rows) for axis in axes]
        return [end for end in ends if not end.is_constant]

    @property
    def in_one_piece(self) -> bool:
        """Whether the taps along a line lie side by side."""
        return self.pixels.taps == 1 or self.pixels.dilation * self.pixels.stride == self.channels


@dataclass(frozen=True)
class Rows:
    """Where rows lie: neighbours along a line are `pitch` apart, those of neighbouring lines `line`; those of a line of taps are `taps`
    further than the first's, those of each further tap of the deep dims `deep`."""

    storage: Storage
    offset: LinearIndex
    pitch: int
    line: int
    taps: list[int]
    deep: list[int]


def rows_in_place(windows: Windows, width: int) -> Rows | None:
    """The rows where they lie; None where they do not: there are zeros around the image, tiles of the `width` are not whole, or it is not
    known how many rows there are."""
    lines, pixels, axes = windows.lines, windows.pixels, (*windows.deep, windows.lines, windows.pixels)
    known = not any(axis.bounds for axis in axes) and isinstance(lines.rows, int)
    if not known or not windows.in_one_piece or windows.channels % width:
        return None
    taps = [tap * lines.dilation * lines.stride for tap in range(lines.taps)]
    deep = [axis.dilation * axis.stride for axis in windows.deep]
    return Rows(windows.storage, windows.offset, pixels.step * pixels.stride, lines.step * lines.stride, taps, deep)


class WindowPanel:
    """A panel of lines or, where these would leave much of a tile of `height` rows empty, of rows that are spread: each is an odd number of
    cache lines, of `width` elements, so that they are in different cache sets."""

    def __init__(self, windows: Windows, width: int, height: int):
        self.windows, self.width = windows, width
        pixels, count = windows.pixels, size_bound(windows.pixels.rows)
        filled = count >= _FILLED * ceil(count / height) * height
        self.spread = not (filled and windows.in_one_piece and windows.channels % width == 0)
        self.pitch = (ceil(windows.length / width) | 1) * width if self.spread else pixels.step * windows.channels
        self.line = count * self.pitch if self.spread else self._pixels_of_line() * windows.channels
        heights = {phase: size_bound(windows.lines.lines(phase)) for phase in windows.lines.phases()}
        self.firsts = {phase: sum(list(heights.values())[:number]) for number, phase in enumerate(heights)}
        self.plane = sum(heights.values()) * self.line
        taps = [axis.taps for axis in windows.deep]
        self.strides = [prod(taps[number + 1 :]) * self.plane for number in range(len(taps))]
        self.elements = prod(taps) * self.plane

    def _pixels_of_line(self) -> int:
        axis = self.windows.pixels
        return (size_bound(axis.rows) - 1) * axis.step + (axis.taps - 1) * axis.dilation + 1

    def rows(self, panel: Storage) -> Rows:
        """The rows in the panel."""
        axis = self.windows.lines
        taps = [(self.firsts[tap * axis.dilation % axis.step] + axis.further(tap)) * self.line for tap in range(axis.taps)]
        return Rows(panel, panel.offset, self.pitch, self.line, taps, self.strides)

    def allocate(self, scratch: Scratch, spare: int) -> Storage:
        """Room for the panel, and for so many rows behind the last, which nobody fills."""
        return scratch((self.elements + spare * self.pitch,), self.windows.storage.element)

    def pack(self, panel: Storage) -> None:
        """Fills all of the panel but the spare rows."""
        deep = self.windows.deep

        def plane(indices: list[LinearIndex]) -> None:
            source, target, missing = self.windows.offset, panel.offset, None
            for axis, index, stride in zip(deep, indices, self.strides):
                source, target = source + index * (axis.dilation * axis.stride), target + index * stride
                for bound, less in zip(axis.bounds or (), (arith.CmpIPredicate.slt, arith.CmpIPredicate.sge)):
                    outside = arith.cmpi(less, (index * axis.dilation).value(), bound.value())
                    missing = outside if missing is None else arith.ori(missing, outside)
            either(missing, lambda: self._zeros(panel, target, self.plane), lambda: self._plane(panel, source, target))

        nest_each([axis.taps for axis in deep], plane)

    def _plane(self, panel: Storage, source: LinearIndex, target: LinearIndex) -> None:
        """The lines of all phases, from their first elements on."""
        axis = self.windows.lines
        for phase, first in self.firsts.items():
            start, begin = source + phase * axis.stride, target + first * self.line
            low, high = axis.of_phase(phase) if axis.bounds else (0, axis.lines(phase))
            missing = partial(self._zero_line, panel, begin)
            for_each(0, low, 1, missing)
            for_each(low, high, 1, partial(self._line_of_phase, panel, start, begin))
            for_each(high, axis.lines(phase), 1, missing)

    def _zero_line(self, panel: Storage, begin: LinearIndex, number: LinearIndex) -> None:
        self._zeros(panel, begin + number * self.line, self.line)

    def _line_of_phase(self, panel: Storage, start: LinearIndex, begin: LinearIndex, number: LinearIndex) -> None:
        axis, line = self.windows.lines, self._line if self.spread else self._as_it_lies
        line(panel, start + number * (axis.step * axis.stride), begin + number * self.line)

    def _as_it_lies(self, panel: Storage, source: LinearIndex, target: LinearIndex) -> None:
        """The pixels of a line."""
        axis, channels, count = self.windows.pixels, self.windows.channels, self._pixels_of_line()
        bounds = axis.bounds or (LinearIndex(), LinearIndex(constant=count))
        low, high = (_between(bound_of(end), 0, count) for end in bounds)
        self._zeros(panel, target, bound_of(LinearIndex.of(low) * channels))
        if axis.stride == channels:
            start, length = LinearIndex.of(low) * channels, LinearIndex.of(high) - LinearIndex.of(low)
            self._copy(panel, source + start, target + start, bound_of(length * channels))
        else:
            for_each(low, high, 1, lambda w: self._copy(panel, source + w * axis.stride, target + w * channels, channels))
        behind = LinearIndex(constant=count) - LinearIndex.of(high)
        self._zeros(panel, target + LinearIndex.of(high) * channels, bound_of(behind * channels))

    def _line(self, panel: Storage, source: LinearIndex, target: LinearIndex) -> None:
        """The windows of a line: those that reach into no zeros whole, where their taps lie side by side, others tap by tap."""
        windows, axis = self.windows, self.windows.pixels
        ranges = [axis.existing(tap) if axis.bounds else (0, axis.rows) for tap in range(axis.taps)]
        first = ranges[0][0]
        whole = (first, _larger(first, ranges[-1][1])) if windows.in_one_piece else (0, 0)

        def row(i: LinearIndex) -> tuple[LinearIndex, LinearIndex]:
            return source + i * (axis.step * axis.stride), target + i * self.pitch

        for_each(*whole, 1, lambda i: self._copy(panel, *row(i), windows.length, filled=True))
        for part in ((0, whole[0]), (whole[1], axis.rows)):
            self._ends(panel, part, ranges, row)

    def _ends(
        self,
        panel: Storage,
        part: tuple[LoopBound, LoopBound],
        ranges: list[tuple[LoopBound, LoopBound]],
        row: Row,
    ) -> None:
        """The rows of a part of a line, tap by tap."""
        windows = self.windows
        if windows.length % self.width:
            for_each(*part, 1, lambda i: self._zeros(panel, row(i)[1] + (windows.length // self.width * self.width), self.width))
        for tap, existing in enumerate(ranges):
            first, end = (_between(bound, *part) for bound in existing)
            for missing in ((part[0], first), (end, part[1])):
                for_each(*missing, 1, partial(self._zero_tap, panel, row, tap))
            for_each(first, end, 1, partial(self._copy_tap, panel, row, tap))

    def _zero_tap(self, panel: Storage, row: Row, tap: int, number: LinearIndex) -> None:
        self._zeros(panel, row(number)[1] + tap * self.windows.channels, self.windows.channels)

    def _copy_tap(self, panel: Storage, row: Row, tap: int, number: LinearIndex) -> None:
        (source, target), axis, channels = row(number), self.windows.pixels, self.windows.channels
        self._copy(panel, source + tap * axis.dilation * axis.stride, target + tap * channels, channels)

    def _copy(self, panel: Storage, source: LinearIndex, target: LinearIndex, count: LoopBound, filled: bool = False) -> None:
        """So many elements; `filled`: and zeros up to a multiple of the width."""

        def chunk(k: LinearIndex, lanes: Lanes) -> None:
            value = lanes.load(self.windows.storage, (source + k).along_lanes())
            (Lanes(lanes.count) if filled else lanes).store(value, panel, (target + k).along_lanes())

        chunks(count, 4 * self.width, self.width, chunk)

    def _zeros(self, panel: Storage, target: LinearIndex, count: LoopBound) -> None:
        def chunk(k: LinearIndex, lanes: Lanes) -> None:
            lanes.store(splat(lanes.type(panel.element), 0), panel, (target + k).along_lanes())

        chunks(count, 4 * self.width, self.width, chunk)


def _between(bound: LoopBound, low: LoopBound, high: LoopBound) -> LoopBound:
    """The bound, moved between the two."""
    if all(isinstance(each, int) for each in (bound, low, high)):
        return max(low, min(bound, high))
    values = [LinearIndex.of(each).value() for each in (bound, low, high)]
    return arith.maxsi(values[1], arith.minsi(values[0], values[2]))


def _larger(bound: LoopBound, other: LoopBound) -> LoopBound:
    if isinstance(bound, int) and isinstance(other, int):
        return max(bound, other)
    return arith.maxsi(LinearIndex.of(bound).value(), LinearIndex.of(other).value())
