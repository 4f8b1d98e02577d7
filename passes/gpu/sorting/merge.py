"""Neighbouring sorted runs of each row, merged two and two: a thread makes a few neighbouring elements of the result.

Where among the two runs its elements begin, a thread finds by itself: of the first n elements of the result, how many are of the first run
is found by bisection, n being where the thread begins (the *merge path*). No thread waits for another, and neighbours read what is near.
Where the comparator tells no difference, elements of the first run come first. Reads stay in the row whatever the comparator says.
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
    width = integer(group.sort, MERGES)
    per_row = -(-group.length // ELEMENTS)
    kernel = group.open(-(-group.rows * per_row // THREADS), THREADS, kernel="merge path", run=width)
    with kernel.kernel.body:
        number = LinearIndex.of(block_id()) * THREADS + thread_id()
        with if_then(less_than(number, group.rows * per_row)):
            row, part = digits(number.value(), [group.rows, per_row])
            _Merge(kernel, group.length, width, (LinearIndex.of(row) * group.length).value()).emit(
                (LinearIndex.of(part) * ELEMENTS).value()
            )


class _Merge:
    """Emits what a thread does in the row that begins at `row`."""

    def __init__(self, kernel: SortKernel, length: int, width: int, row: ir.Value):
        self.kernel, self.length, self.width = kernel, length, width
        self.source, self.target = Row(kernel.inputs, row), Row(kernel.results, row)

    def emit(self, start: ir.Value) -> None:
        """Makes the elements from `start` on."""
        end, pair = index_constant(self.length), index_constant(2 * self.width)
        left = arith.subi(start, arith.remui(start, pair))
        right = arith.minui(arith.addi(left, index_constant(self.width)), end)
        last = arith.minui(arith.addi(right, index_constant(self.width)), end)
        taken = self._bisect(left, right, last, arith.subi(start, left))
        first = arith.addi(left, taken)
        second = arith.addi(right, arith.subi(arith.subi(start, left), taken))
        for_loop(0, ELEMENTS, 1, [first, second], lambda index, heads: self._next(index + start, heads, right, last))

    def _next(self, place: LinearIndex, heads: list[ir.Value], right: ir.Value, last: ir.Value) -> list[ir.Value]:
        """Makes the element at `place` of the heads of both runs, which end at `right` and `last`; returns the next heads."""
        one, (first, second) = index_constant(1), heads
        ours = self.source.load(arith.minui(first, arith.subi(right, one)))
        others = self.source.load(arith.minui(second, index_constant(self.length - 1)))
        theirs_first = arith.andi(self.kernel.less(others, ours), arith.cmpi(_ult, second, last))
        from_second = arith.ori(theirs_first, arith.cmpi(_uge, first, right))
        with if_then(less_than(place, self.length) if self.length % ELEMENTS else None):
            self.target.store([arith.select(from_second, b, a) for a, b in zip(ours, others)], place.value())
        step = arith.index_castui(ir.IndexType.get(), from_second)
        return [arith.addi(first, arith.subi(one, step)), arith.addi(second, step)]

    def _bisect(self, left: ir.Value, right: ir.Value, last: ir.Value, count: ir.Value) -> ir.Value:
        """Of the first `count` elements of both runs, how many are of the first."""
        zero, one = index_constant(0), index_constant(1)
        most = arith.minui(count, arith.subi(right, left))
        least = arith.maxsi(arith.subi(count, arith.subi(last, right)), zero)

        def halve(low: ir.Value, high: ir.Value) -> list[ir.Value]:
            middle = arith.shrui(arith.addi(low, high), one)
            ours = self.source.load(arith.addi(left, middle))
            others = self.source.load(arith.addi(right, arith.subi(arith.subi(count, one), middle)))
            theirs_first = self.kernel.less(others, ours)
            return [
                arith.select(theirs_first, low, arith.addi(middle, one)),
                arith.select(theirs_first, middle, high),
            ]

        return while_loop([least, most], lambda low, high: arith.cmpi(_ult, low, high), halve)[0]
