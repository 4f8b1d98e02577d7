"""The ops of a host block in an order in which independent small kernels stand together.

    a = f(x);  b = g(a);  c = f(y);  d = g(c)        becomes        a, c;  b, d

A kernel that may share a launch waits as long as any other op can go first. What waits when nothing else can go is independent of each
other. Each op is looked at once, and once for each of its users.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable, Collection, Sequence

from .host_block import HostBlock

_RETREATS = 64
"""So often is a step given up for want of memory before a block stays in its order."""
Step = Sequence[int]
"""Ops that are launched together."""


class Schedule:
    """The steps of a block. `waits`: the kernels that may share a launch; `packed` says which of those that wait together do; `most`: the
    bytes that the program takes as it stands. Where more would be live, nothing waits longer, and fewer are launched together."""

    def __init__(self, block: HostBlock, waits: Collection[int], packed: Callable[[list[int]], list[Step]], most: int):
        self.block, self.waits, self.packed, self.most = block, waits, packed, most
        self.live = block.live()
        self.needs = Counter(user for users in block.users for user in users)
        self.ready: list[int] = []
        self.waiting: list[int] = []
        self.retreats = 0
        self.steps: list[Step] = []
        for op in range(len(block.ops)):
            if not self.needs[op]:
                self._offer(op)
        while self.ready or self.waiting:
            self._next()

    def _next(self) -> None:
        last = len(self.block.ops) - 1
        if self.ready and self.ready[0] != last and (not self.waiting or self.live.with_step([self.ready[0]]) <= self.most):
            return self._run([heapq.heappop(self.ready)])
        if not self.waiting:
            return self._run([self.ready.pop()])
        steps, self.waiting = self.packed(sorted(self.waiting)), []
        for number, step in enumerate(steps):
            if len(step) > 1 and self.live.with_step(step) > self.most:
                return self._retreat(step, steps[number + 1 :])
            self._run(step)

    def _retreat(self, step: Step, later: Sequence[Step]) -> None:
        """Runs the first op of a step for which there is no room; the others wait again, or, after so many times, for nothing any more."""
        self.retreats += 1
        first, *others = step
        self.waiting += [*others, *(op for each in later for op in each)]  # beside those that earlier steps let wait
        if self.retreats == _RETREATS:
            self.ready, self.waiting, self.waits = sorted([*self.ready, *self.waiting]), [], ()
        self._run([first])

    def _offer(self, op: int) -> None:
        if op in self.waits:
            self.waiting.append(op)
        else:
            heapq.heappush(self.ready, op)

    def _run(self, step: Step) -> None:
        self.live.run(step)
        self.steps.append(step)
        for user in (user for op in step for user in self.block.users[op]):
            self.needs[user] -= 1
            if not self.needs[user]:
                self._offer(user)
