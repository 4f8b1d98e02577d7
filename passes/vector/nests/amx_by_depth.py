"""Products of operands that both lie by depth, Aᵀ B, by AMX tiles: gradients by weights, of products and of convolutions.

    W[kh, kw, c, f] += X[b, oh + kh, ow + kw, c] * G[b, oh, ow, f]

    for parts of the depth (some lines, or steps, of all outer loops):
      A = Gᵀ
      for kw: B = pairs of steps of X at the tap, of all lines that taps kh read;  S[kh, kw, f, c] += A B[kh…], by blocks of 32 × 32
    W = S, with the last two dims in turn

To transpose takes some times as long as to pair neighbours: the operand that has fewer elements of a step, of all taps, is transposed, X
where that is it. Taps whose elements lie side by side, as those of few channels do, are rows together where these fill blocks better.
A part is as long as keeps a panel of columns in the first cache. Sums of all rows and columns of a tile stay in a buffer, filled up to
whole blocks. How steps become tiles is told in depth_operands.py.

Must hold: the target has amx_bf16; sums start from zero. Declined (other code then computes the sums): other bodies and types, operands
whose rows or columns are not contiguous, a right operand of which not all elements exist, few rows, columns or steps, panels that the cache
does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView

from ...common.control_flow import LoopBound, for_each, nest_each
from ...common.linear_index import LinearIndex, linear_results
from ...common.storage import Storage, row_major
from ...common.tiled_function import size_bound
from ...common.vectors import broadcast, splat
from .access import Access
from .amx import LEAST_COLUMNS, formats
from .amx_blocks import Products, Sums
from .amx_panels import Depth, live_lanes
from .amx_tiles import BF16, BLOCK, SIDE, Operand
from .depth_operands import ByDepth, Point, Steps
from .lanes import Lanes
from .nests import chunks
from .packing import Scratch, transpose_square
from .work import Work, starts_from_zero

_PART = 512
"""Steps of depth, about: of so many a panel of columns fills half of the first cache."""
_FILLED_UP = 120
"""Steps of a line with the zeros behind it, at most, in percent."""
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
    """`steps`: a part of the depth, along the last of its loops, or the last two; the others are `walked` one by one. `row`, `column`: the
    loops of the elements of a step; `taps`: the parallel loops that only the left operand moves along, beside its rows; `outer`: the
    others. `over`: the taps of which each reads the lines of the one before, but the first, and one more: these are paired together."""

    left: ByDepth
    right: ByDepth
    out: Access
    row: int
    column: int
    taps: list[int]
    outer: list[int]
    walked: list[int]
    steps: Steps
    over: int | None

    def turns_right(self, extents: list[LoopBound]) -> bool:
        """Whether the right operand is transposed, and the left one paired, for each tap."""
        return prod(size_bound(extents[d]) for d in self.taps) * self.left.wide > self.right.wide


def _plan(work: Work, target: TargetView) -> _Plan | None:
    loops, extents = range(len(work.extents)), work.extents
    pairs = [*zip(work.maps, work.inputs[:2]), *zip(work.output_maps, work.outputs)]
    left, right, out = (Access.of(m, s, len(loops)) for m, s in pairs)
    lent = all(each is None for each in work.inputs[2:])
    if left is None or right is None or out is None or not lent or any(right.storage.bounds):
        return None
    a, b, moving = left.strides, right.strides, [d for d in loops if extents[d] != 1]
    parallel, steps = [d for d in moving if work.parallel[d]], [d for d in moving if not work.parallel[d]]
    rows = [d for d in parallel if a[d] == 1 and not b[d]]
    columns = [d for d in parallel if b[d] == 1 and out.strides[d] == 1 and not a[d] and size_bound(extents[d]) >= LEAST_COLUMNS]
    if len(rows) != 1 or len(columns) != 1 or not steps or not all(isinstance(extents[d], int) and a[d] and b[d] for d in steps):
        return None
    row, column = rows[0], columns[0]
    taps = [d for d in parallel if a[d] and not b[d] and d != row]
    others = [d for d in parallel if d not in (*taps, row, column)]
    indices = linear_results(work.maps[0], [LinearIndex({d: 1}) for d in loops])
    if indices is None or any(not isinstance(extents[d], int) for d in taps[:-1]):
        return None
    bounds = [(index, pair) for index, pair in zip(indices, left.storage.bounds) if pair is not None]
    beside, each = _beside(work, left, out, row, taps), size_bound(extents[row])
    if any(row in index.terms for index, _ in bounds):  # of one channel the taps are the rows
        beside, each = row, 1
    count = extents[row] if beside in (None, row) else each * size_bound(extents[beside])
    rows_of = ByDepth(left, count, bounds, beside, each)
    steps.sort(key=lambda d: -b[d])
    columns_of, taps = ByDepth(right, extents[column], []), [d for d in taps if d != beside]
    walked, parts = _parts(steps, extents)
    plan = _Plan(rows_of, columns_of, out, row, column, taps, others, walked, parts, None)
    over = next((d for d in taps if _follow(plan.left, d, parts.across) and isinstance(extents[d], int)), None)
    whole = _in_whole_tiles(parts, extents) if over is not None and plan.turns_right(extents) else None
    plan = plan if whole is None else replace(plan, steps=whole, over=over)
    high, wide, sums = plan.left.wide, plan.right.wide, prod(size_bound(extents[d]) for d in plan.taps)
    behind = 0 if plan.over is None else (size_bound(extents[plan.over]) - 1) * plan.steps.pitch
    nbytes = 2 * (high + wide) * (min(plan.steps.count, _PART) + behind + BLOCK) + 4 * sums * high * wide
    enough = size_bound(rows_of.extent) >= _LEAST_ROWS and prod(size_bound(extents[d]) for d in steps) >= _LEAST_STEPS
    return plan if enough and nbytes <= target.tile_bytes else None


def _parts(steps: list[int], extents: list[LoopBound]) -> tuple[list[int], Steps]:
    """The loops that are walked one by one, and a part of the others: whole lines where there are several and these are short."""
    *walked, last = steps
    line = size_bound(extents[last])
    if not walked or 2 * line > _PART:
        return walked, Steps(None, last, 1, line, line + line % 2)
    across, pitch = walked.pop(), line + line % 2
    return walked, Steps(across, last, min(size_bound(extents[across]), _PART // pitch), line, pitch)


def _follow(left: ByDepth, tap: int, across: int | None) -> bool:
    """Whether a tap further reads what a line further does."""
    if across is None or left.access.strides[tap] != left.access.strides[across]:
        return False
    return all(index.coefficient(tap) == index.coefficient(across) for index, _ in left.bounds)


def _in_whole_tiles(steps: Steps, extents: list[LoopBound]) -> Steps | None:
    """Parts of about as many lines, each of whole tiles: what follows the steps of a tap are steps of the next one then, and would meet
    zeros. None where too much of a line would be zeros."""
    assert steps.across is not None
    extent = size_bound(extents[steps.across])
    fitting = [
        (pitch, -lines)
        for pitch in range(steps.pitch, _FILLED_UP * steps.line // 100 + 1, 2)
        for lines in range(steps.lines // 2 + 1, steps.lines + 1)
        if pitch * lines <= _PART and not any(pitch * count % BLOCK for count in (lines, extent % lines))
    ]
    if not fitting:
        return None
    pitch, lines = min(fitting)
    return replace(steps, lines=-lines, pitch=pitch)


def _beside(work: Work, left: Access, out: Access, row: int, taps: list[int]) -> int | None:
    """The loop of taps that lie side by side with the rows, in the left operand and among the results, where all of them fill blocks better
    than those of each tap."""
    extent = work.extents[row]
    for tap in taps:
        count = work.extents[tap]
        if not isinstance(extent, int) or not isinstance(count, int) or left.strides[tap] != extent:
            continue
        if out.strides[tap] == extent * out.strides[row] and ceil(count * extent / BLOCK) < count * ceil(extent / BLOCK):
            return tap
    return None


class _Product:
    def __init__(self, work: Work, plan: _Plan, scratch: Scratch):
        self.work, self.plan, self.scratch = work, plan, scratch
        self.taps = [size_bound(work.extents[d]) for d in plan.taps]
        self.right_turned = plan.turns_right(work.extents)
        self.turned, self.paired = (plan.right, plan.left) if self.right_turned else (plan.left, plan.right)
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

    def _sum(self, fixed: Point) -> None:
        plan, extents = self.plan, self.work.extents
        sums = self.scratch((*self.taps, self.turned.wide, self.paired.wide), plan.out.storage.element)
        self._zeros(sums, prod(self.taps) * self.turned.wide * self.paired.wide)
        steps, loop = plan.steps, plan.steps.along if plan.steps.across is None else plan.steps.across
        whole = size_bound(extents[loop])
        each = min(whole, _PART) if steps.across is None else steps.lines

        def part(at: Point, first: LinearIndex, count: int) -> None:
            """Steps from the first on, of a line or of whole lines."""
            some = replace(steps, line=count, pitch=count + count % 2) if steps.across is None else replace(steps, lines=count)
            self._part({**fixed, **at, loop: first}, sums, some)

        def parts(indices: list[LinearIndex]) -> None:
            at = dict(zip(plan.walked, indices))
            end = whole // each * each
            for_each(0, end, each, lambda first: part(at, first, each))
            if end < whole:
                part(at, LinearIndex(constant=end), whole - end)

        nest_each([extents[d] for d in plan.walked], parts)
        if self.right_turned:
            self._turned_results(sums, fixed)
        else:
            self._results(sums, fixed)

    def _part(self, at: Point, sums: Storage, steps: Steps) -> None:
        """Adds the products of some steps, from a point of the loops of the depth on."""
        plan, element, extents = self.plan, self.plan.left.access.storage.element, self.work.extents
        each, over = [d for d in plan.taps if d != plan.over], [d for d in plan.taps if d == plan.over]
        read = replace(steps, lines=steps.lines + sum(size_bound(extents[d]) - 1 for d in over))
        depth, of_panel = Depth({}, steps.count, BF16), Depth({0: self.paired.wide // BLOCK}, read.count, BF16)
        panels = of_panel.panel_of_columns(self._shared("columns"), element, BLOCK)
        pitch = (depth.padded // BLOCK + 1 | 1) * BLOCK  # an odd number of cache lines
        turned = self._shared("rows")((self.turned.wide, pitch), element)
        rows = Operand(turned, turned.offset, pitch, 1)

        def panel(n: LinearIndex) -> Operand:
            return replace(panels, offset=panels.offset + n * (panels.reduced[0] // BLOCK), reduced={})

        def of_taps(taps: Point) -> None:
            of_tap = sums.offset + sum((taps[d] * stride for d, stride in zip(plan.taps, sums.strides)), LinearIndex())
            further = sum((taps[d] * steps.pitch for d in over), LinearIndex())

            def columns(n: LinearIndex) -> None:
                totals = Sums(sums, of_tap + n, self.paired.wide)
                products = Products(rows, panel(n).moved(0, further), BLOCK, depth, totals)
                for_each(0, self.turned.wide, BLOCK, lambda m: products.add(m, BLOCK, LinearIndex(), depth.padded, fresh=False))

            for_each(0, self.paired.wide, BLOCK, columns)

        def tap(indices: list[LinearIndex]) -> None:
            taps = dict(zip(each, indices))
            if self.right_turned:
                self.paired.pair({**at, **taps}, read, panel, of_panel)
            else:
                self.turned.turn({**at, **taps}, steps, turned, pitch)
            nest_each([extents[d] for d in over], lambda indices: of_taps({**taps, **dict(zip(over, indices))}))

        if self.right_turned:
            self.turned.turn(at, steps, turned, pitch)
        else:
            self.paired.pair(at, steps, panel, of_panel)
        nest_each([extents[d] for d in each], tap)

    def _results(self, sums: Storage, fixed: Point) -> None:
        plan, extents = self.plan, self.work.extents

        def row(indices: list[LinearIndex]) -> None:
            at = {**fixed, **dict(zip((*plan.taps, plan.row), indices))}
            start, source = plan.out.at(at), sums.address([*indices, LinearIndex()])

            def chunk(n: LinearIndex, lanes: Lanes) -> None:
                lanes.store(lanes.load(sums, (source + n).along_lanes()), plan.out.storage, (start + n).along_lanes())

            chunks(extents[plan.column], BLOCK, SIDE, chunk)

        nest_each([*(extents[d] for d in plan.taps), plan.left.extent], row)

    def _turned_results(self, sums: Storage, fixed: Point) -> None:
        """The sums of columns by rows, transposed in squares of 16 × 16."""
        plan, extents = self.plan, self.work.extents
        less, rows, columns = arith.CmpIPredicate.slt, LinearIndex.of(plan.left.extent), LinearIndex.of(extents[plan.column])
        all_exist, full = (extent.is_constant and extent.constant % SIDE == 0 for extent in (rows, columns))

        def tap(indices: list[LinearIndex]) -> None:
            at = {**fixed, **dict(zip(plan.taps, indices))}

            def square(c: LinearIndex, f: LinearIndex) -> None:
                lanes = Lanes(SIDE) if full else live_lanes(columns - f, SIDE)
                loads = [Lanes(SIDE).load(sums, sums.address([*indices, f + i, c]).along_lanes()) for i in range(SIDE)]
                for i, value in enumerate(transpose_square(loads)):
                    own = lanes if all_exist else lanes.where(broadcast(arith.cmpi(less, (c + i).value(), rows.value()), SIDE))
                    own.store(value, plan.out.storage, (plan.out.at({**at, plan.row: c + i}) + f).along_lanes())

            for_each(0, plan.left.extent, SIDE, lambda c: for_each(0, extents[plan.column], SIDE, lambda f: square(c, f)))

        nest_each([extents[d] for d in plan.taps], tap)

    def _zeros(self, sums: Storage, count: int) -> None:
        def chunk(start: LinearIndex, lanes: Lanes) -> None:
            lanes.store(splat(lanes.type(sums.element), 0), sums, (sums.offset + start).along_lanes())

        chunks(count, 4 * SIDE, SIDE, chunk)
