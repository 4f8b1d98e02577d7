"""Neighbouring sorted runs of each row, merged two and two: a thread makes a few neighbouring elements of the result.

Where among the two runs its elements begin, a thread finds by itself: of the first n elements of the result, how many are of the first run
is found by bisection, n being where the thread begins (the *merge path*). No thread waits for another, and neighbours read what is near.
Where the comparator tells no difference, elements of the first run come first. Reads stay in the row whatever the comparator says.

Of a sort of which only the first elements are read (partial-sorts), no more are made of each run.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from ...common.control_flow import for_loop, if_then, while_loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant, integer
from ...common.sorting.rows import Row
from ...common.sorting.runs import MERGES
from ..support.emit import block_id, digits, less_than, thread_id
from .group import SortGroup, SortKernel

_ult, _uge = CmpIPredicate.ult, CmpIPredicate.uge
THREADS, ELEMENTS = 256, 8
"""Threads of a block, and elements of the result that one of them makes; these divide a run."""


def emit_merges(group: SortGroup) -> None:
    """The kernel that merges each two runs of each row."""
    pair = 2 * integer(group.sort, MERGES)
    pairs, parts = -(-group.length // pair), -(-min(group.first, pair) // ELEMENTS)
    threads = group.rows * pairs * parts
    kernel = group.open(-(-threads // THREADS), THREADS, kernel="merge path", run=pair // 2)
    with kernel.kernel.body:
        number = LinearIndex.of(block_id()) * THREADS + thread_id()
        with if_then(less_than(number, threads) if threads % THREADS else None):
            row, left, part = digits(number.value(), [group.rows, pairs, parts])
            begin = LinearIndex.of(left) * pair
            start = begin + LinearIndex.of(part) * ELEMENTS
            with if_then(less_than(start, group.length) if group.length % pair else None):
                _Merge(kernel, group, LinearIndex.of(row) * group.length).emit(begin.value(), start)


class _Merge:
    """Emits what a thread does in the row that begins at `row`."""

    def __init__(self, kernel: SortKernel, group: SortGroup, row: LinearIndex):
        self.kernel, self.length, self.first = kernel, group.length, group.first
        self.width = integer(group.sort, MERGES)
        self.source, self.target = Row(kernel.inputs, row.value()), Row(kernel.results, row.value())

    def emit(self, left: ir.Value, start: LinearIndex) -> None:
        """Makes the elements from `start` on, of the runs of which the first begins at `left`."""
        right = self._behind(left, self.width)
        ends = [self._behind(left, min(self.width, self.first)), self._behind(right, min(self.width, self.first))]
        count = arith.subi(start.value(), left)
        taken = self._bisect(left, right, ends, count)
        heads = [arith.addi(left, taken), arith.addi(right, arith.subi(count, taken))]
        stop = self._behind(left, min(2 * self.width, self.first))
        for_loop(0, ELEMENTS, 1, heads, lambda index, at: self._next((index + start).value(), stop, at, ends))

    def _behind(self, start: ir.Value, count: int) -> ir.Value:
        """The place so many elements behind `start`, at most the end of the row."""
        return arith.minui(arith.addi(start, index_constant(count)), index_constant(self.length))

    def _bisect(self, left: ir.Value, right: ir.Value, ends: list[ir.Value], count: ir.Value) -> ir.Value:
        """Of the first `count` elements of both runs, how many are of the first."""
        zero, one = index_constant(0), index_constant(1)
        most = arith.minui(count, arith.subi(ends[0], left))
        least = arith.maxsi(arith.subi(count, arith.subi(ends[1], right)), zero)

        def halve(low: ir.Value, high: ir.Value) -> list[ir.Value]:
            middle = arith.shrui(arith.addi(low, high), one)
            ours = self.source.load(arith.addi(left, middle))
            others = self.source.load(arith.addi(right, arith.subi(arith.subi(count, one), middle)))
            theirs_first = self.kernel.less(others, ours)
            return [arith.select(theirs_first, low, arith.addi(middle, one)), arith.select(theirs_first, middle, high)]

        return while_loop([least, most], lambda low, high: arith.cmpi(_ult, low, high), halve)[0]

    def _next(self, place: ir.Value, stop: ir.Value, heads: list[ir.Value], ends: list[ir.Value]) -> list[ir.Value]:
        """Makes the element at `place`, if that is before `stop`, of the heads of both runs; returns the next heads."""
        one = index_constant(1)
        ours = self.source.load(arith.minui(heads[0], arith.subi(ends[0], one)))
        others = self.source.load(arith.minui(heads[1], index_constant(self.length - 1)))
        theirs_first = arith.andi(self.kernel.less(others, ours), arith.cmpi(_ult, heads[1], ends[1]))
        from_second = arith.ori(theirs_first, arith.cmpi(_uge, heads[0], ends[0]))
        with if_then(arith.cmpi(_ult, place, stop)):
            self.target.store([arith.select(from_second, b, a) for a, b in zip(ours, others)], place)
        step = arith.index_castui(ir.IndexType.get(), from_second)
        return [arith.addi(heads[0], arith.subi(one, step)), arith.addi(heads[1], step)]
