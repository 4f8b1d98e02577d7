"""What threads of a process may do one at a time alone, and what a child finds of it that is forked meanwhile."""

from __future__ import annotations

import os
import threading
from typing import Any

process_lock = threading.RLock()
"""For short work on state of the process, as forking, or importing in a thread: a child would wait forever for what its parent was
importing. Who holds it waits for no lock but the libraries'.
"""

_libraries: list[Any] = []
_held: list[Any] = []  # while a fork runs; the process lock guards it


def hold_over_forks(lock: Any) -> None:
    """Has forks wait until the reentrant `lock` of a library is free, and hold it: what the lock guards is then whole in the child, which
    would wait forever for a thread that it lacks. It is taken after the process lock, for the garbage collector may want it anywhere, and
    before those that were named earlier: who holds it may wait for them.
    """
    _libraries.insert(0, lock)


def _before() -> None:
    process_lock.acquire()
    _held[:] = _libraries
    for lock in _held:
        lock.acquire()


def _after() -> None:
    for lock in reversed(_held):
        lock.release()
    process_lock.release()


os.register_at_fork(before=_before, after_in_parent=_after, after_in_child=_after)
