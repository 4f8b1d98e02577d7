"""The sort of a long row whose keys tell its elements: by its keys alone (quick.py), which become elements again.

target[i] = key of source[i], for all i; if any element is not told by its key, or the sort gives up: another sort, of the source
else: target[i] = element of target[i], for all i
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.control_flow import each_value, if_else, loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.sorting.comparator import Key
from ...common.sorting.rows import Array, Row
from .bits import KeyBits
from .quick import QuickSort

_WIDTHS, _LEAST = (32, 64), 4
"""Bits of a key, and the vectors that a row is longer than."""


class KeySort:
    """`emit` sorts rows of so many elements; `otherwise` those that it cannot."""

    def __init__(self, bits: KeyBits, quick: QuickSort, length: int, otherwise: Callable[[Row, Row, Row], None]):
        self.bits, self.quick, self.length, self.otherwise = bits, quick, length, otherwise

    @staticmethod
    def fits(key: Key, arrays: list[Array], length: int, vector_bits: int) -> bool:
        """Whether rows can be sorted so, and are long enough."""
        return KeyBits.tell(key, arrays) and key.bits in _WIDTHS and length * key.bits > _LEAST * vector_bits

    def emit(self, source: Row, target: Row, scratch: Row) -> None:
        s, bit = self.bits.s, ir.IntegerType.get_signless(1)
        told = s.cmpi("eq", self._load(source, target), s.constant(self.bits.integer, 0))

        def sort() -> Sequence[ir.Value]:
            return [self.quick.emit(target.arrays[0].base, scratch.arrays[0].base, target.start)]

        def back() -> Sequence[ir.Value]:
            self._store(target)
            return []

        def by_other() -> Sequence[ir.Value]:
            self.otherwise(source, target, scratch)
            return []

        (sorted_,) = if_else(told, [bit], sort, lambda: [s.constant(bit, 0)])
        if_else(sorted_, [], back, by_other)

    def _load(self, source: Row, target: Row) -> ir.Value:
        """Makes keys of the elements; zero if each tells its element."""

        def element(index: LinearIndex, others: list[ir.Value]) -> list[ir.Value]:
            (value,) = source.load(index.value())
            key = self.bits.signed(value)
            target.store([arith.bitcast(value.type, key)], index.value())
            return [arith.ori(others[0], arith.xori(key, self.bits.of_bits(value)))]

        return loop(0, self.length, 1, [self.bits.s.constant(self.bits.integer, 0)], element)[0]

    def _store(self, target: Row) -> None:
        def element(index: ir.Value) -> None:
            (value,) = target.load(index)
            target.store([self.bits.element(arith.bitcast(self.bits.integer, value), value.type)], index)

        each_value(index_constant(0), index_constant(self.length), element)
