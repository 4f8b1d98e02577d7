"""Work announced for later, done one after the other in a thread that ends with it."""

from __future__ import annotations

import atexit
import threading
import weakref
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from .forking import process_lock

_all: weakref.WeakSet[Background] = weakref.WeakSet()


class Background:
    """`announce` returns at once; `wait` when all is done. A forked child goes on with what its parent had not begun when it waits."""

    def __init__(self, work: Callable[[Any], None]):
        self._work = work
        self._queue: deque[Any] = deque()
        self._thread: threading.Thread | None = None
        self._done: list[Any] = []
        self._failure: BaseException | None = None
        _all.add(self)

    def announce(self, items: Iterable[Any]) -> None:
        with process_lock:
            self._queue.extend(items)
        self._begin()

    @property
    def pending(self) -> list[Any]:
        return list(self._queue)

    def wait(self, progress: Callable[[int, int, Any], None] | None = None) -> None:
        """Raises the first error that was met since the last time."""
        told = 0
        while self._begin() or told < len(self._done):
            thread = self._thread
            if thread is not None and told == len(self._done):
                thread.join(0.05)
            while told < len(self._done):
                told += 1
                if progress is not None:
                    progress(told, len(self._done) + len(self._queue), self._done[told - 1])
        self._done.clear()
        failure, self._failure = self._failure, None
        if failure is not None:
            raise failure

    def _begin(self) -> bool:
        """Sees to it that a thread runs, if there is work. Whether there is."""
        with process_lock:
            if not self._queue:
                return False
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="hloom", daemon=True)
                self._thread.start()
            return True

    def _run(self) -> None:
        while self._queue:
            item = self._queue[0]
            try:
                self._work(item)
            except Exception as error:
                self._failure = self._failure or error
            with process_lock:
                if self._queue and self._queue[0] is item:
                    self._queue.popleft()
                self._done.append(item)
                if not self._queue:
                    self._thread = None

    def stop(self) -> None:
        """Forgets what was not begun, and waits for what was."""
        self._queue.clear()
        thread = self._thread
        if thread is not None:
            thread.join()


@atexit.register
def _stop_all() -> None:
    for each in list(_all):
        each.stop()
