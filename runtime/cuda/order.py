"""What comes before what on the GPU: streams that wait for others, and arrays that are kept until the GPU is done with them.

The host waits for nothing here. An event is waited for in the state that it has when the wait is enqueued, so it may go at once.
"""

from __future__ import annotations

from collections import deque
from typing import Any


def follow(driver: Any, stream: int, other: int) -> None:
    """Work on `stream` from now on comes after what is on the other by now."""
    event = driver.new_event()
    try:
        driver.record(event, other)
        driver.wait(stream, event)
    finally:
        driver.free_event(event)


class Held:
    """Objects whose memory the GPU may still use, by the event behind the last use.

    Who made them is told of no stream of ours (DLPack makes theirs wait, but not the other way round): once it hears that we are done with
    one it may give the memory out again at once. So it hears of that when the GPU is done: at the first call after.
    """

    def __init__(self, driver: Any):
        self._driver = driver
        self._waiting: deque[tuple[int, list[Any]]] = deque()

    def add(self, objects: list[Any], stream: int) -> None:
        """Keeps them until what is on the stream by now has run."""
        if objects:
            event = self._driver.new_event()
            self._waiting.append((event, objects))
            self._driver.record(event, stream)

    def drop(self) -> None:
        """Lets go what the GPU is done with, in the order of the calls."""
        while self._waiting and self._driver.has_happened(self._waiting[0][0]):
            event, _ = self._waiting.popleft()
            self._driver.free_event(event)

    def __del__(self) -> None:
        for event, _ in self._waiting:
            self._driver.free_event(event)
