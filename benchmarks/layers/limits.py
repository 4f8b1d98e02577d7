"""What the machine does at most, two peers, timed in the slices of the others: FMAs in registers, and reading and writing once."""

from __future__ import annotations

import ctypes
import importlib
from typing import Any

import numpy as np

from ..c_programs import compile_source
from ..settings import BUILD
from ..suite import Peer, Prepared
from .table import Layer

LIMITS = ("fma", "bandwidth")


def limits(module: str) -> list[Peer]:
    """`module` has cost(row): flops, bytes read, bytes written."""

    def cost(row: Layer) -> tuple[int, int, int]:
        return importlib.import_module(module).cost(row)

    return [
        Peer("fma", "FMAs", (module,), lambda row, threads: _fma(threads, *cost(row)), takes=_is_single, compares=_never),
        Peer("bandwidth", "bandwidth", (module,), lambda row, threads: _bandwidth(threads, *cost(row)), compares=_never),
    ]


def _never(row: Layer) -> bool:
    return False


def _is_single(row: Layer) -> bool:
    """Processors multiply halves faster than these FMAs."""
    return row.dtype == "f32"


def _fma(threads: int, flops: int, read: int, written: int) -> Prepared:
    """As many flops as the row's products have, in registers."""
    chains = _ceiling("fma_chains")
    given = ctypes.c_long(flops), threads, ctypes.c_float(0.5), ctypes.c_float(1.0)
    return Prepared(lambda: chains(*given), [], 0.0, note=str(flops))


def _bandwidth(threads: int, flops: int, read: int, written: int) -> Prepared:
    """As many bytes read and written as the row has at least."""
    source, target = np.zeros(read + 64, np.uint8), np.zeros(written + 64, np.uint8)
    source[:], target[:] = 0, 0  # pages of their own
    stream = _ceiling("stream")
    given = (*_block(source, read), *_block(target, written), threads)
    return Prepared(lambda: (stream(*given), source, target), [], 0.0, note=str(read + written))


def _block(array: np.ndarray, size: int) -> tuple[ctypes.c_void_p, ctypes.c_long]:
    return ctypes.c_void_p(array.ctypes.data), ctypes.c_long(size)


def _ceiling(name: str) -> Any:
    function = getattr(compile_source("ceilings.c", BUILD), name)
    function.restype = ctypes.c_float
    return function
