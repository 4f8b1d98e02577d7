"""Convolutions of bf16, and of bytes, by AMX tiles: windows are rows of a panel (window_rows.py), weights are columns.

    P = windows of the image
    for n in blocks of 32 features: for m in blocks of 32 results:
      c00, c01, c10, c11 = tile_zero
      for taps across lines: for k in steps of 32 (of bytes: 64) of the taps along a line and their channels:
        a0, a1 = tile_load P[m…, k];  b0, b1 = tile_load W[k / 2, n…, 2];  cij = tile_mulf (tile_muli) ai, bj, cij
      tile_store c → C[m, n]

The results of all lines of a tile are one matrix. Its last block begins so early that it ends with the last row: some rows are computed
twice, none beyond the edge. Fewer than 16 rows in all are tiles of that height. Tiles of a function are of one shape otherwise, as their
registers are: the panels end with zeros, and the last features go by way of the stack. Bound weights lie in pairs or quads (pack-filters),
of which a block is read from front to back; others are packed here, block by block.

Must hold: the target has amx_bf16 (amx_int8). Declined (other code then computes the sums): what amx.py declines of bodies, types and
accumulators; images whose channels are not contiguous; panels that the cache does not hold; few rows, features or steps of depth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from math import ceil, prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.control_flow import LoopBound, for_each, nest_each
from ...common.linear_index import LinearIndex, linear_results
from ...common.storage import Bounds
from ...common.tiled_function import size_bound
from .access import Access
from .amx import formats
from .amx_panels import Depth, pack_blocks
from .amx_tiles import BLOCK, SIDE, Format, Operand
from .body import Captured
from .narrow_in_place import with_lane_loop
from .packing import Scratch, unless_repeated
from .results import follows_in_registers
from .window_blocks import Blocks, Columns, Results
from .window_rows import Axis, Rows, WindowPanel, Windows, rows_in_place
from .work import Work, starts_from_zero, stride_along

_LEAST_ROWS, _LEAST_COLUMNS = 8, 2
_SHALLOW = 4
"""A line of taps fills this part of a tile's depth, at least."""
_MOST_TAPS = 16
"""Along a line: of more, ends of lines are much code."""
_KEPT = 0.75
"""Of the first cache, for the rows of a block: weights pass through it."""
_BLOCKS = -1
"""The key of blocks of features among those of taps."""


def amx_windows(work: Work, target: TargetView) -> AmxWindows | None:
    """What emits `work` by AMX tiles; None if it is not for them."""
    if not (target.amx_bf16 or target.amx_int8) or work.block is None or not starts_from_zero(work):
        return None
    forms = formats(work.block, target)
    seen = with_lane_loop(work, forms[0].group) if forms else work
    plan = _plan(seen, forms[0], target) if forms else None
    return None if plan is None else AmxWindows(work, seen, plan, target)


@dataclass(frozen=True)
class _Pixels:
    """A dim of the image: its index, in loops, where it is known to exist, and its loops of rows and of taps."""

    index: LinearIndex
    stride: int
    bounds: Bounds | None
    row: int | None
    tap: int | None

    def axis(self, extents: Sequence[LoopBound], fixed: dict[int, LinearIndex]) -> Axis:
        """At a point of the outer loops, which the dim's own loop of rows may be one of."""
        row = None if self.row in fixed else self.row
        start = sum((at * self.index.coefficient(d) for d, at in fixed.items()), LinearIndex(constant=self.index.constant))
        bounds = None if self.bounds is None else (self.bounds[0] - start, self.bounds[1] - start)
        step, dilation = (1 if d is None else self.index.coefficient(d) for d in (row, self.tap))
        rows, taps = (1 if d is None else extents[d] for d in (row, self.tap))
        assert isinstance(taps, int)
        return Axis(self.stride, (row, self.tap), step, rows, dilation, taps, bounds)


_NO_PIXELS = Axis(0, (None, None), 1, 1, 1, 1, None)


