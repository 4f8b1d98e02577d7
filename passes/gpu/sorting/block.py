"""Rows, or runs of rows, sorted by a block: in the registers of its threads, what they compare of the elements and where these stood.

    elements to shared memory, what is compared of them to registers      neighbouring threads read neighbouring elements
    a network of compare and exchange (network.py)                        what is compared, and where it stood, moves
    where they stood to shared memory, the elements from there to the result

Elements do not move until it is known where to. Several short rows share a block. Of a sort of which only the first elements are read, no
more leave the block. Under a comparator that is no order, a row ends as some permutation.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, memref

from hloom.dialects.storage import element_bytes, storage_element

from ...common.control_flow import if_then
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant, value_of
from ...common.sorting.rows import Array, Row
from ..support.emit import WARP, all_of, barrier, block_id, choose, divide, less_than, remainder, thread_id
from ..support.launch import ALIGNMENT, shared_view
from ..support.layout import power_above
from .group import SortGroup, SortKernel
from .item import items_of
from .network import Item, Network

MOST_EACH, FEW_EACH = 16, 8
"""Places of a thread; of few elements, so that more threads share them."""
FEW = 1 << 18
THREADS = 64
"""Threads that share several short rows."""


@dataclass(frozen=True)
class _Shape:
    """A block has `runs` runs of `places` places, a power of two, `each` of them a thread's; a row has `per_row` runs, all rows `total`."""

    rows: int
    length: int
    places: int
    each: int

    @staticmethod
    def of(group: SortGroup) -> _Shape:
        places = power_above(group.run)
        return _Shape(group.rows, group.length, places, min(places, MOST_EACH if group.rows * group.length >= FEW else FEW_EACH))

    @property
    def per_row(self) -> int:
        return -(-self.length // self.places)

    @property
    def total(self) -> int:
        return self.rows * self.per_row

    @property
    def runs(self) -> int:
        return max(WARP // self.threads_of_run, min(power_above(self.total), THREADS // self.threads_of_run), 1)

    @property
    def threads_of_run(self) -> int:
        return self.places // self.each

    @property
    def threads(self) -> int:
        return self.runs * self.threads_of_run


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
        self.items = items_of(kernel)
        self._share()

    def _share(self) -> None:
        """Deals out shared memory: to what moves between warps, after that to where elements stood, and to the elements."""
        shape, order = self.shape, ir.IntegerType.get_signless(32)
        places = shape.runs * shape.places
        self.stride = shape.threads + (WARP // shape.each if shape.each > 1 else 0)
        """Between what says where the elements of a thread stood, so that neither who writes it nor who reads it meets others in a bank."""
        several = shape.threads_of_run > WARP
        kinds = sorted(self.items.kinds, key=element_bytes, reverse=True)  # so that each is aligned to its own size
        moved = places * sum(map(element_bytes, kinds)) if several else 0
        held = [n for n, array in enumerate(self.kernel.inputs) if not array.constant]
        held.sort(key=lambda n: element_bytes(self.group.elements[n]), reverse=True)
        offset = -(-max(moved, element_bytes(order) * shape.each * self.stride) // ALIGNMENT) * ALIGNMENT
        arena = self.kernel.kernel.arena(offset + places * sum(element_bytes(self.group.elements[n]) for n in held))
        self.orders = shared_view(arena, 0, [shape.each * self.stride], order)
        views, start = [], 0
        for kind in kinds if several else []:
            views.append((kind, shared_view(arena, start, [places], storage_element(kind))))
            start += places * element_bytes(kind)
        self.buffers = []
        for kind in self.items.kinds if several else []:
            self.buffers.append(next(view for view in views if view[0] == kind))
            views.remove(self.buffers[-1])
        arrays = list(self.kernel.inputs)
        for number in held:
            element = self.group.elements[number]
            arrays[number] = Array(shared_view(arena, offset, [places], storage_element(element)), element)
            offset += places * element_bytes(element)
        self.held = Row(arrays, index_constant(0))

    def emit(self) -> None:
        shape = self.shape
        items = [self._fetch(number) for number in range(shape.each)]
        buffers = [view for _, view in self.buffers]
        network = Network(self.thread, shape.each, shape.places, self.items.before, self.items.strict, shape.threads, buffers)
        for number, item in enumerate(network.sort(items)):
            memref.store(self.items.order(item), self.orders, [(LinearIndex.of(self.thread) + number * self.stride).value()])
        barrier()
        for number in range(shape.each):
            self._return(number)

    def _fetch(self, number: int) -> Item:
        """An element of the run of a thread; neighbouring threads have neighbours."""
        shape = self.shape
        run = divide(self.thread, shape.threads_of_run)
        place = LinearIndex.of(remainder(self.thread, shape.threads_of_run)) + number * shape.threads_of_run
        there = self._has_element(run, place)
        kinds = [element for element, array in zip(self.group.elements, self.kernel.inputs) if not array.constant]

        def load() -> list[ir.Value]:
            arrays = [array for array in self.kernel.inputs if not array.constant]
            found = Row(arrays, index_constant(0)).load(self._address(run, place))
            held = Row([array for array in self.held.arrays if not array.constant], index_constant(0))
            held.store(found, (LinearIndex.of(run) * shape.places + place).value())
            return found

        read = iter(choose(there, kinds, load))
        elements = [array.base if array.constant else next(read) for array in self.kernel.inputs]
        order = value_of("arith.index_cast", ir.IntegerType.get_signless(32), [place.value()])
        return self.items.made(elements, order, there)

    def _return(self, number: int) -> None:
        """Stores an element of the result; neighbouring threads have neighbours."""
        shape = self.shape
        at = (LinearIndex.of(self.thread) + number * shape.threads).value()
        run, place = divide(at, shape.places), LinearIndex.of(remainder(at, shape.places))
        conditions = [self._has_element(run, place)]
        if self.group.first < shape.places:
            conditions.append(less_than(place, self.group.first))
        with if_then(all_of([condition for condition in conditions if condition is not None])):
            which = LinearIndex.of(remainder(at, shape.each)) * self.stride + divide(at, shape.each)
            order = LinearIndex.of(arith.index_castui(ir.IndexType.get(), memref.load(self.orders, [which.value()])))
            elements = self.held.load((LinearIndex.of(run) * shape.places + order).value())
            Row(self.kernel.results, index_constant(0)).store(elements, self._address(run, place))

    def _has_element(self, run: ir.Value, place: LinearIndex) -> ir.Value | None:
        """Whether a place of a run of the block has an element; None where each has."""
        shape, conditions = self.shape, []
        number = self.first + run
        if shape.total % shape.runs:
            conditions.append(less_than(number, shape.total))
        if shape.length % shape.places:
            conditions.append(less_than(self._in_row(number, place), shape.length))
        return all_of(conditions)

    def _in_row(self, number: LinearIndex, place: LinearIndex) -> LinearIndex:
        """Where in its row the element of a place is."""
        return LinearIndex.of(remainder(number.value(), self.shape.per_row)) * self.shape.places + place

    def _address(self, run: ir.Value, place: LinearIndex) -> ir.Value:
        number = self.first + run
        row = divide(number.value(), self.shape.per_row)
        return (LinearIndex.of(row) * self.shape.length + self._in_row(number, place)).value()
