"""Contractions of bf16 operands by AMX tiles: 2 × 2 tiles of 16 × 16 f32 are summed over the whole depth, then stored to the f32 buffer of the tile.

    for n in blocks of 32: for m in blocks of 32:
      c00, c01, c10, c11 = tile_zero
      for k in steps of 32:
        a0, a1 = tile_load A[m…, k], b0, b1 = tile_load B[k/2, n…, 2];  cij = tile_mulf ai, bj, cij
      tile_store c → C[m, n]

The epilogue (bias, activation, rounding) is the next nest of the tile. Rows or columns beyond an edge are computed and dropped: they are stored where the
buffer has room, else by way of a scratch block. How operands get into the tiles' layout is told in amx_panels.py.

Must hold: the target has amx_bf16. Declined (other code then computes the contraction): other bodies and types, accumulators that do not start from zero,
operands read by maps that are not linear, results whose columns are not contiguous, fewer than 8 rows, 16 columns or a depth of 16.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ..rewriting import defining_op, value_of
from .amx_panels import DEPTH, Depth, Operand, load_tile, pack_columns, pack_rows, store_tile
from .index import Lin
from .lanes import Lanes
from .loops import for_loop, if_some, nest, whole_part
from .nests import chunks
from .packing import Scratch
from .storage import Storage
from .work import Work, stride_along

LEAST_ROWS, LEAST_COLUMNS, LEAST_DEPTH = 8, 16, 16
_MOST_PANEL_BYTES = 2 << 20
_BODY = ["arith.addf", "arith.extf", "arith.extf", "arith.mulf", "linalg.yield"]

Bound = Callable[["int | ir.Value"], int]


def emit_amx(work: Work, target: TargetView, bound: Bound, scratch: Scratch) -> bool:
    """Emits `work` by AMX tiles, or returns False if it is not for them."""
    if not target.amx_bf16 or work.block is None or not multiplies_bf16(work.block) or not _starts_from_zero(work):
        return False
    plan = _plan(work, bound)
    if plan is None:
        return False
    _Amx(work, plan, bound, scratch).emit()
    return True


def multiplies_bf16(block: ir.Block) -> bool:
    """Whether the body of a linalg.generic is `acc + extf(a) * extf(b)` of two bf16 and an f32."""
    arguments = list(block.arguments)
    ops = [o.operation for o in block.operations]
    if [str(a.type) for a in arguments] != ["bf16", "bf16", "f32"] or sorted(op.name for op in ops) != _BODY:
        return False
    total = defining_op(ops[-1].operands[0])
    once = all(len(list(v.uses)) == 1 for v in [*arguments, *(r for op in ops for r in op.results)])
    return once and total is not None and total.name == "arith.addf" and arguments[2] in list(total.operands)


def _starts_from_zero(work: Work) -> bool:
    value = work.fill[0]
    op = defining_op(value) if value is not None else None
    return op is not None and op.name == "arith.constant" and ir.FloatAttr(op.attributes["value"]).value == 0.0


@dataclass
class _Plan:
    """Which loop is what: rows (of input `left`), columns (of the other), and the reduced loops with the depth last; other parallel loops are `outer`."""

    left: int
    rows: int
    columns: int
    depth: int
    pair: int | None
    outer: list[int]
    reduced: list[int]


def _plan(work: Work, bound: Bound) -> _Plan | None:
    if not all(isinstance(s, Storage) for s in work.inputs) or any(not isinstance(e, int) for e, p in zip(work.extents, work.parallel) if not p):
        return None
    loops = range(len(work.extents))
    strides = [[stride_along(m, s, d) for d in loops] for m, s in zip(work.maps, [*work.inputs, *work.outputs])]
    if any(s is None for row in strides for s in row):
        return None
    out = strides[2]
    for left in (0, 1):
        a, b = strides[left], strides[1 - left]
        columns = [d for d in loops if out[d] == 1 and not a[d] and b[d] and bound(work.extents[d]) >= LEAST_COLUMNS]
        rows = [d for d in loops if work.parallel[d] and a[d] and not b[d] and bound(work.extents[d]) >= LEAST_ROWS]
        if columns and rows:
            break
    else:
        return None
    row, column = max(rows, key=lambda d: bound(work.extents[d])), columns[0]
    outer = [d for d in loops if work.parallel[d] and d not in (row, column)]
    reduced = [d for d in loops if not work.parallel[d]]
    pair = next((d for d in reduced if work.extents[d] == 2 and b[d] == 1 and b[column] == 2), None)
    depths = [d for d in reduced if d != pair and (pair is None or (a[d] == 2 * a[pair] and b[d] and b[d] % 64 == 0))]
    if pair is None or not depths:
        pair, depths = None, [d for d in reduced if a[d] and b[d] and 1 in (b[d], b[column]) and 1 in (a[d], a[row])]
    if not depths:
        return None
    depth = max(depths, key=lambda d: (a[d] in (1, 2), work.extents[d]))
    plan = _Plan(left, row, column, depth, pair, outer, [d for d in reduced if d not in (depth, pair)])
    extent = work.extents[depth] * (1 if pair is None else 2)
    if pair is not None and (extent % DEPTH or not _whole_columns(work, column, bound) or 1 not in (a[pair], a[row])):
        return None
    panels = 2 * prod(work.extents[d] for d in plan.reduced) * (extent + DEPTH) * (bound(work.extents[row]) + DEPTH)
    return plan if extent >= LEAST_DEPTH and panels <= _MOST_PANEL_BYTES else None


def _whole_columns(work: Work, column: int, bound: Bound) -> bool:
    """Whether blocks of 32 columns lie within what is packed: a tile cut at an edge is as wide as the others there."""
    extent = work.extents[column]
    return bound(extent) % 32 == 0 or isinstance(extent, int)


class _Amx:
    def __init__(self, work: Work, plan: _Plan, bound: Bound, scratch: Scratch):
        self.work, self.plan, self.scratch = work, plan, scratch
        self.m, self.n = work.extents[plan.rows], work.extents[plan.columns]
        self.most_rows, self.most_columns = bound(self.m), bound(self.n)
        self.block = (16 if self.most_rows <= 16 else 32, 16 if self.most_columns <= 16 else 32)
        extent = work.extents[plan.depth] * (1 if plan.pair is None else 2)
        self.depth = Depth({d: work.extents[d] for d in plan.reduced}, extent)

    def emit(self) -> None:
        def at(indices: list[Lin], carried):
            self._product(dict(zip(self.plan.outer, indices)))
            return carried

        nest([self.work.extents[d] for d in self.plan.outer], [], at)

    def _operand(self, number: int, fixed: dict[int, Lin], across: int) -> Operand:
        m, storage = self.work.maps[number], self.work.inputs[number]
        offset = storage.offset + _constant(m, storage)
        for dim, index in fixed.items():
            offset = offset + index * stride_along(m, storage, dim)
        plan, along = self.plan, plan_along(self.plan)
        pairs = stride_along(m, storage, plan.depth) if plan.pair is not None and number != plan.left else 0
        reduced = {d: stride_along(m, storage, d) for d in plan.reduced}
        return Operand(storage, offset, stride_along(m, storage, across), stride_along(m, storage, along), reduced, pairs)

    def _product(self, fixed: dict[int, Lin]) -> None:
        """Blocks of rows × columns for fixed outer loops."""
        a = self._operand(self.plan.left, fixed, self.plan.rows)
        b = self._operand(1 - self.plan.left, fixed, self.plan.columns)
        rows, columns = self.block
        direct = a.along == 1 and self.depth.extent % DEPTH == 0
        whole = whole_part(self.m, rows) if direct else 0
        rest = (Lin.of(self.m) - Lin.of(whole)).value() if not isinstance(self.m, int) else self.m - whole
        edge = None
        if rest if isinstance(rest, int) else True:
            count = -(-self.most_rows // DEPTH) * DEPTH if not direct else DEPTH
            edge = self.depth.panel(self.scratch, a.storage.element, count, 1)
            packed = edge

            def pack() -> None:
                pack_rows(a, packed, Lin.of(whole), self.m, count, self.depth)

            pack() if isinstance(rest, int) else if_some(rest, pack)

        def column(n: Lin, carried):
            right, at = b, n
            if not b.pairs:
                right, at = self.depth.panel(self.scratch, b.storage.element, columns, 2), Lin()
                pack_columns(b, right, n, self.n, columns, self.depth)

            def direct_rows(m: Lin, inner):
                self._block(a, m, right, at, m, n, fixed)
                return inner

            def edge_rows(m: Lin, inner):
                self._block(edge, m - Lin.of(whole), right, at, m, n, fixed)
                return inner

            for_loop(0, whole, rows, [], direct_rows)
            if edge is not None:
                for_loop(whole, self.m, rows, [], edge_rows)
            return carried

        for_loop(0, self.n, columns, [], column)

    def _block(self, a: Operand, row: Lin, b: Operand, column: Lin, m: Lin, n: Lin, fixed: dict[int, Lin]) -> None:
        """One block: rows from `row` of `a`, columns from `column` of `b`, stored at (m, n) of the result."""
        across, down = [range(0, size, 16) for size in self.block]
        kind = ir.Type.parse("!x86.amx.tile<16x16xf32>")
        zeros = [value_of("x86.amx.tile_zero", kind) for _ in across for _ in down]

        def outer(indices: list[Lin], sums: list[ir.Value]) -> list[ir.Value]:
            reduced = dict(zip(self.depth.outer, indices))

            def step(k: Lin, sums: list[ir.Value]) -> list[ir.Value]:
                left = [load_tile(a, a.at(row + i, k, reduced)) for i in across]
                right = [load_tile(b, b.at(column + j, k, reduced)) for j in down]
                pairs = [(x, y) for x in left for y in right]
                return [value_of("x86.amx.tile_mulf", kind, [x, y, c]) for (x, y), c in zip(pairs, sums)]

            return for_loop(0, self.depth.padded, DEPTH, sums, step)

        sums = nest(list(self.depth.outer.values()), zeros, outer)
        self._store([(i, j) for i in across for j in down], sums, m, n, fixed)

    def _store(self, places: list[tuple[int, int]], sums: list[ir.Value], m: Lin, n: Lin, fixed: dict[int, Lin]) -> None:
        output, out_map = self.work.outputs[0], self.work.output_maps[0]
        row = stride_along(out_map, output, self.plan.rows)
        start = output.offset + _constant(out_map, output) + m * row + n
        for dim, index in fixed.items():
            start = start + index * stride_along(out_map, output, dim)
        if self._has_room(output):
            for (i, j), tile in zip(places, sums):
                store_tile(tile, output, start + i * row + j, row)
            return
        rows, columns = self.block
        block = self.scratch(self.block, output.element)
        for (i, j), tile in zip(places, sums):
            store_tile(tile, block, Lin(constant=i * columns + j), columns)
        width = _least(Lin.of(self.n) - n, columns)

        def copy(i: Lin, carried):
            def chunk(j: Lin, lanes: Lanes) -> None:
                j = Lin(j.terms, j.constant, 1)
                lanes.store(lanes.load(block, i * columns + j), output, start + i * row + j)

            chunks(width, 16, 16, chunk)
            return carried

        for_loop(0, _least(Lin.of(self.m) - m, rows), 1, [], copy)

    def _has_room(self, output: Storage) -> bool:
        """Whether whole blocks may be stored: no edge within one, or a buffer on the stack that is as large as the largest tile."""
        rows, columns = self.block
        exact = isinstance(self.m, int) and isinstance(self.n, int)
        return (exact or output.root is None) and self.most_rows % rows == 0 and self.most_columns % columns == 0


def plan_along(plan: _Plan) -> int:
    """The loop that walks along the depth one element at a time."""
    return plan.depth if plan.pair is None else plan.pair


def _constant(m: ir.AffineMap, storage: Storage) -> int:
    """The part of a linear map's address that no loop moves."""
    origin = ir.AffineMap.get(0, 0, [ir.AffineConstantExpr.get(0)] * m.n_dims)
    return sum(ir.AffineConstantExpr(e.compose(origin)).value * stride for e, stride in zip(m.results, storage.strides))


def _least(count: Lin, most: int) -> int | ir.Value:
    if count.is_constant:
        return min(count.constant, most)
    return value_of("arith.minsi", ir.IndexType.get(), [count.value(), Lin(constant=most).value()])
