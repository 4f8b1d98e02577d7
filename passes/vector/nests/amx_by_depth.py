"""Products of operands that both lie by depth, Aᵀ B, by AMX tiles: gradients by weights, of products and of convolutions.

    W[kh, kw, c, f] += X[b, oh + kh, ow + kw, c] * G[b, oh, ow, f]

    for parts of the depth (some lines, or steps, of all outer loops):
      B = pairs of steps of G side by side
      for taps: A = Xᵀ at the tap;  S[tap, c, f] += A B, by blocks of 32 × 32
    W = S

A part is as long as keeps a panel of columns in the first cache. Squares of A are transposed in registers; steps that lie on zeros around
the image are zeros of A. Sums of all rows and columns of a tile stay in a buffer, filled up to whole blocks.

Must hold: the target has amx_bf16; sums start from zero. Declined (other code then computes the sums): other bodies and types, operands
whose rows or columns are not contiguous, steps of the right operand that do not lie in one piece, few rows, columns or steps, taps
along more than two dims, panels that the cache does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView

from ...common.control_flow import for_each, for_loop, nest_each
from ...common.linear_index import LinearIndex, linear_results
from ...common.storage import Bounds, Storage, row_major
from ...common.tiled_function import size_bound
from ...common.vectors import broadcast, splat, vector_of
from .access import Access
from .amx import LEAST_COLUMNS, formats
from .amx_panels import BF16, Depth, Operand, load_sums, load_tile, pack_blocks, store_tile
from .lanes import Lanes
from .nests import chunks, dynamic_mask
from .packing import Scratch, transpose_square
from .work import Work, starts_from_zero

_TILE, _BLOCK = 16, 32
_PART = 512
"""Steps of depth, about: of so many a panel of columns fills half of the first cache."""
_LEAST_ROWS, _LEAST_STEPS = 8, 32


def emit_by_depth(work: Work, target: TargetView, scratch: Scratch) -> bool:
    """Emits `work` by AMX tiles, or returns False if it is not for them."""
    if not target.amx_bf16 or work.block is None or not starts_from_zero(work) or formats(work.block, target)[:1] != [BF16]:
        return False
    plan = _plan(work, target)
    if plan is None:
        return False
    _Product(work, plan, scratch).emit()
    return True


@dataclass(frozen=True)
class _Plan:
    """`steps`: the loops of the depth, of which those before the last are walked one by one but for the one before it, whose `lines` of the
    last are part of a panel; `taps`: the parallel loops that only the left operand moves along, beside its rows; `outer`: the others.
    `bounds`: the left operand's dims of which not all elements exist, as indices of loops."""

    left: Access
    right: Access
    out: Access
    row: int
    column: int
    taps: list[int]
    outer: list[int]
    steps: list[int]
    lines: int
    bounds: list[tuple[LinearIndex, Bounds]]


