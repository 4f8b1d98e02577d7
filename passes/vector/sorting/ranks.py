"""A stable sort of a short row: each element goes to the place that is the number of elements before it, counted lane by lane.

Of the keys ahead of a vector those that are not greater come before its elements, of the keys behind it those that are less; inside it the
places decide, too. All keys are compared with all, which for a short row takes less time than branches do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, scf, vector

from ...common.control_flow import each_value
from ...common.rewriting import index_constant
from ...common.scalars import Scalars
from ...common.sorting.comparator import Key
from ...common.sorting.rows import Row
from ...common.vectors import broadcast, vector_of

_sgt, _eq = arith.CmpIPredicate.sgt, arith.CmpIPredicate.eq

_REGISTERS = 4
"""Vectors of a block, each compared with a key that is broadcast once."""


class RankSort:
    """`emit` sorts a row of at most `length` elements; its keys and places lie in buffers of the kernel's, made at the insertion point."""

    def __init__(self, s: Scalars, key: Key, length: int, vector_bits: int):
        self.s, self.key, self.length = s, key, length
        self.integer = ir.IntegerType.get_signless(max(32, key.bits))
        self.lanes = vector_bits // self.integer.width
        self.registers = min(_REGISTERS, -(-length // self.lanes))
        self.block = self.registers * self.lanes
        whole = -(-length // self.block) * self.block
        kind = ir.MemRefType.get([whole], self.integer)
        self.keys, self.places = (memref.alloca(kind, [], [], alignment=64) for _ in "kp")
        self._pad(index_constant(length), index_constant(whole))

    def _pad(self, start: ir.Value, end: ir.Value) -> None:
        """Stores keys that come before nothing."""
        greatest = self.s.constant(self.integer, (1 << (self.integer.width - 1)) - 1)
        each_value(start, end, lambda place: memref.store(greatest, self.keys, [place]))

    def emit(self, source: Row, target: Row, scratch: Row, count: ir.Value | None = None) -> None:
        """Sorts `source`, or its first `count` elements, into `target`."""
        zero, end = index_constant(0), index_constant(self.length)
        if count is not None:
            self._pad(count, end)
            end = count
        each_value(zero, end, lambda i: memref.store(self._signed(source.load(i)), self.keys, [i]))
        each_value(zero, end, self._rank, index_constant(self.block))
        each_value(zero, end, lambda i: target.store(source.load(i), self._place(i)))

    def _signed(self, elements: list[ir.Value]) -> ir.Value:
        """An element's key as a signed integer of a lane's width."""
        key = self.key.of(self.s, elements)
        if self.key.bits < self.integer.width:
            return arith.extui(self.integer, key)
        return self.s.op("arith.xori", key, self.s.constant(key.type, 1 << (self.key.bits - 1)))

    def _place(self, index: ir.Value) -> ir.Value:
        return arith.index_cast(ir.IndexType.get(), memref.load(self.places, [index]))

    def _rank(self, start: ir.Value) -> None:
        """Counts for the elements of a block, one a lane. A comparison that holds is -1."""
        places = [arith.addi(start, index_constant(number * self.lanes)) for number in range(self.registers)]
        mine = [vector.load(vector_of(self.lanes, self.integer), self.keys, [place]) for place in places]
        counts = [broadcast(arith.index_cast(self.integer, place), self.lanes) for place in places]

        def ahead(counts: Sequence[ir.Value], other: ir.Value) -> list[ir.Value]:
            return [_count_ahead(count, other, keys) for count, keys in zip(counts, mine)]

        def behind(counts: Sequence[ir.Value], other: ir.Value) -> list[ir.Value]:
            return [_count_behind(count, other, keys) for count, keys in zip(counts, mine)]

        counts = self._sum(index_constant(0), start, counts, ahead)
        for number in range(min(self.block, self.length)):
            other = self._other(arith.addi(start, index_constant(number)))
            register, lane = divmod(number, self.lanes)
            counts = [
                *(_count_behind(count, other, keys) for count, keys in zip(counts[:register], mine)),
                self._count_inside(counts[register], other, mine[register], lane),
                *(_count_ahead(count, other, keys) for count, keys in zip(counts[register + 1 :], mine[register + 1 :])),
            ]
        rest = arith.addi(start, index_constant(self.block))
        counts = self._sum(rest, index_constant(self.length), counts, behind)
        for place, count in zip(places, counts):
            vector.store(count, self.places, [place])

    def _count_inside(self, count: ir.Value, other: ir.Value, keys: ir.Value, lane: int) -> ir.Value:
        """With the key of one of the lanes: before the equal ones in the lanes after it."""
        ones = [ir.IntegerAttr.get(self.integer, -int(each > lane)) for each in range(self.lanes)]
        after = arith.constant(keys.type, ir.DenseElementsAttr.get(ones, keys.type))
        return arith.subi(count, arith.ori(_mask(_sgt, keys, other), arith.andi(_mask(_eq, other, keys), after)))

    def _sum(
        self,
        lower: ir.Value,
        upper: ir.Value,
        counts: Sequence[ir.Value],
        step: Callable[[Sequence[ir.Value], ir.Value], Sequence[ir.Value]],
    ) -> list[ir.Value]:
        """The counts after `step` for each key between two places."""
        loop = scf.ForOp(lower, upper, index_constant(1), list(counts))
        with ir.InsertionPoint(loop.body):
            scf.yield_(step(list(loop.inner_iter_args), self._other(loop.induction_variable)))
        return list(loop.results)

    def _other(self, place: ir.Value) -> ir.Value:
        return broadcast(memref.load(self.keys, [place]), self.lanes)


def _count_ahead(count: ir.Value, other: ir.Value, keys: ir.Value) -> ir.Value:
    """With a key ahead, which is counted already: it comes before all but what is less."""
    return arith.addi(count, _mask(_sgt, other, keys))


def _count_behind(count: ir.Value, other: ir.Value, keys: ir.Value) -> ir.Value:
    """With a key behind: it comes before what is greater."""
    return arith.subi(count, _mask(_sgt, keys, other))


def _mask(predicate: arith.CmpIPredicate, a: ir.Value, b: ir.Value) -> ir.Value:
    return arith.extsi(a.type, arith.cmpi(predicate, a, b))