@dataclass(frozen=True)
class _Plan:
    """The operands, and which loop is what. `pixels`: the image's dims of pixels, the outermost first; `outer`: the loops for each point of
    which there are other rows; `blocks`: over blocks of features, `column` over those of one; `channel`: over the channels of a pixel, or
    over their pairs (quads), whose elements have a loop of their own where weights lie so (`packed`)."""

    image: Access
    weights: Access
    out: Access
    form: Format
    pixels: list[_Pixels]
    outer: list[int]
    blocks: list[int]
    column: int
    channel: int | None
    channels: int
    packed: bool

    def windows(self, extents: Sequence[LoopBound], fixed: dict[int, LinearIndex]) -> Windows:
        """The rows for a point of the outer loops."""
        axes = [dim.axis(extents, fixed) for dim in self.pixels]
        *deep, lines, pixels = [_NO_PIXELS] * (2 - len(axes)) + axes
        alone = lines.taps == 1 and pixels.taps > 1 and self.channels % self.form.depth == 0
        if pixels.taps > _MOST_TAPS or alone or not isinstance(pixels.rows, int):
            deep, lines, pixels = [*deep, lines], pixels, _NO_PIXELS
        return Windows(self.image.storage, self.image.at(fixed), self.channels, tuple(deep), lines, pixels)

    def along(self, windows: Windows) -> int:
        """How far apart the weights of neighbours in depth lie; of packed ones, those of neighbours in pairs (quads)."""
        loop = windows.pixels.loops[1] if self.channel is None else self.channel
        return BLOCK * self.form.group if loop is None else self.weights.strides[loop]

    def lies_in_one_piece(self, windows: Windows) -> bool:
        """Whether the weights of the taps along a line follow each other in depth."""
        tap, steps = windows.pixels.loops[1], self.channels // self.form.group if self.packed else self.channels
        return tap is None or self.weights.strides[tap] == steps * self.along(windows)

    def reads_columns(self, windows: Windows, features: LoopBound) -> bool:
        """Whether tiles of the weights can be read, which are whole, or packed."""
        across, along = self.weights.strides[self.column], self.along(windows)
        if not self.lies_in_one_piece(windows):
            return False
        if not self.packed:
            return 1 in (across, along) and not self.blocks
        tiles = ceil(size_bound(features) / SIDE) * SIDE
        return across == self.form.group and along >= tiles * across and windows.length % self.form.depth == 0


def _plan(work: Work, form: Format, target: TargetView) -> _Plan | None:
    loops, extents = range(len(work.extents)), work.extents
    pairs = [*zip(work.maps, work.inputs[:2]), *zip(work.output_maps, work.outputs)]
    image, weights, out = (Access.of(m, s, len(loops)) for m, s in pairs)
    lent = all(each is None for each in work.inputs[2:])  # others tell nothing but extents
    if image is None or weights is None or out is None or any(weights.storage.bounds) or not lent:
        return None
    a, b, moving = image.strides, weights.strides, [d for d in loops if extents[d] != 1]
    parallel, summed = [d for d in moving if work.parallel[d]], [d for d in moving if not work.parallel[d]]
    features = [d for d in parallel if b[d] and not a[d]]
    columns = [d for d in features if out.strides[d] == 1 and size_bound(extents[d]) >= _LEAST_COLUMNS]
    inside = next((d for d in summed if extents[d] == form.group and a[d] == b[d] == 1), None)
    apart = 1 if inside is None else form.group
    dims = _pixels(work, image, [d for d in parallel if not b[d]], [1, apart])
    taps = [dim.tap for dim in dims or ()]
    channel = [d for d in summed if d != inside and d not in taps]
    known = all(isinstance(extents[d], int) for d in summed)
    windowed = any(dim.bounds or dim.tap is not None or (dim.row is not None and dim.index.coefficient(dim.row) > 1) for dim in dims or ())
    if not columns or dims is None or not windowed or not known or len(channel) > 1 or any(a[d] != apart for d in channel):
        return None
    channels, blocks = apart * prod(size_bound(extents[d]) for d in channel), [d for d in features if d != columns[0]]
    plan = _Plan(image, weights, out, form, dims, [], blocks, columns[0], channel[0] if channel else None, channels, inside is not None)
    seen = plan.windows(extents, {})
    plan = replace(plan, outer=[d for d in parallel if d not in (*features, seen.lines.loops[0], seen.pixels.loops[0])])
    windows = plan.windows(extents, dict.fromkeys(plan.outer, LinearIndex()))
    rows = size_bound(windows.lines.rows) * size_bound(windows.pixels.rows)
    if rows < _LEAST_ROWS or _SHALLOW * windows.length < form.depth or not plan.reads_columns(windows, extents[columns[0]]):
        return None
    exact = isinstance(windows.lines.rows, int) and isinstance(extents[columns[0]], int)
    columns_packed = 0 if plan.packed else prod(axis.taps for axis in (*windows.deep, windows.lines)) * size_bound(extents[columns[0]])
    panels = WindowPanel(windows, form.depth, SIDE).elements + columns_packed * (windows.length + form.depth)
    fits = panels * element_bytes(image.storage.element) <= target.tile_bytes
    return plan if fits and (exact or out.storage.root is None) else None


