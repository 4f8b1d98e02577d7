"""Python's garbage collector while hloom is imported and a program is compiled."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

SELDOM = 200_000
"""Objects that are made between two collections, a hundred megabytes at most."""


@contextmanager
def known_objects_kept(*, lasting: bool = False) -> Iterator[None]:
    """Has collections pass over what was there before, and come seldom: with torch imported they take a tenth of a compile, with JAX a
    quarter of an import of the compiler.

    A process that has frozen objects itself keeps them frozen, and its collections as they are; one that wants none gets none.

    `lasting`: what is made within will stay, as modules do. No collection looks through it when the block is left.
    """
    if gc.get_freeze_count():
        yield
        return
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
