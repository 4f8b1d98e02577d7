"""Who wrote and read each word of memory, to find races and reads of what nobody wrote.

A thread's access leaves a *tag*: its block (in global memory), the number of barriers passed, its number in the block. With
S = threads + 2 and lo = block << 40, 0 in memory that each block has for itself:

    tag = lo + epoch * S + thread        lo + epoch * S + threads: several threads of that block        ATOMIC: atomics only

ATOMIC is one tag in global memory, epoch * S + threads + 1 in memory that each block has for itself. A barrier starts a new epoch, so an
access conflicts with a tag that is not one's own, if the tag is of this epoch or of another block.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .runs import gather, scatter

_NEVER = -1
LONG_AGO = 0
"""The tag of what everybody may read: no thread leaves it, the first epoch being number 1."""
_SEVERAL_BLOCKS = 1 << 62
_BLOCK = 40
# Tags of memory that each block has for itself are narrow: most of the time goes into moving them.
_WIDTH = {False: np.int32, True: np.int64}
_ATOMIC = (1 << 62) + 1


Finding = tuple[str, np.ndarray]
"""What is wrong, and for which of the accesses."""


@dataclass
class AccessingThreads:
    """The threads that access memory in one instruction: for each its tag, and where its block and its epoch begin."""

    tags: np.ndarray
    block: np.ndarray | int
    epoch: np.ndarray | int
    several: np.ndarray | int

    def columns(self) -> AccessingThreads:
        """With a dimension more, to meet several words a thread."""
        return self._each(lambda part: part[:, None])

    def some(self, chosen: np.ndarray) -> AccessingThreads:
        return self._each(lambda part: part[chosen])

    def _each(self, change: Callable[[np.ndarray], np.ndarray]) -> AccessingThreads:
        parts: list[Any] = [part if isinstance(part, int) else change(part) for part in (self.block, self.epoch, self.several)]
        return AccessingThreads(change(self.tags), *parts)

    def as_warps(self) -> AccessingThreads:
        """Who reads for all threads of a warp: no single thread's own tag excuses it."""
        return AccessingThreads(np.broadcast_to(self.several, self.tags.shape), self.block, self.epoch, self.several)


class Clock:
    """The epoch of a batch of blocks, and the tags of its threads."""

    def __init__(self, first_block: int, blocks: int, threads: int):
        self.threads, self.first = threads, first_block
        self.number = np.tile(np.arange(threads, dtype=np.int32), blocks)
        self.block = np.repeat(np.arange(first_block, first_block + blocks, dtype=np.int64) << _BLOCK, threads)
        self.epoch = 1
        self._known: dict[bool, AccessingThreads] = {}

    def tick(self) -> None:
        self.epoch += 1
        self._known.clear()

    def of(self, across_blocks: bool, chosen: np.ndarray | None) -> AccessingThreads:
        """The threads of these numbers in the batch, all where None; `across_blocks` where memory is common to blocks."""
        if across_blocks not in self._known:
            start = self.epoch * (self.threads + 2)
            if across_blocks:
                epoch = self.block + start
                self._known[True] = AccessingThreads(epoch + self.number, self.block, epoch, epoch + self.threads)
            else:
                self._known[False] = AccessingThreads(self.number + np.int32(start), 0, start, start + self.threads)
        every = self._known[across_blocks]
        return every if chosen is None else every.some(chosen)


