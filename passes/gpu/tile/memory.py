"""Loads and stores of a thread: vectors of up to 16 bytes with their alignment, bytes for i1; and shared memory."""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from ...common.linear_index import LinearIndex
from ...common.rewriting import create, value_of
from ...common.storage import Storage, is_i1, memory_type, row_major
from .index_emitter import Indices

ACCESS_BYTES = 16
"""The widest access of a thread."""
STATIC_SHARED_BYTES = 48 << 10
"""More than that cannot be declared statically."""


def element_bytes(element: ir.Type) -> int:
    return 8 if isinstance(element, ir.IndexType) else max(8, element.width) // 8


def is_vector(value: ir.Value) -> bool:
    return isinstance(value.type, ir.VectorType)


def widened(value: ir.Value, lanes: int) -> ir.Value:
    """`value` as a vector of that many lanes; one lane is a scalar."""
    if lanes == 1 or is_vector(value):
        return value
    return value_of("vector.broadcast", ir.VectorType.get([lanes], value.type), [value])


def lane_of(value: ir.Value, lane: int) -> ir.Value:
    """The element of a vector, or the scalar itself."""
    if not is_vector(value):
        return value
    element = ir.VectorType(value.type).element_type
    return value_of("vector.extract", element, [value], static_position=ir.DenseI64ArrayAttr.get([lane]))


def from_lanes(elements: list[ir.Value]) -> ir.Value:
    if len(elements) == 1:
        return elements[0]
    return value_of("vector.from_elements", ir.VectorType.get([len(elements)], elements[0].type), elements)


class NoRoom(Exception):
    """A block has no shared memory left."""


class Memory:
    """Emits accesses to the memory of kernel `name`."""

    def __init__(self, indices: Indices, kernel: ir.Operation):
        self.indices, self.kernel = indices, kernel
        self.shared_bytes = 0

    def load(self, storage: Storage, address: LinearIndex, lanes: int) -> ir.Value:
        """The elements at `address`, one a lane; a scalar where they are the same in all lanes."""
        lanes = lanes if address.lanes else 1
        key = ("load", storage.base, address, lanes)
        return self.indices.memo.once(key, lambda: self._load(storage, address, lanes))

    def _load(self, storage: Storage, address: LinearIndex, lanes: int) -> ir.Value:
        memory = memory_type(storage.element)
        size = self._piece(storage, address, lanes)
        pieces = [self._load_piece(storage.base, memory, self._at(address, j), size) for j in range(0, lanes, size)]
        if size == 1 or len(pieces) == 1:
            loaded = from_lanes(pieces)
        else:
            loaded = from_lanes([lane_of(piece, j) for piece in pieces for j in range(size)])
        if not is_i1(storage.element):
            return loaded
        i1 = ir.IntegerType.get_signless(1)
        return value_of("arith.trunci", ir.VectorType.get([lanes], i1) if lanes > 1 else i1, [loaded])

    def _at(self, address: LinearIndex, lane: int) -> ir.Value:
        return self.indices.value(LinearIndex(address.terms, address.constant + lane * address.lanes))

    def _piece(self, storage: Storage, address: LinearIndex, lanes: int) -> int:
        """How many elements one access takes: aligned, at most 16 bytes."""
        if address.lanes != 1:
            return 1
        most = min(lanes, ACCESS_BYTES // element_bytes(storage.element))
        divisor = self.indices.divisor(address.uniform())
        while divisor % most or lanes % most:
            most //= 2
        return most

    def _load_piece(self, base: ir.Value, memory: ir.Type, at: ir.Value, size: int) -> ir.Value:
        if size == 1:
            return value_of("memref.load", memory, [base, at])
        return value_of("vector.load", ir.VectorType.get([size], memory), [base, at], alignment=_alignment(memory, size))

    def store(self, value: ir.Value, storage: Storage, address: LinearIndex, lanes: int) -> None:
        """Stores an element a lane."""
        memory = memory_type(storage.element)
        value = widened(value, lanes)
        if is_i1(storage.element):
            value = value_of("arith.extui", ir.VectorType.get([lanes], memory) if lanes > 1 else memory, [value])
        size = self._piece(storage, address, lanes)
        for j in range(0, lanes, size):
            at = self._at(address, j)
            if size == 1:
                create("memref.store", [], [lane_of(value, j), storage.base, at])
            else:
                piece = value if size == lanes else from_lanes([lane_of(value, j + k) for k in range(size)])
                create("vector.store", [], [piece, storage.base, at], alignment=_alignment(memory, size))

    def shared(self, shape: tuple[int, ...], element: ir.Type, pad: int = 0) -> Storage:
        """A buffer of the block, with `pad` elements between its rows. Raises NoRoom."""
        strides = row_major((*shape[:-1], shape[-1] + pad)) if shape else ()
        elements = prod(shape[:-1]) * (shape[-1] + pad) if shape else 1
        size = -(-elements * element_bytes(memory_type(element)) // ACCESS_BYTES) * ACCESS_BYTES
        if self.shared_bytes + size > STATIC_SHARED_BYTES:
            raise NoRoom
        self.shared_bytes += size
        base = self._attribution(elements, memory_type(element))
        return Storage(base, element, LinearIndex(), strides, shape, writable=True)

    def mark(self) -> tuple[int, int]:
        """What is in use now, for `take_back`."""
        return self.shared_bytes, len(self.kernel.regions[0].blocks[0].arguments)

    def take_back(self, mark: tuple[int, int]) -> None:
        """Frees the shared memory that was taken since the mark; nothing may use it."""
        self.shared_bytes, arguments = mark
        block = self.kernel.regions[0].blocks[0]
        taken = len(block.arguments) - arguments
        for _ in range(taken):
            block.erase_argument(len(block.arguments) - 1)
        self._count_attributions(-taken)

    def _count_attributions(self, more: int) -> None:
        name = "workgroup_attributions"
        count = ir.IntegerAttr(self.kernel.attributes[name]).value
        self.kernel.attributes[name] = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), count + more)

    def _attribution(self, elements: int, memory: ir.Type) -> ir.Value:
        """A workgroup attribution of the kernel: one more argument of its entry block."""
        space = ir.Attribute.parse("#gpu.address_space<workgroup>")
        kind = ir.MemRefType.get([elements], memory, memory_space=space)
        self._count_attributions(1)
        return self.kernel.regions[0].blocks[0].add_argument(kind, self.kernel.location)


def _alignment(memory: ir.Type, elements: int) -> ir.IntegerAttr:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), elements * element_bytes(memory))
