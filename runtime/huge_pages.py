"""Huge pages for what kernels read where the caller has it (native/huge_pages.cpp)."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Sequence
from typing import Any

from .library import native

Range = tuple[int, int]


def move_to_huge_pages(ranges: Sequence[Range]) -> None:
    """Has a thread move memory, (address, bytes) each, to huge pages while it is read and written as ever: half a second to four for a
    gigabyte. What is smaller than 4 MB stays, and so do a file's pages, pinned memory, what a forked process shares, and zeros that
    nobody has written."""
    if ranges:
        addresses, sizes = (_words(column) for column in zip(*ranges))
        native().hloom_move_to_huge_pages(addresses, sizes, ctypes.c_int64(len(ranges)))


class Returning:
    """The inputs of a program, of which those are moved that lie where they lay in the calls before: a cache of keys, weights that are not
    bound."""

    def __init__(self, handle: int):
        self._handle, self._look = ctypes.c_void_p(handle), native().hloom_returning_look
        weakref.finalize(self, native().hloom_returning_free, self._handle)

    @staticmethod
    def of(inputs: Sequence[Range]) -> Returning | None:
        """`inputs`: each one's slot among a frame's pointers, and its bytes. None where none of them is to be moved."""
        slots, sizes = (_words(column) for column in zip(*inputs)) if inputs else (None, None)
        handle = native().hloom_returning(slots, sizes, ctypes.c_int64(len(inputs)))
        return None if handle is None else Returning(handle)

    def look(self, frame: Any) -> None:
        """Takes note of a call. `frame`: its pointers."""
        self._look(self._handle, frame)


def _words(numbers: Sequence[int]) -> ctypes.Array:
    return (ctypes.c_int64 * len(numbers))(*numbers)
