"""Quicksort of integer keys by vectors, between two buffers: runs are parted by a pivot until registers can sort them.

    run = all keys; work = the most keys that may be parted
    while there is a run, and work is left:
      if it is short: sort it in registers (registers.py), into the first buffer
      else: part it by a median of samples into the other buffer (partition.py); work -= its length
            none above the median: part it again by what is less; all others are the median
            go on with the shorter part, the other waits

The runs that wait, each at most half as long as what it was parted from, are at most as many as the length has bits. Keys in an order that
its samples do not show could take a quadratic number of steps: then the work runs out, and `emit` says so. Sources: C. A. R. Hoare,
Quicksort, 1962; D. R. Musser, Introspective sorting and selection algorithms, 1997, which bounds the work.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from hloom.dialects.target import TargetView

from ...common.control_flow import each_value, if_else, while_loop
from ...common.rewriting import index_constant
from ...common.scalars import Scalars
from ...common.vectors import broadcast, extract
from .partition import Lanes, Partition
from .registers import exchanged, sort_registers

_WAITING = 64
"""More runs than ever wait."""
_MANY = 1024
"""From this length on nine vectors are sampled, not three."""
_eq, _ne, _sge, _slt, _ult, _ugt, _ule = (arith.CmpIPredicate[name] for name in ("eq", "ne", "sge", "slt", "ult", "ugt", "ule"))


@dataclass(frozen=True)
class _Run:
    """Keys that lie together, in the first buffer (0) or the second (1)."""

    start: ir.Value
    end: ir.Value
    place: ir.Value

    @property
    def values(self) -> list[ir.Value]:
        return [self.start, self.end, self.place]

    @property
    def length(self) -> ir.Value:
        return arith.subi(self.end, self.start)

    def either(self, condition: ir.Value, other: _Run) -> _Run:
        return _Run(*(arith.select(condition, a, b) for a, b in zip(self.values, other.values)))


class QuickSort:
    """`emit` sorts `length` keys, signed integers of so many bits. A table that it needs becomes a constant of the kernel `function`."""

    def __init__(self, s: Scalars, function: ir.Operation, bits: int, length: int, target: TargetView):
        self.s, self.length, self.integer = s, length, ir.IntegerType.get_signless(bits)
        self.lanes = Lanes(self.integer, target.lanes(bits))
        self.registers = target.vector_registers // 2  # the others hold what is exchanged
        self.short = self.registers * self.lanes.count
        self.room = memref.alloca(ir.MemRefType.get([self.short], self.integer), [], [], alignment=64)
        if length > self.short:
            self.partition = Partition(function, self.lanes, target)
            self.waiting = memref.alloca(ir.MemRefType.get([3 * _WAITING], ir.IndexType.get()), [], [], alignment=64)

    def emit(self, buffer: ir.Value, other: ir.Value, start: ir.Value) -> ir.Value:
        """Sorts the keys of `buffer` from `start` on, by way of `other`; whether it did."""
        self.buffers = buffer, other
        zero, end = index_constant(0), arith.addi(start, index_constant(self.length))
        if self.length <= self.short:
            run = _Run(start, end, zero)
            self._in_registers(run, 1 << (-(-self.length // self.lanes.count) - 1).bit_length())
            self._leave(run)
            return self.s.constant(ir.IntegerType.get_signless(1), 1)

        def goes_on(work: ir.Value, waiting: ir.Value, *_: ir.Value) -> ir.Value:
            return arith.andi(arith.cmpi(_sge, waiting, zero), arith.cmpi(_sge, work, zero))

        def step(work: ir.Value, waiting: ir.Value, *values: ir.Value) -> Sequence[ir.Value]:
            run = _Run(*values)
            is_short = arith.cmpi(_ule, run.length, index_constant(self.short))
            types = [value.type for value in (work, waiting, *values)]
            return if_else(is_short, types, lambda: [work, *self._sort(run, waiting)], lambda: self._part(run, waiting, work))

        _, waiting, *_ = while_loop([index_constant(most_work(self.length, self.short)), zero, start, end, zero], goes_on, step)
        return arith.cmpi(_slt, waiting, zero)

    def _either(self, place: ir.Value) -> ir.Value:
        """One of the two buffers."""
        first, second = self.buffers
        return arith.select(arith.cmpi(_eq, place, index_constant(0)), first, second)

    def _wait(self, number: ir.Value, run: _Run) -> None:
        place = arith.muli(number, index_constant(3))
        for offset, value in enumerate(run.values):
            memref.store(value, self.waiting, [arith.addi(place, index_constant(offset))])

    def _next(self, number: ir.Value) -> _Run:
        place = arith.muli(number, index_constant(3))
        return _Run(*(memref.load(self.waiting, [arith.addi(place, index_constant(offset))]) for offset in range(3)))

    def _part(self, run: _Run, waiting: ir.Value, work: ir.Value) -> list[ir.Value]:
        """Parts a run: what work is left, how many wait then, with what to go on."""
        zero, one = index_constant(0), index_constant(1)
        pivot = self._pivot(run)
        moved = arith.subi(one, run.place)
        middle, twice = self._middle(run, moved, pivot)
        behind = arith.select(twice, middle, run.end)
        each_value(behind, run.end, lambda place: self.lanes.store_one(pivot, self.buffers[0], place))
        first, last = _Run(run.start, middle, moved), _Run(middle, behind, moved)
        order = arith.cmpi(_ule, first.length, last.length)
        shorter, longer = first.either(order, last), last.either(order, first)
        self._wait(waiting, longer)
        both = arith.cmpi(_ne, shorter.length, zero)
        waiting = arith.addi(waiting, arith.select(both, one, zero))
        return [arith.subi(work, run.length), waiting, *shorter.either(both, longer).values]

    def _middle(self, run: _Run, moved: ir.Value, pivot: ir.Value) -> tuple[ir.Value, ir.Value]:
        """Parts a run by its pivot, or by the number before, where nothing is above the pivot: where the upper part begins, and whether
        that consists of pivots alone."""
        source, target = self._either(run.place), self._either(moved)
        zero, one, two = (index_constant(n) for n in range(3))

        def goes_on(middle: ir.Value, times: ir.Value) -> ir.Value:
            return arith.andi(arith.cmpi(_eq, middle, run.end), arith.cmpi(_ult, times, two))

        def part(middle: ir.Value, times: ir.Value) -> list[ir.Value]:
            bound = arith.subi(pivot, arith.index_cast(self.integer, times))
            return [self.partition.emit(source, target, run.start, run.end, bound), arith.addi(times, one)]

        middle, times = while_loop([run.end, zero], goes_on, part)
        # before the least integer comes the greatest, so that the pivots were below it: all are
        middle = arith.select(arith.cmpi(_eq, middle, run.end), run.start, middle)
        return middle, arith.cmpi(_eq, times, two)

    def _pivot(self, run: _Run) -> ir.Value:
        """A key that about half of the run is below: the median of the lanes of medians of vectors."""

        def sample(shift: int, places: Sequence[int]) -> list[ir.Value]:
            step, source = arith.shrui(run.length, index_constant(shift)), self._either(run.place)
            starts = [arith.addi(run.start, arith.muli(step, index_constant(n))) for n in places]
            found = [self.lanes.load(source, start) for start in starts]
            while len(found) > 1:
                found = [_median(*found[n : n + 3]) for n in range(0, len(found), 3)]
            return found

        many = arith.cmpi(_ugt, run.length, index_constant(_MANY))
        medians = if_else(many, [self.lanes.kind], lambda: sample(4, (1, 3, 5, 7, 8, 9, 11, 13, 15)), lambda: sample(2, (1, 2, 3)))
        (ordered,) = sort_registers(medians)
        return extract(ordered, self.lanes.count // 2 - 1)

    def _sort(self, run: _Run, waiting: ir.Value) -> list[ir.Value]:
        """Sorts a short run into the first buffer: how many wait then, with what to go on."""

        def at_least(registers: int) -> list[ir.Value]:
            if registers < self.registers:
                fits = arith.cmpi(_ule, run.length, index_constant(registers * self.lanes.count))
                return if_else(fits, [], lambda: self._in_registers(run, registers), lambda: at_least(2 * registers))
            return self._in_registers(run, registers)

        at_least(self.registers // 4)
        self._leave(run)
        left = arith.subi(waiting, index_constant(1))
        return [left, *self._next(arith.maxsi(left, index_constant(0))).values]

    def _in_registers(self, run: _Run, registers: int) -> list[ir.Value]:
        """Leaves a run of at most so many registers in `room`, in order."""
        greatest = self.s.constant(self.integer, (1 << (self.integer.width - 1)) - 1)
        source, others = self._either(run.place), broadcast(greatest, self.lanes.count)
        starts = [index_constant(n * self.lanes.count) for n in range(registers)]
        live = [arith.subi(run.length, start) for start in starts]
        keys = [self.lanes.load_some(source, arith.addi(run.start, start), n, others) for start, n in zip(starts, live)]
        for start, ordered in zip(starts, sort_registers(keys)):
            self.lanes.store(ordered, self.room, start)
        return []

    def _leave(self, run: _Run) -> None:
        """Moves a sorted run to its place, by whole vectors where it has as many keys as one."""
        zero, count, buffer = index_constant(0), index_constant(self.lanes.count), self.buffers[0]

        def move(place: ir.Value) -> None:
            self.lanes.store(self.lanes.load(self.room, place), buffer, arith.addi(run.start, place))

        def move_one(place: ir.Value) -> None:
            self.lanes.store_one(self.lanes.load_one(self.room, place), buffer, arith.addi(run.start, place))

        def by_vectors() -> list[ir.Value]:
            last = arith.subi(run.length, count)
            each_value(zero, last, move, count)
            move(last)
            return []

        def one_by_one() -> list[ir.Value]:
            each_value(zero, run.length, move_one)
            return []

        if_else(arith.cmpi(_ult, run.length, count), [], one_by_one, by_vectors)


def most_work(length: int, short: int) -> int:
    """How many keys may be parted: three times as many as where each pivot is a median."""
    return 3 * length * ((length // short).bit_length() + 2)


def _median(a: ir.Value, b: ir.Value, c: ir.Value) -> ir.Value:
    """Lane by lane, the one between two others."""
    less, greater = exchanged(a, b)
    return arith.maxsi(less, arith.minsi(greater, c))
