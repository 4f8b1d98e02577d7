"""What the generated code calls: a batch of blocks, whose threads reach memory, wait for each other and exchange values."""

from __future__ import annotations

from typing import Any

import numpy as np

from .accesses import Accesses
from .lockstep import WARP


class Batch(Accesses):
    """`blocks` blocks from number `first` on."""

    def barrier(self, mask: Any, at: int) -> None:
        """All threads of a block, or none of it, may come here."""
        blocks = self.blocks
        if mask is not None:
            here = self.full(mask)
            waiting = np.asarray(here.any(axis=1))
            missing = waiting[:, None] & ~here
            if missing.any():
                self.fail("a barrier that not all threads of the block reach; this one does not", at, self.first_of(missing))
            blocks = int(waiting.sum())
        self.clock.tick()
        self.counters.barriers += blocks

    def barrier_of(self, threads: int, mask: Any, at: int) -> None:
        """So many threads of a block, or none of it, may come here: whole warps. No others' accesses are seen as unordered by it."""
        self.whole_warps(mask, "a barrier", at)
        arrived = self.full(True if mask is None else mask).sum(axis=1)
        if (wrong := (arrived > 0) & (arrived != threads)).any():
            block = int(np.nonzero(wrong)[0][0])
            self.fail(f"a barrier of {threads} threads, to which {int(arrived[block])} came", at, block * self.threads)
        self.clock.tick()
        self.counters.barriers += int((arrived > 0).sum())

    def grid_barrier(self, mask: Any, at: int) -> None:
        """All threads of all blocks come here. What it counts is what expand-grid-barriers makes of it."""
        if mask is not None and not (here := self.full(mask)).all():
            self.fail("a barrier of all blocks that not all threads reach; this one does not", at, self.first_of(~here))
        self.barrier(None, at)
        self.barrier(None, at)
        self.counters.atomics += self.blocks
        self.counters.global_written_bytes += 4 * self.blocks
        self.counters.global_read_bytes += 8 * self.blocks
        for log in self.launch.logs:
            log.settle()

    def whole_warps(self, mask: Any, what: str, at: int) -> None:
        """Fails unless each warp takes part as a whole, or not at all."""
        if mask is None and not self.threads % WARP:
            return
        here = self._by_warp(self.full(True if mask is None else mask))
        missing = here.any(axis=-1, keepdims=True) & ~here
        if missing.any():
            block, warp, lane = (int(where[0]) for where in np.nonzero(missing))
            thread = block * self.threads + min(warp * WARP + lane, self.threads - 1)
            self.fail(f"{what} that not all threads of the warp reach; this one does not", at, thread)

    def shuffle(self, value: Any, offset: Any, width: Any, mode: str, mask: Any, at: int) -> tuple[np.ndarray, np.ndarray]:
        """gpu.shuffle: the value of another lane of the warp, and whether there is that lane."""
        self.counters.shuffles += self.active_warps(mask)
        start = self.lane // width * width
        if mode == "xor":
            source = self.lane ^ offset
        elif mode == "idx":
            source = start + offset % width
        else:
            source = self.lane + offset if mode == "down" else self.lane - offset
        valid = (source >= start) & (source < start + width)
        return self.from_lanes(value, np.where(valid, source, self.lane), mask, at), valid

    def from_lanes(self, value: Any, lane: Any, mask: Any, at: int) -> np.ndarray:
        """The value of that lane of the warp, which must be active."""
        source = lane + (self.thread - self.lane)
        if mask is not None or self.threads % WARP:
            here = self.full(True if mask is None else mask)
            inside = source < self.threads
            from_there = np.take_along_axis(here, np.broadcast_to(np.where(inside, source, 0), self.whole), axis=1)
            wrong = here & ~(inside & from_there)
            if wrong.any():
                self.fail("a shuffle from a lane that is not active", at, self.first_of(wrong))
            source = np.where(inside, source, 0)
        if source.ndim == 1:
            return self.full(value)[:, source]
        return np.take_along_axis(self.full(value), self.full(source), axis=1)

    def subgroup_reduce(self, value: Any, function: np.ufunc, mask: Any, at: int) -> np.ndarray:
        """gpu.subgroup_reduce over whole warps, as a tree of five exclusive-or shuffles."""
        self.whole_warps(mask, "gpu.subgroup_reduce", at)
        self.counters.shuffles += 5 * self.active_warps(mask)
        for offset in (16, 8, 4, 2, 1):
            value = function(self.full(value), self.full(value)[:, self.thread ^ offset])
        return value
