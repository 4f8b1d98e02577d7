"""Contractions of bf16 operands, and of bytes, by AMX tiles: 2 × 2 tiles of 16 × 16 f32 (i32) are summed over the whole depth, then stored
to the tile's buffer of f32 (i32).

    for n in blocks of 32: for m in blocks of 32:
      c00, c01, c10, c11 = tile_zero
      for k in steps of 32 (of bytes: 64):
        a0, a1 = tile_load A[m…, k];  b0, b1 = tile_load B[k/2, n…, 2];  cij = tile_mulf (tile_muli) ai, bj, cij
      tile_store c → C[m, n]

The epilogue (bias, activation, rounding) is the next nest of the tile. Rows or columns beyond an edge are computed and dropped: they
are stored where the buffer has room, else by way of a scratch block. How operands get into the tiles' layout is told in amx_panels.py.

Must hold: the target has amx_bf16 (amx_int8). Declined (other code then computes the contraction): other bodies and types, accumulators
that do not start from zero, maps that are not linear, results whose columns are not contiguous, fewer than 8 rows, 16 columns or a depth
of 16; a left operand of bytes whose depth is not contiguous.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView

from ...common.contraction import integer_product, multiplies_bf16
from ...common.control_flow import for_each, for_loop, nest, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import size_bound
from .access import Access
from .amx_panels import BF16, Depth, Format, Operand, bytes_format, load_tile, pack_columns, pack_rows, store_tile
from .lanes import Lanes
from .nests import chunks, if_some, whole_part
from .packing import Scratch
from .work import Work, starts_from_zero

LEAST_ROWS, LEAST_COLUMNS, LEAST_GROUPS = 8, 16, 8
_BLOCK = 32
"""Rows and columns of a block of tiles."""


def emit_amx(work: Work, target: TargetView, scratch: Scratch) -> bool:
    """Emits `work` by AMX tiles, or returns False if it is not for them."""
    if not (target.amx_bf16 or target.amx_int8) or work.block is None or not starts_from_zero(work):
        return False
    plan = _plan(work, target)
    if plan is None:
        return False
    _Amx(work, plan, scratch).emit()
    return True


def formats(block: ir.Block, target: TargetView) -> list[Format]:
    """The format of the products with the first operand's rows, and that with the second's; none of other bodies."""
    if target.amx_bf16 and multiplies_bf16(block):
        return [BF16, BF16]
    product = integer_product(block) if target.amx_int8 else None
    if product is None or product.bits != 8:
        return []
    signs = product.left_signed, product.right_signed
    return [bytes_format(*signs), bytes_format(*signs[::-1])]


@dataclass(frozen=True)
class _Plan:
    """The operands, `left` with rows and `right` with columns, and which loop is what.

    `pair` is the loop over the two elements of a pair of depth, where the right operand is packed so. Other parallel loops are
    `outer`, other reduced loops `reduced`.
    """

    left: Access
    right: Access
    out: Access
    form: Format
    rows: int
    columns: int
    depth: int
    pair: int | None
    outer: list[int]
    reduced: list[int]


def _plan(work: Work, target: TargetView) -> _Plan | None:
    loops, extents = range(len(work.extents)), work.extents
    operands = [Access.of(m, s, len(loops)) for m, s in zip(work.maps, [*work.inputs, *work.outputs])]
    accesses = [a for a in operands if a is not None]
    summed = [d for d in loops if not work.parallel[d]]
    forms = [] if work.block is None else formats(work.block, target)
    if not forms or len(accesses) != 3 or any(not isinstance(extents[d], int) for d in summed):
        return None
    out = accesses[2]
    for left, right in (accesses[:2], accesses[1::-1]):
        a, b = left.strides, right.strides
        columns = [d for d in loops if out.strides[d] == 1 and not a[d] and b[d] and size_bound(extents[d]) >= LEAST_COLUMNS]
        rows = [d for d in loops if work.parallel[d] and a[d] and not b[d] and size_bound(extents[d]) >= LEAST_ROWS]
        if columns and rows:
            break
    else:
        return None
    form = forms[0 if left is accesses[0] else 1]
    row, column = max(rows, key=lambda d: size_bound(extents[d])), columns[0]
    depth, pair = _depth(work, a, b, row, column, summed) if form == BF16 else (_byte_depth(work, a, b, column, summed), None)
    if depth is None:
        return None
    outer = [d for d in loops if work.parallel[d] and d not in (row, column)]
    plan = _Plan(left, right, out, form, row, column, depth, pair, outer, [d for d in summed if d not in (depth, pair)])
    extent = size_bound(extents[depth]) * (1 if pair is None else 2)
    if pair is not None and not (isinstance(extents[column], int) or size_bound(extents[column]) % 32 == 0):
        return None  # blocks of 32 columns would reach beyond what is packed
    direct = a[depth if pair is None else pair] == 1 and extent % form.depth == 0
    most = size_bound(extents[row])
    packed = (_BLOCK if pair is None else 0) + (most + _BLOCK if not direct else _BLOCK if extents[row] != most or most % _BLOCK else 0)
    panel_bytes = 4 // form.group * prod(size_bound(extents[d]) for d in plan.reduced) * (extent + form.depth) * packed
    return plan if extent >= LEAST_GROUPS * form.group and panel_bytes <= target.tile_bytes else None


def _depth(work: Work, a: list[int], b: list[int], row: int, column: int, summed: list[int]) -> tuple[int | None, int | None]:
    """The loop that walks along the depth, and the loop over pairs where the right operand (strides b) is packed so, in whole tiles."""
    depths = [d for d in summed if a[d] and b[d] and 1 in (a[d], a[row]) and 1 in (b[d], b[column])]
    for pair in summed:
        if work.extents[pair] != 2 or b[pair] != 1 or b[column] != 2 or 1 not in (a[pair], a[row]):
            continue
        for d in summed:
            whole = isinstance(extent := work.extents[d], int) and 2 * extent % BF16.depth == 0
            if d != pair and whole and a[d] == 2 * a[pair] and b[d] and b[d] % 64 == 0:
                return d, pair
    return max(depths, key=lambda d: (a[d] == 1, work.extents[d]), default=None), None


def _byte_depth(work: Work, a: list[int], b: list[int], column: int, summed: list[int]) -> int | None:
    """The loop that walks along the depth of bytes: contiguous on the left."""
    depths = [d for d in summed if a[d] == 1 and b[d] and 1 in (b[d], b[column])]
    return max(depths, key=lambda d: size_bound(work.extents[d]), default=None)


class _Amx:
    def __init__(self, work: Work, plan: _Plan, scratch: Scratch):
        self.work, self.plan, self.scratch = work, plan, scratch
        self.m, self.n = work.extents[plan.rows], work.extents[plan.columns]
        self.most_rows, self.most_columns = size_bound(self.m), size_bound(self.n)
        self.block = (16 if self.most_rows <= 16 else 32, 16 if self.most_columns <= 16 else 32)
        extent = size_bound(work.extents[plan.depth]) * (1 if plan.pair is None else 2)
        self.depth = Depth({d: size_bound(work.extents[d]) for d in plan.reduced}, extent, plan.form)

    def emit(self) -> None:
        outer = self.plan.outer
        nest_each([self.work.extents[d] for d in outer], lambda indices: self._product(dict(zip(outer, indices))))

    def _operand(self, access: Access, across: int, fixed: dict[int, LinearIndex]) -> Operand:
        plan, strides = self.plan, access.strides
        along = plan.depth if plan.pair is None else plan.pair
        pairs = strides[plan.depth] if plan.pair is not None and access is plan.right else 0
        return Operand(access.storage, access.at(fixed), strides[across], strides[along], {d: strides[d] for d in plan.reduced}, pairs)

    def _product(self, fixed: dict[int, LinearIndex]) -> None:
        """Blocks of rows × columns for fixed outer loops: rows read where they lie, then those that need packing."""
        a, b = self._operand(self.plan.left, self.plan.rows, fixed), self._operand(self.plan.right, self.plan.columns, fixed)
        rows, columns = self.block
        direct = a.along == 1 and self.depth.extent % self.plan.form.depth == 0
        whole = whole_part(self.m, rows) if direct else 0
        edge = self._pack_edge(a, whole, _BLOCK if direct else -(-self.most_rows // _BLOCK) * _BLOCK)

        def column(n: LinearIndex) -> None:
            right, at = b, n
            if not b.pairs:
                right, at = self.depth.panel_of_columns(self.scratch, b.storage.element, columns), LinearIndex()
                pack_columns(b, right, n, self.n, columns, self.depth)

            for_each(0, whole, rows, lambda m: self._block(a, m, right, at, m, n, fixed))
            if edge is not None:
                for_each(whole, self.m, rows, lambda m: self._block(edge, m - LinearIndex.of(whole), right, at, m, n, fixed))

        for_each(0, self.n, columns, column)

    def _pack_edge(self, a: Operand, whole: int | ir.Value, count: int) -> Operand | None:
        """The rows from `whole` on in a panel of `count` rows, or None if there are none."""
        rest = LinearIndex.of(self.m) - LinearIndex.of(whole)
        if rest.is_constant and rest.constant == 0:
            return None
        panel = self.depth.panel_of_rows(self.scratch, a.storage.element, count)
        if rest.is_constant:
            pack_rows(a, panel, LinearIndex.of(whole), self.m, count, self.depth)
        else:
            with if_some(rest.value()):
                pack_rows(a, panel, LinearIndex.of(whole), self.m, count, self.depth)
        return panel

    def _block(
        self, a: Operand, row: LinearIndex, b: Operand, column: LinearIndex, m: LinearIndex, n: LinearIndex, fixed: dict[int, LinearIndex]
    ) -> None:
        """One block: rows from `row` of `a`, columns from `column` of `b`, stored at (m, n) of the result."""
        rows, columns = (range(0, size, 16) for size in self.block)
        form = self.plan.form
        zeros = [form.zero() for _ in rows for _ in columns]

        def outer(indices: list[LinearIndex], sums: list[ir.Value]) -> list[ir.Value]:
            reduced = dict(zip(self.depth.outer, indices))

            def step(k: LinearIndex, sums: list[ir.Value]) -> list[ir.Value]:
                left = [load_tile(a, a.at(row + i, k, reduced), form) for i in rows]
                right = [load_tile(b, b.at(column + j, k, reduced), form) for j in columns]
                pairs = [(x, y) for x in left for y in right]
                return [form.multiply(x, y, c) for (x, y), c in zip(pairs, sums)]

            return for_loop(0, self.depth.padded, form.depth, sums, step)

        sums = nest(list(self.depth.outer.values()), zeros, outer)
        self._store([(i, j) for i in rows for j in columns], sums, m, n, fixed)

    def _store(
        self, places: list[tuple[int, int]], sums: list[ir.Value], m: LinearIndex, n: LinearIndex, fixed: dict[int, LinearIndex]
    ) -> None:
        out, row = self.plan.out.storage, self.plan.out.strides[self.plan.rows]
        start = self.plan.out.at({**fixed, self.plan.rows: m, self.plan.columns: n})
        if self._has_room(out):
            for (i, j), tile in zip(places, sums):
                store_tile(tile, out, start + i * row + j, row)
            return
        rows, columns = self.block
        block = self.scratch(self.block, out.element)
        for (i, j), tile in zip(places, sums):
            store_tile(tile, block, LinearIndex(constant=i * columns + j), columns)
        width = _least(LinearIndex.of(self.n) - n, columns)

        def copy(i: LinearIndex) -> None:
            def chunk(j: LinearIndex, lanes: Lanes) -> None:
                j = j.along_lanes()
                lanes.store(lanes.load(block, i * columns + j), out, start + i * row + j)

            chunks(width, 16, 16, chunk)

        for_each(0, _least(LinearIndex.of(self.m) - m, rows), 1, copy)

    def _has_room(self, out: Storage) -> bool:
        """Whether whole blocks may be stored: no edge within one, or a buffer on the stack that is as large as the largest tile."""
        rows, columns = self.block
        exact = isinstance(self.m, int) and isinstance(self.n, int)
        return (exact or out.root is None) and self.most_rows % rows == 0 and self.most_columns % columns == 0


def _least(count: LinearIndex, most: int) -> int | ir.Value:
    if count.is_constant:
        return min(count.constant, most)
    return arith.minsi(count.value(), LinearIndex(constant=most).value())
