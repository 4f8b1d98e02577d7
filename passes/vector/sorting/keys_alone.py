"""The sort of a long row of one array by its keys alone (quick.py), which become elements again.

target[i] = key of source[i], for all i
sort target; if that gives up: another sort, of the source
target[i] = element of target[i], for all i
for each key that does not tell its elements, the least first, if there is one (-0 and 0, NaNs of several bits):
  the elements of source that have it, in order, to their places in target
if there are too many such keys: another sort
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.control_flow import each_value, if_else, loop, while_loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant, value_of
from ...common.sorting.comparator import Key
from ...common.sorting.rows import Array, Row
from .bits import KeyBits
from .quick import QuickSort

_WIDTHS, _LEAST = (32, 64), 4
"""Bits of a key, and the vectors that a row is longer than."""
_REPAIRS = 4
"""At most so many keys that do not tell their elements: two walks over the row each."""
_slt, _ult = arith.CmpIPredicate.slt, arith.CmpIPredicate.ult


class KeySort:
    """`emit` sorts rows of so many elements; `otherwise` those that it cannot."""

    def __init__(self, bits: KeyBits, quick: QuickSort, length: int, otherwise: Callable[[Row, Row, Row], None]):
        self.bits, self.quick, self.length, self.otherwise = bits, quick, length, otherwise
        self.s, self.bit = bits.s, ir.IntegerType.get_signless(1)

    @staticmethod
    def fits(key: Key, arrays: list[Array], length: int, vector_bits: int) -> bool:
        """Whether rows can be sorted so, and are long enough."""
        return KeyBits.tell(key, arrays) and key.bits in _WIDTHS and length * key.bits > _LEAST * vector_bits

    def emit(self, source: Row, target: Row, scratch: Row) -> None:
        told = self._load(source, target)
        ordered = self.quick.emit(target.arrays[0].base, scratch.arrays[0].base, target.start)

        def back() -> Sequence[ir.Value]:
            self._store(target)
            return if_else(told, [self.bit], lambda: [ordered], lambda: [self._repaired(source, target, scratch)])

        def by_other() -> Sequence[ir.Value]:
            self.otherwise(source, target, scratch)
            return []

        (done,) = if_else(ordered, [self.bit], back, lambda: [ordered])
        if_else(done, [], list, by_other)

    def _load(self, source: Row, target: Row) -> ir.Value:
        """Makes keys of the elements; whether each tells its element."""

        def element(index: LinearIndex, others: list[ir.Value]) -> list[ir.Value]:
            (value,) = source.load(index.value())
            key = self.bits.signed(value)
            target.store([arith.bitcast(value.type, key)], index.value())
            return [arith.ori(others[0], arith.xori(key, self.bits.of_bits(value)))]

        zero = self.s.constant(self.bits.integer, 0)
        return self.s.cmpi("eq", loop(0, self.length, 1, [zero], element)[0], zero)

    def _store(self, target: Row) -> None:
        def element(index: ir.Value) -> None:
            (value,) = target.load(index)
            target.store([self.bits.element(arith.bitcast(self.bits.integer, value), value.type)], index)

        each_value(index_constant(0), index_constant(self.length), element)

    def _repaired(self, source: Row, target: Row, scratch: Row) -> ir.Value:
        """Puts the elements that their keys do not tell where they belong; whether that is all of them."""
        least = self.s.constant(self.bits.integer, 1 << (self.bits.integer.width - 1))
        first, found = self._untold(source, least)

        def goes_on(times: ir.Value, _: ir.Value, found: ir.Value) -> ir.Value:
            return arith.andi(found, arith.cmpi(_ult, times, index_constant(_REPAIRS)))

        def repair(times: ir.Value, key: ir.Value, _: ir.Value) -> Sequence[ir.Value]:
            self._replace(source, target, scratch, key)
            behind = arith.addi(key, self.s.constant(self.bits.integer, 1))
            following, found = self._untold(source, behind)
            return [arith.addi(times, index_constant(1)), following, arith.andi(found, arith.cmpi(_slt, key, behind))]

        *_, left = while_loop([index_constant(0), first, found], goes_on, repair)
        return arith.xori(left, self.s.constant(self.bit, 1))

    def _untold(self, source: Row, least: ir.Value) -> tuple[ir.Value, ir.Value]:
        """The least key from `least` on that does not tell its element, and whether there is one."""
        greatest = self.s.constant(self.bits.integer, (1 << (self.bits.integer.width - 1)) - 1)

        def element(index: LinearIndex, best: list[ir.Value]) -> list[ir.Value]:
            (value,) = source.load(index.value())
            key = self.bits.signed(value)
            untold = arith.andi(self.s.cmpi("ne", key, self.bits.of_bits(value)), self.s.cmpi("sge", key, least))
            return [arith.minsi(best[0], arith.select(untold, key, greatest)), arith.ori(best[1], untold)]

        key, found = loop(0, self.length, 1, [greatest, self.s.constant(self.bit, 0)], element)
        return key, found

    def _replace(self, source: Row, target: Row, scratch: Row, wanted: ir.Value) -> None:
        """Writes the elements that have a key to their places, as they stood."""

        def element(index: LinearIndex, counts: list[ir.Value]) -> list[ir.Value]:
            (value,) = source.load(index.value())
            key = self.bits.signed(value)
            scratch.store([value], counts[1])  # overwritten by the next one, unless it stays
            comes = self.s.cmpi("slt", key, wanted), self.s.cmpi("eq", key, wanted)
            return [arith.addi(count, value_of("arith.index_castui", count.type, [each])) for count, each in zip(counts, comes)]

        before, count = loop(0, self.length, 1, [index_constant(0)] * 2, element)
        each_value(index_constant(0), count, lambda i: target.store(scratch.load(i), arith.addi(before, i)))
