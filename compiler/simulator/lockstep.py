"""A batch of blocks of a launch, all their threads in lockstep: which of them are active, and how they go through loops.

A mask says which threads are active: None (all), False (none), or a bool array that broadcasts to (blocks, threads).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

import numpy as np

from .checks import AccessLog, Clock
from .counters import Counters
from .errors import SimulationError
from .memory import MemRef
from .values import select

WARP = 32


class Site(Protocol):
    """An op that may fail; as text it is how an error names it."""

    @property
    def location(self) -> Any: ...


@dataclass
class Launch:
    """What all batches of a launch share. `sites` are the ops that may fail."""

    kernel: str
    sites: Sequence[Site]
    block: tuple[int, int, int]
    grid: tuple[int, int, int]
    shared_bytes: int
    shared_unit: int
    checks: bool
    sample: bool
    cluster: int = 1
    """How many neighbouring blocks have each other's shared memory."""
    counters: Counters = field(default_factory=Counters)
    logs: list[AccessLog] = field(default_factory=list)
    """Of the memory that blocks share."""
    sampled: dict[int, int] = field(default_factory=lambda: defaultdict(int))
    """How often requests of an op were counted, by its site."""


class Lockstep:
    """`blocks` blocks from number `first` on, all their threads in lockstep."""

    def __init__(self, launch: Launch, first: int, blocks: int):
        self.launch, self.blocks, self.counters = launch, blocks, launch.counters
        self.threads = launch.block[0] * launch.block[1] * launch.block[2]
        self.warps = -(-self.threads // WARP)
        self.thread = np.arange(self.threads)
        self.lane = self.thread % WARP
        self.block = (first + np.arange(blocks))[:, None]
        self.row = np.arange(blocks)[:, None]
        self.clock = Clock(first, blocks, self.threads)
        self.sampling = first == 0 and launch.sample
        self.dynamic: MemRef | None = None
        self.whole = (blocks, self.threads)
        self.copies: Any = None
        """The asynchronous copies that have not ended, once there are any; and the products of warp groups."""
        self.products: dict[int | None, Any] = {}
        self.windows: list[MemRef] = []
        """Buffers in shared memory, by their addresses there."""

    def peer(self, rows: np.ndarray, rank: Any) -> np.ndarray:
        """The block of that rank in the cluster of each of these blocks."""
        return rows // self.launch.cluster * self.launch.cluster + rank

    # Threads.

    def thread_id(self, axis: int) -> np.ndarray:
        return _coordinate(self.thread, self.launch.block, axis)

    def block_id(self, axis: int) -> np.ndarray:
        return _coordinate(self.block, self.launch.grid, axis)

    def full(self, value: Any) -> np.ndarray:
        return np.broadcast_to(value, self.whole)

    def narrow(self, mask: Any, condition: Any) -> Any:
        """The mask of the active threads for which the condition holds."""
        if mask is False:
            return False
        if isinstance(condition, bool | np.bool_) or not np.ndim(condition):
            return mask if condition else False
        if mask is not None:
            condition = condition & mask
        elif condition.all():
            return None
        return condition if condition.any() else False

    def active(self, mask: Any) -> int:
        return self.blocks * self.threads if mask is None else int(np.count_nonzero(self.full(mask)))

    def active_warps(self, mask: Any) -> int:
        return self.blocks * self.warps if mask is None else int(self._by_warp(self.full(mask)).any(axis=-1).sum())

    def _by_warp(self, values: np.ndarray, fill: Any = False) -> np.ndarray:
        """Values of all threads as (blocks, warps, 32)."""
        missing = self.warps * WARP - self.threads
        if missing:
            values = np.concatenate([values, np.full((self.blocks, missing), fill, values.dtype)], axis=1)
        return values.reshape(self.blocks, self.warps, WARP)

    def count_up(self, low: Any, high: Any, step: Any, mask: Any) -> Iterator[tuple[Any, Any]]:
        """The trips of a loop and the mask of each: the mask itself as long as the bounds are the same for all threads."""
        if not (np.ndim(low) or np.ndim(high) or np.ndim(step)):
            kind = int if isinstance(low, int) else np.asarray(low).dtype.type
            yield from ((kind(i), mask) for i in range(int(low), int(high), int(step)))
            return
        i = low
        while (running := self.narrow(mask, np.asarray(i < high))) is not False:
            yield i, running
            i = i + step

    def update(self, mask: Any, new: Any, old: Any) -> Any:
        """`new` in active threads, `old` in the others."""
        if mask is None or mask is False:
            return old if mask is False else new
        return select(mask, new, old)

    def require(self, condition: Any, mask: Any, message: str, at: int) -> None:
        """cf.assert."""
        wrong = np.logical_not(condition) if mask is None else np.logical_not(condition) & mask
        if np.any(wrong):
            self.fail(message, at, self.first_of(wrong))

    def fail(self, message: str, at: int, thread: Any = None, remedy: str | None = None) -> NoReturn:
        """`thread` is the number of a thread in the batch."""
        op = self.launch.sites[at]
        where = None if thread is None else divmod(int(thread), self.threads)
        block = None if where is None else int(self.block[where[0], 0])
        raise SimulationError(
            message,
            kernel=self.launch.kernel,
            op=first_line(op),
            loc=str(op.location),
            block=block,
            thread=None if where is None else where[1],
            remedy=remedy,
        )

    def first_of(self, wrong: Any) -> int:
        return int(np.argmax(self.full(wrong)))


def first_line(op: Site) -> str:
    """How an error names an op."""
    return str(op).strip().splitlines()[0][:200]


def _coordinate(number: np.ndarray, extents: tuple[int, int, int], axis: int) -> np.ndarray:
    if extents[1] == extents[2] == 1:
        return number if axis == 0 else number * 0
    return number // int(np.prod(extents[:axis], dtype=np.int64)) % extents[axis]
