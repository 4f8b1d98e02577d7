"""mbarriers and the tensor memory accelerator (TMA): boxes of a tensor copied into shared memory behind the threads' backs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .batch import Batch
from .checks import LONG_AGO
from .memory import MemRef, row_major

_CHUNK = 16
SPANS = {"swizzle_none": 0, "swizzle_32b": 32, "swizzle_64b": 64, "swizzle_128b": 128}
"""The bytes of a row within which chunks of 16 bytes are exchanged."""


@dataclass
class MappedTensor:
    """What a kernel argument of type !nvgpu.tensormap.descriptor stands for: a tensor of that shape in global memory.

    It begins at the element `offset` of the array; it is dense unless `strides`, in elements, say otherwise.
    """

    array: np.ndarray
    shape: tuple[int, ...]
    strides: tuple[int, ...] | None = None
    offset: int = 0

    @property
    def fits(self) -> bool:
        """Whether all of the tensor lies in the array."""
        last = sum((extent - 1) * stride for extent, stride in zip(self.shape, self.steps))
        return self.offset >= 0 and self.offset + last < self.array.size and min(self.steps) >= 0

    @property
    def steps(self) -> list[int]:
        return row_major(list(self.shape)) if self.strides is None else list(self.strides)


@dataclass
class Descriptor:
    """A tensor map inside a kernel: the tensor, and the box and the swizzle that its type names."""

    memory: MemRef
    box: list[int]
    swizzle: str


@dataclass
class _Transfer:
    """A box on its way to the blocks of numbers `rows`, for their barrier `barrier`."""

    rows: np.ndarray
    barrier: np.ndarray
    memory: MemRef
    addresses: np.ndarray
    values: np.ndarray


class Barriers:
    """An mbarrier group of each block: nvgpu.mbarrier.create."""

    def __init__(self, batch: Batch, count: int):
        self.batch = batch
        shape = (batch.blocks, count)
        self.expected, self.arrived, self.bytes, self.phase = (np.zeros(shape, np.int64) for _ in range(4))
        self.transfers: list[_Transfer] = []

    def who(self, number: Any, mask: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The active threads: their blocks, barriers and numbers."""
        rows, threads = np.nonzero(self.batch.full(True if mask is None else mask))
        return rows, self.batch.full(number)[rows, threads], threads

    def init(self, number: Any, count: Any, predicate: Any, mask: Any) -> None:
        rows, barrier, threads = self.who(number, self.batch.narrow(mask, predicate))
        self.expected[rows, barrier] = self.batch.full(count)[rows, threads]
        for state in (self.arrived, self.bytes, self.phase):
            state[rows, barrier] = 0

    def arrive(self, number: Any, nbytes: Any, predicate: Any, mask: Any, at: int, count: Any = 1, rank: Any = -1) -> Any:
        """Counts arrivals, and bytes that are to come, at the block's own barrier or at that of the block of a `rank` in its cluster; gives
        the parity of the phase arrived at."""
        rows, barrier, threads = self.who(number, self.batch.narrow(mask, predicate))
        own, at_rank = rows, self.batch.full(rank)[rows, threads]
        rows = np.where(at_rank < 0, own, self.batch.peer(own, at_rank))
        self._settle(rows, barrier)
        if self.batch.launch.checks and not self.expected[rows, barrier].all():
            self.batch.fail("arrives at an mbarrier that was not initialised", at)
        parity = self.batch.full(False).copy()
        parity[own, threads] = self.phase[rows, barrier] % 2 == 1
        np.add.at(self.arrived, (rows, barrier), self.batch.full(count)[rows, threads])
        np.add.at(self.bytes, (rows, barrier), self.batch.full(nbytes)[rows, threads])
        if (self.arrived > self.expected).any():
            self.batch.fail("more arrivals at an mbarrier than it was initialised for", at)
        return parity

    def wait(self, number: Any, parity: Any, mask: Any, at: int) -> None:
        """nvgpu.mbarrier.try_wait.parity: passes once the phase of that parity is over."""
        rows, threads, stuck = self.stuck(number, parity, mask)
        if stuck.any():
            barrier = self.batch.full(number)[rows, threads]
            row, bar = int(rows[np.argmax(stuck)]), int(barrier[np.argmax(stuck)])
            state = f"{self.arrived[row, bar]} of {self.expected[row, bar]} arrivals, {self.bytes[row, bar]} bytes announced"
            thread = row * self.batch.threads + int(threads[np.argmax(stuck)])
            self.batch.fail(f"waits for ever: mbarrier {bar} has {state}, {self._coming()[row, bar]} bytes on the way", at, thread)

    def stuck(self, number: Any, parity: Any, mask: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The blocks and numbers of the active threads, and for which the phase of that parity is not over."""
        rows, barrier, threads = self.who(number, mask)
        self._settle(rows, barrier)
        return rows, threads, self.phase[rows, barrier] % 2 == self.batch.full(parity)[rows, threads]

    def _coming(self) -> np.ndarray:
        """Bytes on the way, by block and barrier."""
        nbytes = np.zeros(self.expected.shape, np.int64)
        for transfer in self.transfers:
            np.add.at(nbytes, (transfer.rows, transfer.barrier), transfer.values[0].nbytes)
        return nbytes

    def _settle(self, rows: np.ndarray, barriers: np.ndarray) -> None:
        """Ends the phases of these barriers that are complete: their bytes have come.

        Done as late as may be, when somebody arrives at them again or waits for them, so that a wait that lacks is noticed.
        """
        done = np.zeros(self.expected.shape, np.bool_)
        done[rows, barriers] = True
        done &= (self.arrived == self.expected) & (self.expected > 0)
        if not done.any():
            return
        done &= self._coming() == self.bytes
        self.phase[done] += 1
        if not self.bytes[done].all():
            self.batch.clock.tick()  # no copies ended but threads came: what they did before, those who waited may see
        self.arrived[done] = self.bytes[done] = 0
        self.transfers = [rest for transfer in self.transfers if (rest := _without(transfer, done)) is not None]


def _without(transfer: _Transfer, done: np.ndarray) -> _Transfer | None:
    """Delivers what is for these barriers, by block and number; gives the rest."""
    mine = done[transfer.rows, transfer.barrier]
    if mine.any():
        memory, addresses = transfer.memory, transfer.addresses[mine].reshape(-1)
        memory.buffer[addresses] = transfer.values[mine].reshape(-1)
        if memory.log is not None:
            units = _units(memory, addresses)
            memory.log.writer[units] = LONG_AGO
            assert memory.log.pending is not None
            memory.log.pending[units] = False
    if mine.all():
        return None
    rest = ~mine
    return replace(
        transfer, rows=transfer.rows[rest], barrier=transfer.barrier[rest], addresses=transfer.addresses[rest], values=transfer.values[rest]
    )


def _units(memory: MemRef, addresses: np.ndarray) -> np.ndarray:
    assert memory.log is not None
    scale = memory.itemsize // memory.log.unit
    return (addresses[:, None] * scale + np.arange(scale)).reshape(-1)


def swizzled(elements: np.ndarray, itemsize: int, swizzle: str) -> np.ndarray:
    """Where element number n of dense rows lies."""
    span = SPANS[swizzle]
    if not span:
        return elements
    offset = elements * itemsize
    return (offset ^ ((offset >> 7) % (span // _CHUNK) * _CHUNK)) // itemsize


def tma_load(
    batch: Batch,
    target: MemRef,
    barriers: Barriers,
    source: Descriptor,
    coordinates: list[Any],
    number: Any,
    predicate: Any,
    mask: Any,
    at: int,
    ranks: Sequence[int] = (),
) -> None:
    """nvgpu.tma.async.load of a box; coordinates come innermost first, what lies outside the tensor is 0. To the blocks of these `ranks` of
    the cluster, at the same place; without any to the thread's own."""
    narrowed = batch.narrow(mask, predicate)
    if narrowed is False:
        return
    rows, barrier, threads = barriers.who(number, narrowed)
    memory, box = source.memory, source.box
    if box[-1] * memory.itemsize > (SPANS[source.swizzle] or 1 << 30):
        batch.fail(f"a row of the box has more bytes than {source.swizzle} exchanges", at)
    found, exists = _inside(batch, source, coordinates, rows, threads)
    values = np.where(exists, memory.buffer[found], 0).astype(memory.buffer.dtype)
    size = int(np.prod(box))
    start = batch.full(target.offset)[rows, threads]
    local = (start - batch.full(target.origin)[rows, threads]) * target.itemsize
    if (wrong := local % max(128, 8 * SPANS[source.swizzle])).any():
        batch.fail("misaligned: the target of a TMA copy", at, rows[np.argmax(wrong != 0)] * batch.threads)
    batch.counters.global_read_bytes += values.nbytes
    batch.counters.async_copies += len(rows)
    begins = batch.full(target.origin)[:, 0]
    for into in [batch.peer(rows, rank) for rank in ranks] or [rows]:
        addresses = (start - begins[rows] + begins[into])[:, None] + swizzled(np.arange(size), target.itemsize, source.swizzle)
        _mark(batch, target, addresses, rows * batch.threads + threads, at)
        batch.counters.shared_written_bytes += values.nbytes
        barriers.transfers.append(_Transfer(into, barrier, target, addresses, values))


def _inside(
    batch: Batch, source: Descriptor, coordinates: list[Any], rows: np.ndarray, threads: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """For each copy the addresses of the box's elements, and which of them exist."""
    address, exists = np.full((len(rows), 1), source.memory.offset, np.int64), np.ones((len(rows), 1), np.bool_)
    for coordinate, extent, stride, count in zip(reversed(coordinates), source.memory.shape, source.memory.strides, source.box):
        at = batch.full(coordinate)[rows, threads][:, None] + np.arange(count)
        address = (address[:, :, None] + at[:, None] * stride).reshape(len(rows), -1)
        exists = (exists[:, :, None] & ((at >= 0) & (at < extent))[:, None]).reshape(len(rows), -1)
    return np.where(exists, address, 0), exists


def _mark(batch: Batch, target: MemRef, addresses: np.ndarray, numbers: np.ndarray, at: int) -> None:
    log = target.log
    if log is None:
        return
    pending = log.units_pending()
    for one, number in zip(addresses, numbers):
        units = _units(target, one)
        found = log.write(units, 1, batch.clock.of(False, np.full(len(units), number)))
        if found is not None:
            batch.fail(f"{found[0]}: {target.name}", at, number)
        pending[units] = True
