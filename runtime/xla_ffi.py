"""Programs for the CPU that XLA calls itself: by a key that its foreign function is told (native/xla_ffi.cpp)."""

from __future__ import annotations

import ctypes
import functools
import itertools
import os
import weakref
from typing import TYPE_CHECKING, Any

from .custom_calls import take_error
from .library import native

if TYPE_CHECKING:
    from .cpu import CpuDevice

_keys = itertools.count(int.from_bytes(os.urandom(6), "little"))
"""Those of another process are others: what XLA kept of it finds no program, and says so."""


@functools.cache
def registered_target(jax: Any) -> str:
    """What XLA knows the function by that calls a program."""
    jax.ffi.register_ffi_target(name := "hloom", _handler(), platform="cpu")
    return name


def _handler() -> object:
    """A capsule of the handler, one for all programs; it tells XLA what Python functions raise. jax.ffi.pycapsule would change functions
    of the whole process (runtime/dlpack.py)."""
    native().hloom_ffi_errors(take_error)
    kind = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return kind(("PyCapsule_New", ctypes.pythonapi))(ctypes.cast(native().hloom_ffi_call, ctypes.c_void_p), None, None)


def register(device: CpuDevice) -> int:
    """The key of the device's program, with the values that are bound now, for as long as the device lives."""
    entry, fixed, arguments, results, arena = device.frame()
    slots, sizes = [*arguments, *results], [spec.nbytes for spec in device.signature.inputs]
    key = next(_keys)
    native().hloom_ffi_add(
        ctypes.c_int64(key), ctypes.c_void_p(entry), (ctypes.c_void_p * max(1, len(fixed)))(*fixed), ctypes.c_int64(len(fixed)),
        (ctypes.c_int64 * max(1, len(slots)))(*slots), (ctypes.c_uint64 * max(1, len(sizes)))(*sizes),
        ctypes.c_int64(len(arguments)), ctypes.c_int64(len(results)),
        ctypes.c_int64(arena[0] if arena else -1), ctypes.c_size_t(arena[1] if arena else 0), ctypes.c_int64(device.calls_functions),
    )  # fmt: skip
    weakref.finalize(device, native().hloom_ffi_remove, ctypes.c_int64(key))
    return key
