"""Sums of products of small integers in i32, several products an instruction.

Operands of i8 (signed or not) or i16 are packed into lanes of 32 bits, neighbours in depth side by side (integer_panels.py). What is left
is a contraction of lanes (contraction.py), whose step is an instruction:

    for n in chunks: for m in blocks of U:
      acc[0..U) = init
      for k in pairs: b = load B[k, n…]; for u: acc[u] += pmaddwd(broadcast A[m+u, k], b)
      store acc

All sums are exact modulo 2^32, so the order of depth does not matter.

Declined (other code then computes the contraction): other bodies and types, maps that are not linear, results whose columns are not
contiguous, few rows or columns, a short depth, panels that the cache does not hold.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from hloom.dialects.target import TargetView

from ...common.contraction import IntegerProduct, integer_product
from ...common.control_flow import nest_each
from ...common.linear_index import LinearIndex
from ...common.rewriting import value_of
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from ...common.vectors import part, vector_of
from .access import Access
from .body import Captured, LanesBody
from .contraction import emit_contraction
from .integer_panels import Grouping, Panel, Source, pack_panel
from .lanes import Rep
from .packing import Scratch, unless_repeated
from .work import Point, Work

_LEAST_ROWS, _LEAST_COLUMNS, _LEAST_DEPTH = 4, 4, 4
_PAIRS = {4: "llvm.x86.sse2.pmadd.wd", 8: "llvm.x86.avx2.pmadd.wd", 16: "llvm.x86.avx512.pmaddw.d.512"}
"""Products of two pairs of i16 a lane, summed; by lanes."""


def emit_integer_dots(work: Work, captured: Captured, target: TargetView, scratch: Scratch) -> bool:
    """Emits `work` by dot products of integers, or returns False if it is not for them."""
    product = None if work.block is None or not work.reduces else integer_product(work.block)
    plan = None if product is None else _plan(work, product, target)
    if product is None or plan is None:
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
    left_lanes: Grouping
    right_lanes: Grouping
    rows: int
    columns: int
    depth: int
    outer: list[int]
    summed: list[int]


def _plan(work: Work, product: IntegerProduct, target: TargetView) -> _Plan | None:
    loops = range(len(work.extents))
    accesses = [Access.of(m, s, len(loops)) for m, s in zip(work.maps, [*work.inputs, *work.outputs])]
    left, right, out = accesses
    if left is None or right is None or out is None or any(not isinstance(work.extents[d], int) for d in loops if not work.parallel[d]):
        return None
    lanes = [Grouping(2, 16, sign, target.lanes(32)) for sign in (product.left_signed, product.right_signed)]
    plan = _with_rows(work, left, right, out, *lanes) or _with_rows(work, right, left, out, *lanes[::-1])
    if plan is None:
        return None
    groups = prod(size_bound(work.extents[d]) for d in (plan.depth, *plan.summed)) // 2
    panel_bytes = 4 * groups * sum(size_bound(work.extents[d]) for d in (plan.rows, plan.columns))
    return plan if panel_bytes <= target.tile_bytes else None


def _with_rows(work: Work, left: Access, right: Access, out: Access, left_lanes: Grouping, right_lanes: Grouping) -> _Plan | None:
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
    return _Plan(left, right, out, left_lanes, right_lanes, row, column, depth, outer, [d for d in summed if d != depth])


class _Dots:
    def __init__(self, work: Work, plan: _Plan, captured: Captured, target: TargetView, scratch: Scratch):
        self.work, self.plan, self.captured, self.target, self.scratch = work, plan, captured, target, scratch

    def emit(self) -> None:
        outer = self.plan.outer
        nest_each([self.work.extents[d] for d in outer], lambda indices: self._product(dict(zip(outer, indices))))

    def _product(self, fixed: dict[int, LinearIndex]) -> None:
        """The product for fixed outer loops: its loops are rows, columns, the summed ones, and groups of depth."""
        plan, extents = self.plan, self.work.extents
        left = self._panel(plan.left, plan.rows, plan.left_lanes, fixed).by_rows()
        right = self._panel(plan.right, plan.columns, plan.right_lanes, fixed).by_columns()
        groups = -(-size_bound(extents[plan.depth]) // plan.left_lanes.count)
        inner = [extents[d] for d in plan.summed] + [groups]
        loops = 2 + len(inner)
        rows, columns, *rest = (ir.AffineDimExpr.get(d) for d in range(loops))
        maps = [ir.AffineMap.get(loops, 0, dims) for dims in ([rows, *rest], [*rest, columns], [rows, columns])]
        sizes = (extents[plan.rows], extents[plan.columns])
        strides = (plan.out.strides[plan.rows], plan.out.strides[plan.columns])
        out = replace(plan.out.storage, offset=plan.out.at(fixed), strides=strides, sizes=sizes)
        inits = [self._init(fixed, sizes)]
        parallel = [True, True] + [False] * len(inner)
        work = replace(self.work, maps=maps, inputs=[left, right], inits=inits, outputs=[out], extents=[*sizes, *inner], parallel=parallel)
        emit_contraction(work, 1, self.captured, self.target, self.scratch, lambda point, sums: [self._step(work, point, sums[0])])

    def _init(self, fixed: dict[int, LinearIndex], sizes: tuple[int | ir.Value, ...]) -> Storage | None:
        init = self.work.inits[0]
        if init is None or self.work.fill[0] is not None:
            return init
        access = Access.of(self.work.output_maps[0], init, len(self.work.extents))
        assert access is not None
        strides = (access.strides[self.plan.rows], access.strides[self.plan.columns])
        return replace(init, offset=access.at(fixed), strides=strides, sizes=sizes)

    def _panel(self, access: Access, across: int, grouping: Grouping, fixed: dict[int, LinearIndex]) -> Panel:
        """The packed operand for fixed outer loops."""
        extents, strides, depth = self.work.extents, access.strides, self.plan.depth
        outer = [(size_bound(extents[d]), strides[d]) for d in self.plan.summed]
        planes = strides[across], strides[depth], extents[across], size_bound(extents[depth])
        source = Source(access.storage, access.at(fixed), *planes, outer)
        rows = access is self.plan.left and source.across != 1
        panel = (Panel.of_rows if rows else Panel.of_columns)(self.scratch, source, grouping)
        if isinstance(source.storage.base.owner, ir.Block) and not source.storage.writable:
            unless_repeated(source.offset, self.scratch, lambda: pack_panel(source, panel, grouping))
        else:
            pack_panel(source, panel, grouping)
        return panel

    def _step(self, work: Work, point: Point, total: Rep) -> Rep:
        body = LanesBody(point.lanes, point.indices, self.captured)
        left, right = (point.lanes.widen(body.read(s, body.at(m))) for s, m in zip(work.inputs, work.maps) if isinstance(s, Storage))
        count = point.lanes.count
        one = min(count, self.target.lanes(32))
        parts = [_pairs(part(left, at, one), part(right, at, one)) for at in range(0, count, one)]
        return arith.addi(total, _joined(parts))


def _pairs(left: ir.Value, right: ir.Value) -> ir.Value:
    """Sums of the two products of each lane."""
    lanes = ir.VectorType(left.type).shape[0]
    halves = vector_of(2 * lanes, ir.IntegerType.get_signless(16))
    operands = [vector.bitcast(halves, value) for value in (left, right)]
    return intrinsic(_PAIRS[lanes], left.type, operands)


def _joined(parts: list[ir.Value]) -> ir.Value:
    """The parts of a vector side by side."""
    while len(parts) > 1:
        length = 2 * ir.VectorType(parts[0].type).shape[0]
        parts = [vector.shuffle(a, b, list(range(length))) for a, b in zip(parts[::2], parts[1::2])]
    return parts[0]


def intrinsic(name: str, result: ir.Type, operands: list[ir.Value]) -> ir.Value:
    """The result of an intrinsic of LLVM."""
    segments = ir.DenseI32ArrayAttr.get([len(operands), 0])
    return value_of(
        "llvm.call_intrinsic",
        result,
        operands,
        intrin=ir.StringAttr.get(name),
        op_bundle_sizes=ir.DenseI32ArrayAttr.get([]),
        operandSegmentSizes=segments,
    )