def _plan(work: Work, target: TargetView) -> _Plan | None:
    loops, extents = range(len(work.extents)), work.extents
    pairs = [*zip(work.maps, work.inputs[:2]), *zip(work.output_maps, work.outputs)]
    left, right, out = (Access.of(m, s, len(loops)) for m, s in pairs)
    lent = all(each is None for each in work.inputs[2:])
    if left is None or right is None or out is None or not lent or any(right.storage.bounds):
        return None
    a, b, moving = left.strides, right.strides, [d for d in loops if extents[d] != 1]
    parallel, steps = [d for d in moving if work.parallel[d]], [d for d in moving if not work.parallel[d]]
    rows = [d for d in parallel if a[d] == 1 and not b[d] and size_bound(extents[d]) >= _LEAST_ROWS]
    columns = [d for d in parallel if b[d] == 1 and out.strides[d] == 1 and not a[d] and size_bound(extents[d]) >= LEAST_COLUMNS]
    if len(rows) != 1 or len(columns) != 1 or not steps or not all(isinstance(extents[d], int) and a[d] and b[d] for d in steps):
        return None
    steps.sort(key=lambda d: -b[d])
    last = steps[-1]
    taps = [d for d in parallel if a[d] and not b[d] and d != rows[0]]
    others = [d for d in parallel if d not in (*taps, rows[0], columns[0])]
    indices = linear_results(work.maps[0], [LinearIndex({d: 1}) for d in loops])
    if indices is None or any(not isinstance(extents[d], int) for d in taps[:-1]):
        return None
    bounds = [(index, pair) for index, pair in zip(indices, left.storage.bounds) if pair is not None]
    whole = size_bound(extents[last])
    follow = len(steps) > 1 and b[steps[-2]] == whole * b[last]
    lines = min(size_bound(extents[steps[-2]]), max(1, _PART // whole)) if follow else 1
    plan = _Plan(left, right, out, rows[0], columns[0], taps, others, steps, lines, bounds)
    depth = min(whole, _PART) * lines
    high, wide = (ceil(size_bound(extents[d]) / _BLOCK) * _BLOCK for d in (plan.row, plan.column))
    nbytes = 2 * (high + wide) * (depth + _BLOCK) + 4 * prod(size_bound(extents[d]) for d in taps) * high * wide
    return plan if prod(size_bound(extents[d]) for d in steps) >= _LEAST_STEPS and nbytes <= target.tile_bytes else None


class _Product:
    def __init__(self, work: Work, plan: _Plan, scratch: Scratch):
        self.work, self.plan, self.scratch = work, plan, scratch
        self.high, self.wide = (ceil(size_bound(work.extents[d]) / _BLOCK) * _BLOCK for d in (plan.row, plan.column))
        self.taps = [size_bound(work.extents[d]) for d in plan.taps]
        self.kept: dict[str, Storage] = {}
        """Buffers that all parts share, the longest of which comes first."""

    def _shared(self, name: str) -> Scratch:
        """Room on the stack that is made once."""

        def scratch(shape: tuple[int, ...], element: ir.Type) -> Storage:
            if name not in self.kept:
                self.kept[name] = self.scratch((prod(shape),), element)
            return replace(self.kept[name], strides=row_major(shape), sizes=shape)

        return scratch

    def emit(self) -> None:
        outer = self.plan.outer
        nest_each([self.work.extents[d] for d in outer], lambda indices: self._sum(dict(zip(outer, indices))))

    def _sum(self, fixed: dict[int, LinearIndex]) -> None:
        plan, extents = self.plan, self.work.extents
        sums = self.scratch((*self.taps, self.high, self.wide), self.plan.out.storage.element)
        self._zeros(sums, prod(self.taps) * self.high * self.wide)
        *walked, last = plan.steps
        inner = [last] if plan.lines == 1 else [walked.pop(), last]
        whole = prod(size_bound(extents[d]) for d in inner)
        step = _PART if plan.lines == 1 else plan.lines * size_bound(extents[last])

        def part(at: dict[int, LinearIndex], first: LinearIndex, count: int) -> None:
            """Steps from the first on, of a line or of whole lines."""
            line = {last: first} if plan.lines == 1 else {inner[0]: first}
            self._part({**fixed, **at, **line}, sums, count)

        def parts(indices: list[LinearIndex]) -> None:
            at = dict(zip(walked, indices))
            unit = 1 if plan.lines == 1 else size_bound(extents[last])
            end, each = whole // unit, step // unit
            for_each(0, end // each * each, each, lambda first: part(at, first, step))
            if end % each:
                part(at, LinearIndex(constant=end // each * each), end % each * unit)

        nest_each([extents[d] for d in walked], parts)
        self._results(sums, fixed)

    def _part(self, at: dict[int, LinearIndex], sums: Storage, count: int) -> None:
        """Adds the products of so many steps, from a point of the loops of the depth on."""
        plan, extents = self.plan, self.work.extents
        last = plan.steps[-1]
        source = Operand(plan.right.storage, plan.right.at(at), 1, plan.right.strides[last])
        depth = Depth({}, count, BF16)
        panels = Depth({0: self.wide // _BLOCK}, count, BF16).panel_of_columns(self._shared("columns"), source.storage.element, _BLOCK)
        each = panels.reduced[0] // _BLOCK
        columns = extents[plan.column]

        def panel(n: LinearIndex) -> Operand:
            return Operand(panels.storage, panels.offset + n * each, panels.across, 1, {}, panels.pairs, panels.group)

        pack_blocks(source, panel, columns, _BLOCK, depth)
        line = min(count, size_bound(extents[last])) if plan.lines > 1 else count
        pitch = (depth.padded // _BLOCK + 1 | 1) * _BLOCK  # an odd number of cache lines
        turned = self._shared("rows")((self.high, pitch), plan.left.storage.element)

        def tap(indices: list[LinearIndex]) -> None:
            point = {**at, **dict(zip(plan.taps, indices))}
            self._turn(point, turned, pitch, count // line, line)
            of_tap = sums.offset + sum((index * stride for index, stride in zip(indices, sums.strides)), LinearIndex())
            rows = Operand(turned, turned.offset, pitch, 1)
            for_each(0, self.wide, _BLOCK, lambda n: self._columns(rows, panel(n), of_tap + n, sums, depth))

        nest_each([extents[d] for d in plan.taps], tap)

    def _columns(self, rows: Operand, panel: Operand, start: LinearIndex, sums: Storage, depth: Depth) -> None:
        def block(m: LinearIndex) -> None:
            places = [start + (m + i) * self.wide + j for i in (0, _TILE) for j in (0, _TILE)]
            totals = [load_sums(sums, place, self.wide, BF16) for place in places]

            def step(k: LinearIndex, totals: list[ir.Value]) -> list[ir.Value]:
                left = [load_tile(rows, rows.at(m + i, k, {}), BF16) for i in (0, _TILE)]
                right = [load_tile(panel, panel.at(LinearIndex(constant=j), k, {}), BF16) for j in (0, _TILE)]
                pairs = [(x, y) for x in left for y in right]
                return [BF16.multiply(x, y, c) for (x, y), c in zip(pairs, totals)]

            for place, total in zip(places, for_loop(0, depth.padded, BF16.depth, totals, step)):
                store_tile(total, sums, place, self.wide)

        for_each(0, self.high, _BLOCK, block)

    def _turn(self, at: dict[int, LinearIndex], turned: Storage, pitch: int, lines: int, line: int) -> None:
        """The rows of so many lines of steps, each a row of the panel: squares are transposed in registers. What lies behind the last step
        is zero, as a step is that does not exist, and what a square has beyond its line, which the next one overwrites."""
        plan = self.plan
        steps, extent = plan.steps, self.work.extents[plan.row]
        apart = 0 if plan.lines == 1 else plan.left.strides[steps[-2]]
        start, step = plan.left.at(at), plan.left.strides[steps[-1]]

        def of_line(index: LinearIndex) -> None:
            point = at if plan.lines == 1 else {**at, steps[-2]: at[steps[-2]] + index}
            here, there = start + index * apart, turned.offset + index * line

            def square(k: LinearIndex, c: LinearIndex, live: int) -> None:
                lanes = self._lanes(LinearIndex.of(extent) - c)
                loads = [self._step(point, k + i, lanes, here + (k + i) * step + c) for i in range(live)]
                loads += [zeros] * (_BLOCK - live)
                for number, value in enumerate(transpose_square(loads)):
                    Lanes(_BLOCK).store(value, turned, (there + (c + number) * pitch + k).along_lanes())

            whole = line - line % _BLOCK
            for_each(0, whole, _BLOCK, lambda k: for_each(0, self.high, _BLOCK, lambda c: square(k, c, _BLOCK)))
            if whole < line:
                for_each(0, self.high, _BLOCK, lambda c: square(LinearIndex(constant=whole), c, line - whole))

        zeros = splat(vector_of(_BLOCK, plan.left.storage.element), 0)
        for_each(0, lines, 1, of_line)
        behind = turned.offset + lines * line
        for_each(0, self.high, 1, lambda i: Lanes(_BLOCK).store(zeros, turned, (behind + i * pitch).along_lanes()))

    def _step(self, at: dict[int, LinearIndex], k: LinearIndex, lanes: Lanes, address: LinearIndex) -> ir.Value:
        """The rows at a step of a line; zeros where it does not exist."""
        last, exists = self.plan.steps[-1], None
        point = {**at, last: at.get(last, LinearIndex()) + k} if self.plan.lines == 1 else {**at, last: k}
        for index, (low, high) in self.plan.bounds:
            place = sum((point[d] * step for d, step in index.terms.items() if d in point), LinearIndex(constant=index.constant))
            for less, bound in ((arith.CmpIPredicate.sge, low), (arith.CmpIPredicate.slt, high)):
                inside = arith.cmpi(less, place.value(), bound.value())
                exists = inside if exists is None else arith.andi(exists, inside)
        if exists is not None:
            mask = broadcast(exists, lanes.count)
            lanes = Lanes(lanes.count, mask if lanes.mask is None else arith.andi(mask, lanes.mask))
        return lanes.load(self.plan.left.storage, address.along_lanes())

    def _lanes(self, left: LinearIndex) -> Lanes:
        extent = self.work.extents[self.plan.row]
        if isinstance(extent, int) and extent == self.high:
            return Lanes(_BLOCK)
        live = arith.maxsi(left.value(), LinearIndex().value())
        return Lanes(_BLOCK, dynamic_mask(_BLOCK, live))

    def _results(self, sums: Storage, fixed: dict[int, LinearIndex]) -> None:
        plan, extents = self.plan, self.work.extents

        def row(indices: list[LinearIndex]) -> None:
            at = {**fixed, **dict(zip((*plan.taps, plan.row), indices))}
            start, source = plan.out.at(at), sums.address([*indices, LinearIndex()])

            def chunk(n: LinearIndex, lanes: Lanes) -> None:
                lanes.store(lanes.load(sums, (source + n).along_lanes()), plan.out.storage, (start + n).along_lanes())

            chunks(extents[plan.column], _BLOCK, _TILE, chunk)

        nest_each([extents[d] for d in (*plan.taps, plan.row)], row)

    def _zeros(self, sums: Storage, count: int) -> None:
        def chunk(start: LinearIndex, lanes: Lanes) -> None:
            lanes.store(splat(lanes.type(sums.element), 0), sums, (sums.offset + start).along_lanes())

        chunks(count, 4 * _TILE, _TILE, chunk)