def _pixels(work: Work, image: Access, rows: list[int], channels: list[int]) -> list[_Pixels] | None:
    """The dims of the image but those over channels, which lie so far apart; the outermost first. None where a dim has several loops of
    rows or taps."""
    m, storage = work.maps[0], image.storage
    indices = linear_results(m, [LinearIndex({d: 1}) for d in range(m.n_dims)])
    found = []
    for index, stride, bounds in zip_longest(indices or (), storage.strides, storage.bounds):
        moving = [d for d in index.terms if work.extents[d] != 1]
        own, taps = [d for d in moving if d in rows], [d for d in moving if not work.parallel[d]]
        of_channels = not own and all(stride * index.coefficient(d) in channels for d in taps)
        if of_channels and bounds is None:
            continue
        if len(own) > 1 or len(taps) > 1 or min(index.terms.values(), default=1) < 0 or stride < 0:
            return None
        found.append(_Pixels(index, stride, bounds, own[0] if own else None, taps[0] if taps else None))
    return sorted(found, key=lambda dim: -dim.stride) if indices else None


class AmxWindows:
    """A convolution as its work tells, and as it is `seen` with a loop over the elements of a lane."""

    def __init__(self, work: Work, seen: Work, plan: _Plan, target: TargetView):
        self.work, self.seen, self.plan, self.target = work, seen, plan, target

    def takes(self, after: Sequence[Work]) -> bool:
        """Whether what comes `after` the sums can be computed while they are in the first cache: rows of all lines are one matrix for these
        works, too, where they are for the sums."""
        windows = self.plan.windows(self.seen.extents, dict.fromkeys(self.plan.outer, LinearIndex()))
        line, pixel = windows.lines.loops[0], windows.pixels.loops[0]
        if not follows_in_registers(self.work, self.plan.column, after, self.target):
            return False
        if line is None or pixel is None:
            return True
        if any(each.asks_for_index() for each in after):
            return False
        across, along = (sum(self.work.parallel[:loop]) for loop in (line, pixel))
        steps = [(stride_along(m, s, across), stride_along(m, s, along)) for each in after for m, s in each.operands()]
        return all(a is not None and b is not None and a == size_bound(windows.pixels.rows) * b for a, b in steps)

    def emit(self, after: Sequence[Work], captured: Captured, scratch: Scratch) -> None:
        """Emits the sums, and what comes after them."""
        outer = self.plan.outer
        self.seen.outputs = self.work.outputs
        results = Results(self.seen, self.plan.out, self.plan.column, after, captured, scratch)
        emitter = _Emitter(self.seen, self.plan, self.target, scratch, results)
        nest_each([self.seen.extents[d] for d in outer], lambda indices: emitter.product(dict(zip(outer, indices))))


