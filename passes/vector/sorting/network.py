"""Rows sorted together, one a lane, by a network of minima and maxima: Batcher's odd-even merge sort.

    keys[place][lane] = the key of an element, as a signed integer                            // the rows of a block, transposed
    for each width 1, 2, 4, … and distance width, width / 2, …, 1:
      for each pair of places of the network: keys[a], keys[b] = min(keys[a], keys[b]), max(keys[a], keys[b])
    each element from its key

So there is no branch, and each comparison is one of `lanes` rows. It needs keys that tell their elements. What a key is the program says
(comparator.py): an element whose key is not that of its bits (-0, or a NaN that is not the program's one) leaves its block to another sort.
Source: K. E. Batcher, Sorting networks and their applications, 1968.
"""

from __future__ import annotations

from collections.abc import Callable

from torch_mlir import ir
from torch_mlir.dialects import arith, memref, vector

from ...common.control_flow import each_value, if_else, loop, nest_each, while_loop
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant
from ...common.scalars import Scalars
from ...common.sorting.comparator import Key
from ...common.sorting.rows import Array, Row
from ...common.vectors import vector_of
from .bits import KeyBits

LONGEST = 1024
"""Above, a row's part of all widths no longer lies in the first-level cache."""
_eq, _ugt, _ult = arith.CmpIPredicate.eq, arith.CmpIPredicate.ugt, arith.CmpIPredicate.ult


def _bit() -> ir.Type:
    return ir.IntegerType.get_signless(1)


class NetworkSort:
    """`emit` sorts the rows of an array, in blocks; their keys lie in a buffer of the kernel's, made at the insertion point."""

    def __init__(self, s: Scalars, key: Key, length: int, vector_bits: int):
        self.s, self.length, self.bits = s, length, KeyBits(s, key)
        self.integer = self.bits.integer
        self.lanes = vector_bits // key.bits
        self.places = 1 << (length - 1).bit_length()
        self.keys = memref.alloca(ir.MemRefType.get([self.places * self.lanes], self.integer), [], [], alignment=64)

    @staticmethod
    def fits(key: Key, arrays: list[Array], length: int, rows: int, vector_bits: int) -> bool:
        """Whether rows can be sorted so: of one array, whose elements have as many bits as their keys."""
        return KeyBits.tell(key, arrays) and 1 < length <= LONGEST and rows >= vector_bits // key.bits

    def emit(self, lower: ir.Value, upper: ir.Value, rows: int, arrays: list[Array], sort_row: Callable[[ir.Value], None]) -> None:
        """Sorts blocks lower to upper of the rows of one array into the other; `sort_row` sorts a row that cannot be sorted so."""
        source, target = arrays

        def block(number: ir.Value) -> None:
            first = arith.muli(number, index_constant(self.lanes))
            behind = arith.addi(first, index_constant(self.lanes))
            whole = arith.cmpi(arith.CmpIPredicate.ule, behind, index_constant(rows))
            plain = if_else(whole, [_bit()], lambda: [self._load(source, first)], lambda: [self.s.constant(_bit(), 0)])[0]

            def together() -> list[ir.Value]:
                self._sort()
                self._store(target, first)
                return []

            def one_by_one() -> list[ir.Value]:
                each_value(first, arith.minui(behind, index_constant(rows)), sort_row)
                return []

            if_else(plain, [], together, one_by_one)

        each_value(lower, upper, block)

    def _row(self, array: Array, first: ir.Value, lane: LinearIndex) -> Row:
        return Row([array], arith.muli(arith.addi(first, lane.value()), index_constant(self.length)))

    def _load(self, source: Array, first: ir.Value) -> ir.Value:
        """Fills the buffer; whether each key is that of its element's bits."""

        def element(place: LinearIndex, lane: LinearIndex, plain: list[ir.Value]) -> list[ir.Value]:
            (element,) = self._row(source, first, lane).load(place.value())
            key = self.bits.signed(element)
            memref.store(key, self.keys, [(place * self.lanes + lane).value()])
            return [arith.andi(plain[0], self.s.cmpi("eq", key, self.bits.of_bits(element)))]

        def row(lane: LinearIndex, plain: list[ir.Value]) -> list[ir.Value]:
            return loop(0, self.length, 1, plain, lambda place, carried: element(place, lane, carried))

        (plain,) = loop(0, self.lanes, 1, [self.s.constant(_bit(), 1)], row)
        greatest = self.s.constant(self.integer, (1 << (self.integer.width - 1)) - 1)
        start, end = (index_constant(places * self.lanes) for places in (self.length, self.places))
        each_value(start, end, lambda place: memref.store(greatest, self.keys, [place]))  # comes before nothing
        return plain

    def _sort(self) -> None:
        zero, one, places = (index_constant(n) for n in (0, 1, self.places))

        def merges(width: ir.Value) -> list[ir.Value]:
            """Of the runs of that many places, each two that are neighbours."""
            while_loop([width], lambda distance: arith.cmpi(_ugt, distance, zero), lambda distance: pairs(width, distance))
            return [arith.shli(width, one)]

        def pairs(width: ir.Value, distance: ir.Value) -> list[ir.Value]:
            step, twice = arith.shli(width, one), arith.shli(distance, one)
            skipped = arith.select(arith.cmpi(_eq, distance, width), zero, distance)

            def run(first: ir.Value) -> None:
                last = arith.subi(arith.subi(arith.addi(first, step), distance), skipped)
                each_value(arith.addi(first, skipped), last, group, twice)

            def group(first: ir.Value) -> None:
                each_value(first, arith.addi(first, distance), lambda place: self._exchange(place, arith.addi(place, distance)))

            each_value(zero, places, run, step)
            return [arith.shrui(distance, one)]

        while_loop([one], lambda width: arith.cmpi(_ult, width, places), merges)

    def _exchange(self, *places: ir.Value) -> None:
        at = [arith.muli(place, index_constant(self.lanes)) for place in places]
        a, b = (vector.load(vector_of(self.lanes, self.integer), self.keys, [index]) for index in at)
        vector.store(arith.minsi(a, b), self.keys, [at[0]])
        vector.store(arith.maxsi(a, b), self.keys, [at[1]])

    def _store(self, target: Array, first: ir.Value) -> None:
        def element(indices: list[LinearIndex]) -> None:
            lane, place = indices
            key = memref.load(self.keys, [(place * self.lanes + lane).value()])
            self._row(target, first, lane).store([self.bits.element(key, target.element)], place.value())

        nest_each([self.lanes, self.length], element)
