"""The memory of the simulated device: the numbered buffers of a program, and which of their bytes somebody wrote."""

from __future__ import annotations

import numpy as np

from hloom.dialects.storage import Slice

from .errors import SimulationError

ALIGNMENT = 256
"""What the driver gives every allocation."""
_ACCESS = 16
_POISON = 0xFF


class Buffers:
    """The buffers of one run. Only the `writable` ones change."""

    def __init__(self, sizes: list[int], writable: range, checks: bool):
        self.sizes, self.writable, self.checks = sizes, writable, checks
        self.bytes = [_allocate(size) for size in sizes]
        self.written = [np.zeros(size, np.bool_) for size in sizes] if checks else []

    def fill(self, number: int, content: np.ndarray) -> None:
        """Gives a buffer the content that it has from the start."""
        self.bytes[number][:] = content
        if self.checks:
            self.written[number][:] = True

    def read(self, part: Slice, what: str) -> np.ndarray:
        """The bytes of a slice, all of which must have been written."""
        number, start, size = part
        self._check(part, what)
        if self.checks and not self.written[number][start : start + size].all():
            first = start + int(np.argmin(self.written[number][start : start + size]))
            raise SimulationError(f"{what}: reads bytes {start} to {start + size} of buffer {number}, but nobody wrote byte {first}")
        return self.bytes[number][start : start + size]

    def write(self, part: Slice) -> np.ndarray:
        """The bytes of a slice, to be written wholly."""
        number, start, size = part
        self._check(part, "a write")
        if number not in self.writable:
            raise SimulationError(f"writes buffer {number}, an argument or a constant")
        if self.checks:
            self.written[number][start : start + size] = True
        return self.bytes[number][start : start + size]

    def _check(self, part: Slice, what: str) -> None:
        number, start, size = part
        if not 0 <= start <= start + size <= self.sizes[number]:
            raise SimulationError(f"{what}: bytes {start} to {start + size} of buffer {number}, which has {self.sizes[number]}")
        if start % _ACCESS and size >= _ACCESS:
            raise SimulationError(f"{what}: a slice at byte {start} of buffer {number}; kernels access {_ACCESS} aligned bytes")


def _allocate(size: int) -> np.ndarray:
    """Aligned memory that nobody wrote."""
    raw = np.full(size + ALIGNMENT, _POISON, np.uint8)
    start = -raw.__array_interface__["data"][0] % ALIGNMENT
    return raw[start : start + size]