@dataclass(frozen=True)
class _Emitter:
    work: Work
    plan: _Plan
    target: TargetView
    scratch: Scratch
    results: Results

    def product(self, fixed: dict[int, LinearIndex]) -> None:
        """The rows of a point of the outer loops by all features: by those of all blocks while the first cache holds some rows, else of all
        rows by a block of features."""
        windows = self.plan.windows(self.work.extents, fixed)
        rows, (weights, step) = self._rows(windows), self._weights(windows, fixed)
        blocks = Blocks(self.plan.form, windows, rows, self.results)

        def columns(body: Callable[[Columns], None]) -> None:
            self._each_columns(weights, step, fixed, body)

        if blocks.row_bytes() <= _KEPT * self.target.l1_bytes:
            blocks.each(lambda tiles: columns(lambda some: blocks.emit(tiles, some)))
        else:
            columns(lambda some: blocks.each(lambda tiles: blocks.emit(tiles, some)))

    def _rows(self, windows: Windows) -> Rows:
        """The rows where they lie, or packed."""
        depth = self.plan.form.depth
        found = rows_in_place(windows, depth)
        if found is not None:
            return found
        panel = WindowPanel(windows, depth, SIDE)
        storage = panel.allocate(self.scratch, SIDE)
        self._once(windows, windows.limits(), lambda: panel.pack(storage))
        return panel.rows(storage)

    def _weights(self, windows: Windows, fixed: dict[int, LinearIndex]) -> tuple[Operand, int]:
        """The weights, where they lie or packed, and how far apart the first ones of features do."""
        plan, weights, form, features = self.plan, self.plan.weights, self.plan.form, self.work.extents[self.plan.column]
        across, along = weights.strides[plan.column], plan.along(windows)
        axes = dict(enumerate((*windows.deep, windows.lines)))
        steps = {number: weights.strides[loop] for number, axis in axes.items() if (loop := axis.loops[1]) is not None}
        if plan.packed:
            return Operand(weights.storage, weights.at(fixed), across, 1, steps, along, form.group), across
        source = Operand(weights.storage, weights.at(fixed), across, along, steps)
        taps = {number: axes[number].taps for number in steps}
        depth, blocks = Depth(taps, windows.length, form), ceil(size_bound(features) / BLOCK)
        panels = Depth({_BLOCKS: blocks, **taps}, windows.length, form).panel_of_columns(self.scratch, weights.storage.element, BLOCK)
        step = panels.reduced[_BLOCKS] // BLOCK

        def panel(n: LinearIndex) -> Operand:
            return replace(panels, offset=panels.offset + n * step)

        known_later = [] if isinstance(features, int) else [LinearIndex.of(features)]
        self._once(source, known_later, lambda: pack_blocks(source, panel, features, BLOCK, depth))
        return panels, step

    def _once(self, source: Operand | Windows, limits: list[LinearIndex], pack: Callable[[], None]) -> None:
        """Packs what does not change while the kernel runs once for the tiles in a row that read the same."""
        if isinstance(source.storage.base.owner, ir.Block) and not source.storage.writable:
            unless_repeated(source.offset, self.scratch, pack, limits)
        else:
            pack()

    def _each_columns(self, weights: Operand, step: int, fixed: dict[int, LinearIndex], body: Callable[[Columns], None]) -> None:
        """`body` of all blocks of 32 features, then of the last ones; at an edge of as many as there are at most."""
        plan, extents = self.plan, self.work.extents
        most = size_bound(extents[plan.column])
        whole = most // BLOCK * BLOCK

        def each(indices: list[LinearIndex]) -> None:
            at = dict(zip(plan.blocks, indices))
            offset = weights.offset + sum((index * plan.weights.strides[d] for d, index in at.items()), LinearIndex())

            def block(n: LinearIndex, count: int) -> None:
                left = extents[plan.column] if count < BLOCK or not isinstance(extents[plan.column], int) else count
                live = LinearIndex.of(left) - n if left != count else LinearIndex(constant=count)
                body(Columns(replace(weights, offset=offset + n * step), {**fixed, **at, plan.column: n}, count, live))

            for_each(0, whole, BLOCK, lambda n: block(n, BLOCK))
            if whole < most:
                block(LinearIndex(constant=whole), most - whole)

        nest_each([extents[d] for d in plan.blocks], each)
