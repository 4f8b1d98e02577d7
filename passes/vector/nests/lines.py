"""Sums of products whose windows move along the lanes: convolutions with the channels first, pieces of a line of pixels at a time.

    for blocks of rows: for pieces of a line:
      acc[0..U) = init
      for the other summed loops: for each tap, unrolled:
        x = pixels, loaded once for all rows that they serve; for u: acc[u] = fma(x, w, acc[u])
      store acc

Rows are output channels. Where each has pixels of its own (a convolution that is one for each channel) they are rows of the picture, and a
vector of pixels serves taps of several. Pixels that lie two apart are loaded with those between them, and a shuffle picks.

Where no loop is summed beside the taps, as of a convolution for each channel, blocks ask for the next tile's pixels (next_tile.py).

Of a tile's pixels and weights the larger are read once from end to end: where those are the pixels, pieces of a line go outside blocks of
channels. A piece then asks for the pixels of the next but one, where these lie on many pages.

Padding is nowhere in memory. Pieces at the ends of a line are emitted one by one, and lanes of a tap that reach into padding are loaded as
zeros; taps of rows that do are left out (windows.py).

Must hold: both operands are linear in the loops, the pixels lie side by side, or two apart, along the result's innermost loop, whose length
is known.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import vector

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import used_dims
from ...common.contraction import block_rows
from ...common.control_flow import LoopBound, for_each, nest_between, nest_each
from ...common.linear_index import LinearIndex, linear_results
from ...common.lines import MOST_TAPS, multiplies_halves, summed_channels
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from ...common.vectors import mask_of, static_mask
from .body import Captured, LanesBody
from .lanes import Lanes, Rep
from .line import Line, line_of
from .nests import point_indices, whole_part
from .next_tile import Asked, next_tile
from .results import store_results
from .tile_prefetch import PAGE_BYTES, prefetch_tile
from .windows import windows_of
from .work import Point, Work, stride_along

_PIXELS = 8
"""Registers of sums of rows of pixels."""
_REGISTERS = 2
_PIECES_AHEAD = 2
"""One piece takes about as long as memory takes to answer."""


@dataclass(frozen=True)
class _Piece:
    """Pixels `start` to before `end` of a line, `live` of `count` lanes at a time; `inside` where no tap reaches into padding."""

    start: int
    end: int
    count: int
    live: int
    inside: bool


def lines_of(work: Work, captured: Captured, target: TargetView) -> Lines | None:
    """`work` where it is a sum of products over windows along the result's innermost loop; None where it is another."""
    line = line_of(work)
    if line is None:
        return None
    nest = Lines(work, line, captured, target)
    element = str(nest.pixels.element)
    channels = summed_channels(nest.map, work.maps[line.weights], work.parallel)
    if element != "f32" and not multiplies_halves(element, prod(size_bound(work.extents[d]) for d in channels), target):
        return None
    return nest if prod(work.extents[d] for d in nest.unrolled) <= MOST_TAPS else None


