"""A GPU's time for the fake driver: work on streams runs as late as it may, when somebody waits for it, and in no order but what is forced.

So whatever is let go before work that uses it has run is gone when the work runs.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable


class Mark:
    """A place in a stream: everything before it has run, or not yet."""

    def __init__(self, stream: int):
        self.stream, self.is_passed = stream, False

    def pass_(self) -> None:
        self.is_passed = True


class Gpu:
    def __init__(self) -> None:
        self._queues: dict[int, deque[Callable[[], None]]] = {}
        self._lock = threading.RLock()

    def enqueue(self, stream: int, work: Callable[[], None]) -> None:
        with self._lock:
            self._queues.setdefault(stream, deque()).append(work)

    def mark(self, stream: int) -> Mark:
        mark = Mark(stream)
        self.enqueue(stream, mark.pass_)
        return mark

    def mark_all(self) -> list[Mark]:
        return [self.mark(stream) for stream in list(self._queues)]

    def reach(self, mark: Mark) -> None:
        """Runs what stands before the mark, and nothing else that need not."""
        with self._lock:
            while not mark.is_passed:
                self._queues[mark.stream].popleft()()

    def finish(self, stream: int | None = None) -> None:
        """Runs what is on the stream, and what it waits for; or everything."""
        with self._lock:
            for each in list(self._queues) if stream is None else [stream]:
                while self._queues.get(each):
                    self._queues[each].popleft()()
