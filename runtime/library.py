"""The native library (runtime/native) behind ctypes, and the BLAS that its library thunks call."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import sys
from pathlib import Path

from .errors import ExecutionError, LoadError

_SUFFIX = "dylib" if sys.platform == "darwin" else "so"
_NAME = f"libhloom_native.{_SUFFIX}"
_SYMBOLS = (
    "hloom_parallel_for", "hloom_evaluate", "hloom_gemm_f32", "hloom_gemm_f64",
    "hloom_profile_begin", "hloom_profile_end", "hloom_out_of_bounds",
)  # fmt: skip
"""What compiled programs may call."""


@functools.cache
def native() -> ctypes.PyDLL:
    """The native library, loaded on first use. Its functions are short: the GIL is kept."""
    folders = [Path(folder) for folder in sys.modules[__package__].__path__]
    found = next((folder / _NAME for folder in folders if (folder / _NAME).exists()), None)
    if found is None:
        raise LoadError(f"{_NAME} is not in {', '.join(map(str, folders))}", remedy="install hloom with pip, which builds it")
    try:
        library = ctypes.PyDLL(str(found))
    except OSError as error:
        raise LoadError(f"{found} cannot be loaded: {error}") from None
    library.hloom_alloc.restype = ctypes.c_void_p
    library.hloom_alloc.argtypes = [ctypes.c_size_t]
    library.hloom_free.restype = None
    library.hloom_free.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    library.hloom_returning.restype = ctypes.c_void_p
    library.hloom_set_threads.restype = None
    threads = os.environ.get("HLOOM_NUM_THREADS", "")
    if threads:
        if not threads.isdigit() or int(threads) < 1:
            raise ExecutionError(f"HLOOM_NUM_THREADS should be a positive number, is {threads!r}")
        library.hloom_set_threads(int(threads))
    return library


@functools.cache
def symbols() -> dict[str, int]:
    """Addresses of the functions that compiled programs may call."""
    library = native()
    return {name: ctypes.cast(getattr(library, name), ctypes.c_void_p).value or 0 for name in _SYMBOLS}


@functools.cache
def blas() -> ctypes.CDLL | None:
    """OpenBLAS of the package scipy-openblas32, handed to the native library, or None where it is not installed.

    The native library then runs plain loops: right, but slow. Loaded when the first program that wants it is.
    """
    spec = importlib.util.find_spec("scipy_openblas32")
    folders = (spec.submodule_search_locations or []) if spec else []
    for folder in folders:
        path = Path(folder) / "lib" / f"libscipy_openblas.{_SUFFIX}"
        if path.exists():
            library = ctypes.CDLL(str(path))
            native().hloom_set_blas(library.scipy_cblas_sgemm, library.scipy_cblas_dgemm)
            library.scipy_openblas_set_num_threads(get_threads())
            return library
    return None


def profile_events() -> list[tuple[int, int, int]]:
    """(id, begin, end) in nanoseconds of what programs compiled with profiling measured since the last call."""
    found: list[tuple[int, int, int]] = []
    chunk = (ctypes.c_int64 * (3 * 4096))()
    read = native().hloom_profile_read
    while count := read(chunk, ctypes.c_int64(4096)):
        found += zip(*[iter(chunk[: 3 * count])] * 3)
    return found


def set_threads(threads: int) -> None:
    """How many threads a call may use, in the whole process; 0 goes back to the default (HLOOM_NUM_THREADS is read once, at start)."""
    if not isinstance(threads, int) or isinstance(threads, bool) or threads < 0:
        raise ExecutionError(f"the number of threads should be 0 or positive, got {threads!r}")
    native().hloom_set_threads(threads)
    loaded = blas() if blas.cache_info().currsize else None
    if loaded is not None:
        loaded.scipy_openblas_set_num_threads(get_threads())


def get_threads() -> int:
    return int(native().hloom_get_threads())


def enable_amx() -> bool:
    """Asks the system for AMX's tile registers; once is enough, again does no harm."""
    return native().hloom_enable_amx() == 0
