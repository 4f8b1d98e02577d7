"""A batch of blocks that runs the translated blocks of a kernel: which threads are where, and what they wait for.

Threads go on from the block of the least number (flow.py), all of one block together. Those that come to a barrier or to an mbarrier are
parked until no other thread can go on; then whoever has what it waits for goes on, and where nobody has, the kernel hangs. Of the blocks of
a cluster one comes late to each mbarrier, so that the other goes on without it where it does not wait for it. Last come
threads that look for what others write (`ld.acquire`): as long as nobody writes, they look in vain. What they look for is told by atomics
that release: every other block comes late to these, so that who does not wait for it goes on without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..lockstep import WARP, Launch
from .spaces import DeviceMemory
from .threads import Threads

_IN_VAIN = 16
"""Looks of each block of those that look, after which they are said to do so for ever."""
CLUSTER = -1
"""The number of the barrier of all blocks of a cluster."""
Run = Callable[["Machine", dict[str, Any], Any], None]


@dataclass
class _AtBarrier:
    """Threads that came to a barrier; `next` is the block behind, None for those that do not wait."""

    number: int
    count: int | None
    mask: Any
    next: int | None
    at: int


class Machine(Threads):
    def __init__(
        self, launch: Launch, first: int, blocks: int, memory: DeviceMemory, parameters: np.ndarray, shared_end: int, local_bytes: int
    ):  # fmt: skip
        super().__init__(launch, first, blocks)
        self.memory, self.parameters, self.shared_end, self.local_end = memory, parameters, shared_end, local_bytes
        self.shared_memory = self._own_memory(max(shared_end, 1), [shared_end], np.uint8, "shared memory", "shared", launch.shared_unit)
        self.local_memory = self.private([-(-local_bytes // 16) * 16], np.uint8, "local memory") if local_bytes else None
        self.ready: dict[int, Any] = {0: None}
        self._at_barriers: list[_AtBarrier] = []
        self._stalled: dict[int, Any] = {}
        self.progress = True
        self.meets: tuple[set[int], set[int]] = set(), set()
        """The blocks in which threads look for others, and those in which they tell that they have come."""
        self._late: dict[int, Any] = {}
        self._arrivals, self._settled = np.zeros(blocks, np.int64), 0
        self._seen, self._in_vain = (0, 0), 0

    def run(self, code: Sequence[Run], registers: dict[str, Any]) -> None:
        while True:
            others = self.ready.keys() - self.meets[0]
            if not others and self._wake():
                continue
            if not self.ready:
                return
            number = min(others) if others else self._look()
            mask = self.ready.pop(number)
            self.running = self._early(number, mask) if number in self.meets[1] else mask
            code[number](self, registers, self.running)

    # What a translated block ends with.

    def go(self, number: int, mask: Any) -> None:
        """These threads go on there."""
        if mask is False:
            return
        if number in self.ready and mask is not None:
            other = self.ready[number]
            mask = None if other is None or (both := self.full(other) | self.full(mask)).all() else both
        self.ready[number] = mask

    def branch(self, condition: Any, target: int, following: int, mask: Any) -> None:
        self.go(target, self.narrow(mask, condition))
        self.go(following, self.narrow(mask, np.logical_not(condition)))

    def leave(self, condition: Any, following: int | None, mask: Any) -> None:
        """ret: threads for which the condition holds end."""
        if following is not None:
            self.go(following, self.narrow(mask, np.logical_not(condition)))

    def barrier_at(self, number: Any, count: Any, waits: bool, following: int, mask: Any, condition: Any, at: int) -> None:
        """bar.sync and bar.arrive."""
        here = self.narrow(mask, condition)
        if here is None and count is None:
            self.barrier(None, at)
            return self.go(following, None)
        self.go(following, self.narrow(mask, np.logical_not(condition)))
        if here is False:
            return
        if np.ndim(number) or np.ndim(count):
            self.fail("a barrier whose number differs between threads is not simulated", at)
        wanted, arrived = None if count is None else int(count), self.full(True if here is None else here)
        self._at_barriers.append(_AtBarrier(int(number), wanted, arrived, following if waits else None, at))
        if not waits:
            self.go(following, here)

    def await_phase(self, number: int, address: Any, parity: Any, space: str, mask: Any, at: int) -> Any:
        """The threads for which the phase of an mbarrier is over; the others are parked."""
        over = self.narrow(mask, self.phase_over(space, address, parity, mask, at))
        waiting = self.narrow(mask, np.logical_not(self.full(False if over is False else True if over is None else over)))
        if waiting is not False:
            other = self._stalled.get(number, False)
            self._stalled[number] = waiting if other is False else self.full(other) | self.full(waiting)
        self.progress |= over is not False
        return over

    # Threads that wait.

    def _wake(self) -> bool:
        """Lets threads go on that were parked; False where there are none."""
        if self._release():
            return True
        if self._late and (not self.ready or self._in_vain) and not (self._stalled and self.progress):
            for number, mask in self._late.items():
                self.go(number, mask)
            self._late = {}
            return True
        if self._stalled and (self.progress or not self.ready):
            if not self.progress:
                self.lingering()
            self.progress = False
            for number, mask in self._stalled.items():
                self.go(number, mask)
            self._stalled = {}
            return True
        if self.ready:
            return False
        for parked in self._at_barriers:
            self._complain(parked)
        return False

    def _early(self, number: int, mask: Any) -> Any:
        """Those of blocks of even numbers; the others come when nobody else can go on but in vain."""
        here, even = self.full(True if mask is None else mask), self.block % 2 == 0
        if not (here & even).any() or not (here & ~even).any():
            return mask
        self._late[number] = self._late.get(number, False) | (here & ~even)
        return here & even

    def _look(self) -> int:
        """The block of those that look next, one after the other; fails where all have looked in vain."""
        threads = sum(int(self.full(True if mask is None else mask).sum()) for mask in self.ready.values())
        seen = self.stores, threads
        self._in_vain = self._in_vain + 1 if seen == self._seen else 0
        self._seen = seen
        if self._in_vain > _IN_VAIN * len(self.ready):
            self.fail("waits for ever: for what nobody writes that is there", 0)
        return sorted(self.ready)[self._in_vain % len(self.ready)]

    def released(self, mask: Any) -> None:
        """What threads of these blocks wrote, others may see that acquire it."""
        self._arrivals += self.full(True if mask is None else mask).any(axis=1)

    def acquired(self) -> None:
        """Where each block has released what it wrote once more, all that look see it: they have waited for each other."""
        everywhere = self.blocks == int(np.prod(self.launch.grid))
        if everywhere and (least := int(self._arrivals.min())) > self._settled:
            self._settled = least
            self.clock.tick()
            self.regions.settle()

    def _release(self) -> bool:
        """Barriers to which all threads came that they wait for."""
        released = False
        for number in {parked.number for parked in self._at_barriers}:
            mine = [parked for parked in self._at_barriers if parked.number == number]
            here = np.zeros(self.whole, np.bool_)
            for parked in mine:
                here |= parked.mask
            count = next((parked.count for parked in mine if parked.count is not None), self.warps * WARP)
            arrived = self._by_warp(here, True).sum(axis=(1, 2)) if count == self.warps * WARP else here.sum(axis=1)
            complete = (arrived == count)[:, None]
            if number == CLUSTER:
                complete = complete.reshape(-1, self.launch.cluster).all(axis=1).repeat(self.launch.cluster)[:, None]
            if not complete.any():
                continue
            released = self.progress = True
            self.clock.tick()
            self.counters.barriers += int(complete.sum())
            for parked in mine:
                if parked.next is not None:
                    self.go(parked.next, self.narrow(None, parked.mask & complete))
                parked.mask = parked.mask & ~complete
        self._at_barriers = [parked for parked in self._at_barriers if parked.mask.any()]
        return released

    def _complain(self, parked: _AtBarrier) -> None:
        here = np.zeros(self.whole, np.bool_)
        for other in self._at_barriers:
            if other.number == parked.number:
                here |= other.mask
        missing = here.any(axis=1, keepdims=True) & ~here
        what = "a barrier that not all threads of the block reach; this one does not"
        self.fail(what if parked.count is None else f"a barrier of {parked.count} threads, to which others came", parked.at,
                  self.first_of(missing) if missing.any() else None)  # fmt: skip
