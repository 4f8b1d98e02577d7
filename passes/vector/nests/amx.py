"""Contractions of bf16 operands, and of bytes, by AMX tiles: 2 × 2 tiles of 16 × 16 f32 (i32) are summed over a part of the depth, then
stored to the tile's buffer of f32 (i32).

    for n in blocks of 32: for part of the depth: for m in blocks of 32:
      c00, c01, c10, c11 = tile_zero; of later parts tile_load C[m, n]
      for k in steps of 32 (of bytes: 64):
        a0, a1 = tile_load A[m…, k];  b0, b1 = tile_load B[k/2, n…, 2];  cij = tile_mulf (tile_muli) ai, bj, cij
        prefetch a share of B[…, n + 32…]
      tile_store c → C[m, n]

Half of the first cache holds a part of B, which all rows pass over; A comes from L2. With both from L2 the tiles wait. A sum has the same
bits in parts as in one. The epilogue (bias, activation, rounding) is the next nest of the tile. How rows and columns beyond whole blocks
are computed is told in amx_tiles.py, how operands get into the tiles' layout in amx_panels.py.

Must hold: the target has amx_bf16 (amx_int8). Declined (other code then computes the contraction): other bodies and types, accumulators
that do not start from zero, maps that are not linear, results whose columns are not contiguous, fewer than 8 rows, of a packed right
operand one row, fewer than 16 columns or a depth of 16; a left operand of bytes whose depth is not contiguous.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import TargetView
from hloom.runtime.lazy import lazy

from ...common.axes import even_size
from ...common.contraction import integer_product, multiplies_bf16
from ...common.control_flow import either, nest_each
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import last_rest, size_bound
from .access import Access
from .amx_blocks import Behind, Edge, Products, Sums, last_block, parts, whole_blocks
from .amx_panels import Depth, pack_columns, pack_rows
from .amx_tiles import BF16, BLOCK, SIDE, Format, Operand, bytes_format
from .packing import Scratch
from .work import Work, starts_from_zero

LEAST_ROWS, LEAST_COLUMNS, LEAST_GROUPS = 2, 16, 8
_PACKING_ROWS = 8
"""Fewer rows are multiplied before a right operand that nothing has packed yet is."""


def emit_amx(work: Work, target: TargetView, scratch: Scratch) -> bool:
    """Emits `work` by AMX tiles, or returns False if it is not for them."""
    if not (target.amx_bf16 or target.amx_int8) or work.block is None or not starts_from_zero(work):
        return False
    plan = _plan(work, target)
    if plan is None:
        return False
    _Amx(work, plan, target, scratch).emit()
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

    `pair` is the loop over the elements of a pair (quad) of depth, where the right operand is packed so. Other parallel loops are
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
    is_direct: bool
    """Whether rows are read where they lie: their depth is contiguous, in whole tiles, and those of all tiles of a kernel make the same."""


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
    depth, pair = _depth(work, form, a, b, row, column, summed)
    if depth is None:
        return None
    outer = [d for d in loops if work.parallel[d] and d not in (row, column)]
    extent = size_bound(extents[depth]) * (1 if pair is None else form.group)
    heights, widths = _sizes(extents[row]), _sizes(extents[column])
    if heights is None or widths is None or (max(heights) < _PACKING_ROWS if pair is None else min(widths) < SIDE):
        return None
    direct = a[depth if pair is None else pair] == 1 and extent % form.depth == 0 and (min(heights) >= SIDE or len(heights) == 1)
    plan = _Plan(left, right, out, form, row, column, depth, pair, outer, [d for d in summed if d not in (depth, pair)], direct)
    packed = (BLOCK if pair is None else 0) + (max(heights) + BLOCK if not direct else 0)
    panel_bytes = 4 // form.group * prod(size_bound(extents[d]) for d in plan.reduced) * (extent + form.depth) * packed
    return plan if extent >= LEAST_GROUPS * form.group and panel_bytes <= target.tile_bytes else None


def _depth(work: Work, form: Format, a: list[int], b: list[int], row: int, column: int, summed: list[int]) -> tuple[int | None, int | None]:
    """The loop that walks along the depth, and the loop over pairs (quads) where the right operand (strides b) is packed so, in whole
    tiles. Bytes of depth are contiguous on the left."""
    by_rows = form.group == 2 and a[row] == 1
    for pair in summed:
        if work.extents[pair] != form.group or b[pair] != 1 or b[column] != form.group or not (a[pair] == 1 or by_rows):
            continue
        for d in summed:
            whole = isinstance(extent := work.extents[d], int) and form.group * extent % form.depth == 0
            if d != pair and whole and a[d] == form.group * a[pair] and b[d] and b[d] % (BLOCK * form.group) == 0:
                return d, pair
    depths = [d for d in summed if a[d] and b[d] and (a[d] == 1 or by_rows) and 1 in (b[d], b[column])]
    return max(depths, key=lambda d: (a[d] == 1, work.extents[d]), default=None), None


class _Amx:
    def __init__(self, work: Work, plan: _Plan, target: TargetView, scratch: Scratch):
        self.work, self.plan, self.target, self.scratch = work, plan, target, scratch
        extent = size_bound(work.extents[plan.depth]) * (1 if plan.pair is None else plan.form.group)
        self.depth = Depth({d: size_bound(work.extents[d]) for d in plan.reduced}, extent, plan.form)

    @lazy
    def _panel_of_rows(self) -> Operand:
        """All rows, filled up to whole blocks."""
        most = -(-size_bound(self.work.extents[self.plan.rows]) // BLOCK) * BLOCK
        return self.depth.panel_of_rows(self.scratch, self.plan.left.storage.element, most)

    @lazy
    def _panel_of_columns(self) -> Operand:
        return self.depth.panel_of_columns(self.scratch, self.plan.right.storage.element, BLOCK)

    @lazy
    def _room(self) -> Storage:
        """A block of sums, of which not all are stored."""
        return self.scratch((BLOCK, BLOCK), self.plan.out.storage.element)

    def emit(self) -> None:
        outer, extents = self.plan.outer, self.work.extents

        def product(indices: list[LinearIndex]) -> None:
            fixed = dict(zip(outer, indices))
            rows, columns = extents[self.plan.rows], extents[self.plan.columns]
            _of_known_size(rows, lambda m: _of_known_size(columns, lambda n: self._product(fixed, m, n)))

        nest_each([extents[d] for d in outer], product)

    def _operand(self, access: Access, across: int, fixed: dict[int, LinearIndex]) -> Operand:
        plan, strides = self.plan, access.strides
        along = plan.depth if plan.pair is None else plan.pair
        pairs = strides[plan.depth] if plan.pair is not None and access is plan.right else 0
        reduced = {d: strides[d] for d in plan.reduced}
        return Operand(access.storage, access.at(fixed), strides[across], strides[along], reduced, pairs, plan.form.group)

    def _product(self, fixed: dict[int, LinearIndex], rows: int, columns: int) -> None:
        """Rows × columns for fixed outer loops: for each panel of columns, for each part of the depth, all blocks of rows."""
        plan, depth = self.plan, self.depth
        a, b = self._operand(plan.left, plan.rows, fixed), self._operand(plan.right, plan.columns, fixed)
        least = min(rows, SIDE) if plan.is_direct else SIDE
        if not plan.is_direct:
            pack_rows(a, self._panel_of_rows, LinearIndex(), rows, -(-rows // BLOCK) * BLOCK, depth)
            a = self._panel_of_rows
        sums = Sums(plan.out.storage, plan.out.at(fixed), plan.out.strides[plan.rows])
        edge, part = Edge(rows, columns, lambda: self._room), self._part(rows, columns)

        def panel(n: LinearIndex, wide: int) -> None:
            right = b.moved(n)
            if not b.pairs:
                right = self._panel_of_columns
                pack_columns(b, right, n, columns, SIDE if wide <= SIDE else BLOCK, depth)
            behind = Behind.of(b, self._behind(b, n), rows, depth, self.target)
            products = Products(a, right, wide, depth, replace(sums, offset=sums.offset + n), edge)

            def add(k: LinearIndex, count: int) -> None:
                whole_blocks(rows, lambda m, high: products.add(m, high, k, count, k == LinearIndex(), behind))

            parts(depth.padded, part, add)
            last_block(rows, least, lambda m, high: products.add(m, high, LinearIndex(), depth.padded, fresh=True))

        whole_blocks(columns, panel)
        last_block(columns, SIDE, panel)

    def _behind(self, b: Operand, n: LinearIndex) -> LinearIndex:
        """Where the panel of columns behind that at `n` begins: packed ones lie one behind the other."""
        return LinearIndex(constant=self.depth.padded * BLOCK // b.across) if b.pairs else n + BLOCK

    def _part(self, rows: int, columns: int) -> int:
        """The depth that is summed at once: so much that half of the first cache holds it of a panel, where blocks of rows read that again
        and again. Parts are as even as tiles allow."""
        padded, unit = self.depth.padded, self.plan.form.depth
        most = self.target.l1_bytes // 2 // (BLOCK * (4 // self.plan.form.group)) // unit
        if self.depth.outer or rows <= 2 * BLOCK or columns < SIDE or not most:
            return padded
        return even_size(padded // unit, most) * unit


def _sizes(extent: int | ir.Value) -> tuple[int, ...] | None:
    """The sizes that tiles have, that of the last one behind that of the others; None where it is not known."""
    if isinstance(extent, int):
        return (extent,)
    most = size_bound(extent)
    rest = last_rest(extent, most)
    return None if rest is None else (most, rest) if rest else (most,)


def _of_known_size(extent: int | ir.Value, body: Callable[[int], None]) -> None:
    """`body(size)`, for each of the sizes that tiles have."""
    sizes = _sizes(extent)
    assert sizes is not None  # the plan declines others
    most, *rest = sizes
    if not rest:
        body(most)
        return
    is_whole = arith.cmpi(arith.CmpIPredicate.eq, LinearIndex.of(extent).value(), LinearIndex(constant=most).value())
    either(is_whole, lambda: body(most), lambda: body(rest[0]))
