"""Sums of products of small integers in i32, and of halves in f32, several products an instruction where there is one.

Operands of i8 (signed or not), i16, bf16 or f16 are packed into lanes of 32 bits, neighbours in depth side by side (narrow_panels.py); of
windows that overlap each element once (narrow_pieces.py). What is left is a contraction of lanes (contraction.py), whose step is an
instruction (narrow_instructions.py):

    for n in chunks: for m in blocks of U:
      acc[0..U) = init
      for k in groups: b = load B[k, n…]; for u: acc[u] += dot(broadcast A[m+u, k], b)
      store acc

All sums of integers are exact modulo 2^32, so the order of depth does not matter. Products of halves are exact in f32; sums of pairs are as
good as sums in another order, those of halves that are widened are what the body says.

Declined (other code then computes the contraction): other bodies and types, maps that are not linear, results whose columns are not
contiguous, few rows or columns, a short depth, panels that the cache does not hold.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView

from ...common.control_flow import LoopBound, for_each, nest, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from ...common.vectors import splat
from .access import Access
from .body import Captured
from .contraction import emit_contraction
from .lanes import Lanes
from .narrow_instructions import Multiplier, multipliers, step_of
from .narrow_panels import Panel, Source, groups_of, pack_panel
from .narrow_pieces import Dim, piece
from .packing import Scratch, unless_repeated
from .work import Work, starts_from_zero

_LEAST_DEPTH = 3


def emit_narrow_dots(work: Work, captured: Captured, target: TargetView, scratch: Scratch) -> bool:
    """Emits `work` by dot products of integers, or returns False if it is not for them."""
    found = None if work.block is None or not work.reduces else multipliers(work.block, target)
    plan = None if found is None else _plan(work, found, target)
    if plan is None:
        return False
    _Dots(work, plan, captured, target, scratch).emit()
    return True


@dataclass(frozen=True)
class _Plan:
    """The operands, `left` with rows and `right` with columns, how their elements are grouped, and which loop is what.

    `depth` is the reduced loop whose neighbours share a lane, `summed` the other reduced loops, `outer` the parallel ones for each point of
    which there are other panels, `rows` those within.
    """

    left: Access
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

    def dims(self, extents: list[LoopBound], fixed: dict[int, LinearIndex]) -> list[Dim] | None:
        """What is read of the left operand at a point of the outer loops; None where that is no panel."""
        return piece(self.map, self.left.storage, extents, self.depth, fixed) or None

    def panel_bytes(self, extents: list[LoopBound]) -> int | None:
        """Of both operands, None where there is no panel of the left one."""
        dims = self.dims(extents, {d: LinearIndex() for d in self.outer})
        if dims is None:
            return None
        columns = prod(size_bound(extents[d]) for d in (self.columns, *self.summed))
        lanes = groups_of(size_bound(extents[self.depth]), self.by.left)
        return 4 * lanes * (prod(dim.most for dim in dims) + columns)


def _plan(work: Work, by: tuple[Multiplier, Multiplier], target: TargetView) -> _Plan | None:
    loops = range(len(work.extents))
    accesses = [Access.of(m, s, len(loops)) for m, s in zip(work.maps, [*work.inputs, *work.outputs])]
    left, right, out = accesses
    if left is None or right is None or out is None or any(not isinstance(work.extents[d], int) for d in loops if not work.parallel[d]):
        return None
    plans = [*_with_rows(work, 0, left, right, out, by[0]), *_with_rows(work, 1, right, left, out, by[1])]
    for plan in plans:
        size = plan.panel_bytes(work.extents)
        if size is not None and size <= target.tile_bytes:
            return None if plan.by.moves and not starts_from_zero(work) else plan
    return None


def _with_rows(work: Work, number: int, left: Access, right: Access, out: Access, by: Multiplier) -> list[_Plan]:
    """Plans with the rows of `left`, input `number`, and the columns of `right`: with panels of all rows, and of one loop of them. None if
    there are too few."""
    loops, a, b = range(len(work.extents)), left.strides, right.strides
    extents = [size_bound(extent) for extent in work.extents]
    summed = [d for d in loops if not work.parallel[d]]
    columns = [d for d in loops if out.strides[d] == 1 and not a[d] and b[d] and extents[d] >= by.least]
    rows = [d for d in loops if work.parallel[d] and a[d] and not b[d]]
    depths = [d for d in summed if a[d] and b[d] and extents[d] >= _LEAST_DEPTH]
    if not (columns and depths) or any(right.storage.bounds) or prod(extents[d] for d in rows) < by.least:
        return []
    column = columns[0]
    depth = max(depths, key=lambda d: (a[d] == 1, b[d] == 1, extents[d]))
    others = [d for d in loops if work.parallel[d] and d not in (*rows, column)]
    longest = max(rows, key=extents.__getitem__)
    single = [d for d in loops if work.parallel[d] and d not in (longest, column)]
    rest = [d for d in summed if d != depth]
    plan = _Plan(left, work.maps[number], right, out, by, rows, column, depth, others, rest)
    return [plan, replace(plan, rows=[longest], outer=single)]


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
        maps = [m, *([of[d] for d in dims] for dims in ([*plan.summed, plan.depth, plan.columns], [*plan.rows, plan.columns]))]
        maps = [ir.AffineMap.get(loops, 0, dims) for dims in maps]
        inner = [*(extents[d] for d in self.loops), groups_of(size_bound(extents[plan.depth]), plan.by.left)]
        work = replace(self.work, maps=maps, inputs=[left, right], outputs=[self._result(plan.out, fixed)], extents=inner)
        work = replace(work, parallel=[position <= rows for position in range(loops)])
        if start is not None:
            work = replace(work, inits=[replace(start, strides=(0,) * rows + (1,), sizes=self._sizes())], fill=[None])
        elif (init := work.inits[0]) is not None:
            access = Access.of(self.work.output_maps[0], init, len(extents))
            assert access is not None  # it lies as the result does
            work = replace(work, inits=[self._result(access, fixed)])
        emit_contraction(work, rows, self.captured, self.target, self.scratch, step_of(work, self.captured, plan.by.add))

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
        bounds = tuple(dim.bounds for dim in dims)
        depth = size_bound(extents[plan.depth])
        source = Source(access.storage, access.at(fixed), last.stride, access.strides[plan.depth], last.extent, depth)
        source = replace(source, outer=[(dim.extent, dim.stride) for dim in outer], bounds=bounds)
        turned = last.stride == 1 and not any(bounds)
        panel = (Panel.of_columns if turned else Panel.of_rows)(self.scratch, source, by)
        self._once(source, lambda: pack_panel(source, panel, by))
        sizes = (*(dim.extent for dim in dims), groups_of(depth, by))
        storage = replace(panel.by_rows(), sizes=sizes, bounds=(*bounds, None) if any(bounds) and not by.flips else ())
        of = {loop: ir.AffineDimExpr.get(position) for position, loop in enumerate(self.loops)}
        zero = ir.AffineConstantExpr.get(0)
        read = [sum((of[loop] * step for loop, step in dim.steps.items()), zero) for dim in dims]
        return storage, [*read, ir.AffineDimExpr.get(len(self.loops))]

    def _right(self, fixed: dict[int, LinearIndex]) -> tuple[Storage, Storage | None]:
        """The packed right operand, and what the sums start from, where that is not what the work says."""
        plan, access, extents, by = self.plan, self.plan.right, self.work.extents, self.plan.by
        strides, depth = access.strides, size_bound(extents[plan.depth])
        source = Source(access.storage, access.at(fixed), strides[plan.columns], strides[plan.depth], extents[plan.columns], depth)
        source = replace(source, outer=[(extents[d], strides[d]) for d in plan.summed])
        panel = Panel.of_columns(self.scratch, source, by.right)
        if not by.moves:
            self._once(source, lambda: pack_panel(source, panel, by.right))
            return panel.by_columns(), None
        starts = self.scratch((panel.along,), panel.storage.element)

        def both() -> None:
            pack_panel(source, panel, by.right)
            _store_starts(panel, starts, by)

        self._once(source, both)
        return panel.by_columns(), starts

    def _once(self, source: Source, body: Callable[[], None]) -> None:
        """Emits `body`, which packs `source`; of an argument it need not run again for the tiles in a row that read the same."""
        if isinstance(source.storage.base.owner, ir.Block) and not source.storage.writable:
            unless_repeated(source.offset, self.scratch, body)
        else:
            body()


def _store_starts(panel: Panel, starts: Storage, by: Multiplier) -> None:
    """What makes up for a left operand that was moved: for each column, minus its product with what the other was moved by."""
    right = panel.by_columns()
    lanes = Lanes(by.lanes)

    def column(n: LinearIndex) -> None:
        zeros = splat(lanes.type(right.element), 0)

        def step(indices: list[LinearIndex], sums: list[ir.Value]) -> list[ir.Value]:
            values = lanes.load(right, right.address([*indices, n.along_lanes()]))
            return [by.add(sums[0], by.left.zeros(values.type), values)]

        (total,) = nest([size for size in right.sizes[:-1]], [zeros], step)
        lanes.store(arith.subi(zeros, total), starts, n.along_lanes())

    for_each(0, panel.along, by.lanes, column)
