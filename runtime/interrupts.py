"""Signals (Ctrl-C, an alarm that a person has raise) where Python's way, an exception at whatever line runs, would leave something half
done.

MLIR calls back into Python and is not written for exceptions to pass through; llvmlite would keep its lock.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from typing import Any

_SIGNALS = tuple(getattr(signal, f"SIG{name}") for name in "INT TERM HUP ALRM VTALRM PROF USR1 USR2 CHLD".split())
"""Those that programs handle in Python: time limits of tests and of workers, a loader of data whose worker died."""


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Has signals wait until the block is left: then their handlers run; SIGINT's raises KeyboardInterrupt by default."""
    if threading.current_thread() is not threading.main_thread():
        yield  # handlers run in the main thread
        return
    # what is not callable ends the process, ignores the signal, or is not Python's
    handlers = {number: handler for number in _SIGNALS if callable(handler := signal.getsignal(number))}
    waiting: dict[int, tuple[Any, ...]] = {}
    try:
        for number in handlers:
            signal.signal(number, lambda *signalled: waiting.update({signalled[0]: signalled}))
        yield
    finally:
        try:
            _put_back(handlers)
        finally:
            with ExitStack() as each:  # all of them, whatever one raises
                for number, signalled in waiting.items():
                    each.callback(handlers[number], *signalled)


def _put_back(handlers: Mapping[int, Callable[..., Any]]) -> None:
    try:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    except BaseException:  # of one that is back: the others are to be, too
        _put_back(handlers)
        raise
