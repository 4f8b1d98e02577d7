"""Products of bf16 by AMX tiles whose right operand several tiles of a kernel read one after the other, as the keys and the values of a
head in attention: it is packed once for all of them, in panels of 32 columns.

    unless the tile before read the same B:  pack B → P[N / 32][K / 2][32][2]
    for n in blocks of 32:
      c00, c01, c10, c11 = tile_zero
      for k in steps of 32:
        a0, a1 = tile_load A[0, k], A[M - 16, k];  b0, b1 = tile_load P[n];  cij = tile_mulf ai, bj, cij
      tile_store c → C[0, n], C[M - 16, n]

A tile has 16 to 32 rows, the last 16 of which may be some of the first, too, and are then computed twice, to the same bits; so are columns
where no whole block is left. How many rows there are, and of how many columns (steps) a mask leaves something, may be known at run time
alone: panels hold all, filled up with zeros. Rows of A whose steps fill no tile are copied first, zeros behind them.

Must hold: the target has amx_bf16. Declined, and left to amx.py: a right operand that is no argument, or that changes from a tile to the
next; panels that fill half of a tile's share of the cache; other numbers of rows, fewer than 16 columns or steps; several loops that are
summed; results that go to the program's with columns that only run time tells.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.contraction import multiplies_bf16
from ...common.control_flow import for_each, nest_each
from ...common.linear_index import LinearIndex, least
from ...common.tiled_function import is_multiple, last_rest, size_bound
from .access import Access
from .amx_blocks import Products, Sums
from .amx_panels import Depth, pack_columns
from .amx_tiles import BF16, BLOCK, SIDE, Operand
from .lanes import Lanes
from .nests import chunks
from .packing import Scratch, unless_repeated, whole_extent
from .work import Work, starts_from_zero


def emit_kept(work: Work, target: TargetView, scratch: Scratch) -> bool:
    """Emits `work` so, or returns False if it is not for this."""
    if not target.amx_bf16 or work.block is None or not multiplies_bf16(work.block) or not starts_from_zero(work):
        return False
    plan = _plan(work, target)
    if plan is None:
        return False
    _Kept(work, plan, scratch).emit()
    return True


@dataclass(frozen=True)
class _Plan:
    """The operands, which loop is what, and all columns and steps that the right operand has."""

    left: Access
    right: Access
    out: Access
    rows: int
    columns: int
    depth: int
    outer: list[int]
    width: int
    steps: int


def _plan(work: Work, target: TargetView) -> _Plan | None:
    loops = range(len(work.extents))
    accesses = [Access.of(m, s, len(loops)) for m, s in zip(work.maps, [*work.inputs, *work.outputs])]
    summed = [d for d in loops if not work.parallel[d]]
    if len(accesses) != 3 or len(summed) != 1:
        return None
    left, right, out = accesses
    if left is None or right is None or out is None:
        return None
    depth, a, b = summed[0], left.strides, right.strides
    rows = [d for d in loops if work.parallel[d] and a[d] and not b[d] and work.extents[d] != 1]
    columns = [d for d in loops if out.strides[d] == 1 and b[d] and not a[d]]
    if len(rows) != 1 or len(columns) != 1 or a[depth] != 1 or 1 not in (b[depth], b[columns[0]]):
        return None
    width, steps = (whole_extent(work, 1, d) for d in (columns[0], depth))
    if not isinstance(width, int) or not isinstance(steps, int) or min(width, steps) < SIDE or not _fills_tiles(work.extents[rows[0]]):
        return None
    stored = isinstance(work.extents[columns[0]], int) or out.storage.root is None
    nbytes = -(-width // BLOCK) * BLOCK * (steps + BF16.depth) * element_bytes(right.storage.element)
    if not stored or not _is_read_again(work, right) or nbytes > target.tile_bytes // 2:
        return None
    outer = [d for d in loops if work.parallel[d] and d not in (rows[0], columns[0])]
    return _Plan(left, right, out, rows[0], columns[0], depth, outer, width, steps)


def _fills_tiles(rows: int | ir.Value) -> bool:
    """Whether there are 16 to 32 rows, whichever tile it is."""
    most = size_bound(rows)
    if isinstance(rows, int):
        return SIDE <= most <= BLOCK
    rest = last_rest(rows, most)
    return most <= BLOCK and rest is not None and (rest or most) >= SIDE


def _is_read_again(work: Work, right: Access) -> bool:
    """Whether the operand is an argument's, of which the next tile reads the same."""
    argument = isinstance(right.storage.base.owner, ir.Block) and not right.storage.writable
    return argument and any(number not in right.origin.terms for number, _ in work.tiles[:1])


