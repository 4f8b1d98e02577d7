"""Sums of products of small integers in i32, and of halves in f32, several products an instruction where there is one.

Operands of i8 (signed or not), i16, bf16 or f16 are packed into lanes of 32 bits, neighbours in depth side by side (narrow_panels.py); of
windows that overlap each element once (narrow_pieces.py), or each window where its channels fill no lanes (narrow_windows.py). One whose
neighbours lie so in memory is read where it is (narrow_in_place.py): rows whose depth is contiguous, and bound weights that pack-weights
and pack-filters gave a loop over the elements of a lane. What is left is a contraction of lanes (contraction.py), whose step is an
instruction (narrow_instructions.py):

    for n in chunks: for m in blocks of U:
      acc[0..U) = init
      for k in groups: b = load B[k, n…]; for u: acc[u] += dot(broadcast A[m+u, k], b)
      store acc

Where a tile needs a part of the depth, or of the columns (attention under a mask), panels of the right operand are whole: the next tile
reads more of the same. The part of the depth is packed on the left, zeros up to a whole lane.

All sums of integers are exact modulo 2^32, so the order of depth does not matter. Products of halves are exact in f32; sums of pairs are as
good as sums in another order, those of halves that are widened are what the body says.

Declined (other code then computes the contraction): other bodies and types, maps that are not linear, results whose columns are not
contiguous, few rows (unless the right operand is read in place) or columns, a short depth, panels that the cache does not hold, a part of
a depth that does not lie in one piece on the left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView

from ...common.contraction import block_registers
from ...common.control_flow import LoopBound, nest, nest_each
from ...common.linear_index import LinearIndex
from ...common.lines import LEAST_ROWS
from ...common.storage import Storage
from ...common.tiled_function import is_multiple, size_bound
from ...common.vectors import splat
from .access import Access
from .body import Captured
from .contraction import emit_contraction
from .lanes import Lanes
from .narrow_in_place import lies_in_lanes, viewed, with_lane_loop
from .narrow_instructions import Multiplier, multipliers, step_of
from .narrow_panels import Panel, Source, columns_of, groups_of, pack_panel
from .narrow_pieces import Dim, piece
from .narrow_windows import with_joined_depth
from .nests import chunks
from .packing import Scratch, unless_repeated, whole_extent
from .streams import AHEAD_BYTES, is_streamed
from .work import Work, starts_from_zero

_LEAST_DEPTH = 3


def emit_narrow_dots(work: Work, captured: Captured, target: TargetView, scratch: Scratch) -> bool:
    """Emits `work` by dot products of integers, or returns False if it is not for them."""
    for by in multipliers(work.block, target) if work.block is not None and work.reduces else ():
        seen = with_joined_depth(with_lane_loop(work, by[0].right.count), by[0].right.count)
        plan = _plan(seen, by, target)
        if plan is not None:
            _Dots(seen, plan, captured, target, scratch).emit()
            return True
    return False


@dataclass(frozen=True)
class _Plan:
    """The operands, `left` with rows and `right` with columns, how their elements are grouped, and which loop is what.

    `depth` is the reduced loop whose neighbours share a lane, `summed` the other reduced loops, `outer` the parallel ones for each point of
    which there are other panels, `rows` those within. Where a loop walks the elements of a lane, `inside`, `depth` walks lanes.
    """

    left: Access
    number: int
    """Of the left operand among the inputs."""
    map: ir.AffineMap
    """That of the left operand."""
    right: Access
    out: Access
    by: Multiplier
    rows: list[int]
    columns: int
    depth: int
    outer: list[int]
    summed: list[int]
    inside: int | None = None

    def dims(self, extents: list[LoopBound], fixed: dict[int, LinearIndex]) -> list[Dim] | None:
        """What is read of the left operand at a point of the outer loops; None where that is no panel."""
        inside = {} if self.inside is None else {self.inside: LinearIndex()}
        dims = piece(self.map, self.left.storage, extents, self.depth, {**fixed, **inside})
        if dims is None or self.inside is None:
            return dims
        return [self._in_elements(dim) for dim in dims] or [Dim(1, 0, {})]

    def _in_elements(self, dim: Dim) -> Dim:
        """Where the depth walks lanes, its windows reach from lane to lane."""
        return dim if dim.reach is None else replace(dim, reach=dim.reach.times(self.by.right.count))

    def elements(self, extents: list[LoopBound]) -> int:
        """Of the depth, at most."""
        return size_bound(extents[self.depth]) * (1 if self.inside is None else self.by.right.count)

    def live(self, extents: list[LoopBound]) -> ir.Value | None:
        """The elements of the depth that a tile needs, where that is known at run time alone."""
        extent = extents[self.depth]
        return None if isinstance(extent, int) else extent

    def groups(self, extents: list[LoopBound]) -> LoopBound:
        """Lanes of the depth that a tile needs."""
        live, count = self.live(extents), self.by.right.count
        if live is None:
            return groups_of(self.elements(extents), self.by.right)
        up = (LinearIndex.of(live) + (count - 1)).value()
        return live if count == 1 else arith.divui(up, LinearIndex(constant=count).value())

    def takes_parts(self, work: Work) -> bool:
        """Whether a part of the depth may be summed: it lies in one piece on the left, all is there on the right, and the sums start from
        what the work says."""
        whole = isinstance(whole_extent(work, 1 - self.number, self.depth), int)
        return whole and self.along(self.left) == 1 and self.inside is None and not self.left.storage.bounds and not self.by.moves

    def along(self, operand: Access) -> int:
        """How far apart its elements lie along the depth."""
        return operand.strides[self.depth if self.inside is None else self.inside]

    def reads_left(self, extents: list[LoopBound], dims: list[Dim]) -> bool:
        """Whether the left operand is read where it is."""
        others = [stride for d, stride in enumerate(self.left.strides) if d not in (self.depth, self.inside)]
        depth = self.live(extents) or self.elements(extents)
        whole = is_multiple(depth, self.by.left.count) and not any(dim.reach for dim in dims)
        return whole and self.along(self.left) == 1 and lies_in_lanes(self.left, [*others, *(dim.stride for dim in dims)], self.by.left)

    def reads_right(self) -> bool:
        """Whether the right operand is."""
        strides = self.right.strides
        if self.inside is None or strides[self.columns] != self.by.stored.count:
            return False
        return lies_in_lanes(self.right, [stride for d, stride in enumerate(strides) if d != self.inside], self.by.stored)

    def is_turned(self, extents: list[LoopBound], dims: list[Dim]) -> bool:
        """Whether the left operand is packed by columns: neighbours of its last dim are, and all of them exist."""
        last = dims[-1]
        return last.stride == 1 and not any(dim.bounds for dim in dims) and last.reach is None and self.live(extents) is None

    def panel_bytes(self, extents: list[LoopBound]) -> int | None:
        """Of both operands, None where there is no panel of the left one."""
        dims = self.dims(extents, {d: LinearIndex() for d in self.outer})
        if dims is None:
            return None
        columns = columns_of(size_bound(extents[self.columns]), self.by.right) * prod(size_bound(extents[d]) for d in self.summed)
        columns = 0 if self.reads_right() else columns
        *outer, last = dims
        across = columns_of(last.most, self.by.left) if self.is_turned(extents, dims) else last.most
        rows = 0 if self.reads_left(extents, dims) else prod(dim.most for dim in outer) * across
        return 4 * groups_of(self.elements(extents), self.by.left) * (rows + columns)


def _plan(work: Work, by: tuple[Multiplier, Multiplier], target: TargetView) -> _Plan | None:
    loops = range(len(work.extents))
    operands = [*zip(work.maps, work.inputs[:2]), *zip(work.output_maps, work.outputs)]
    left, right, out = [Access.of(m, s, len(loops)) for m, s in operands]
    if any(source is not None for source in work.inputs[2:]) or left is None or right is None or out is None:
        return None
    parts = [d for d in loops if not work.parallel[d] and not isinstance(work.extents[d], int)]
    plans = [*_with_rows(work, 0, left, right, out, by[0]), *_with_rows(work, 1, right, left, out, by[1])]
    plans = [plan for plan in plans if not parts or (parts == [plan.depth] and plan.takes_parts(work))]
    for plan in plans:
        size = plan.panel_bytes(work.extents)
        if size is not None and size <= target.tile_bytes:
            return None if plan.by.moves and not starts_from_zero(work) else plan
    return None


def _with_rows(work: Work, number: int, left: Access, right: Access, out: Access, by: Multiplier) -> list[_Plan]:
    """Plans with the rows of `left`, input `number`, and the columns of `right`: with panels of all rows, and of one loop of them. None if
    there are too few to pack them."""
    loops, a, b = range(len(work.extents)), left.strides, right.strides
    extents = [size_bound(extent) for extent in work.extents]
    summed = [d for d in loops if not work.parallel[d]]
    columns = [d for d in loops if out.strides[d] == 1 and not a[d] and b[d] and extents[d] >= by.least]
    rows = [d for d in loops if work.parallel[d] and a[d] and not b[d]]
    depth, inside = _depth(by, a, b, extents, summed)
    if not columns or depth is None or any(right.storage.bounds):
        return []
    column = columns[0]
    others = [d for d in loops if work.parallel[d] and d not in (*rows, column)]
    rest = [d for d in summed if d not in (depth, inside)]
    plan = _Plan(left, number, work.maps[number], right, out, by, rows, column, depth, others, rest, inside)
    if not plan.reads_right() and (by.in_place or inside is not None or prod(extents[d] for d in rows) < by.least):
        return []
    longest = max(rows, key=extents.__getitem__, default=None)
    single = [d for d in loops if work.parallel[d] and d not in (longest, column)]
    return [plan] if longest is None else [plan, replace(plan, rows=[longest], outer=single)]


def _depth(by: Multiplier, a: list[int], b: list[int], extents: list[int], summed: list[int]) -> tuple[int | None, int | None]:
    """The loop along the depth and, where the right operand has one, the loop over the elements of a lane; the depth is then that over
    lanes."""
    count = by.right.count
    within = 1 if by.stored == by.right else 0
    for inside in summed if count > 1 else ():
        if extents[inside] != count or a[inside] != 1 or b[inside] != within:
            continue
        for d in summed:
            if d != inside and a[d] == count and b[d]:
                return d, inside
    depths = [d for d in summed if a[d] and b[d] and extents[d] >= _LEAST_DEPTH]
    return max(depths, key=lambda d: (a[d] == 1, b[d] == 1, extents[d]), default=None), None


class _Dots:
    def __init__(self, work: Work, plan: _Plan, captured: Captured, target: TargetView, scratch: Scratch):
        self.work, self.plan, self.captured, self.target, self.scratch = work, plan, captured, target, scratch
        self.loops = [*plan.rows, plan.columns, *plan.summed]
        """Those of the product, but for the last, groups of depth."""

    def emit(self) -> None:
        outer = self.plan.outer
        nest_each([self.work.extents[d] for d in outer], lambda indices: self._product(dict(zip(outer, indices))))

    def _product(self, fixed: dict[int, LinearIndex]) -> None:
        """The product for fixed outer loops."""
        plan, extents, rows = self.plan, self.work.extents, len(self.plan.rows)
        (left, m), right, start = self._left(fixed), *self._right(fixed)
        loops = len(self.loops) + 1
        of = {loop: ir.AffineDimExpr.get(position) for position, loop in enumerate([*self.loops, plan.depth])}
        lent = self.work.inputs[2:]  # nothing but extents
        right_loops, result_loops = [*plan.summed, plan.depth, plan.columns], [*plan.rows, plan.columns]
        maps = [m, *([of[d] for d in dims] for dims in (right_loops, *([] for _ in lent), result_loops))]
        maps = [ir.AffineMap.get(loops, 0, dims) for dims in maps]
        inner = [*(extents[d] for d in self.loops), plan.groups(extents)]
        work = replace(self.work, maps=maps, inputs=[left, right, *lent], outputs=[self._result(plan.out, fixed)], extents=inner)
        work = replace(work, parallel=[position <= rows for position in range(loops)])
        if start is not None:
            work = replace(work, inits=[replace(start, strides=(0,) * rows + (1,), sizes=self._sizes())], fill=[None])
        elif (init := work.inits[0]) is not None:
            access = Access.of(self.work.output_maps[0], init, len(extents))
            assert access is not None  # it lies as the result does
            work = replace(work, inits=[self._result(access, fixed)])
        parts = plan.by.lefts
        step = step_of(work, self.captured, plan.by.add, parts)
        emit_contraction(work, rows, self.captured, self.target, self.scratch, step, parts=parts)

    def _sizes(self) -> tuple[LoopBound, ...]:
        """Of the result for fixed outer loops."""
        return tuple(self.work.extents[d] for d in (*self.plan.rows, self.plan.columns))

    def _result(self, access: Access, fixed: dict[int, LinearIndex]) -> Storage:
        strides = tuple(access.strides[d] for d in (*self.plan.rows, self.plan.columns))
        return replace(access.storage, offset=access.at(fixed), strides=strides, sizes=self._sizes())

    def _left(self, fixed: dict[int, LinearIndex]) -> tuple[Storage, list[ir.AffineExpr]]:
        """The packed left operand for fixed outer loops, and where the product's loops read it."""
        plan, access, extents = self.plan, self.plan.left, self.work.extents
        dims, by = plan.dims(extents, fixed), plan.by.left
        assert dims is not None
        *outer, last = dims
        bounds, depth = tuple(dim.bounds for dim in dims), plan.elements(extents)
        of = {loop: ir.AffineDimExpr.get(position) for position, loop in enumerate(self.loops)}
        zero = ir.AffineConstantExpr.get(0)
        read = [sum((of[loop] * step for loop, step in dim.steps.items()), zero) for dim in dims]
        read += [ir.AffineDimExpr.get(len(self.loops)) * plan.by.lefts]
        if plan.reads_left(extents, dims):
            strides = [*(dim.stride // by.count for dim in dims), 1]
            storage = viewed(access, fixed, by, strides, (*(dim.extent for dim in dims), groups_of(depth, by)))
            return replace(storage, bounds=(*bounds, None) if any(bounds) else ()), read
        source = Source(access.storage, access.at(fixed), last.stride, plan.along(access), last.extent, depth)
        outers, live = [(dim.extent, dim.stride) for dim in outer], plan.live(extents)
        source = replace(source, outer=outers, bounds=bounds, reach=last.reach, live=live)
        panel = (Panel.of_columns if plan.is_turned(extents, dims) else Panel.of_rows)(self.scratch, source, by)
        self._once(source, lambda: pack_panel(source, panel, by))
        sizes = (*(dim.extent for dim in dims), groups_of(depth, by))
        return replace(panel.by_rows(), sizes=sizes, bounds=(*bounds, None) if any(bounds) and not by.flips else ()), read

    def _right(self, fixed: dict[int, LinearIndex]) -> tuple[Storage, Storage | None]:
        """The packed right operand, and what the sums start from, where that is not what the work says."""
        plan, access, extents, by = self.plan, self.plan.right, self.work.extents, self.plan.by
        strides, depth = access.strides, plan.elements(extents)
        columns = whole_extent(self.work, 1 - plan.number, plan.columns)
        source = Source(access.storage, access.at(fixed), strides[plan.columns], plan.along(access), columns, depth)
        source = replace(source, outer=[(extents[d], strides[d]) for d in plan.summed])
        if plan.reads_right():
            steps = [strides[d] // by.stored.count for d in (*plan.summed, plan.depth, plan.columns)]
            sizes = (*(extents[d] for d in (*plan.summed, plan.depth)), columns)
            right, pack = viewed(access, fixed, by.stored, steps, sizes), None
            right = replace(right, ahead=max(right.ahead, AHEAD_BYTES // 4) if right.ahead or self._is_streamed() else 0)
        else:
            panel = Panel.of_columns(self.scratch, source, by.right, self._chunk())
            right, pack = panel.by_columns(), lambda: pack_panel(source, panel, by.right)
        if not by.moves:
            if pack is not None:
                self._once(source, pack)
            return right, None
        starts = self.scratch((-(-size_bound(columns) // by.lanes) * by.lanes,), right.element)

        def both() -> None:
            if pack is not None:
                pack()
            _store_starts(right, columns, starts, by)

        self._once(source, both)
        return right, starts

    def _is_streamed(self) -> bool:
        """Whether one row reads a right operand, each element once, that no near cache keeps."""
        return prod(size_bound(self.work.extents[d]) for d in self.plan.rows) == 1 and is_streamed(self.plan.right.storage, self.target)

    def _chunk(self) -> int | None:
        """The columns of a block, where there are rows for one, and no other reader of the panel."""
        rows = prod(size_bound(self.work.extents[d]) for d in self.plan.rows)
        return None if rows < LEAST_ROWS or self.plan.by.moves else block_registers(self.target) * self.plan.by.lanes

    def _once(self, source: Source, body: Callable[[], None]) -> None:
        """Emits `body`, which packs `source`; of an argument it need not run again for the tiles in a row that read the same."""
        if isinstance(source.storage.base.owner, ir.Block) and not source.storage.writable:
            unless_repeated(source.offset, self.scratch, body, source.limits())
        else:
            body()


def _store_starts(right: Storage, columns: LoopBound, starts: Storage, by: Multiplier) -> None:
    """What makes up for a left operand that was moved: for each column, minus its product with what the other was moved by."""

    def column(n: LinearIndex, lanes: Lanes) -> None:
        zeros = splat(lanes.type(right.element), 0)

        def step(indices: list[LinearIndex], sums: list[ir.Value]) -> list[ir.Value]:
            values = lanes.load(right, right.address([*indices, n.along_lanes()]))
            return [by.add(sums[0], by.left.zeros(values.type), values)]

        (total,) = nest([size for size in right.sizes[:-1]], [zeros], step)
        lanes.store(arith.subi(zeros, total), starts, n.along_lanes())

    chunks(columns, 4 * by.lanes, by.lanes, column)
