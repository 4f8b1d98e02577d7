"""The radix sort of a long row of several arrays by words of 64 bits: an element's key, of 32 bits at most, above 32 others.

    low[i] = the element of the second array, if there are but two and each key tells the first's element; else i, the place in the row
    words[i] = key of source[i] · 2^32 + low[i], for all i
    sort the words by their keys (radix.py)
    target[i] = the elements that words[i] tells, or source[low], for all i

So each pass moves one array, and two arrays are read in order alone. Whether the keys tell the elements is seen as the words are made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from ...common.control_flow import each_value, if_else, loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant, value_of
from ...common.scalars import Scalars, is_float
from ...common.sorting.comparator import Key
from ...common.sorting.rows import Array, Row
from ...common.sorting.scratch import LOW_BITS, WORD_BITS
from .bits import KeyBits
from .radix import RadixSort


@dataclass(frozen=True)
class _Above:
    """The key that a word has above its low half."""

    bits: int

    def of(self, s: Scalars, elements: Sequence[ir.Value]) -> ir.Value:
        (word,) = elements
        high = s.op("arith.shrui", word, s.constant(word.type, LOW_BITS))
        return arith.trunci(ir.IntegerType.get_signless(self.bits), high)


class WordSort:
    """`emit` sorts rows of so many elements. The words lie in the scratch, or, where there is none, on the stack."""

    def __init__(self, s: Scalars, key: Key, length: int, arrays: Sequence[Array], scratch: Sequence[Array]):
        self.s, self.key, self.length, self.bits = s, key, length, KeyBits(s, key)
        self.word = ir.IntegerType.get_signless(WORD_BITS)
        self.radix = RadixSort(s, _Above(key.bits), length)
        self.on_stack = not scratch
        self.buffers = [array.base for array in scratch]
        if self.on_stack:
            kind = ir.MemRefType.get([length], self.word)
            self.buffers = [memref.alloca(kind, [], [], alignment=64) for _ in range(2)]
        widths = [array.element.width for array in arrays if not array.constant]
        self.may_tell = len(widths) == len(arrays) == 2 and widths[0] == key.bits and widths[1] <= LOW_BITS

    def emit(self, source: Row, target: Row, scratch: Row) -> None:
        start = index_constant(0) if self.on_stack else source.start
        words, others = (Row([Array(base, self.word)], start) for base in self.buffers)
        if not self.may_tell:
            self._make_places(source, words)
            self._each(self._gather(source, target, self._sorted(words, others)))
            return
        told = self.s.cmpi("eq", self._make(source, words), self.s.constant(self.bits.integer, 0))
        if_else(told, [], list, lambda: self._make_places(source, words))
        found = self._sorted(words, others)

        def tell(index: ir.Value) -> None:
            target.store(self._elements(found.load(index)[0], target), index)

        if_else(told, [], lambda: self._each(tell), lambda: self._each(self._gather(source, target, found)))

    def _sorted(self, words: Row, others: Row) -> Row:
        """The sorted words, in one of the two rows."""
        if self.radix.in_place:
            self.radix.emit(words, words, others)
            return words
        self.radix.emit(words, others, words)
        return others

    def _make(self, source: Row, words: Row) -> ir.Value:
        """Makes words that hold the elements; zero if each key tells its element."""

        def make(index: LinearIndex, differ: list[ir.Value]) -> list[ir.Value]:
            first, second = elements = source.load(index.value())
            key = self.key.of(self.s, elements)
            words.store([self._word(key, self._integer(second))], index.value())
            told = arith.xori(self.bits.of_bits(first), self.bits.sign)
            return [arith.ori(differ[0], arith.xori(key, told))]

        return loop(0, self.length, 1, [self.s.constant(self.bits.integer, 0)], make)[0]

    def _make_places(self, source: Row, words: Row) -> list[ir.Value]:
        def make(index: ir.Value) -> None:
            words.store([self._word(self.key.of(self.s, source.load(index)), arith.index_cast(self.word, index))], index)

        return self._each(make)

    def _word(self, key: ir.Value, low: ir.Value) -> ir.Value:
        high = arith.shli(arith.extui(self.word, key), self.s.constant(self.word, LOW_BITS))
        return arith.ori(high, low)

    def _integer(self, element: ir.Value) -> ir.Value:
        """An element's bits in a word."""
        bits = ir.IntegerType.get_signless(element.type.width)
        return arith.extui(self.word, arith.bitcast(bits, element) if is_float(element.type) else element)

    def _elements(self, word: ir.Value, target: Row) -> list[ir.Value]:
        """Both elements that a word tells."""
        first, second = (array.element for array in target.arrays)
        key = arith.xori(self.radix.key.of(self.s, [word]), self.bits.sign)
        low = arith.trunci(ir.IntegerType.get_signless(second.width), word)
        return [self.bits.element(key, first), arith.bitcast(second, low) if is_float(second) else low]

    def _gather(self, source: Row, target: Row, words: Row) -> Callable[[ir.Value], None]:
        """Moves the element of a word that holds its place."""
        mask = self.s.constant(self.word, (1 << LOW_BITS) - 1)

        def gather(index: ir.Value) -> None:
            (word,) = words.load(index)
            place = value_of("arith.index_castui", ir.IndexType.get(), [arith.andi(word, mask)])
            target.store(source.load(place), index)

        return gather

    def _each(self, body: Callable[[ir.Value], None]) -> list[ir.Value]:
        each_value(index_constant(0), index_constant(self.length), body)
        return []