class _Kept:
    def __init__(self, work: Work, plan: _Plan, scratch: Scratch):
        self.work, self.plan, self.scratch = work, plan, scratch
        self.rows, self.columns, self.steps = (work.extents[d] for d in (plan.rows, plan.columns, plan.depth))
        self.depth = Depth({}, plan.steps, BF16)
        whole = self.depth.panel_of_columns(scratch, plan.right.storage.element, -(-plan.width // BLOCK) * BLOCK)
        self.panels = replace(whole, pairs=BF16.group * BLOCK)

    def emit(self) -> None:
        outer = self.plan.outer
        nest_each([self.work.extents[d] for d in outer], lambda indices: self._product(dict(zip(outer, indices))))

    def _product(self, fixed: dict[int, LinearIndex]) -> None:
        plan = self.plan
        right, out = plan.right.at(fixed), plan.out.at(fixed)
        unless_repeated(right, self.scratch, lambda: for_each(0, plan.width, BLOCK, lambda n: self._pack(right, n)))
        left = Operand(plan.left.storage, plan.left.at(fixed), plan.left.strides[plan.rows], 1)
        if not is_multiple(self.steps, BF16.depth):
            left = self._filled_up(left)
        for_each(0, self.columns, BLOCK, lambda n: self._block(left, n, out))

    def _start(self, n: LinearIndex) -> LinearIndex:
        """The first column of the panel that would begin at `n`: no panel goes beyond the last one, but of fewer than 32."""
        width = self.plan.width
        return n if width % BLOCK == 0 or width < BLOCK else least(n, LinearIndex(constant=width - BLOCK))

    def _panel(self, n: LinearIndex) -> Operand:
        return replace(self.panels, offset=self.panels.offset + n * self.depth.padded)

    def _pack(self, right: LinearIndex, n: LinearIndex) -> None:
        plan = self.plan
        source = Operand(plan.right.storage, right, plan.right.strides[plan.columns], plan.right.strides[plan.depth])
        start = self._start(n)
        pack_columns(source, self._panel(n), start, start + min(plan.width, BLOCK), BLOCK, self.depth)

    def _filled_up(self, left: Operand) -> Operand:
        """The rows with zeros behind their last steps, to whole tiles."""
        panel = self.depth.panel_of_rows(self.scratch, left.storage.element, size_bound(self.rows))

        def row(i: LinearIndex) -> None:
            def chunk(k: LinearIndex, lanes: Lanes) -> None:
                value = lanes.load(left.storage, left.at(i, k, {}).along_lanes())
                Lanes(lanes.count).store(value, panel.storage, panel.at(i, k, {}).along_lanes())

            chunks(self.steps, BF16.depth, BF16.depth, chunk)

        for_each(0, self.rows, 1, row)
        return panel

    def _block(self, left: Operand, n: LinearIndex, out: LinearIndex) -> None:
        plan = self.plan
        sums = Sums(plan.out.storage, out + self._start(n), plan.out.strides[plan.rows])
        products = Products(left, self._panel(n), min(plan.width, BLOCK), self.depth, sums)
        products.add(LinearIndex(), self.rows, LinearIndex(), self._padded(), fresh=True)

    def _padded(self) -> int | ir.Value:
        """The steps that rows have, filled up to whole tiles."""
        if isinstance(self.steps, int):
            return self.depth.padded
        if is_multiple(self.steps, BF16.depth):
            return self.steps
        up = (LinearIndex.of(self.steps) + (BF16.depth - 1)).value()
        unit = LinearIndex(constant=BF16.depth).value()
        return arith.muli(arith.divui(up, unit), unit)
