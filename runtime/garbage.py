"""Python's garbage collector while hloom is imported and a program is compiled."""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

SELDOM = 200_000
"""Objects that are made between two collections, a hundred megabytes at most."""

_changed = threading.Lock()
"""Held by the block that has changed the collector. Blocks within it, and those of other threads, find it changed."""

_seen_frozen = False


@contextmanager
def known_objects_kept(*, lasting: bool = False) -> Iterator[None]:
    """Has collections pass over what was there before, and come seldom: with torch imported they take a tenth of a compile, with JAX a
    quarter of an import of the compiler.

    A process that has frozen objects itself keeps them frozen, and its collections as they are; one that wants none gets none.

    `lasting`: what is made within will stay, as modules do. No collection looks through it when the block is left.
    """
    if not _changed.acquire(blocking=False):
        yield
        return
    try:
        with nullcontext() if _process_freezes() else _passing_over_what_is_there(lasting):
            yield
    finally:
        _changed.release()


def _process_freezes() -> bool:
    """Whether the process was seen to freeze objects of its own. Then it is not asked again: to count them is to walk along all of them,
    10 ms with torch and JAX imported."""
    global _seen_frozen
    _seen_frozen = _seen_frozen or gc.get_freeze_count() > 0
    return _seen_frozen


@contextmanager
def _passing_over_what_is_there(lasting: bool) -> Iterator[None]:
    often, *older = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(max(often, SELDOM) if often else 0, *older)
    try:
        yield
    finally:
        if lasting:
            gc.freeze()
        gc.set_threshold(often, *older)
        gc.unfreeze()
