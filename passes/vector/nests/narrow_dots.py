"""Sums of products of small integers in i32, and of bf16 in f32, several products an instruction.

Operands of i8 (signed or not), i16 or bf16 are packed into lanes of 32 bits, neighbours in depth side by side (narrow_panels.py). What is
left is a contraction of lanes (contraction.py), whose step is an instruction (narrow_instructions.py):

    for n in chunks: for m in blocks of U:
      acc[0..U) = init
      for k in groups: b = load B[k, n…]; for u: acc[u] += dot(broadcast A[m+u, k], b)
      store acc

All sums of integers are exact modulo 2^32, so the order of depth does not matter. Products of bf16 are exact in f32; their sums are as good
as sums in another order.

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

from ...common.control_flow import for_each, nest, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from ...common.vectors import splat
from .access import Access
from .body import Captured, LanesBody
from .contraction import emit_contraction
from .lanes import Lanes, Rep
from .narrow_instructions import Multiplier, moved_by, multipliers
from .narrow_panels import Panel, Source, pack_panel
from .packing import Scratch, unless_repeated
from .work import Point, Work, starts_from_zero

_LEAST_ROWS, _LEAST_COLUMNS, _LEAST_DEPTH = 4, 4, 4


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

    `depth` is the reduced loop whose neighbours share a lane, `summed` the other reduced loops, `outer` the other parallel ones.
    """

    left: Access
    right: Access
    out: Access
    by: Multiplier
    rows: int
    columns: int
    depth: int
    outer: list[int]
    summed: list[int]


def _plan(work: Work, by: tuple[Multiplier, Multiplier], target: TargetView) -> _Plan | None:
    loops = range(len(work.extents))
    accesses = [Access.of(m, s, len(loops)) for m, s in zip(work.maps, [*work.inputs, *work.outputs])]
    left, right, out = accesses
    if left is None or right is None or out is None or any(not isinstance(work.extents[d], int) for d in loops if not work.parallel[d]):
        return None
    plan = _with_rows(work, left, right, out, by[0])
    plan = plan or _with_rows(work, right, left, out, by[1])
    if plan is None or (plan.by.moves and not starts_from_zero(work)):
        return None
    groups = prod(size_bound(work.extents[d]) for d in (plan.depth, *plan.summed)) // plan.by.left.count
    panel_bytes = 4 * groups * sum(size_bound(work.extents[d]) for d in (plan.rows, plan.columns))
    return plan if panel_bytes <= target.tile_bytes else None


def _with_rows(work: Work, left: Access, right: Access, out: Access, by: Multiplier) -> _Plan | None:
    """The plan with the rows of `left` and the columns of `right`, None if they have too few."""
    loops, a, b = range(len(work.extents)), left.strides, right.strides
    extents = [size_bound(extent) for extent in work.extents]
    summed = [d for d in loops if not work.parallel[d]]
    columns = [d for d in loops if out.strides[d] == 1 and not a[d] and b[d] and extents[d] >= _LEAST_COLUMNS]
    rows = [d for d in loops if work.parallel[d] and a[d] and not b[d] and extents[d] >= _LEAST_ROWS]
    depths = [d for d in summed if a[d] and b[d] and extents[d] >= _LEAST_DEPTH]
    if not (columns and rows and depths):
        return None
    row, column = max(rows, key=extents.__getitem__), columns[0]
    depth = max(depths, key=lambda d: (a[d] == 1, b[d] == 1, extents[d]))
    outer = [d for d in loops if work.parallel[d] and d not in (row, column)]
    return _Plan(left, right, out, by, row, column, depth, outer, [d for d in summed if d != depth])


