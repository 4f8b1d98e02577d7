"""A stable radix sort by an integer key, digit by digit from the lowest, between the row and its scratch.

One walk over the row counts every digit; then each digit moves the elements to their places in its order. A digit that is the same for the
whole row moves nothing: its pass is a copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf

from ...common.control_flow import each_value, if_else
from ...common.rewriting import index_constant, value_of
from ...common.scalars import Scalars
from ...common.sorting.rows import Row

LONG = 1 << 13
"""From this length on a row of keys of 32 bits is worth three digits of eleven bits in place of four of eight."""


class Digits(Protocol):
    """What is sorted by: a number without sign for each element, such as a comparator's key."""

    @property
    def bits(self) -> int: ...

    def of(self, s: Scalars, elements: Sequence[ir.Value]) -> ir.Value: ...


class RadixSort:
    """`emit` sorts a row of at most `length` elements; the counts lie in a buffer of the kernel's, made at the insertion point."""

    def __init__(self, s: Scalars, key: Digits, length: int):
        self.s, self.key, self.count = s, key, index_constant(length)
        self.digit = 11 if key.bits == 32 and length >= LONG else min(8, key.bits)
        self.digits = -(-key.bits // self.digit)
        self.i32 = ir.IntegerType.get_signless(32)
        self.counts = memref.alloca(ir.MemRefType.get([self.digits << self.digit], self.i32), [], [], alignment=64)

    @property
    def in_place(self) -> bool:
        """Whether the source may be the target."""
        return self.digits % 2 == 0

    def emit(self, source: Row, target: Row, scratch: Row, count: ir.Value | None = None) -> None:
        """Sorts `source`, or its first `count` elements, into `target`."""
        self.count = self.count if count is None else count
        zero = index_constant(0)
        nothing = self.s.constant(self.i32, 0)
        each_value(zero, index_constant(self.digits << self.digit), lambda i: memref.store(nothing, self.counts, [i]))
        each_value(zero, self.count, lambda i: self._count(source.load(i)))
        first = self._places(self.key.of(self.s, source.load(zero)))
        for number in range(self.digits):
            into = target if (self.digits - 1 - number) % 2 == 0 else scratch
            self._pass(source, into, number, first[number])
            source = into

    def _places(self, key: ir.Value) -> list[ir.Value]:
        """Where each digit of a key has its count."""
        return [self._place(key, number) for number in range(self.digits)]

    def _place(self, key: ir.Value, number: int) -> ir.Value:
        s, mask = self.s, (1 << self.digit) - 1
        digit = s.op("arith.shrui", key, s.constant(key.type, number * self.digit)) if number else key
        if (number + 1) * self.digit < self.key.bits:
            digit = s.op("arith.andi", digit, s.constant(key.type, mask))
        place = value_of("arith.index_castui", ir.IndexType.get(), [digit])
        return arith.addi(place, index_constant(number << self.digit)) if number else place

    def _count(self, elements: list[ir.Value]) -> None:
        for place in self._places(self.key.of(self.s, elements)):
            self._next(place)

    def _next(self, place: ir.Value) -> ir.Value:
        """Reads a count and adds one to it."""
        count = memref.load(self.counts, [place])
        memref.store(arith.addi(count, self.s.constant(self.i32, 1)), self.counts, [place])
        return count

    def _pass(self, source: Row, target: Row, number: int, first: ir.Value) -> None:
        alike = self.s.cmpi("eq", memref.load(self.counts, [first]), arith.index_cast(self.i32, self.count))

        def copy() -> Sequence[ir.Value]:
            self._each(lambda i: target.store(source.load(i), i))
            return []

        def move(index: ir.Value) -> None:
            elements = source.load(index)
            count = self._next(self._place(self.key.of(self.s, elements), number))
            target.store(elements, value_of("arith.index_castui", ir.IndexType.get(), [count]))

        def sort() -> Sequence[ir.Value]:
            self._sum(number)
            self._each(move)
            return []

        if_else(alike, [], copy, sort)

    def _each(self, body: Callable[[ir.Value], None]) -> None:
        each_value(index_constant(0), self.count, body)

    def _sum(self, number: int) -> None:
        """Turns the counts of a digit into the places of the first elements that have it."""
        lower, upper = (index_constant(n << self.digit) for n in (number, number + 1))
        loop = scf.ForOp(lower, upper, index_constant(1), [self.s.constant(self.i32, 0)])
        with ir.InsertionPoint(loop.body):
            (total,) = loop.inner_iter_args
            count = memref.load(self.counts, [loop.induction_variable])
            memref.store(total, self.counts, [loop.induction_variable])
            scf.yield_([arith.addi(total, count)])
