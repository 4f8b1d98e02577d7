"""Programs run with every buffer between pages that nobody may touch: `pytest --guards=end`, or `start`, or `with guarded("end"):`.

Arguments, bound values, constants, results and arenas each get pages of their own, a forbidden page before and one behind. With "end" the
last byte of a buffer touches the page behind, whatever alignment that gives its start; with "start" the first byte touches the page before.
An access outside ends the process (SIGSEGV), so whole suites run under xdist, which reports the test and goes on with a new worker:

    pytest -n 2 --guards=end tests/conformance

Arguments are copied to their pages at each call; outputs that the caller gives stay where they are.
"""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np

from hloom.runtime import cpu
from hloom.runtime.signature import TensorSpec
from hloom.runtime.tensors import torch_factory

SIDES = ("start", "end")
_PAGE = mmap.PAGESIZE
_ARENA_ALIGNMENT = 64

_libc = ctypes.CDLL(None, use_errno=True)
_side = "end"


class Guarded:
    """`nbytes` bytes between two pages without access; gone with the object. `alignment` is that of the first byte."""

    def __init__(self, nbytes: int, alignment: int = 1):
        room = -(-max(nbytes, 1) // _PAGE) * _PAGE
        self._pages = mmap.mmap(-1, room + 2 * _PAGE)
        first = ctypes.addressof(ctypes.c_char.from_buffer(self._pages)) + _PAGE
        for page in (first - _PAGE, first + room):
            if _libc.mprotect(ctypes.c_void_p(page), ctypes.c_size_t(_PAGE), 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        self.nbytes = nbytes
        self.address = first if _side == "start" else (first + room - nbytes) // alignment * alignment

    @staticmethod
    def copy(address: int, nbytes: int) -> Guarded:
        made = Guarded(nbytes)
        ctypes.memmove(made.address, address, nbytes)
        return made

    def array(self, spec: TensorSpec) -> np.ndarray:
        raw = (ctypes.c_char * self.nbytes).from_address(self.address)
        raw._owner = self  # type: ignore[attr-defined]
        return np.ndarray(spec.shape, spec.numpy_dtype, raw)  # type: ignore[arg-type]


def _arena(nbytes: int) -> Guarded:
    return Guarded(nbytes, _ARENA_ALIGNMENT)


def _result_factory(spec: TensorSpec) -> Any:
    def make() -> tuple[np.ndarray, int]:
        block = Guarded(spec.nbytes)
        return block.array(spec), block.address

    return make


def _one_by_one(specs: Sequence[TensorSpec]) -> list[tuple[np.ndarray, int]]:
    return [_result_factory(spec)() for spec in specs]


class _GuardedDevice(cpu.CpuDevice):
    def _set_inputs(self, main: Any, pointers: Any, inputs: Sequence[Any]) -> tuple[dict[int, Any], str]:
        """Copies of all inputs: those that the program updates are its results, and copied back."""
        owners, kind = super()._set_inputs(main, pointers, inputs)
        for number, (position, spec) in enumerate(zip(self.program.positions, self.signature.inputs)):
            if position in main.arguments:
                at = main.arguments[position]
                block = Guarded.copy(pointers[at], spec.nbytes)
                owners[number], pointers[at] = block.array(spec), block.address
        return owners, kind

    def _entry(self, kind: str, fixed: dict[Any, int], owners: Any) -> Any:
        entry = super()._entry(kind, fixed, owners)
        slots = self.program.slots[kind]
        copies = []
        for index, (slot, address) in enumerate(zip(slots, entry.fixed)):
            if address and slot[0] != "result":
                copies.append(Guarded.copy(address, self._bytes(slot)))
                entry.fixed[index] = copies[-1].address
        entry.owners = (entry.owners, copies)
        return entry

    def _bytes(self, slot: Any) -> int:
        kind, value = slot
        if kind == "constant":
            return len(self.program.blobs[value])
        return self.program.kept_spec(slot).nbytes


@contextmanager
def guarded(side: str) -> Iterator[None]:
    """Programs that are loaded inside keep their buffers so."""
    restore = install(side)
    try:
        yield
    finally:
        restore()


def installed() -> bool:
    return cpu.CpuDevice is _GuardedDevice


def install(side: str) -> Any:
    """Makes it so for all programs loaded from now on; returns what undoes it."""
    global _side
    assert side in SIDES
    names = {
        "CpuDevice": _GuardedDevice,
        "Scratch": _arena,
        "result_factory": _result_factory,
        "side_by_side": _one_by_one,
        "torch_factory": partial(torch_factory, small=0),
    }
    before = {name: getattr(cpu, name) for name in names}
    _side = side

    def put(given: dict[str, Any]) -> None:
        for name, value in given.items():
            setattr(cpu, name, value)

    put(names)
    return lambda: put(before)
