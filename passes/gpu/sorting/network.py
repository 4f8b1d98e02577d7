"""A bitonic network of compare and exchange over the registers of a block's threads.

A network of 8 places, whose first step at each width meets its mirror image, so that all steps order upwards:

    width 2: 0-1 2-3 4-5 6-7    width 4: 0-3 1-2 4-7 5-6, 0-1 2-3 4-5 6-7    width 8: 0-7 1-6 2-5 3-4, 0-2 1-3 …, 0-1 2-3 …

Each thread has a few neighbouring places, a power of two. Steps among these are of its registers alone, steps among the threads of a warp
are shuffles, and only the rest goes through shared memory, where a register of all threads lies side by side: no two threads of a warp meet
in a bank. A network is a permutation, whatever the comparator says: both threads of an exchange come to the same end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref
from torch_mlir.dialects.arith import CmpIPredicate

from ...common.control_flow import for_loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.storage import loaded, stored
from ..support.emit import WARP, barrier, select_each, shuffle

Item = list[ir.Value]
"""What a place holds: a few scalars that move together."""


@dataclass(frozen=True)
class Network:
    """Sorts runs of `places` places, of which each of `threads` threads has `each`. `before` says whether one item comes before another,
    never both of two; `strict`: always one of them. `buffers`: shared memory for each scalar of all items, if a run has several warps."""

    thread: ir.Value
    each: int
    places: int
    before: Callable[[Item, Item], ir.Value]
    strict: bool
    threads: int
    buffers: Sequence[ir.Value]

    def sort(self, items: list[Item]) -> list[Item]:
        """The items of a thread, sorted together with those of the others."""
        levels, own, width = self.places.bit_length() - 1, self.each.bit_length() - 1, len(items[0])
        warp = min(levels, own + WARP.bit_length() - 1)
        for level in range(1, min(levels, own) + 1):
            items = self._within(items, (1 << level) - 1, 1 << level - 1)
            items = self._tail(items, level - 1)

        def of_warps(level: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
            return self._level(level, _items(carried, width), shared=False)

        def of_blocks(level: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
            return self._level(level, _items(carried, width), shared=True)

        flat = for_loop(1, warp - own + 1, 1, _flat(items), of_warps) if warp > own else _flat(items)
        flat = for_loop(warp - own + 1, levels - own + 1, 1, flat, of_blocks)
        return _items(flat, width)

    def _level(self, level: LinearIndex, items: list[Item], shared: bool) -> list[ir.Value]:
        """Merges the runs of 2^level threads, two halves of which are sorted."""
        one, bits, width = index_constant(1), WARP.bit_length() - 1, len(items[0])
        half = arith.shli(one, (level - 1).value())
        mask = arith.subi(arith.addi(half, half), one)
        items = self._across(items, mask, half, mirrored=True, shared=shared)

        def steps(first: LinearIndex | int, last: int, items: list[Item], shared: bool) -> list[Item]:
            """Exchanges with threads 2^first, …, 2^last away."""
            first = LinearIndex.of(first)

            def step(number: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
                distance = arith.shli(one, (first - number).value())
                return _flat(self._across(_items(carried, width), distance, distance, mirrored=False, shared=shared))

            count = first - (last - 1)
            upper = count.constant if count.is_constant else count.value()
            return _items(for_loop(0, upper, 1, _flat(items), step), width)

        if shared:
            items = steps(level - 2, bits, items, shared=True)
            items = steps(bits - 1, 0, items, shared=False)
        else:
            items = steps(level - 2, 0, items, shared=False)
        return _flat(self._tail(items, self.each.bit_length() - 1))

    def _tail(self, items: list[Item], level: int) -> list[Item]:
        """The steps of registers that follow at a level: each with the one half of 2^level away, and so on."""
        for bit in reversed(range(level)):
            items = self._within(items, 1 << bit, 1 << bit)
        return items

    def _within(self, items: list[Item], mask: int, upper: int) -> list[Item]:
        """Each register with the one whose number is its own xor `mask`; the `upper` bit is the higher one's."""
        found = list(items)
        for low in range(len(items)):
            if not low & upper:
                high = low ^ mask
                swap = self.before(items[high], items[low])
                found[low] = select_each(swap, items[high], items[low])
                found[high] = select_each(swap, items[low], items[high])
        return found

    def _across(self, items: list[Item], mask: ir.Value, upper: ir.Value, *, mirrored: bool, shared: bool) -> list[Item]:
        """Each thread with the one whose number is its own xor `mask`."""
        others = self._of_block(items, mask) if shared else [[shuffle(value, mask) for value in item] for item in items]
        others = others[::-1] if mirrored else others
        is_upper = arith.cmpi(CmpIPredicate.ne, arith.andi(self.thread, upper), index_constant(0))
        return [self._kept(mine, other, is_upper) for mine, other in zip(items, others)]

    def _kept(self, mine: Item, other: Item, is_upper: ir.Value) -> Item:
        if self.strict:
            return select_each(arith.xori(self.before(other, mine), is_upper), other, mine)
        low, high = select_each(is_upper, other, mine), select_each(is_upper, mine, other)
        return select_each(self.before(high, low), other, mine)

    def _of_block(self, items: list[Item], mask: ir.Value) -> list[Item]:
        """The items of another thread, through shared memory."""
        there, kinds = arith.xori(self.thread, mask), [value.type for value in items[0]]
        for number, item in enumerate(items):
            for value, buffer in zip(item, self.buffers):
                memref.store(stored(value, value.type), buffer, [self._place(number, self.thread)])
        barrier()
        found = [
            [loaded(memref.load(buffer, [self._place(number, there)]), kind) for buffer, kind in zip(self.buffers, kinds)]
            for number in range(len(items))
        ]
        barrier()
        return found

    def _place(self, number: int, thread: ir.Value) -> ir.Value:
        return (LinearIndex.of(thread) + number * self.threads).value()


def _flat(items: list[Item]) -> list[ir.Value]:
    return [value for item in items for value in item]


def _items(flat: Sequence[ir.Value], width: int) -> list[Item]:
    return [list(flat[at : at + width]) for at in range(0, len(flat), width)]
