"""LAPACK's routines for custom calls: native functions (native/lapack.cpp) over the entry points of OpenBLAS's package."""

from __future__ import annotations

import ctypes
import functools
import re
from collections.abc import Sequence

import numpy as np

from .errors import ExecutionError, MissingLibraryError
from .library import blas, native

_TARGET = re.compile(r"lapack_([sdcz])([a-z0-9]+)_ffi")
_LETTERS = "sdcz"
_COMPLEX = {"orgqr": "ungqr", "ormqr": "unmqr", "syevd": "heevd", "sytrd": "hetrd"}
"""What LAPACK calls a routine for complex matrices, where the name is another."""
_HOUSE = {theirs: ours for ours, theirs in _COMPLEX.items()}


def lapack_address(target: str) -> int | None:
    """The function of a target `lapack_<letter><routine>_ffi`, None if it is none. Raises MissingLibraryError without OpenBLAS."""
    found = _TARGET.fullmatch(target)
    if found is None:
        return None
    letter, routine = found.groups()
    function = getattr(_loaded(), f"hloom_lapack_{letter}{_HOUSE.get(routine, routine)}", None)
    return None if function is None else ctypes.cast(function, ctypes.c_void_p).value


def run_lapack(name: str, arrays: Sequence[np.ndarray], numbers: Sequence[int]) -> None:
    """Runs a routine, "sgetrf", on the memory of operands and results; those that it updates hold the operand.

    Raises MissingLibraryError.
    """
    function = getattr(_loaded(), f"hloom_lapack_{name}")
    buffers = (ctypes.c_void_p * len(arrays))(*(array.ctypes.data for array in arrays))
    function(buffers, (ctypes.c_int64 * len(numbers))(*numbers), None)
    check_memory()


def require_lapack() -> None:
    """Raises MissingLibraryError without OpenBLAS."""
    _loaded()


def check_memory() -> None:
    """Raises ExecutionError if a routine that ran on this thread since the last check could not get its workspace."""
    if name := _loaded().hloom_lapack_starved():
        remedy = "give it smaller matrices, or this process more memory"
        raise ExecutionError(f"no memory for the workspace of LAPACK's {name.decode()}", remedy=remedy)


@functools.cache
def _loaded() -> ctypes.PyDLL:
    """The native library, which has been told where OpenBLAS's routines are."""
    library, routines = native(), blas()
    if routines is None:
        remedy = "install it: pip install scipy-openblas32"
        raise MissingLibraryError("the program calls LAPACK, and the package scipy-openblas32 is not installed", remedy=remedy)
    library.hloom_lapack_routine.restype = ctypes.c_char_p
    library.hloom_lapack_starved.restype = ctypes.c_char_p
    library.hloom_set_lapack.argtypes = [ctypes.c_int, ctypes.c_int, ctypes.c_void_p]
    number = 0
    while name := library.hloom_lapack_routine(number):
        for kind, letter in enumerate(_LETTERS):
            routine = _COMPLEX.get(name.decode(), name.decode()) if letter in "cz" else name.decode()
            entry = getattr(routines, f"scipy_{letter}{routine}_")
            library.hloom_set_lapack(kind, number, ctypes.cast(entry, ctypes.c_void_p))
        number += 1
    return library
