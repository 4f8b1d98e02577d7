"""Kernels of a compiled program as the PTX that its cubin was assembled from: what is launched is what a GPU would get."""

from __future__ import annotations

from typing import Any

from hloom.compiler.cuda.ptx import emit_ptx
from hloom.compiler.parsing import parse_module
from hloom.compiler.simulator import SimulationError
from hloom.compiler.simulator.ptx import Module
from hloom.compiler.simulator.ptx import TensorMap as PtxMap
from hloom.compiler.simulator.ptx import launch as run
from hloom.dialects.context import make_context
from hloom.dialects.target import target_of
from hloom.passes.common.rewriting import walk
from hloom.runtime.cuda.conditions import PTX

from .errors import Code, Fault
from .machine import Machine
from .nodes import Launch
from .tensor_maps import BYTES, TensorMap

_ELEMENTS = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}


class AsPtx:
    """Runs the kernels of a text."""

    def __init__(self, text: str):
        self._module = Module(text)

    @staticmethod
    def of(artifact: Any) -> AsPtx:
        """The kernels of an artifact, from the module that it keeps."""
        module = parse_module(bytes(artifact.blobs["module"]).decode(), make_context()).operation
        (kernels,) = walk(module, "gpu.module")
        return AsPtx(emit_ptx(kernels, target_of(module)))

    def launch(self, machine: Machine, launch: Launch) -> None:
        entry = self._module.entries[launch.kernel.name]
        params = bytearray(entry.parameter_bytes)
        for (name, size, _, offset), content in zip(entry.params, launch.parameters, strict=True):
            if size != len(content):
                raise Fault(f"{name} has {size} bytes, the launch gives {len(content)}", Code.LAUNCH_FAILED)
            params[offset : offset + size] = _as_ptx_has_it(content) if size == BYTES else content
        conditions = {"cudaGraphSetConditional": machine.conditions.__setitem__}
        sizes = (launch.grid, launch.block, launch.shared_bytes)
        try:
            run(self._module, entry.name, *sizes, bytes(params), machine.memory, cluster=launch.cluster, externals=conditions)
        except SimulationError as error:
            raise Fault(str(error), Code.LAUNCH_FAILED) from error


def conditions() -> AsPtx:
    """The runtime's own kernels."""
    return AsPtx(PTX)


def _as_ptx_has_it(content: bytes) -> bytes:
    """A tensor map as the interpreter of PTX knows it: outermost dimension first."""
    given = TensorMap.decoded(content)
    strides = (*reversed(given.strides), given.element_bytes)
    if set(given.steps) != {1}:
        raise Fault("steps between a tensor map's elements are not simulated", Code.LAUNCH_FAILED)
    element = _ELEMENTS[given.element_bytes]
    return PtxMap(given.address, element, given.extents[::-1], strides, given.box[::-1], given.swizzle).pack()
