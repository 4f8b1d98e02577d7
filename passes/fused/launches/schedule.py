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

Step = Sequence[int]
"""Ops that are launched together."""


class Schedule:
    """The steps of a block. `waits`: the kernels that may share a launch; `packed` says which of those that wait together do; `most`: the
    bytes that the program takes as it stands. Where more would be live, nothing waits longer, and nothing is launched together."""

    def __init__(self, block: HostBlock, waits: Collection[int], packed: Callable[[list[int]], list[Step]], most: int):
        self.block, self.waits, self.packed, self.most = block, waits, packed, most
        self.live = block.live()
        self.needs = Counter(user for users in block.users for user in users)
        self.ready: list[int] = []
        self.waiting: list[int] = []
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
        together, self.waiting = sorted(self.waiting), []
        for step in self.packed(together):
            for part in [step] if self.live.with_step(step) <= self.most else [[op] for op in step]:
                self._run(part)

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
