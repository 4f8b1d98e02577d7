"""Loads and stores of all threads of a batch, checked and counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from .checks import AccessLog
from .counters import count_sectors, count_wavefronts
from .lockstep import WARP, Lockstep
from .memory import MemRef, row_major
from .runs import gather, scatter
from .values import planes

SAMPLE = 2048
"""The threads of a launch whose requests, sectors and bank conflicts are counted."""
SAMPLED_TRIPS = 4
"""And how often an op in a loop."""
_WIDEST_ACCESS = 16
_ROW_ALIGNMENT = 128
_WINDOW_ALIGNMENT = 1024


class Accesses(Lockstep):
    """What the generated code calls to reach memory."""

    def shared(self, shape: list[int], dtype: Any, name: str) -> MemRef:
        """Shared memory of one buffer, uninitialised."""
        size = max(1, int(np.prod(shape)))
        return self._own_memory(size, shape, dtype, name, "shared", np.dtype(dtype).itemsize)

    def dynamic_shared(self, at: int) -> MemRef:
        """The shared memory whose size is given at the launch, in bytes."""
        if self.dynamic is None:
            size = self.launch.shared_bytes
            if not size:
                self.fail("dynamic shared memory, but hloom.shared_bytes is 0", at)
            self.dynamic = self._own_memory(size, [size], np.int8, "dynamic shared memory", "shared", self.launch.shared_unit)
        return self.dynamic

    def _own_memory(self, size: int, shape: list[int], dtype: Any, name: str, space: str, unit: int) -> MemRef:
        itemsize = np.dtype(dtype).itemsize
        padded = -(-size * itemsize // _ROW_ALIGNMENT) * _ROW_ALIGNMENT // itemsize
        buffer = np.full(self.blocks * padded * itemsize, 0xFF, np.uint8).view(dtype)
        log = AccessLog(buffer.nbytes // unit, unit, across_blocks=False) if self.launch.checks else None
        memory = MemRef(buffer, shape, row_major(shape), name, space, self.row * padded, self.row * padded, log)
        if self.windows:
            last = self.windows[-1]
            memory.window = last.window + -(-int(np.prod(last.shape)) * last.itemsize // _WINDOW_ALIGNMENT) * _WINDOW_ALIGNMENT
        self.windows.append(memory)
        return memory

    def shared_address(self, memory: MemRef) -> Any:
        """Where a view of shared memory begins in a block's window of it, in bytes."""
        return memory.window + (memory.offset - memory.origin) * memory.itemsize

    def shared_at(self, address: int, at: int) -> MemRef:
        """The buffer at that address."""
        found = next((memory for memory in reversed(self.windows) if memory.window <= address), None)
        return self.fail("an address in shared memory, but the kernel has none", at) if found is None else found

    def private(self, shape: list[int], dtype: Any, name: str) -> MemRef:
        """Memory of each thread."""
        size = max(1, int(np.prod(shape)))
        buffer = np.full(self.blocks * self.threads * size * np.dtype(dtype).itemsize, 0xFF, np.uint8).view(dtype)
        origin = (self.row * self.threads + self.thread) * size
        return MemRef(buffer, shape, row_major(shape), name, "private", origin, origin)

    def addresses(self, memory: MemRef, indices: list[Any], width: int, mask: Any, what: str, at: int) -> np.ndarray:
        """The element that each thread accesses, after a look at the bounds; of inactive threads anything in bounds."""
        address, last = memory.offset, len(indices) - 1
        for d, (index, extent, stride) in enumerate(zip(indices, memory.shape, memory.strides)):
            reach = width - 1 if d == last else 0
            if self.launch.checks and (np.min(index) < 0 or np.max(index) >= extent - reach):
                self._check_bounds(memory, d, index, reach, mask, what, at)
            term = index if stride == 1 else index * stride
            address = term if isinstance(address, int) and address == 0 else address + term
        address = planes(address)
        return address if mask is None else np.where(mask, address, memory.origin)

    def _check_bounds(self, memory: MemRef, d: int, index: Any, reach: int, mask: Any, what: str, at: int) -> None:
        """Fails if an active thread is among those whose index lies outside."""
        wrong = (index < 0) | (index >= memory.shape[d] - reach)
        wrong = wrong if mask is None else wrong & mask
        if not np.any(wrong):
            return
        bad = self.first_of(wrong)
        value = int(self.full(index).reshape(-1)[bad])
        found = f"{value} to {value + reach}" if reach else str(value)
        self.fail(f"{what} out of bounds: index {found} of dimension {d} of {memory.name}, which has {memory.shape[d]}", at, bad)

    def observe(
        self, memory: MemRef, address: np.ndarray, width: int, mask: Any, write: bool, align: int, at: int, atomic: bool = False
    ) -> None:
        """Checks and counts an access of `width` elements; `align` bytes are what the op promises, 0 the size of an element."""
        launch, nbytes = self.launch, width * memory.itemsize
        count = self.active(mask)
        self._count_bytes(memory, count * nbytes, write)
        logged = launch.checks and memory.log is not None
        if not (logged or self.samples(memory, at, peek=True) or (align and launch.checks)):
            return
        flat = self.full(address).reshape(-1)
        chosen = None if mask is None else np.flatnonzero(self.full(mask))
        if chosen is not None:
            flat = flat[chosen]
        self._check_and_sample(memory, flat, width, chosen, write, align, at, atomic)

    def observe_elements(self, memory: MemRef, address: np.ndarray, mask: np.ndarray, write: bool, at: int) -> None:
        """Checks and counts single elements: (…, blocks, threads) addresses under a mask of that shape."""
        count = int(np.count_nonzero(mask))
        self._count_bytes(memory, count * memory.itemsize, write)
        if not self.samples(memory, at, peek=True) and memory.log is None:
            return
        flat, chosen = address.reshape(-1, self.blocks * self.threads), mask.reshape(-1, self.blocks * self.threads)
        for lane, active in zip(flat, chosen):
            numbers = np.flatnonzero(active)
            if len(numbers):
                self._check_and_sample(memory, lane[numbers], 1, numbers, write, 0, at, False)

    def _check_and_sample(
        self, memory: MemRef, flat: np.ndarray, width: int, chosen: np.ndarray | None, write: bool, align: int, at: int, atomic: bool
    ) -> None:
        checks, itemsize = self.launch.checks, memory.itemsize
        if checks and align > itemsize and (wrong := flat * itemsize % align).any():
            bad = int(np.argmax(wrong != 0))
            self.fail(f"misaligned: {align} bytes promised, at byte {int(flat[bad]) * itemsize} of {memory.name}", at, _number(bad, chosen))
        if checks and memory.log is not None:
            log, scale = memory.log, itemsize // memory.log.unit
            who = self.clock.of(log.across_blocks, chosen)
            units = flat * scale + memory.log_offset
            found = log.write(units, width * scale, who, atomic) if write else log.read(units, width * scale, who)
            if found is not None:
                message, wrong = found
                bad = int(np.argmax(wrong))
                local = int(flat[bad] - np.broadcast_to(memory.origin, self.whole).reshape(-1)[_number(bad, chosen)])
                self.fail(f"{message}: element {local} of {memory.name}", at, _number(bad, chosen))
        if self.samples(memory, at):
            self.sample(memory, flat, width, chosen, write, align)

    def _count_bytes(self, memory: MemRef, nbytes: int, write: bool) -> None:
        if memory.space != "private":
            name = f"{memory.space}_{'written' if write else 'read'}_bytes"
            setattr(self.counters, name, getattr(self.counters, name) + nbytes)

    def samples(self, memory: MemRef, at: int, peek: bool = False) -> bool:
        """Whether this execution of an op is one of those whose requests are counted; `peek` only asks."""
        done = self.launch.sampled[at]
        if not self.sampling or memory.space == "private" or done >= SAMPLED_TRIPS:
            return False
        self.launch.sampled[at] += not peek
        return True

    def sample(self, memory: MemRef, flat: np.ndarray, width: int, chosen: np.ndarray | None, write: bool, align: int) -> None:
        """Counts requests, and what they cost, of accesses to these elements."""
        numbers = np.arange(len(flat)) if chosen is None else chosen
        count = int(np.searchsorted(numbers, SAMPLE))
        numbers, flat = numbers[:count], flat[:count]
        if not count:
            return
        block, thread = np.divmod(numbers, self.threads)
        lanes = block * (self.warps * WARP) + thread
        nbytes = width * memory.itemsize
        piece = min(_WIDEST_ACCESS, max(align, memory.itemsize), nbytes)
        if memory.space == "shared":
            flat = flat - self.full(memory.origin).reshape(-1)[numbers]
        start, counters = flat * memory.itemsize, self.counters
        for offset in range(0, nbytes, piece):
            if memory.space == "shared":
                requests, wavefronts = count_wavefronts(start + offset, lanes, piece)
                counters.shared_requests += requests
                counters.shared_wavefronts += wavefronts
                continue
            requests, sectors = count_sectors(start + offset, lanes // WARP)
            if write:
                counters.write_requests += requests
                counters.write_sectors += sectors
            else:
                counters.read_requests += requests
                counters.read_sectors += sectors

    def load(self, memory: MemRef, indices: list[Any], width: int, mask: Any, align: int, at: int) -> np.ndarray:
        """A scalar where `width` is 0, else a vector."""
        dtype = memory.buffer.dtype
        if mask is False:
            return np.zeros((width, 1, 1) if width else (1, 1), dtype)
        address = self.addresses(memory, indices, width or 1, mask, "load", at)
        self.observe(memory, address, width or 1, mask, False, align, at)
        rows = gather(memory.buffer, address, width or 1)
        return np.ascontiguousarray(np.moveaxis(rows, -1, 0)) if width else rows[..., 0]

    def store(self, memory: MemRef, indices: list[Any], value: Any, width: int, mask: Any, align: int, at: int) -> None:
        if mask is False:
            return
        if memory.readonly:
            self.fail(f"writes {memory.name}, which is llvm.readonly or constant", at)
        address = self.addresses(memory, indices, width or 1, mask, "store", at)
        self.observe(memory, address, width or 1, mask, True, align, at)
        value = planes(value)
        rows = np.moveaxis(np.broadcast_to(value, (width, *self.whole)), 0, -1) if width else self.full(value)[..., None]
        address = self.full(address)
        if mask is not None:
            chosen = self.full(mask)
            address, rows = address[chosen], rows[chosen]
        scatter(memory.buffer, address, rows)

    def _elements(
        self, memory: MemRef, indices: list[Any], steps: list[Any], chosen: Any, mask: Any, at: int,
        shape: list[int] | None, outside: list[bool] | None, what: str,
    ) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
        """Addresses (…, blocks, threads) of single elements, and which of them are accessed."""
        whole = (*(np.shape(steps[-1])[:-2] if shape is None else shape), *self.whole)
        taken = np.ones(whole, np.bool_) if chosen is None else np.broadcast_to(chosen, whole).copy()
        if mask is not None:
            taken &= mask
        address = np.broadcast_to(memory.offset, whole)
        for d, (index, step, extent, stride) in enumerate(zip(indices, steps, memory.shape, memory.strides)):
            position = planes(index) + step
            wrong = (position < 0) | (position >= extent)
            if outside is not None and outside[d]:
                taken &= ~wrong
            elif self.launch.checks and wrong.any() and (wrong := wrong & taken).any():
                place = int(np.argmax(wrong))
                value = int(np.broadcast_to(position, whole).reshape(-1)[place])
                thread = place % (self.blocks * self.threads)
                self.fail(f"{what} out of bounds: index {value} of dimension {d} of {memory.name}, which has {extent}", at, thread)
            address = address + position * stride
        return np.where(taken, address, memory.origin), taken

    def load_elements(
        self, memory: MemRef, indices: list[Any], steps: list[Any], chosen: Any, other: Any, mask: Any, at: int,
        shape: list[int] | None = None, outside: list[bool] | None = None,
    ) -> np.ndarray:  # fmt: skip
        """Elements at indices + steps where `chosen`, else those of `other`. Dimensions `outside` may be left: `other` is what is there."""
        shape = list(np.shape(steps[-1])[:-2]) if shape is None else shape
        if mask is False:
            return np.zeros((*shape, 1, 1), memory.buffer.dtype)
        address, taken = self._elements(memory, indices, steps, chosen, mask, at, shape, outside, "load")
        self.observe_elements(memory, address, taken, False, at)
        return np.where(taken, memory.buffer[address], other)

    def store_elements(
        self, memory: MemRef, indices: list[Any], steps: list[Any], chosen: Any, value: Any, mask: Any, at: int,
        shape: list[int] | None = None, outside: list[bool] | None = None,
    ) -> None:  # fmt: skip
        """The reverse of `load_elements`."""
        if mask is False:
            return
        if memory.readonly:
            self.fail(f"writes {memory.name}, which is llvm.readonly or constant", at)
        address, taken = self._elements(memory, indices, steps, chosen, mask, at, shape, outside, "store")
        self.observe_elements(memory, address, taken, True, at)
        memory.buffer[address[taken]] = np.broadcast_to(value, taken.shape)[taken]


def _number(index: int, chosen: np.ndarray | None) -> int:
    return index if chosen is None else int(chosen[index])
