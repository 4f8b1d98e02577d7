"""Memory from the native library's cache: results that give theirs back when the last array over it goes, and scratch blocks."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Sequence
from itertools import accumulate

import numpy as np

from .errors import ExecutionError
from .library import native
from .signature import TensorSpec

_ALIGNMENT = 64


def allocate(nbytes: int) -> int:
    """The address of a 64-byte aligned block; it goes back with `native().hloom_free(address, nbytes)`."""
    address = native().hloom_alloc(nbytes)
    if address is None:
        raise ExecutionError(f"no memory for {nbytes} bytes")
    return address


class Scratch:
    """A block for one user, given back with the object."""

    def __init__(self, nbytes: int):
        self._free = native().hloom_free
        self.nbytes = nbytes
        self.address = allocate(nbytes)

    def __del__(self) -> None:
        if address := getattr(self, "address", None):
            self._free(address, self.nbytes)


@functools.cache
def _lease_type(nbytes: int) -> type[ctypes.Array]:
    free, address_of = native().hloom_free, ctypes.addressof

    # An object over the block that NumPy takes as a buffer: an array, and every view of it, holds it.
    class Lease(ctypes.c_char * nbytes):  # type: ignore[misc]
        def __del__(self) -> None:
            free(address_of(self), nbytes)

    return Lease


def result_factory(spec: TensorSpec) -> Callable[[], tuple[np.ndarray, int]]:
    """A function that makes a fresh uninitialised array of that shape and type, and tells its address."""
    shape, dtype, nbytes = spec.shape, spec.numpy_dtype, spec.nbytes
    if nbytes == 0:
        empty = np.empty(shape, dtype)
        return lambda: (np.empty(shape, dtype), empty.ctypes.data)
    lease, new = _lease_type(nbytes).from_address, np.ndarray

    def make() -> tuple[np.ndarray, int]:
        address = allocate(nbytes)
        return new(shape, dtype, lease(address)), address  # type: ignore[arg-type]

    return make


def side_by_side(specs: Sequence[TensorSpec]) -> list[tuple[np.ndarray, int]]:
    """Fresh uninitialised arrays in one block, each with its address, for what stays together. Weights of a megabyte or two would have
    pages of 4 KB alone; a block of all has huge ones, and a processor's prefetching ends at each page."""
    sizes = [-(-spec.nbytes // _ALIGNMENT) * _ALIGNMENT for spec in specs]
    whole = sum(sizes)
    if not whole:
        return [result_factory(spec)() for spec in specs]
    start = allocate(whole)
    block = _lease_type(whole).from_address(start)
    offsets = [0, *accumulate(sizes)]
    arrays = (np.ndarray(spec.shape, spec.numpy_dtype, block, offset) for spec, offset in zip(specs, offsets))  # type: ignore[arg-type]
    return list(zip(arrays, (start + offset for offset in offsets)))
