"""The first elements of a row in order, by selection: what comes before the last of the best so far is kept, and sorted when it is much.

    target[0 : capacity] = source[0 : capacity]; count = capacity
    for each block of the rest of source, and one behind it, which is empty:
      if target might not hold another block, or this is the last: sort target[0 : count]; count = first; bound = target[first - 1]
      if any of the block comes before bound:                // one pass over the keys, which LLVM vectorises
        append those of it that do to target[0 : count]      // another finds them, as bits of a word

In a row without order the next sort comes when about capacity / first times as many elements have been read, so that few are ever sorted.
An element that equals the bound stands behind it: the selection is stable.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, math

from ...common.control_flow import each_value, if_else, loop, while_loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.scalars import Scalars
from ...common.sorting.comparator import Comparator, Key
from ...common.sorting.rows import Row

Sort = Callable[[Row, Row, ir.Value], None]

_ne, _ult, _uge, _ugt = (getattr(arith.CmpIPredicate, name) for name in ("ne", "ult", "uge", "ugt"))

BLOCK = 32
"""As many bits as a word may have."""
_ROOM = 44


class Selection:
    """`emit` puts the `first` elements of a row's order at its target's begin; what is behind them there is anything.

    `sort` sorts the first elements of a row, so many, in place; it may use a second row.
    """

    def __init__(self, s: Scalars, comparator: Comparator, key: Key | None, length: int, first: int, sort: Sort):
        self.s, self.comparator, self.key, self.sort = s, comparator, key, sort
        self.length, self.first, self.capacity = length, first, capacity(first)

    def emit(self, source: Row, target: Row, scratch: Row) -> None:
        begin, length = index_constant(self.capacity), index_constant(self.length)
        each_value(index_constant(0), begin, lambda i: target.store(source.load(i), i))

        def block(start: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
            new = start.value()
            first = arith.minsi(new, index_constant(self.length - BLOCK))  # the last block is whole, too: some of it was read before
            full = arith.cmpi(_ugt, carried[0], index_constant(self.capacity - BLOCK))
            last = arith.cmpi(_uge, new, length)
            types = [value.type for value in carried]
            count, *bound = if_else(arith.ori(full, last), types, lambda: self._best(target, scratch, carried[0]), lambda: carried)
            found = arith.andi(self._any(source, first, bound), arith.cmpi(_ult, new, length))
            return [*if_else(found, types[:1], lambda: self._appended(source, target, first, new, count, bound), lambda: [count]), *bound]

        blocks = -(-(self.length - self.capacity) // BLOCK) + 1
        loop(begin, self.capacity + blocks * BLOCK, BLOCK, [begin, *self._bound(target)], block)

    def _best(self, target: Row, scratch: Row, count: ir.Value) -> Sequence[ir.Value]:
        """The count and the bound after a sort."""
        self.sort(target, scratch, count)
        return [index_constant(self.first), *self._bound(target)]

    def _bound(self, target: Row) -> Sequence[ir.Value]:
        """What comes before the last of the best: its key, or the element where there is none."""
        last = target.load(index_constant(self.first - 1))
        return last if self.key is None else [self.key.of(self.s, last)]

    def _before(self, elements: list[ir.Value], bound: Sequence[ir.Value]) -> ir.Value:
        if self.key is None:
            return self.comparator.less(elements, bound)
        return self.s.cmpi("ult", self.key.of(self.s, elements), bound[0])

    def _any(self, source: Row, first: ir.Value, bound: Sequence[ir.Value]) -> ir.Value:
        def step(index: LinearIndex, found: list[ir.Value]) -> list[ir.Value]:
            return [arith.ori(found[0], self._before(source.load(arith.addi(first, index.value())), bound))]

        return loop(0, BLOCK, 1, [self.s.constant(ir.IntegerType.get_signless(1), 0)], step)[0]

    def _appended(
        self, source: Row, target: Row, first: ir.Value, new: ir.Value, old: ir.Value, bound: Sequence[ir.Value]
    ) -> Sequence[ir.Value]:
        """The count after what comes before the bound in a block, from `new` on, has been appended: a bit of a word each."""
        word = ir.IntegerType.get_signless(BLOCK)
        zero, one, all_bits = (self.s.constant(word, value) for value in (0, 1, -1))

        def bit(index: LinearIndex, found: list[ir.Value]) -> list[ir.Value]:
            before = self._before(source.load(arith.addi(first, index.value())), bound)
            return [arith.ori(found[0], arith.shli(arith.extui(word, before), arith.index_cast(word, index.value())))]

        def append(rest: ir.Value, count: ir.Value) -> Sequence[ir.Value]:
            place = arith.addi(first, arith.index_cast(ir.IndexType.get(), math.cttz(rest)))
            target.store(source.load(place), count)
            return [arith.andi(rest, arith.subi(rest, one)), arith.addi(count, index_constant(1))]

        found = loop(0, BLOCK, 1, [zero], bit)[0]
        found = arith.andi(found, arith.shli(all_bits, arith.index_cast(word, arith.subi(new, first))))
        return while_loop([found, old], lambda rest, _: arith.cmpi(_ne, rest, zero), append)[1:]


def capacity(first: int) -> int:
    """How many elements are kept at most, of which so many are selected."""
    return 4 * first + _ROOM


def selects(length: int, first: int) -> bool:
    """Whether the first elements of a row of that length are selected, not sorted."""
    return capacity(first) <= length // 2