class Lines:
    def __init__(self, work: Work, line: Line, captured: Captured, target: TargetView):
        self.work, self.line, self.captured = work, line, captured
        pixels = work.inputs[line.pixels]
        assert isinstance(pixels, Storage)
        self.pixels, self.map = pixels, work.maps[line.pixels]
        self.one, self.target = work.lanes(target), target
        windows = [w for w in windows_of(work) if not w.step(line.loop)]
        loops = [d for d, n in enumerate(work.extents) if work.parallel[d] and d != line.loop and n != 1]
        still = [d for d in loops if self._step(d) == 0]
        known = [d for d in loops if isinstance(work.extents[d], int) and all(w.is_known(d) for w in windows if w.step(d))]
        self.jam = still[-1] if still else known[-1] if known else None
        registers = min(_REGISTERS, -(-self._extent(line.loop) // self.one))
        self.rows = block_rows(target, registers) if still else _PIXELS // registers
        self.outer = [d for d in range(len(work.extents)) if work.parallel[d] and d not in (line.loop, self.jam)]
        self.across = [w for w in windows if w.step(self.jam)]
        self.along = {w.tap: w for w in windows if not w.step(self.jam)}
        together = [e for e in self.map.results if self.jam in used_dims(e)]
        self.unrolled = [d for d in range(len(work.extents)) if not work.parallel[d] and any(d in used_dims(e) for e in together)]
        self.unrolled = [d for d in self.unrolled if d != line.tap] + [line.tap]
        weights = work.inputs[line.weights]
        assert isinstance(weights, Storage)
        others = [d for d in range(len(work.extents)) if not work.parallel[d] and d not in self.unrolled]
        self.summed = sorted(others, key=lambda d: -(stride_along(work.maps[line.weights], weights, d) or 0))
        self.pieces_outside = bool(still) and prod(map(size_bound, self.pixels.sizes)) > prod(map(size_bound, weights.sizes))
        self.after: Sequence[Work] = ()
        self.asked: Asked | None = None
        """What blocks ask for of the next tile's pixels."""
        self.asks_ahead = False
        """Whether a piece asks for the pixels of one behind it."""

    def _extent(self, loop: int) -> int:
        extent = self.work.extents[loop]
        assert isinstance(extent, int)
        return extent

    def _step(self, loop: int) -> int:
        return stride_along(self.map, self.pixels, loop) or 0

    def emit(self, after: Sequence[Work] = ()) -> None:
        """The convolution, and at each of its results the works that come `after` it."""
        self.after = after
        self.asked = None if self.line.pixels or self.summed else next_tile(self.work, self.line.loop, self.jam, self.target)
        self.asks_ahead = self.asked is None and not prefetch_tile(self.pixels, self.target) and self._reads_pages()

        def at(indices: list[LinearIndex]) -> None:
            block = partial(self._block, dict(zip(self.outer, indices)))
            if self.pieces_outside:
                self._over_line(lambda piece, start: self._over_rows(lambda rows, row: block(rows, row, piece, start)))
            else:
                self._over_rows(lambda rows, row: self._over_line(lambda piece, start: block(rows, row, piece, start)))

        nest_each([self.work.extents[d] for d in self.outer], at)

    def _reads_pages(self) -> bool:
        """Whether a piece of a line reads pixels from a page of its own at each step, once for all blocks of rows, and the second-level
        cache does not hold the line. The processor follows fewer pages than that."""
        nbytes = element_bytes(self.pixels.element)
        apart = max((self._step(d) for d in self.summed), default=0)
        whole = prod(map(size_bound, self.pixels.sizes))
        return self.pieces_outside and apart * nbytes >= PAGE_BYTES and whole * nbytes > self.target.l2_bytes // 2

    def _over_rows(self, body: Callable[[int, LinearIndex], None]) -> None:
        for lower, upper, rows in self._blocks():
            for_each(lower, upper, rows, partial(body, rows))

    def _over_line(self, body: Callable[[_Piece, LinearIndex], None]) -> None:
        for piece in self._pieces():
            for_each(piece.start, piece.end, piece.live, partial(body, piece))

    def _blocks(self) -> list[tuple[LoopBound, LoopBound, int]]:
        """Loops (first row, end, rows of a block) over all rows; those that reach into padding alone."""
        if self.jam is None:
            return [(0, 1, 1)]
        extent = self.work.extents[self.jam]
        if not isinstance(extent, int):
            whole = whole_part(extent, self.rows)
            return [(0, whole, self.rows), (whole, extent, 1)]
        size = -(-extent // -(-extent // self.rows))
        loops: list[tuple[LoopBound, LoopBound, int]] = []
        was_inside = False
        for first in range(0, extent, size):
            end = min(first + size, extent)
            inside = all(window.is_inside(first, end) for window in self.across)
            if inside and was_inside and loops[-1][2] == end - first:
                loops[-1] = (loops[-1][0], end, end - first)
            else:
                loops.append((first, end, end - first))
            was_inside = inside
        return loops

    def _pieces(self) -> list[_Piece]:
        """A line in pieces of some registers, the last of them smaller or masked; those that reach into padding alone."""
        line, extent = self.line, self._extent(self.line.loop)
        reach = (self._extent(line.tap) - 1) * line.dilation

        def inside(start: int, end: int) -> bool:
            return start * line.step >= line.low and end * line.step - 1 + reach < line.high

        found: list[_Piece] = []
        start, count = 0, _REGISTERS * self.one
        while start < extent:
            while count > self.one and extent - start <= count // 2:
                count //= 2
            live = min(count, extent - start)
            free = live == count and inside(start, start + count)
            last = found[-1] if found else None
            if last is not None and free and last.inside and last.count == count:
                found[-1] = replace(last, end=start + count)
            else:
                found.append(_Piece(start, start + live, count, live, free))
            start += live
        return found

    def _block(self, fixed: dict[int, LinearIndex], rows: int, row: LinearIndex, piece: _Piece, start: LinearIndex) -> None:
        lanes = Lanes(
            piece.count, None if piece.live == piece.count else static_mask(piece.count, piece.live), even_first=self._evens(piece)
        )
        points = [Point(lanes, self._indices(fixed, row + u, start, lanes), self.captured) for u in range(rows)]
        if self.asked is not None:
            self.asked.at_once(self._indices(fixed, row, start, lanes), rows, piece.live)
        sums = [lanes.widen(point.init(self.work, 0)) for point in points]
        taps = self._taps(row, rows)

        def step(indices: list[LinearIndex], sums: list[ir.Value]) -> list[ir.Value]:
            here = {**fixed, **dict(zip(self.summed, indices))}
            reader, sums = _Reader(self.work, self.line, piece, lanes.even_first), list(sums)
            for _, u, tap in taps:
                at = self._indices({**here, **tap}, row + u, start, lanes)
                pixels = reader.pixels(at, tap[self.line.tap])
                if pixels is not None:
                    given = {self.line.pixels: pixels, self.line.weights: reader.weight(at)}
                    sums[u] = lanes.widen(_Given(lanes, at, self.captured, given).evaluate(self.work, [sums[u]])[0])
            if self.asks_ahead and taps:
                reader.prefetch_ahead(self._indices({**here, **taps[-1][2]}, row + rows - 1, start, lanes))
            return sums

        bounds = [self.along[d].existing(fixed) if d in self.along else (0, self._extent(d)) for d in self.summed]
        totals = nest_between(bounds, sums, step)
        store_results(points, self.work, [[total] for total in totals], self.after)

    def _evens(self, piece: _Piece) -> bool:
        """Whether the lanes of a piece are the pixels of even numbers first: bf16 is widened by a shift and a mask so (even_first.py)."""
        bf16 = isinstance(self.pixels.element, ir.BF16Type) and self.target.machine == "x86_64"
        return bf16 and self.line.step == 1 and piece.count >= 2 * self.one

    def _taps(self, row: LinearIndex, rows: int) -> list[tuple[int, int, dict[int, LinearIndex]]]:
        """The products of a block: which pixels, row and taps, the same pixels one after the other; none of rows in padding."""
        found = []
        steps = {d: self._step(d) for d in self.unrolled}
        row_step = 0 if self.jam is None else self._step(self.jam)
        for tap, u in product(product(*(range(self._extent(d)) for d in self.unrolled)), range(rows)):
            at = dict(zip(self.unrolled, tap))
            if row.is_constant and not all(w.exists(row.constant + u, at[w.tap]) for w in self.across):
                continue
            offset = sum(index * steps[d] for d, index in at.items())
            found.append((offset + u * row_step, u, {d: LinearIndex(constant=index) for d, index in at.items()}))
        return sorted(found, key=lambda each: each[:2])

    def _indices(self, fixed: dict[int, LinearIndex], row: LinearIndex, start: LinearIndex, lanes: Lanes) -> list[LinearIndex]:
        dims = fixed if self.jam is None else {**fixed, self.jam: row}
        return point_indices(len(self.work.extents), dims, self.line.loop, start, lanes)


class _Reader:
    """Reads what the products of one piece of a block share, each once: pixels, weights, masks, and the sums that addresses begin with."""

    def __init__(self, work: Work, line: Line, piece: _Piece, even_first: bool):
        self.work, self.line, self.piece, self.even_first = work, line, piece, even_first
        self.read: dict[object, ir.Value] = {}
        self.masks: dict[tuple[bool, ...], ir.Value] = {}
        self.begun: dict[object, ir.Value] = {}

    def weight(self, at: list[LinearIndex]) -> ir.Value:
        number = self.line.weights
        return self._load(number, self._places(number, at), (True,), lambda weight: Lanes(self.piece.count).widen(weight))

    def pixels(self, at: list[LinearIndex], tap: LinearIndex) -> ir.Value | None:
        """The pixels of a tap, zeros where they are in padding; None where all are."""
        line, piece = self.line, self.piece
        part = tap.constant * line.dilation % line.step
        places = self._places(line.pixels, at)
        places[line.dim] = places[line.dim] - part
        wide = piece.count * line.step
        live = (True,) * wide
        if not piece.inside:
            first = places[line.dim].constant
            live = tuple(line.low <= first + n < line.high and n // line.step < piece.live for n in range(wide))
            if not any(live[part :: line.step]):
                return None
        both = self._load(line.pixels, places, live)
        return both if line.step == 1 else vector.shuffle(both, both, [n * line.step + part for n in range(piece.count)])

    def prefetch_ahead(self, at: list[LinearIndex]) -> None:
        """Prefetches the pixels that the piece after the next one reads at a point, of its last tap."""
        line, storage = self.line, self.work.inputs[self.line.pixels]
        assert isinstance(storage, Storage)
        count = self.piece.count * line.step
        Lanes(count).prefetch(replace(storage, ahead=_PIECES_AHEAD * count), storage.address(self._places(line.pixels, at)))

    def _places(self, number: int, at: list[LinearIndex]) -> list[LinearIndex]:
        """Where an input is read at a point, in lane 0."""
        places = linear_results(self.work.maps[number], at)
        assert places is not None
        return [place.uniform() for place in places]

    def _load(
        self, number: int, places: list[LinearIndex], live: tuple[bool, ...], then: Callable[[ir.Value], ir.Value] = lambda v: v
    ) -> ir.Value:
        """The elements at `places`, of which the lanes `live` are read. A tap behind the end of one line has the address of one in front of
        the next line, and other lanes."""
        count = len(live)
        storage = self.work.inputs[number]
        assert isinstance(storage, Storage)
        address = storage.address(places)
        terms = frozenset(address.terms.items())
        if terms not in self.begun:
            self.begun[terms] = LinearIndex(address.terms).address_in(storage.base)
        near = LinearIndex({self.begun[terms]: 1}, address.constant, int(count > 1))
        key = number, terms, address.constant, live
        if key not in self.read:
            mask = None if all(live) else self._mask(live)
            lanes = Lanes(count, mask, even_first=self.even_first and count > 1)
            self.read[key] = then(lanes.load(replace(storage, ahead=0), near))
        return self.read[key]

    def _mask(self, live: tuple[bool, ...]) -> ir.Value:
        if live not in self.masks:
            self.masks[live] = mask_of(live)
        return self.masks[live]


class _Given(Point):
    """A point at which the inputs have been read."""

    def __init__(self, lanes: Lanes, indices: list[LinearIndex], captured: Captured, given: dict[int, ir.Value]):
        super().__init__(lanes, indices, captured)
        self.given = given

    def _input(self, work: Work, body: LanesBody, number: int) -> Rep:
        return self.given[number] if number in self.given else super()._input(work, body, number)
