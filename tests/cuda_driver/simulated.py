"""Kernels of a compiled program on the simulator of the gpu dialect, launched by the driver: its addresses, grids and parameters count."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.compiler.parsing import parse_module
from hloom.compiler.simulator import Kernels
from hloom.dialects.context import make_context
from hloom.passes.common.rewriting import symbol_name, walk

from .errors import Code, Fault
from .executor import numbers
from .machine import Machine
from .nodes import Launch
from .tensor_maps import BYTES, TensorMap

_SIZES = "known_grid_size", "known_block_size"


class Simulated:
    """The kernels of an artifact's module."""

    def __init__(self, artifact: Any):
        self._module = parse_module(bytes(artifact.blobs["module"]).decode(), make_context())
        self._kernels = Kernels(self._module)
        self._ops = {symbol_name(op): op for op in walk(self._module.operation, "gpu.func")}

    def launch(self, machine: Machine, launch: Launch) -> None:
        op = self._ops[launch.kernel.name]
        known = tuple(tuple(ir.DenseI32ArrayAttr(op.attributes[name])) for name in _SIZES)
        if known != (launch.grid, launch.block):
            raise Fault(f"launched as {launch.grid}, {launch.block}; it was compiled for {known}", Code.LAUNCH_FAILED)
        inputs = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).inputs
        types = [ir.MemRefType(kind) for kind in inputs if isinstance(kind, ir.MemRefType)]
        values = numbers(launch)
        addresses, maps = values[: len(types)], values[len(types) :]
        for content in maps:
            _check_map(content, addresses)
        arrays = [
            _array(machine, address, dtype, math.prod(kind.shape))
            for address, dtype, kind in zip(addresses, self._kernels.argument_types(launch.kernel.name), types, strict=True)
        ]
        self._kernels.launch(launch.kernel.name, arrays)


def _array(machine: Machine, address: int, dtype: Any, count: int) -> np.ndarray:
    nbytes = np.dtype(dtype).itemsize * count
    if address % 16:
        raise Fault(f"{address:#x} is not aligned to 16 bytes", Code.LAUNCH_FAILED)
    if nbytes:
        machine.memory.check(address, nbytes, write=False)
    return np.frombuffer((ctypes.c_uint8 * nbytes).from_address(address), dtype)


def _check_map(content: Any, addresses: list[int]) -> None:
    """The simulator reads the tensor itself: that the map is of one of the kernel's arguments is seen here."""
    if not isinstance(content, bytes) or len(content) != BYTES:
        raise Fault("a parameter that is neither an address nor a tensor map", Code.LAUNCH_FAILED)
    if not any(address <= TensorMap.decoded(content).address for address in addresses):
        raise Fault("a tensor map of none of the kernel's arguments")
