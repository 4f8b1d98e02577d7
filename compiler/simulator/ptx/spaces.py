"""Where PTX's addresses lead: global memory is the host's, shared, local and param memory are windows.

A generic address is the host's for global memory; shared, local and param memory begin at `WINDOWS`. In its window's own addresses shared
memory begins at 1024, as on a GPU: below lies what the system keeps. In a cluster these addresses, the block's own too, tell the block's
rank from bit RANK on.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..batch import Batch
from ..errors import SimulationError
from ..memory import MemRef
from .regions import Regions

RESERVED = 1024
RANK = 24
WINDOWS = {"shared": 1 << 60, "local": 1 << 61, "param": 1 << 62}
_SHIFT = 60
_SPACES = {0: "global", 1: "shared", 2: "local", 4: "param"}
_BASE = 128


class DeviceMemory(Protocol):
    """The memory that is allocated on the device."""

    def check(self, address: int, nbytes: int, write: bool) -> None:
        """Raises an error unless these bytes of the host may be accessed."""


class Anywhere:
    """Memory whose owner checks nothing."""

    def check(self, address: int, nbytes: int, write: bool) -> None:
        pass


class Host:
    """Memory of this process at an address, for numpy."""

    def __init__(self, address: int, nbytes: int):
        self.__array_interface__ = {"data": (address, False), "shape": (nbytes,), "typestr": "|u1", "version": 3}


def host_bytes(address: int, nbytes: int) -> np.ndarray:
    return np.asarray(Host(address, nbytes))


class Spaces(Batch):
    """A batch whose memory is reached by addresses."""

    memory: DeviceMemory
    regions: Regions
    parameters: np.ndarray
    shared_memory: MemRef
    local_memory: MemRef | None
    shared_end: int
    local_end: int
    stores = 0
    """Instructions that wrote memory."""

    def place(self, space: str, address: Any, dtype: Any, count: int, mask: Any, write: bool, at: int) -> tuple[MemRef, Any]:
        """The memory of a space as elements of a type, and the index in it of each thread's first of `count`. Inactive threads get any."""
        space = space.partition("::")[0]
        self.stores += write
        address = np.asarray(address).astype(np.int64)
        if space == "generic":
            space, address = self._window(address, mask, at)
        size = np.dtype(dtype).itemsize
        wrong = address % (size * count) != 0
        if np.any(wrong) and self.launch.checks and (wrong := self.full(wrong if mask is None else wrong & mask)).any():
            bad = self.first_of(wrong)
            where = int(self.full(address).reshape(-1)[bad])
            self.fail(f"misaligned: {size * count} bytes at address {where:#x} of {space} memory", at, bad)
        if space in ("global", "const"):
            return self._global(address, dtype, count, mask, write, at)
        return self._windowed(space, address, dtype, count, mask, write, at)

    def own(self, address: Any) -> Any:
        """The address of a variable in the block's own shared memory."""
        if self.launch.cluster == 1:
            return address
        return address | ((self.block % self.launch.cluster).astype(address.dtype) << RANK)

    def _window(self, address: Any, mask: Any, at: int) -> tuple[str, Any]:
        tags = self._active(address, mask) >> _SHIFT
        first = int(tags.flat[0])
        if (tags != first).any():
            self.fail("generic addresses of several spaces in one instruction are not simulated", at)
        space = _SPACES.get(first)
        if space is None:
            self.fail(f"the generic address {int(np.max(address)):#x} is in no space", at)
        return space, address - WINDOWS.get(space, 0)

    def _active(self, values: Any, mask: Any) -> np.ndarray:
        """Those of the active threads; all the same where they are the same for all."""
        if mask is None or np.ndim(values) == 0:
            return np.atleast_1d(values)
        return self.full(values)[self.full(mask)]

    def _windowed(
        self, space: str, address: Any, dtype: Any, count: int, mask: Any, write: bool, at: int
    ) -> tuple[MemRef, Any]:  # fmt: skip
        size = np.dtype(dtype).itemsize
        nbytes = size * count
        if space == "shared":
            address = address & (1 << RANK) - 1
            memory, low, end = self.shared_memory, RESERVED, self.shared_end
        elif space == "local" and self.local_memory is not None:
            memory, low, end = self.local_memory, 0, self.local_end
        elif space == "param" and not write:
            memory, low, end = MemRef(self.parameters, [len(self.parameters)], [1], "the parameters", "private"), 0, len(self.parameters)
        else:
            self.fail(f"{'a store to' if write else 'a load from'} {space} memory, of which the kernel has none", at)
        outside = (address < low) | (address > end - nbytes)
        if np.any(outside) and (outside := self.full(outside if mask is None else outside & mask)).any():
            bad = self.first_of(outside)
            where = int(self.full(address).reshape(-1)[bad])
            self.fail(f"{'store' if write else 'load'} out of bounds: {nbytes} bytes at {where} of {space} memory, {low} to {end}", at, bad)
        view = memory.view(0, [len(memory.buffer) // size], dtype) if memory.buffer.dtype != dtype else memory
        index = view.offset + address // size
        return view, index if mask is None else np.where(mask, index, view.origin + low // size)

    def _global(
        self, address: Any, dtype: Any, count: int, mask: Any, write: bool, at: int
    ) -> tuple[MemRef, Any]:  # fmt: skip
        size = np.dtype(dtype).itemsize
        active = self._active(address, mask)
        low, high = int(active.min()), int(active.max()) + size * count
        self._check(np.unique(active) if high - low > size * count else active.reshape(-1)[:1], size * count, write, address, mask, at)
        base = low // _BASE * _BASE
        elements = -(-(high - base) // size)
        memory = MemRef(host_bytes(base, elements * size).view(dtype), [elements], [1], "global memory")
        self.regions.attach(memory, base, low, high)
        index = (address - base) // size
        return memory, index if mask is None else np.where(mask, index, (low - base) // size)

    def _check(self, addresses: np.ndarray, nbytes: int, write: bool, all_: Any, mask: Any, at: int) -> None:
        """Asks for the whole range; where that is refused, for what lies on either side of its widest gap, the middle one of several."""
        low, high = int(addresses[0]), int(addresses[-1])
        try:
            if low >= 0:
                return self.memory.check(low, high + nbytes - low, write)
            raise SimulationError("a negative address")
        except Exception as error:
            if len(addresses) == 1:
                bad = self.first_of((all_ == low) if mask is None else (all_ == low) & mask)
                what = "store to" if write else "load from"
                self.fail(f"{what} global memory out of bounds: {nbytes} bytes at {low:#x}: {str(error).splitlines()[0]}", at, bad)
        gaps = np.diff(addresses)
        widest = np.flatnonzero(gaps == gaps.max())
        gap = int(widest[len(widest) // 2]) + 1
        self._check(addresses[:gap], nbytes, write, all_, mask, at)
        self._check(addresses[gap:], nbytes, write, all_, mask, at)
