"""A batch of blocks that runs the translated blocks of a kernel: which threads are where, and what they wait for.

Threads go on from the block of the least number (flow.py), all of one block together. Those that come to a barrier or to an mbarrier are
parked until no other thread can go on; then whoever has what it waits for goes on, and where nobody has, the kernel hangs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..lockstep import WARP, Launch
from .spaces import DeviceMemory
from .threads import Threads

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

    def run(self, code: Sequence[Run], registers: dict[str, Any]) -> None:
        while True:
            while self.ready:
                number = min(self.ready)
                code[number](self, registers, self.ready.pop(number))
            if not self._wake():
                return

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
        if self._stalled:
            if not self.progress:
                self.lingering()
            self.progress = False
            self.ready, self._stalled = self._stalled, {}
            return True
        for parked in self._at_barriers:
            self._complain(parked)
        return False

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
