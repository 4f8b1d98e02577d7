"""Neighbouring sorted runs of each row, merged two and two: a block makes a tile of neighbouring elements of the result.

    where among the two runs a tile begins and ends      two warps, one each: 32 places are asked at once, so that a few turns do
    the elements of the tile to shared memory            neighbouring threads read neighbouring elements
    where a thread's few elements begin among these      each for itself, by bisection
    its elements, one after the other; back through shared memory to the result

Where the first n elements of a result end is told by how many of them are of the first run (the *merge path*). Where the comparator tells
no difference, elements of the first run come first. Reads stay in the row whatever the comparator says.

Of a sort of which only the first elements are read (partial-sorts), no more are made of each run.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, memref
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.storage import element_bytes, storage_element

from ...common.control_flow import if_then, while_loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant, integer, value_of
from ...common.sorting.rows import Array, Row
from ...common.sorting.runs import MERGES, run_length
from ..support.emit import WARP, barrier, block_id, digits, divide, less_than, remainder, shuffle, thread_id
from ..support.launch import ALIGNMENT, shared_view
from .group import SortGroup, SortKernel

_ult, _uge = CmpIPredicate.ult, CmpIPredicate.uge
THREADS = 256
"""Threads of a block, at most."""
Values = list[ir.Value]


def emit_merges(group: SortGroup) -> None:
    """The kernel that merges each two runs of each row."""
    tile, pair = run_length(group.sort), 2 * integer(group.sort, MERGES)
    grid = [group.rows, -(-group.length // pair), -(-min(group.first, pair) // tile)]
    kernel = group.open(prod(grid), min(THREADS, tile), kernel="merge path", run=pair // 2)
    with kernel.kernel.body:
        row, left, part = digits(block_id(), grid)
        _Merge(kernel, group, tile, LinearIndex.of(row) * group.length).emit(LinearIndex.of(left) * pair, LinearIndex.of(part) * tile)


class _Merge:
    """Emits what a block does in the row that begins at `row`."""

    def __init__(self, kernel: SortKernel, group: SortGroup, tile: int, row: LinearIndex):
        self.kernel, self.group, self.tile, self.length = kernel, group, tile, group.length
        self.threads = min(THREADS, tile)
        self.each = tile // self.threads
        self.stride = self.threads + WARP // self.each
        """Between a thread's elements on their way back, so that neither who writes them nor who reads them meets others in a bank."""
        self.thread, self.width = thread_id(), integer(group.sort, MERGES)
        self.source, self.target = Row(kernel.inputs, row.value()), Row(kernel.results, row.value())
        self.zero, self.one = index_constant(0), index_constant(1)
        self._share()

    def _share(self) -> None:
        room, index = self.each * self.stride, ir.IntegerType.get_signless(32)
        held = sorted(range(len(self.group.elements)), key=lambda n: element_bytes(self.group.elements[n]), reverse=True)
        arena = self.kernel.kernel.arena(ALIGNMENT + room * sum(map(element_bytes, self.group.elements)))
        self.ends = shared_view(arena, 0, [2], index)
        arrays, offset = {}, ALIGNMENT
        for number in held:  # the largest first, so that each is aligned to its own size
            element = self.group.elements[number]
            arrays[number] = Array(shared_view(arena, offset, [room], storage_element(element)), element)
            offset += room * element_bytes(element)
        self.held = Row([arrays[number] for number in range(len(held))], self.zero)

    def emit(self, left: LinearIndex, start: LinearIndex) -> None:
        """Makes the elements from `start` on, of the two runs of which the first begins at `left`."""
        first, stop = self._elements(left, self.width), self._elements(left, 2 * self.width)
        second = arith.subi(stop, first) if self.group.first >= self.width else self._elements(left + self.width, self.width)
        stop = arith.minui(stop, index_constant(self.group.first))
        begin = left.value(), (left + self.width).value()
        start = LinearIndex.of(arith.minui(start.value(), stop))
        end = arith.minui((start + self.tile).value(), stop)
        taken = self._ends([start.value(), end], begin, (first, second))
        count = arith.subi(end, start.value())
        ours = arith.minui(arith.subi(arith.maxui(*taken), taken[0]), count)
        self._fetch(LinearIndex.of(begin[0]) + taken[0], LinearIndex.of(begin[1]) + start - taken[0], ours, count)
        barrier()
        made = self._made(ours, count)
        barrier()
        for number, elements in enumerate(made):
            self.held.store(elements, (LinearIndex.of(self.thread) + number * self.stride).value())
        barrier()
        for number in range(self.each):
            place = LinearIndex.of(self.thread) + number * self.threads
            with if_then(arith.cmpi(_ult, place.value(), count)):
                at = LinearIndex.of(remainder(place.value(), self.each)) * self.stride + divide(place.value(), self.each)
                self.target.store(self.held.load(at.value()), (left + start + place).value())

    def _elements(self, start: LinearIndex, count: int) -> ir.Value:
        """How many of so many elements from a place on the row has, and are read."""
        begin = arith.minui(start.value(), index_constant(self.length))
        return arith.minui(arith.subi(index_constant(self.length), begin), index_constant(min(count, 2 * self.group.first)))

    def _ends(self, counts: Values, begin: tuple[ir.Value, ir.Value], lengths: tuple[ir.Value, ir.Value]) -> Values:
        """Of the first so many elements of both runs, how many are of the first: of two counts, each by a warp."""
        warp, lane = divide(self.thread, WARP), remainder(self.thread, WARP)
        with if_then(less_than(LinearIndex.of(warp), 2) if self.threads > 2 * WARP else None):
            count = arith.select(arith.cmpi(CmpIPredicate.eq, warp, self.zero), *counts)
            found = self._search(count, begin, lengths, lane)
            with if_then(arith.cmpi(CmpIPredicate.eq, lane, self.zero)):
                memref.store(value_of("arith.index_cast", ir.IntegerType.get_signless(32), [found]), self.ends, [warp])
        barrier()
        return [arith.index_castui(ir.IndexType.get(), memref.load(self.ends, [index_constant(n)])) for n in range(2)]

    def _search(self, count: ir.Value, begin: tuple[ir.Value, ir.Value], lengths: tuple[ir.Value, ir.Value], lane: ir.Value) -> ir.Value:
        word = ir.IntegerType.get_signless(32)

        def narrow(low: ir.Value, high: ir.Value) -> Values:
            step = divide(arith.addi(arith.subi(high, low), index_constant(WARP - 1)), WARP)
            last = arith.subi(high, self.one)
            middle = arith.minui(arith.addi(low, arith.subi(arith.muli(arith.addi(lane, self.one), step), self.one)), last)
            ours = self.source.load(arith.addi(begin[0], middle))
            others = self.source.load(arith.addi(begin[1], arith.subi(arith.subi(count, self.one), middle)))
            flag = arith.xori(self.kernel.less(others, ours), arith.constant(ir.IntegerType.get_signless(1), 1))
            total = arith.extui(word, flag)
            for bit in range(WARP.bit_length() - 1):
                total = arith.addi(total, shuffle(total, 1 << bit))
            earlier = arith.index_castui(ir.IndexType.get(), total)
            behind = arith.addi(low, arith.muli(earlier, step))
            some_later = arith.cmpi(_ult, earlier, index_constant(WARP))
            until = arith.minui(arith.subi(arith.addi(behind, step), self.one), last)
            return [arith.minui(behind, high), arith.select(some_later, until, high)]

        return self._between(count, lengths, narrow)

    def _between(self, count: ir.Value, lengths: tuple[ir.Value, ir.Value], narrow: Callable[[ir.Value, ir.Value], Values]) -> ir.Value:
        """Narrows the range of how many of the first `count` elements may be of the first run, until one is left."""
        most = arith.minui(count, lengths[0])
        least = arith.maxsi(arith.subi(count, lengths[1]), self.zero)
        return while_loop([least, most], lambda low, high: arith.cmpi(_ult, low, high), narrow)[0]

    def _fetch(self, first: LinearIndex, second: LinearIndex, ours: ir.Value, count: ir.Value) -> None:
        """Brings the elements of the tile to shared memory, those of the first run before those of the second; one where there are none."""
        some = arith.maxui(count, self.one)
        for number in range(self.each):
            place = (LinearIndex.of(self.thread) + number * self.threads).value()
            with if_then(arith.cmpi(_ult, place, some)):
                of_first = arith.cmpi(_ult, place, ours)
                at = arith.select(of_first, (first + place).value(), (second + place - ours).value())
                self.held.store(self.source.load(arith.minui(at, index_constant(self.length - 1))), place)

    def _made(self, ours: ir.Value, count: ir.Value) -> list[Values]:
        """The elements of a thread, one after the other."""
        lengths = ours, arith.subi(count, ours)
        start = arith.minui((LinearIndex.of(self.thread) * self.each).value(), count)

        def halve(low: ir.Value, high: ir.Value) -> Values:
            middle = arith.shrui(arith.addi(low, high), self.one)
            mine = self.held.load(middle)
            others = self.held.load(arith.addi(ours, arith.subi(arith.subi(start, self.one), middle)))
            theirs_first = self.kernel.less(others, mine)
            return [arith.select(theirs_first, low, arith.addi(middle, self.one)), arith.select(theirs_first, middle, high)]

        taken = self._between(start, lengths, halve)
        last = arith.maxsi(arith.subi(count, self.one), self.zero)
        heads = [taken, arith.addi(ours, arith.subi(start, taken))]
        elements = [self.held.load(arith.minui(head, last)) for head in heads]
        made = []
        for _ in range(self.each):
            theirs_first = arith.andi(self.kernel.less(elements[1], elements[0]), arith.cmpi(_ult, heads[1], count))
            from_second = arith.ori(theirs_first, arith.cmpi(_uge, heads[0], ours))
            made.append([arith.select(from_second, b, a) for a, b in zip(*elements)])
            following = arith.addi(arith.select(from_second, heads[1], heads[0]), self.one)
            heads = [arith.select(from_second, heads[0], following), arith.select(from_second, following, heads[1])]
            loaded = self.held.load(arith.minui(following, last))
            elements = [
                [arith.select(from_second, old, new) for old, new in zip(elements[0], loaded)],
                [arith.select(from_second, new, old) for old, new in zip(elements[1], loaded)],
            ]
        return made
