"""Loads and stores of a thread: vectors of up to 16 bytes with their alignment, bytes for i1; and shared memory."""

from __future__ import annotations

from math import prod

from torch_mlir import ir

from hloom.dialects.storage import element_bytes, storage_element

from ...common.linear_index import LinearIndex
from ...common.rewriting import i64_attr
from ...common.storage import Storage, loaded, row_major, stored
from ...common.vectors import ACCESS_BYTES, elements, from_lanes, lane_of, widened
from ..support.emit import WORKGROUP, load, store
from .indices import Indices

STATIC_SHARED_BYTES = 48 << 10
"""More than that cannot be declared statically."""


class NoRoom(Exception):
    """A block has no shared memory left."""


class KernelMemory:
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
        size = self._piece(storage, address, lanes)
        pieces = [load(storage.base, [self._at(address, j)], size) for j in range(0, lanes, size)]
        whole = pieces[0] if len(pieces) == 1 else from_lanes([e for piece in pieces for e in elements(piece)])
        return loaded(whole, storage.element)

    def _at(self, address: LinearIndex, lane: int) -> ir.Value:
        return self.indices.value(address.at_lane(lane))

    def _piece(self, storage: Storage, address: LinearIndex, lanes: int) -> int:
        """How many elements one access takes: aligned, at most 16 bytes."""
        if address.lanes != 1:
            return 1
        most = min(lanes, ACCESS_BYTES // element_bytes(storage.element))
        divisor = self.indices.divisor(address.uniform())
        while divisor % most or lanes % most:
            most //= 2
        return most

    def store(self, value: ir.Value, storage: Storage, address: LinearIndex, lanes: int) -> None:
        """Stores an element a lane."""
        value = stored(widened(value, lanes), storage.element)
        size = self._piece(storage, address, lanes)
        for j in range(0, lanes, size):
            at = self._at(address, j)
            store(value if size == lanes else from_lanes([lane_of(value, j + k) for k in range(size)]), storage.base, [at])

    def shared(self, shape: tuple[int, ...], element: ir.Type, pad: int = 0) -> Storage:
        """A buffer of the block, with `pad` elements between its rows. Raises NoRoom."""
        strides = row_major((*shape[:-1], shape[-1] + pad)) if shape else ()
        count = prod(shape[:-1]) * (shape[-1] + pad) if shape else 1
        size = -(-count * element_bytes(element) // ACCESS_BYTES) * ACCESS_BYTES
        if self.shared_bytes + size > STATIC_SHARED_BYTES:
            raise NoRoom
        self.shared_bytes += size
        base = self._attribution(count, storage_element(element))
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
        self.kernel.attributes[name] = i64_attr(count + more)

    def _attribution(self, count: int, memory: ir.Type) -> ir.Value:
        """A workgroup attribution of the kernel: one more argument of its entry block."""
        kind = ir.MemRefType.get([count], memory, memory_space=ir.Attribute.parse(WORKGROUP))
        self._count_attributions(1)
        return self.kernel.regions[0].blocks[0].add_argument(kind, self.kernel.location)
