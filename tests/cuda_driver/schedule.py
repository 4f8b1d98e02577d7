"""When work runs on the emulated GPU: any time after what it must come after, in an order that a seed draws.

So what only happens to be in order is, for some seed, not.
"""

from __future__ import annotations

import contextlib
import gc
import random
from collections.abc import Callable, Iterable, Iterator


class Work:
    """Something to do on the GPU. It may run once all of `after` has."""

    __slots__ = ("after", "is_done", "name", "run", "then")

    def __init__(self, name: str, run: Callable[[], None], after: Iterable[Work] = ()):
        self.name, self.run, self.is_done = name, run, False
        self.after = {work for work in after if not work.is_done}
        self.then: list[Work] = []


class Schedule:
    """`late`: only what somebody waits for runs, as late as it can. `any`: what may run does, once somebody waits. `early`: also whenever
    work is added."""

    POLICIES = "late", "any", "early"

    def __init__(self, seed: int):
        self._random = random.Random(seed)
        self.policy = self.POLICIES[seed % len(self.POLICIES)]
        self._pending: dict[Work, None] = {}
        self.log: list[str] = []

    def add(self, work: Work) -> Work:
        for before in work.after:
            before.then.append(work)
        self._pending[work] = None
        if self.policy == "early":
            while self._pending and self._random.random() < 0.5 and self._step(self._pending):
                pass
        return work

    def finish(self, works: Iterable[Work]) -> None:
        """Runs until these are done."""
        wanted = [work for work in works if not work.is_done]
        while any(not work.is_done for work in wanted):
            among = _before(wanted) if self.policy == "late" else self._pending
            assert self._step(among), "work that waits for itself"

    def finish_all(self) -> None:
        self.finish(list(self._pending))

    def draw(self, count: int) -> int:
        """A number below `count`."""
        return self._random.randrange(count)

    def _step(self, among: Iterable[Work]) -> bool:
        ready = [work for work in among if not work.after]
        if not ready:
            return False
        work = self._random.choice(ready)
        del self._pending[work]
        self.log.append(work.name)
        with _without_collector():
            work.run()
        work.is_done = True
        for follower in work.then:
            follower.after.discard(work)
        return True


@contextlib.contextmanager
def _without_collector() -> Iterator[None]:
    """What is collected may call the driver, and wait: not in the midst of work."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def _before(works: Iterable[Work]) -> dict[Work, None]:
    """Works that are not done, and all that they wait for."""
    found: dict[Work, None] = {}
    waiting = [work for work in works if not work.is_done]
    while waiting:
        work = waiting.pop()
        if work not in found:
            found[work] = None
            waiting.extend(work.after)
    return found
