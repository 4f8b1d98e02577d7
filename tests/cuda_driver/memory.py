"""Device memory: host memory at addresses that are never given out twice, and who may touch it when.

What nobody wrote reads as NaN; what was given back is overwritten, and touching it is a fault.
"""

from __future__ import annotations

import bisect
import ctypes
import mmap
from dataclasses import dataclass

from .errors import Code, Fault, Refused

ALIGNMENT = 512
_GAP = 512
"""Bytes between two allocations, which belong to nobody."""
_FRESH, _GONE = 0xFF, 0xDD
_FILLED = 1 << 20
"""Bytes of an allocation that are filled; larger ones are workspace, mostly untouched."""
_MAP_NORESERVE = 0x4000
"""Linux's; Python has no name for it before 3.13."""
_ARENA = 64 << 30
"""Addresses, not memory: pages that nobody touches cost nothing."""


@dataclass
class Allocation:
    address: int
    nbytes: int
    is_there: bool = True
    """Work may touch it: its stream has come to where it was given out, and not to where it is given back."""
    is_freed: bool = False
    """The host gave it back."""

    def __str__(self) -> str:
        return f"the {self.nbytes} bytes at {self.address:#x}"


class Memory:
    def __init__(self) -> None:
        self._arena = mmap.mmap(-1, _ARENA, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE)
        self.first = ctypes.addressof(ctypes.c_char.from_buffer(self._arena))
        self._next = -(-self.first // ALIGNMENT) * ALIGNMENT
        self._starts: list[int] = []
        self._allocations: list[Allocation] = []

    def allocate(self, nbytes: int, is_ordered: bool = False) -> Allocation:
        """`is_ordered`: it is there when the stream that gives it out has come to that."""
        address = self._next
        if address + nbytes + _GAP > self.first + _ARENA:
            raise Refused(Code.OUT_OF_MEMORY, f"{nbytes} bytes")
        self._next = -(-(address + nbytes + _GAP) // ALIGNMENT) * ALIGNMENT
        made = Allocation(address, nbytes, is_there=not is_ordered)
        self._starts.append(address)
        self._allocations.append(made)
        ctypes.memset(address, _FRESH, min(nbytes, _FILLED))
        return made

    def live(self) -> list[Allocation]:
        return [each for each in self._allocations if not each.is_freed]

    def to_go(self) -> list[Allocation]:
        """What was given back, but whose stream has not come to that."""
        return [each for each in self._allocations if each.is_freed and each.is_there]

    def to_free(self, address: int) -> Allocation:
        """The allocation that begins there, which the host gives back. Raises Refused."""
        found = self._find(address)
        if found is None or found.address != address or found.is_freed:
            raise Refused(Code.INVALID_VALUE, f"no allocation begins at {address:#x}, or it was given back before")
        found.is_freed = True
        return found

    def take_away(self, allocation: Allocation) -> None:
        allocation.is_there = False
        ctypes.memset(allocation.address, _GONE, min(allocation.nbytes, _FILLED))
        if allocation.nbytes > _FILLED:
            first, last = allocation.address + _FILLED - self.first, allocation.address + allocation.nbytes - self.first
            start = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE
            if last - start >= mmap.PAGESIZE:
                self._arena.madvise(mmap.MADV_DONTNEED, start, (last - start) // mmap.PAGESIZE * mmap.PAGESIZE)

    def is_device(self, address: int) -> bool:
        return self.first <= address < self.first + _ARENA

    def check(self, address: int, nbytes: int, write: bool) -> None:
        """Raises Fault where work must not touch these bytes."""
        found = self._find(address)
        doing = f"{'writes' if write else 'reads'} {nbytes} bytes at {address:#x}"
        if found is None or address + nbytes > found.address + found.nbytes:
            raise Fault(f"{doing}, {f'beyond {found}' if found else 'which nobody allocated'}")
        if not found.is_there:
            when = "were given back" if found.is_freed else "are not there yet: nothing orders this after what allocates them"
            raise Fault(f"{doing}, but {found} {when}")

    def check_host_or_device(self, address: int, nbytes: int, write: bool) -> None:
        if self.is_device(address):
            self.check(address, nbytes, write)

    def _find(self, address: int) -> Allocation | None:
        place = bisect.bisect_right(self._starts, address) - 1
        return self._allocations[place] if place >= 0 else None
