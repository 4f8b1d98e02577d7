"""Huge pages for what kernels read where the caller has it: bound weights, and inputs that come again and again.

malloc's memory has pages of 4 KB, and a stream of reads stops at the end of each: on a virtual machine, which looks a page up in two
tables, it runs at half of what memory gives. Linux (6.1 and later) moves the pages of a range into huge ones, at the same addresses.
"""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

_PAGE = 2 << 20
_FROM = 2 * _PAGE
_AT_ONCE = 16 * _PAGE
"""Of one call: what else wants the process's memory map waits meanwhile."""
_COLLAPSE = 25  # MADV_COLLAPSE, which glibc's headers have since 2.37
_SETTING = Path("/sys/kernel/mm/transparent_hugepage/enabled")
_CALLS = 8
"""As many calls gain at least what moving takes, and memory of a single batch is rarely there in so many."""

Range = tuple[int, int]
"""Address and bytes."""


def move_to_huge_pages(ranges: Iterable[Range]) -> threading.Thread | None:
    """Has a thread move memory to huge pages while it is read and written as ever: a gigabyte takes half a second to four. What the kernel
    declines stays as it is: a file's pages, shared or pinned memory, what is freed meanwhile. None where there is nothing to do."""
    large = [(-(-start // _PAGE) * _PAGE, (start + nbytes) // _PAGE * _PAGE) for start, nbytes in ranges if nbytes >= _FROM]
    advise = _advise()
    if not large or advise is None:
        return None
    thread = threading.Thread(target=_move, args=(advise, large), name="hloom-huge-pages", daemon=True)
    thread.start()
    return thread


class Returning:
    """Moves inputs that lie where they lay in the calls before: a cache of keys, weights that are not bound."""

    def __init__(self, slots: Iterable[Range]):
        """`slots`: places among a frame's pointers, and the bytes behind each."""
        there = _advise() is not None
        self._seen = {slot: (0, 0, nbytes) for slot, nbytes in slots if there and nbytes >= _FROM}
        """Address and number of calls."""

    def __bool__(self) -> bool:
        return bool(self._seen)

    def look(self, pointers: Sequence[int]) -> None:
        """Takes note of a call."""
        now = []
        for slot, (address, calls, nbytes) in self._seen.items():
            if pointers[slot] != address:
                self._seen[slot] = pointers[slot], 1, nbytes
            elif calls < _CALLS:
                self._seen[slot] = address, calls + 1, nbytes
                now += [(address, nbytes)] * (calls + 1 == _CALLS)
        if now:
            move_to_huge_pages(now)


def _move(advise: Callable[..., int], ranges: Sequence[Range]) -> None:
    for start, end in ranges:
        for first in range(start, end, _AT_ONCE):
            advise(first, min(_AT_ONCE, end - first), _COLLAPSE)


@functools.cache
def _advise() -> Callable[..., int] | None:
    """The system's `madvise`, if it has huge pages and nobody turned them off."""
    if sys.platform != "linux" or os.environ.get("HLOOM_HUGE_PAGES") == "0":
        return None
    if not _SETTING.exists() or "[never]" in _SETTING.read_text():
        return None
    advise = ctypes.CDLL(None).madvise
    advise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return advise