class AccessLog:
    """The last writer and the readers of each unit of `unit` bytes of a memory."""

    def __init__(self, size: int, unit: int, across_blocks: bool, reads: bool = True):
        self.unit, self.across_blocks = unit, across_blocks
        self.writer = np.full(size, _NEVER, _WIDTH[across_blocks])
        self.reader = np.full(size, _NEVER, _WIDTH[across_blocks]) if reads else None
        self.pending: np.ndarray | None = None
        """Units that asynchronous copies are still writing."""

    def units_pending(self) -> np.ndarray:
        """`pending`, from now on kept."""
        if self.pending is None:
            self.pending = np.zeros(len(self.writer), np.bool_)
        return self.pending

    def read(self, addresses: np.ndarray, width: int, who: AccessingThreads) -> Finding | None:
        """Notes that `width` units from each address on are read; says what is wrong, and for which of the accesses."""
        mine, last = who.columns(), gather(self.writer, addresses, width)
        if self.pending is not None and (wrong := gather(self.pending, addresses, width)).any():
            return _finding("reads memory that an asynchronous copy is still writing", wrong)
        if not self.across_blocks and (wrong := last < 0).any():
            return _finding("reads uninitialised memory", wrong)
        if (wrong := _conflicts(last, mine)).any():
            return _finding(f"race: reads what {self._whom(last[wrong][0], who)} wrote, without a barrier between", wrong)
        if self.reader is not None:
            self._note_readers(addresses, width, mine)
        return None

    def _note_readers(self, addresses: np.ndarray, width: int, mine: AccessingThreads) -> None:
        assert self.reader is not None
        last = gather(self.reader, addresses, width)
        first = (last < mine.epoch) if not self.across_blocks else (last < mine.epoch) & ((last >= mine.block) | (last < 0))
        same_block = True if not self.across_blocks else (last >= mine.block) & (last <= mine.several)
        tags = np.where(
            first | (last == mine.tags), mine.tags, np.where(same_block, mine.several, _SEVERAL_BLOCKS if self.across_blocks else -1)
        )
        scatter(self.reader, addresses, tags)
        # Several threads may have read one unit in this very instruction, and each noted itself alone.
        lost = gather(self.reader, addresses, width) != tags
        if lost.any():
            units = (addresses[:, None] + np.arange(width))[lost]
            if self.across_blocks:
                other = gather(self.reader, addresses, width)
                lowest = np.broadcast_to(mine.block, lost.shape)[lost]
                highest = np.broadcast_to(mine.several, lost.shape)[lost]
                inside = (other[lost] >= lowest) & (other[lost] <= highest)
                self.reader[units] = np.where(inside, highest, _SEVERAL_BLOCKS)
            else:
                self.reader[units] = mine.several

    def write(self, addresses: np.ndarray, width: int, who: AccessingThreads, atomic: bool = False) -> Finding | None:
        """As `read`, of a write; atomics may meet atomics."""
        mine, last = who.columns(), gather(self.writer, addresses, width)
        if self.pending is not None and (wrong := gather(self.pending, addresses, width)).any():
            return _finding("writes memory that an asynchronous copy is still writing", wrong)
        wrong = _conflicts(last, mine)
        if atomic:
            wrong &= last != self._atomic(who)
        if wrong.any():
            return _finding(f"race: writes what {self._whom(last[wrong][0], who)} wrote, without a barrier between", wrong)
        if self.reader is not None and (wrong := _conflicts(last := gather(self.reader, addresses, width), mine)).any():
            return _finding(f"race: writes what {self._whom(last[wrong][0], who)} read, without a barrier between", wrong)
        if atomic:
            self.writer[addresses] = self._atomic(who)
            return None
        scatter(self.writer, addresses, np.broadcast_to(mine.tags, (len(addresses), width)))
        if (wrong := gather(self.writer, addresses, width) != mine.tags).any():
            return _finding("race: several threads write one word in one instruction", wrong)
        return None

    def settle(self) -> None:
        """All that was accessed, everybody may access: each thread of each block has waited for all others."""
        self.writer[self.writer != _NEVER] = LONG_AGO
        if self.reader is not None:
            self.reader[:] = _NEVER

    def unwritten(self) -> int:
        """How many units nobody wrote."""
        return int((self.writer < 0).sum())

    def _atomic(self, who: AccessingThreads) -> int:
        return who.several + 1 if isinstance(who.several, int) else _ATOMIC

    def _whom(self, tag: int, who: AccessingThreads) -> str:
        if tag == self._atomic(who):
            return "an atomic operation"
        return "another thread of the block" if not self.across_blocks else f"a thread of block {int(tag) >> _BLOCK}"


def _finding(message: str, wrong: np.ndarray) -> Finding:
    return message, np.asarray(wrong.any(axis=1))


def _conflicts(last: np.ndarray, mine: AccessingThreads) -> np.ndarray:
    if last.max(initial=_NEVER) == _NEVER:
        return np.zeros(last.shape, np.bool_)
    other = (last >= mine.epoch) & (last != mine.tags)
    if isinstance(mine.block, int):
        return other
    return other | ((last > LONG_AGO) & (last < mine.block))
