"""cp.async: copies from global to shared memory that end when the thread waits for their group.

Until then their destination can be neither read nor written; afterwards the thread that waited may read it, the others after a barrier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .batch import Batch
from .memory import MemRef
from .runs import gather, scatter
from .values import planes

_SIZES = (4, 8, 16)


@dataclass
class _Copy:
    """One instruction: for each thread of `numbers` where its `rows` go, and in which of its groups they are."""

    memory: MemRef
    addresses: np.ndarray
    rows: np.ndarray
    numbers: np.ndarray
    group: np.ndarray


class AsyncCopies:
    """Those of a batch that have not ended."""

    def __init__(self, batch: Batch):
        self.batch = batch
        self.groups = np.zeros(batch.blocks * batch.threads, np.int64)
        self.open: list[_Copy] = []

    def start(
        self, target: MemRef, to: list[Any], source: MemRef, where: list[Any], count: int, taken: Any, mask: Any, at: int
    ) -> None:  # fmt: skip
        """nvgpu.device_async_copy of `count` elements, of which only `taken` are read, the others 0."""
        batch = self.batch
        if mask is False:
            return
        nbytes = count * target.itemsize
        if nbytes not in _SIZES or source.space != "global" or target.space != "shared":
            batch.fail(
                f"cp.async copies 4, 8 or 16 bytes from global to shared memory, not {nbytes} from {source.space} to {target.space}", at
            )
        self.put(target, to, self._read(source, where, count, taken, mask, at), count, mask, at)

    def put(self, target: MemRef, to: list[Any], rows: np.ndarray, count: int, mask: Any, at: int) -> None:
        """Starts to write rows of `count` elements, (blocks, threads, count)."""
        batch, nbytes = self.batch, count * target.itemsize
        address = batch.addresses(target, to, count, mask, "cp.async destination", at)
        batch.observe(target, address, count, mask, True, nbytes, at)
        numbers = np.flatnonzero(batch.full(True if mask is None else mask))
        flat = batch.full(address).reshape(-1)[numbers]
        self._mark(target, flat, count, True)
        batch.counters.async_copies += len(numbers)
        self.open.append(_Copy(target, flat, rows.reshape(-1, count)[numbers], numbers, self.groups[numbers]))

    def _read(self, source: MemRef, where: list[Any], count: int, taken: Any, mask: Any, at: int) -> np.ndarray:
        batch, nbytes = self.batch, count * source.itemsize
        if taken is None:
            address = batch.addresses(source, where, count, mask, "cp.async source", at)
            batch.observe(source, address, count, mask, False, nbytes, at)
            return gather(source.buffer, batch.full(address), count)
        lane = np.arange(count).reshape(-1, 1, 1)
        steps = [0] * (len(where) - 1) + [lane]
        misaligned = batch.narrow(mask, np.asarray(planes(where[-1]) * source.itemsize % nbytes != 0) & np.asarray(planes(taken) > 0))
        if batch.launch.checks and misaligned is not False:
            batch.fail(f"misaligned: cp.async reads {nbytes} aligned bytes", at, batch.first_of(True if misaligned is None else misaligned))
        chosen = np.broadcast_to(lane < taken, (count, *batch.whole))
        found = batch.load_elements(source, where, steps, chosen, source.buffer.dtype.type(0), mask, at)
        return np.moveaxis(found, 0, -1)

    def commit(self, mask: Any) -> None:
        """nvgpu.device_async_create_group: later copies belong to the next group."""
        self.groups[np.flatnonzero(self.batch.full(True if mask is None else mask))] += mask is not False

    def wait(self, running: int, mask: Any) -> None:
        """nvgpu.device_async_wait: all groups but the last `running` end."""
        batch = self.batch
        if mask is False:
            return
        waiting = batch.full(True if mask is None else mask).reshape(-1)
        still = []
        for copy in self.open:
            done = waiting[copy.numbers] & (copy.group < self.groups[copy.numbers] - running)
            if done.any():
                self._finish(copy.memory, copy.addresses[done], copy.rows[done], copy.numbers[done])
            if not done.all():
                rest = ~done
                still.append(_Copy(copy.memory, copy.addresses[rest], copy.rows[rest], copy.numbers[rest], copy.group[rest]))
        self.open = still

    def _finish(self, memory: MemRef, addresses: np.ndarray, rows: np.ndarray, numbers: np.ndarray) -> None:
        scatter(memory.buffer, addresses, rows)
        self._mark(memory, addresses, rows.shape[-1], False)
        if memory.log is not None:
            scale = memory.itemsize // memory.log.unit
            tags = self.batch.clock.of(False, numbers).columns().tags
            scatter(memory.log.writer, addresses * scale, np.broadcast_to(tags, (len(numbers), rows.shape[-1] * scale)))

    @staticmethod
    def _mark(memory: MemRef, addresses: np.ndarray, count: int, pending: bool) -> None:
        log = memory.log
        if log is None:
            return
        scale = memory.itemsize // log.unit
        scatter(log.units_pending(), addresses * scale, np.full((len(addresses), count * scale), pending))


def copies(batch: Batch) -> AsyncCopies:
    """The batch's own."""
    if batch.copies is None:
        batch.copies = AsyncCopies(batch)
    return batch.copies
