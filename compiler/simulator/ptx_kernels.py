"""The kernels of a module one level lower: as the PTX that a GPU would be given, run by `ptx`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from torch_mlir import ir

from hloom.dialects.target import target_of
from hloom.passes.common.rewriting import walk
from hloom.passes.gpu.contraction.tma import box_of
from hloom.runtime.lazy import lazy

from .counters import Counters
from .errors import SimulationError
from .launch import KernelTable
from .ptx import Module, Region, TensorMap, launch
from .tma import MappedTensor


class PtxKernels(KernelTable):
    """Launches what LLVM emits for the kernels; what is known of their arguments is still read from the module."""

    @lazy
    def code(self) -> Module:
        from ..cuda.ptx import emit_ptx  # LLVM is needed for machine code alone
        from ..target import resolve

        found, target = walk(self._root, "gpu.module"), target_of(self._root)
        if target.kind != "cuda":
            target = resolve("sm_90a")  # a module that tells none
        return Module(emit_ptx(found[0], target) if found else "")

    def launch(self, name: str, arrays: Sequence[np.ndarray | MappedTensor], checks: bool = True, sample: bool = True) -> Counters:
        kernel = self._kernel(name)
        buffers = [array for array in arrays if isinstance(array, np.ndarray)]
        params = b"".join(array.ctypes.data.to_bytes(8, "little") for array in buffers)
        for given, kind in zip(kernel.maps, kernel.code.types[len(buffers) :]):
            params = params.ljust(-(-len(params) // 64) * 64, b"\0") + _encoded(given, kind, buffers)
        memory = Arrays(buffers, [i in kernel.code.stored for i in range(len(buffers))])
        written = _regions(buffers, kernel.code.stored, kernel.code.stored - kernel.code.loaded - kernel.updated)
        run = partial(launch, self.code, name, kernel.grid, kernel.block, kernel.shared_bytes, params, memory)
        return run(cooperative=kernel.cooperative, written=written, checks=checks, sample=sample)


class Arrays:
    """The buffers of a launch as the device's memory."""

    def __init__(self, arrays: list[np.ndarray], written: list[bool]):
        self._ranges = [(array.ctypes.data, array.nbytes, may) for array, may in zip(arrays, written)]

    def check(self, address: int, nbytes: int, write: bool) -> None:
        for start, size, may_be_written in self._ranges:
            if start <= address and address + nbytes <= start + size and (may_be_written or not write):
                return
        for number, (start, size, _) in enumerate(self._ranges):
            if start <= address < start + size:
                beyond = address + nbytes - start - size
                raise SimulationError(f"{beyond} bytes beyond argument {number}" if beyond > 0 else f"argument {number} is only read")
        raise SimulationError("no argument lies there")


def _regions(buffers: list[np.ndarray], stored: set[int], whole: set[int]) -> list[Region]:
    """What the kernel writes; arguments with common memory are one region."""
    found: list[tuple[int, int, list[int]]] = []
    for number in sorted(range(len(buffers)), key=lambda number: buffers[number].ctypes.data):
        begin, end = buffers[number].ctypes.data, buffers[number].ctypes.data + buffers[number].nbytes
        if found and begin < found[-1][1]:
            start, last, numbers = found.pop()
            found.append((start, max(last, end), [*numbers, number]))
        else:
            found.append((begin, end, [number]))
    return [
        Region(start, end - start, " and ".join(f"argument {n}" for n in numbers), len(numbers) == 1 and numbers[0] in whole)
        for start, end, numbers in found
        if stored & set(numbers)
    ]


def _encoded(given: ir.DictAttr, kind: ir.Type, buffers: list[np.ndarray]) -> bytes:
    box, swizzle = box_of(kind)
    extents, strides = (tuple(ir.DenseI64ArrayAttr(given[name])) for name in ("extents", "strides"))
    array = buffers[ir.IntegerAttr(given["argument"]).value]
    address = array.ctypes.data + ir.IntegerAttr(given["offset"]).value
    return TensorMap(address, f"uint{8 * array.itemsize}", extents, strides, tuple(box.shape), swizzle).pack()
