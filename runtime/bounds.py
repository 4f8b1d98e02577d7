"""What kernels report that check their accesses (HLOOM_DEBUG=bounds), as an error of the call that ran them."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable

from .errors import OutOfBoundsError
from .library import native

REPORT = b"hloom_out_of_bounds"
"""The symbol that such code names."""

_LONGEST = 4096
_one_call = threading.Lock()
"""Calls of checked programs go one by one, so that each raises what it did itself."""


def checked(entry: Callable[[int], None]) -> Callable[[int], None]:
    """`entry`, which then raises OutOfBoundsError for the first access of its kernels that was outside."""

    def run(buffers: int) -> None:
        with _one_call:
            entry(buffers)
            found = _report()
        if found is not None:
            raise found

    return run


def _report() -> OutOfBoundsError | None:
    site, numbers = ctypes.create_string_buffer(_LONGEST), (ctypes.c_int64 * 2)()
    if not native().hloom_read_out_of_bounds(site, ctypes.c_int64(_LONGEST), numbers):
        return None
    what, count, memory, kernel, op, loc = site.value.decode(errors="replace").split("\n", 5)
    index, extent = numbers
    where = f"index {index}" if count == "1" else f"indices {index} to {index + int(count) - 1}"
    message = f"{what} out of bounds: {where} of {memory}, which has {extent}"
    remedy = "report it, with the program: a kernel that hloom made must never do this"
    return OutOfBoundsError(message, kernel=kernel, op=op, loc=loc, index=index, extent=extent, remedy=remedy)
