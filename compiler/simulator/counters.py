"""What a launch did: the figures that performance hangs on."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np

SECTOR_BYTES = 32
BANKS = 32
BANK_BYTES = 4


@dataclass
class Counters:
    """Counts of one launch, or of several, added.

    Bytes, shuffles, barriers, atomics and tensor-core ops are of all threads. Requests, sectors and wavefronts are of the first 2048
    threads, and of the first trips of a loop: their quotients are what they are for.
    """

    global_read_bytes: int = 0
    global_written_bytes: int = 0
    shared_read_bytes: int = 0
    shared_written_bytes: int = 0
    read_requests: int = 0
    """A request is one load or store instruction of a warp; an access wider than 16 bytes is several."""
    read_sectors: int = 0
    write_requests: int = 0
    write_sectors: int = 0
    shared_requests: int = 0
    """In groups of as many threads as 128 bytes serve."""
    shared_wavefronts: int = 0
    shuffles: int = 0
    """Of warps, as are `mma` and `ldmatrix`."""
    barriers: int = 0
    """Of blocks."""
    atomics: int = 0
    async_copies: int = 0
    mma: int = 0
    ldmatrix: int = 0
    launches: int = 0

    def __add__(self, other: Counters) -> Counters:
        return Counters(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def sectors_per_read(self) -> float:
        """32-byte sectors a load of global memory touches; 4 × the access width in words where coalesced."""
        return self.read_sectors / max(1, self.read_requests)

    @property
    def sectors_per_write(self) -> float:
        return self.write_sectors / max(1, self.write_requests)

    @property
    def bank_conflicts(self) -> float:
        """How many times as long shared memory takes as without conflicts; 1.0 is the best."""
        return self.shared_wavefronts / max(1, self.shared_requests)


def count_sectors(addresses: np.ndarray, warps: np.ndarray) -> tuple[int, int]:
    """Requests and sectors of accesses that start at these byte addresses, each within a sector, by threads of these warps."""
    return len(np.unique(warps)), len(np.unique(warps << 48 | addresses // SECTOR_BYTES))


def count_wavefronts(addresses: np.ndarray, lanes: np.ndarray, width: int) -> tuple[int, int]:
    """Requests and wavefronts of shared-memory accesses of `width` bytes, by threads of these numbers (a multiple of 32 a block).

    The hardware serves as many threads together as 128 bytes suffice for; each distinct word of a bank costs one wavefront more.
    """
    words = max(1, width // BANK_BYTES)
    groups, group = np.unique(lanes * words // 32, return_inverse=True)
    word = addresses[:, None] // BANK_BYTES + np.arange(words)
    distinct = np.unique(np.asarray(group, np.int64)[:, None] << 40 | word)
    load = np.bincount((distinct >> 40) * BANKS + distinct % BANKS, minlength=len(groups) * BANKS)
    return len(groups), int(load.reshape(-1, BANKS).max(axis=1).sum())
