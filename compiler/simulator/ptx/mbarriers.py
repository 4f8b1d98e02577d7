"""mbarriers in shared memory, and what copies behind the threads' backs: cp.async and the boxes of tensor maps."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import async_copies, tma
from ..memory import MemRef
from ..values import planes
from .spaces import RANK, host_bytes
from .tensor_map import BYTES, TensorMap

if TYPE_CHECKING:
    from .threads import Threads

_MOST = 64
copies = async_copies.copies


def mapped(address: Any, rank: Any) -> Any:
    """mapa: the address in the shared memory of the block of that rank."""
    within = address & address.dtype.type((1 << RANK) - 1)
    return within | (rank.astype(address.dtype) << address.dtype.type(RANK))


def split_rank(address: Any) -> tuple[Any, Any]:
    """The address in one block's shared memory, and the block's rank."""
    wide = np.asarray(address).astype(np.int64)
    return wide & (1 << RANK) - 1, wide >> RANK


class Mbarriers:
    """The mbarriers of a batch, each known by its address; all blocks have theirs at the same ones."""

    def __init__(self, batch: Threads):
        self.batch = batch
        self.barriers = tma.Barriers(batch, _MOST)
        self._numbers: dict[int, int] = {}

    def number(self, space: str, address: Any, mask: Any, at: int) -> Any:
        memory, index = self.batch.place(space, address, np.uint64, 1, mask, True, at)
        where = np.asarray(index - memory.offset)
        numbers = np.zeros(where.shape, np.int64)
        for known in np.unique(where):
            if int(known) not in self._numbers and len(self._numbers) == _MOST:
                self.batch.fail(f"more than {_MOST} mbarriers are not simulated", at)
            numbers[where == known] = self._numbers.setdefault(int(known), len(self._numbers))
        return numbers

    def init(self, space: str, address: Any, count: Any, mask: Any, at: int) -> None:
        if mask is not False:
            self.barriers.init(self.number(space, address, mask, at), np.asarray(count).astype(np.int64), True, mask)

    def arrive(self, space: str, address: Any, count: Any, nbytes: Any, mask: Any, at: int) -> Any:
        """The state, which no wait for a parity needs."""
        if mask is not False:
            address, rank = split_rank(address)
            number, nbytes, count = self.number(space, address, mask, at), np.asarray(nbytes), np.asarray(count)
            self.barriers.arrive(number, nbytes.astype(np.int64), True, mask, at, count.astype(np.int64), rank)
        return np.uint64(0)

    def over(self, space: str, address: Any, parity: Any, mask: Any, at: int) -> np.ndarray:
        """For which threads the phase of that parity is over."""
        number = self.number(space, address, mask, at)
        parity = np.asarray(parity).astype(np.int64)
        rows, threads, stuck = self.barriers.stuck(number, parity, mask)
        self.batch.lingering = lambda: self.barriers.wait(number, parity, mask, at)
        over = np.ones(self.batch.whole, np.bool_)
        over[rows[stuck], threads[stuck]] = False
        return over


def copy(batch: Threads, target: Any, source: Any, nbytes: int, taken: Any, mask: Any, at: int) -> None:
    """cp.async of `nbytes`, of which `taken` are read and the others 0."""
    if mask is False:
        return
    unit = batch.launch.shared_unit if taken is not None else 4
    memory, index = batch.place("shared", target, KINDS[unit], nbytes // unit, mask, True, at)
    wrong = np.asarray(target).astype(np.int64) % nbytes != 0
    if np.any(wrong) and (wrong := batch.full(wrong if mask is None else wrong & mask)).any():
        batch.fail(f"misaligned: cp.async writes {nbytes} aligned bytes", at, batch.first_of(wrong))
    rows = _source(batch, source, nbytes, taken, mask, at).view(memory.buffer.dtype)
    copies(batch).put(memory, [index - memory.offset], rows, nbytes // unit, mask, at)


KINDS = {1: np.uint8, 2: np.uint16, 4: np.uint32}


def _source(batch: Threads, source: Any, nbytes: int, taken: Any, mask: Any, at: int) -> np.ndarray:
    """(blocks, threads, bytes)"""
    rows = np.zeros((*batch.whole, nbytes), np.uint8)
    address = np.asarray(source).astype(np.int64)
    counts = [(nbytes, mask)]
    if taken is not None:
        taken = np.asarray(taken).astype(np.int64)
        active = batch.full(taken) if mask is None else np.where(batch.full(mask), batch.full(taken), 0)
        counts = [(int(count), active == count) for count in np.unique(active) if count]
        wrong = (address % nbytes != 0) & (active > 0)
        if wrong.any():
            batch.fail(f"misaligned: cp.async reads {nbytes} aligned bytes", at, batch.first_of(wrong))
    for count, chosen in counts:
        unit = max(unit for unit in (1, 2, 4) if count % unit == 0)
        wide = batch.narrow(None, chosen) if chosen is not None else None
        memory, index = batch.place("global", address, KINDS[unit], 1, wide, False, at)
        batch.place("global", address + (count - unit), KINDS[unit], 1, wide, False, at)
        batch.observe(memory, planes(index), count // unit, wide, False, nbytes if count == nbytes else 0, at)
        found = host_bytes(memory.buffer.__array_interface__["data"][0], memory.buffer.nbytes + count)
        where = batch.full(index)[..., None] * unit + np.arange(count)
        here = batch.full(True if wide is None else wide)
        rows[..., :count][here] = found[where[here]]
    return rows


def load_box(batch: Threads, target: Any, source: Any, coordinates: list[Any], barrier: Any, ranks: Any, mask: Any, at: int) -> None:
    """cp.async.bulk.tensor: a box of a tensor into shared memory, whose bytes count for the mbarrier; of all blocks of a cluster whose bits
    are set in `ranks`, where that is not None, at the same place."""
    if mask is False:
        return
    given = tensor_map(batch, source, mask, at)
    size = given.element.itemsize
    last = sum((extent - 1) * stride for extent, stride in zip(given.extents, given.strides)) + size
    batch.memory.check(given.address, last, False)
    array = host_bytes(given.address, last // size * size).view(given.element)
    steps = [stride // size for stride in given.strides]
    memory = MemRef(array, list(given.extents), steps, "the tensor of a map")
    into, index = batch.place("shared", target, given.element, 1, mask, True, at)
    into = MemRef(into.buffer, into.shape, into.strides, into.name, into.space, index, into.origin, into.log)
    number = batch.mbarriers.number("shared", barrier, mask, at)
    swizzle = next(name for name, span in tma.SPANS.items() if span == given.swizzle)
    descriptor = tma.Descriptor(memory, list(given.box), swizzle)
    bits = 0 if ranks is None else int(np.max(ranks))
    if ranks is not None and (np.min(ranks) != bits or bits >> batch.launch.cluster):
        batch.fail(f"a copy to the blocks {bits:#b} of a cluster of {batch.launch.cluster}", at)
    peers = [rank for rank in range(bits.bit_length()) if bits >> rank & 1]
    tma.tma_load(batch, into, batch.mbarriers.barriers, descriptor, coordinates, number, True, mask, at, peers)


def tensor_map(batch: Threads, source: Any, mask: Any, at: int) -> TensorMap:
    """The map at an address, which must be the same for all threads."""
    memory, index = batch.place("generic", source, np.uint8, 1, mask, False, at)
    where = np.unique(batch.full(index) if mask is None else batch.full(index)[batch.full(mask)])
    if len(where) > 1:
        batch.fail("threads that read different tensor maps are not simulated", at)
    address = memory.buffer.__array_interface__["data"][0] + int(where[0])
    if address % 64:
        batch.fail("misaligned: a tensor map lies at a multiple of 64 bytes", at)
    found = TensorMap.unpack(bytes(host_bytes(address, BYTES)))
    if found is None:
        batch.fail("what should be a tensor map was not encoded as one", at)
    return found
