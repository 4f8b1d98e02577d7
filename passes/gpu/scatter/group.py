"""A group that is a scatter: its windows, its body, and in its kernel the buffers and places of what an update touches."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, memref
from torch_mlir.dialects.arith import AtomicRMWKind, CmpIPredicate

from ...common.linear_index import LinearIndex
from ...common.rewriting import defining_op, element_of, i64_array, index_constant, ops_in
from ...common.scalar_region import ScalarRegion, constants_outside
from ...common.scalars import Scalars
from ...common.scatter_order import ATTRIBUTE, Order
from ...common.scatter_windows import UNSIGNED, Windows
from ...common.storage import loaded, row_major, stored
from ..support.emit import all_of, digits
from ..support.launch import UPDATED, OpenKernel, open_kernel

Point = dict[int, LinearIndex]
"""An index along each dim of the updates, or along some."""
_KINDS = {"maxsi": "maxs", "maxui": "maxu", "minsi": "mins", "minui": "minu"}
_OF_THE_HARDWARE = {
    f"arith.{name}": getattr(AtomicRMWKind, _KINDS.get(name, name)) for name in ("addi", "addf", "andi", "ori", "xori", *_KINDS)
}
"""The atomics of GPUs, by what they combine with."""
_ATOMIC_BITS = (32, 64)


class ScatterGroup:
    """The group of `function`, whose scatter is `op`."""

    def __init__(self, function: ir.Operation, op: ir.Operation):
        self.function, self.op, self.windows = function, op, Windows.of(op)
        count = len(op.results)
        self.indices, self.updates = op.operands[count], list(op.operands)[count + 1 :]
        self.block = op.regions[0].blocks[0]
        self.order = Order(ir.StringAttr(op.attributes[ATTRIBUTE]).value)
        self.region = ScalarRegion(self.block, {})

    def combining(self, number: int) -> ir.Operation | None:
        """The op of the body, if it is one, that combines an element of table `number` with one of its updates."""
        made = defining_op(self.region.answers[number])
        both = {number, len(self.op.results) + number}
        return made if made is not None and {*map(self.region.argument, made.operands)} == both else None

    def atomic(self, number: int) -> AtomicRMWKind | None:
        """The hardware's atomic that does the same."""
        made, element = self.combining(number), element_of(self.op.results[number])
        return _OF_THE_HARDWARE.get(made.name) if made is not None and element.width in _ATOMIC_BITS else None

    def open(self, blocks: int, threads: int, **layout: str | int) -> ScatterKernel:
        """Its kernel, empty."""
        kernel = open_kernel(self.function, blocks, threads, {"kernel": self.order.value, **layout})
        buffers = len(kernel.buffers)
        kernel.op.attributes[UPDATED] = i64_array(range(buffers - len(self.op.results), buffers))
        return ScatterKernel(self, kernel)


class ScatterKernel:
    """Emits into the kernel of a scatter what it does with one element of its updates."""

    def __init__(self, group: ScatterGroup, kernel: OpenKernel):
        self.group, self.windows, self.kernel = group, group.windows, kernel
        with kernel.body:
            self.scalars = Scalars(kernel.op)
            self.known = constants_outside(group.function)
        self.elements = [element_of(result) for result in group.op.results]
        self.region = ScalarRegion(group.block, self.known)
        arguments = list(group.function.regions[0].blocks[0].arguments)
        self.buffers = dict(zip(arguments, kernel.buffers))
        returned = list(ops_in(group.function.regions[0].blocks[0])[-1].operands)
        outputs = kernel.buffers[len(arguments) :]
        self.tables = [outputs[returned.index(result)] for result in group.op.results]

    def point(self, number: ir.Value) -> Point:
        """The index of the element of the updates of that number."""
        return dict(enumerate(map(LinearIndex.of, digits(number, [*self.windows.updates] or [1]))))

    def starts(self, at: Point) -> tuple[list[LinearIndex], ir.Value | None]:
        """Where the window of the updates at that index begins, and whether it lies in what is updated; None where it cannot but do so."""
        windows, inside = self.windows, []
        starts = [LinearIndex()] * len(windows.shape)
        for d, u in windows.batch.items():
            starts[d] = at[u]
        for d, component in windows.moved.items():
            place, limit = self._index(at, component), windows.shape[d] - windows.window[d]
            starts[d] = LinearIndex.of(place)
            if limit < 0:
                inside.append(self.scalars.constant(ir.IntegerType.get_signless(1), 0))
            else:  # as unsigned, an index below 0 is as large as one beyond the end
                inside.append(arith.cmpi(CmpIPredicate.ule, place, index_constant(limit)))
        return starts, all_of(inside)

    def index_at(self, at: Point) -> list[ir.Value]:
        """All components of the index of a window."""
        return [self._index(at, component) for component in self.windows.moved.values()]

    def _index(self, at: Point, component: int) -> ir.Value:
        """A component of the index of a window."""
        kind = ir.RankedTensorType(self.group.indices.type)
        point = [at[d] for d in self.windows.over]
        if self.windows.component < len(kind.shape):
            point.insert(self.windows.component, LinearIndex(constant=component))
        signed = kind.element_type
        if UNSIGNED in self.group.op.attributes:
            signed = ir.IntegerType.get_unsigned(signed.width)
        return self.scalars.to_index(self._read(self.group.indices, point), signed)

    def _read(self, tensor: ir.Value, point: Sequence[LinearIndex]) -> ir.Value:
        """An element of an operand of the scatter."""
        if defining_op(tensor) is not None:
            return self.known[tensor]
        kind = ir.RankedTensorType(tensor.type)
        return loaded(memref.load(self.buffers[tensor], [_address(point, kind.shape)]), kind.element_type)

    def read_updates(self, at: Point) -> list[ir.Value]:
        """The element of each of the updates at that index."""
        point = [at[d] for d in range(len(self.windows.updates))]
        return [self._read(update, point) for update in self.group.updates]

    def place(self, starts: list[LinearIndex], at: Point) -> ir.Value:
        """Where in the tables an element of a window lies."""
        point = [start + at[self.windows.at[d]] if d in self.windows.at else start for d, start in enumerate(starts)]
        return _address(point, self.windows.shape)

    def apply(self, place: ir.Value, new: list[ir.Value]) -> None:
        """Combines elements of the updates with those of the tables."""
        self.store(self.combined(self.read_tables(place), new), place)

    def read_tables(self, place: ir.Value) -> list[ir.Value]:
        return [loaded(memref.load(table, [place]), element) for table, element in zip(self.tables, self.elements)]

    def combined(self, old: Sequence[ir.Value], new: Sequence[ir.Value]) -> list[ir.Value]:
        """What the body makes of elements of the tables and of the updates."""
        return self.region.evaluate([*old, *new], self.region.answers)

    def store(self, values: Sequence[ir.Value], place: ir.Value) -> None:
        for value, table, element in zip(values, self.tables, self.elements):
            memref.store(stored(value, element), table, [place])


def count(extents: Sequence[int]) -> int:
    """The points of loops of these extents."""
    return prod(extents)


def _address(point: Sequence[LinearIndex], shape: Sequence[int]) -> ir.Value:
    return sum((index * stride for index, stride in zip(point, row_major(tuple(shape)))), LinearIndex()).value()