class _Dots:
    def __init__(self, work: Work, plan: _Plan, captured: Captured, target: TargetView, scratch: Scratch):
        self.work, self.plan, self.captured, self.target, self.scratch = work, plan, captured, target, scratch
        self.sizes = work.extents[plan.rows], work.extents[plan.columns]

    def emit(self) -> None:
        outer = self.plan.outer
        nest_each([self.work.extents[d] for d in outer], lambda indices: self._product(dict(zip(outer, indices))))

    def _product(self, fixed: dict[int, LinearIndex]) -> None:
        """The product for fixed outer loops: its loops are rows, columns, the summed ones, and groups of depth."""
        plan, extents = self.plan, self.work.extents
        left, right, start = self._left(fixed), *self._right(fixed)
        inner = [extents[d] for d in plan.summed] + [-(-size_bound(extents[plan.depth]) // plan.by.left.count)]
        loops = 2 + len(inner)
        rows, columns, *rest = (ir.AffineDimExpr.get(d) for d in range(loops))
        maps = [ir.AffineMap.get(loops, 0, dims) for dims in ([rows, *rest], [*rest, columns], [rows, columns])]
        work = replace(self.work, maps=maps, inputs=[left, right], outputs=[self._result(plan.out, fixed)])
        work = replace(work, extents=[*self.sizes, *inner], parallel=[True, True] + [False] * len(inner))
        if start is not None:
            work = replace(work, inits=[start], fill=[None])
        elif (init := work.inits[0]) is not None:
            access = Access.of(self.work.output_maps[0], init, len(extents))
            assert access is not None  # it lies as the result does
            work = replace(work, inits=[self._result(access, fixed)])
        emit_contraction(work, 1, self.captured, self.target, self.scratch, lambda point, sums: [self._step(work, point, sums[0])])

    def _result(self, access: Access, fixed: dict[int, LinearIndex]) -> Storage:
        strides = access.strides[self.plan.rows], access.strides[self.plan.columns]
        return replace(access.storage, offset=access.at(fixed), strides=strides, sizes=self.sizes)

    def _source(self, access: Access, across: int, fixed: dict[int, LinearIndex]) -> Source:
        extents, strides, depth = self.work.extents, access.strides, self.plan.depth
        outer = [(size_bound(extents[d]), strides[d]) for d in self.plan.summed]
        return Source(access.storage, access.at(fixed), strides[across], strides[depth], extents[across], size_bound(extents[depth]), outer)

    def _left(self, fixed: dict[int, LinearIndex]) -> Storage:
        """The packed left operand for fixed outer loops."""
        source, grouping = self._source(self.plan.left, self.plan.rows, fixed), self.plan.by.left
        panel = (Panel.of_columns if source.across == 1 else Panel.of_rows)(self.scratch, source, grouping)
        self._once(source, lambda: pack_panel(source, panel, grouping))
        return panel.by_rows()

    def _right(self, fixed: dict[int, LinearIndex]) -> tuple[Storage, Storage | None]:
        """The packed right operand, and what the sums start from, where that is not what the work says."""
        source, by = self._source(self.plan.right, self.plan.columns, fixed), self.plan.by
        panel = Panel.of_columns(self.scratch, source, by.right)
        if not by.moves:
            self._once(source, lambda: pack_panel(source, panel, by.right))
            return panel.by_columns(), None
        width = panel.along
        starts = self.scratch((width,), panel.storage.element)

        def both() -> None:
            pack_panel(source, panel, by.right)
            _store_starts(panel, starts, by)

        self._once(source, both)
        return panel.by_columns(), replace(starts, strides=(0, 1), sizes=self.sizes)

    def _once(self, source: Source, body: Callable[[], None]) -> None:
        """Emits `body`, which packs `source`; of an argument it need not run again for the tiles in a row that read the same."""
        if isinstance(source.storage.base.owner, ir.Block) and not source.storage.writable:
            unless_repeated(source.offset, self.scratch, body)
        else:
            body()

    def _step(self, work: Work, point: Point, total: Rep) -> Rep:
        body = LanesBody(point.lanes, point.indices, self.captured)
        left, right = (point.lanes.widen(body.read(s, body.at(m))) for s, m in zip(work.inputs, work.maps) if isinstance(s, Storage))
        return self.plan.by.add(total, left, right)


def _store_starts(panel: Panel, starts: Storage, by: Multiplier) -> None:
    """What makes up for a left operand that was moved: for each column, minus its product with what the other was moved by."""
    right = panel.by_columns()
    lanes = Lanes(by.lanes)

    def column(n: LinearIndex) -> None:
        zeros = splat(lanes.type(right.element), 0)

        def step(indices: list[LinearIndex], sums: list[ir.Value]) -> list[ir.Value]:
            values = lanes.load(right, right.address([*indices, n.along_lanes()]))
            return [by.add(sums[0], moved_by(values.type), values)]

        (total,) = nest([size for size in right.sizes[:-1]], [zeros], step)
        lanes.store(arith.subi(zeros, total), starts, n.along_lanes())

    for_each(0, panel.along, by.lanes, column)
