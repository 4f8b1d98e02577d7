"""SIGINT (Ctrl-C) where Python's way, an exception at whatever line runs, would leave something half done.

MLIR calls back into Python and is not written for exceptions to pass through; llvmlite would keep its lock.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Has SIGINT wait until the block is left: then its handler runs, which by default raises KeyboardInterrupt."""
    handler = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(handler):
        yield  # handlers run in the main thread; what is not callable ends the process, ignores it, or is not Python's
        return
    waiting: list[tuple[Any, ...]] = []
    signal.signal(signal.SIGINT, lambda *signalled: waiting.append(signalled))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, handler)
        if waiting:
            handler(*waiting[-1])
