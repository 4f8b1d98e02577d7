"""Rows, or runs of rows, sorted by a block in shared memory: a bitonic network of compare and exchange.

A network of 8 places, whose first step at each width meets its mirror image, so that all steps order upwards:

    width 2: 0-1 2-3 4-5 6-7    width 4: 0-3 1-2 4-7 5-6, 0-1 2-3 4-5 6-7    width 8: 0-7 1-6 2-5 3-4, 0-2 1-3 …, 0-1 2-3 …

Places beyond the end of a row stand for elements greater than all: they are behind all others already, so what would meet them stays. Where
the comparator tells no difference, the one that stood first comes first: each element carries where it stood. A network is a permutation,
whatever the comparator says. Of a sort of which only the first elements are read, no more leave the block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.storage import element_bytes, storage_element

from ...common.control_flow import each_value, for_each, if_then
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant, value_of
from ...common.sorting.rows import Array, Row
from ..support.emit import WARP, all_of, barrier, block_id, divide, less_than, remainder, thread_id
from ..support.launch import shared_view
from ..support.layout import power_above
from .group import SortGroup, SortKernel

MOST_THREADS, LEAST_PLACES = 512, 256


@dataclass(frozen=True)
class _Shape:
    """A block has `runs` runs of `places` places each, a power of two; a row has `per_row` runs, all rows have `total`."""

    rows: int
    length: int
    places: int
    runs: int

    @staticmethod
    def of(group: SortGroup) -> _Shape:
        places = power_above(group.run)
        runs = 1 if group.run < group.length else max(1, min(group.rows, LEAST_PLACES // places))
        return _Shape(group.rows, group.length, places, runs)

    @property
    def per_row(self) -> int:
        return -(-self.length // self.places)

    @property
    def total(self) -> int:
        return self.rows * self.per_row

    @property
    def all_places(self) -> int:
        return self.runs * self.places

    @property
    def threads(self) -> int:
        return max(WARP, min(MOST_THREADS, power_above(self.all_places) // 2))


def emit_runs(group: SortGroup) -> None:
    """The kernel that sorts each run of each row."""
    shape = _Shape.of(group)
    kernel = group.open(-(-shape.total // shape.runs), shape.threads, kernel="bitonic", run=shape.places, rows=shape.runs)
    with kernel.kernel.body:
        _Block(group, kernel, shape).emit()


class _Block:
    def __init__(self, group: SortGroup, kernel: SortKernel, shape: _Shape):
        self.group, self.kernel, self.shape = group, kernel, shape
        self.thread, self.first = thread_id(), LinearIndex.of(block_id()) * shape.runs
        order = ir.IntegerType.get_signless(32)
        arena = kernel.kernel.arena(shape.all_places * sum(map(element_bytes, [*group.elements, order])))
        arrays, offset = [], 0
        for element in sorted([*group.elements, order], key=element_bytes, reverse=True):  # so that each is aligned to its own size
            arrays.append(Array(shared_view(arena, offset, [shape.all_places], storage_element(element)), element))
            offset += shape.all_places * element_bytes(element)
        self.row, self.order = self._named(arrays, [*group.elements, order])

    def _named(self, arrays: list[Array], elements: list[ir.Type]) -> tuple[Row, Array]:
        """The arrays in the order of the operands, and that of where elements stood."""
        left = list(arrays)
        named = []
        for element in elements:
            named.append(next(array for array in left if array.element == element))
            left.remove(named[-1])
        return Row(named, index_constant(0)), named[-1]

    def emit(self) -> None:
        shape = self.shape
        self._each_place(self._fetch)
        barrier()
        levels = shape.places.bit_length() - 1
        one, two = index_constant(1), index_constant(2)

        def level(number: ir.Value) -> None:
            self._exchange(number, mirrored=True)
            each_value(two, arith.addi(number, one), lambda step: self._exchange(arith.subi(arith.addi(number, one), step), mirrored=False))

        each_value(one, index_constant(levels + 1), level)
        self._each_place(self._return)

    @property
    def _all_are_read(self) -> bool:
        return self.group.first >= self.shape.places

    def _each_place(self, body: Callable[[ir.Value], None]) -> None:
        """Runs `body` at each place of the block that has an element."""
        threads, places = self.shape.threads, self.shape.all_places

        def at(start: LinearIndex) -> None:
            place = start + self.thread
            with if_then(less_than(place, places) if places % threads else None):
                value = place.value()
                with if_then(self._has_element(value)):
                    body(value)

        for_each(0, places, threads, at)

    def _has_element(self, place: ir.Value) -> ir.Value | None:
        """Whether a place of the block has an element; None where each has."""
        shape, conditions = self.shape, []
        run = self.first + divide(place, shape.places)
        if shape.total % shape.runs:
            conditions.append(less_than(run, shape.total))
        if shape.length % shape.places:
            conditions.append(less_than(self._in_row(place), shape.length))
        return all_of(conditions)

    def _in_row(self, place: ir.Value) -> LinearIndex:
        """Where in its row the element of a place is."""
        run = self.first + divide(place, self.shape.places)
        part = remainder(run.value(), self.shape.per_row)
        return LinearIndex.of(part) * self.shape.places + remainder(place, self.shape.places)

    def _address(self, place: ir.Value) -> ir.Value:
        run = self.first + divide(place, self.shape.places)
        row = divide(run.value(), self.shape.per_row)
        return (LinearIndex.of(row) * self.shape.length + self._in_row(place)).value()

    def _fetch(self, place: ir.Value) -> None:
        elements = Row(self.kernel.inputs, index_constant(0)).load(self._address(place))
        self.row.store([*elements, value_of("arith.index_cast", self.order.element, [place])], place)

    def _return(self, place: ir.Value) -> None:
        place_in_run = LinearIndex.of(remainder(place, self.shape.places))
        with if_then(None if self._all_are_read else less_than(place_in_run, self.group.first)):
            *elements, _ = self.row.load(place)
            Row(self.kernel.results, index_constant(0)).store(elements, self._address(place))

    def _exchange(self, width: ir.Value, mirrored: bool) -> None:
        """A step of the network among neighbours of 2^width places: each with its mirror image, or with the one half of that behind."""
        threads, pairs = self.shape.threads, self.shape.all_places // 2
        half = arith.subi(width, index_constant(1))
        distance = arith.shli(index_constant(1), half)

        def at(start: LinearIndex) -> None:
            pair = start + self.thread
            with if_then(less_than(pair, pairs) if pairs % threads else None):
                number = pair.value()
                start_of = arith.shli(arith.shrui(number, half), width)
                inside = arith.andi(number, arith.subi(distance, index_constant(1)))
                low = arith.addi(start_of, inside)
                high = self._mirror(low, start_of, distance) if mirrored else arith.addi(low, distance)
                with if_then(self._has_element(high)):
                    self._order(low, high)

        for_each(0, pairs, threads, at)
        barrier()

    def _mirror(self, low: ir.Value, start: ir.Value, distance: ir.Value) -> ir.Value:
        last = arith.subi(arith.addi(distance, distance), index_constant(1))
        return arith.addi(start, arith.subi(last, arith.subi(low, start)))

    def _order(self, low: ir.Value, high: ir.Value) -> None:
        """Exchanges the elements of two places where the second comes before the first."""
        left, right = self.row.load(low), self.row.load(high)
        before, after = self.kernel.less(right[:-1], left[:-1]), self.kernel.less(left[:-1], right[:-1])
        scalars = self.kernel.scalars
        stood_before = scalars.cmpi("ult", right[-1], left[-1])
        same = scalars.op("arith.andi", scalars.op("arith.xori", after, scalars.constant(after.type, 1)), stood_before)
        with if_then(arith.ori(before, same)):
            self.row.store(right, low)
            self.row.store(left, high)
