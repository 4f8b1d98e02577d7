"""Kernels as the PTX that their machine code was assembled from, run by the simulator's interpreter on the emulated GPU's memory."""

from __future__ import annotations

from typing import Any

from hloom.compiler.simulator.errors import SimulationError
from hloom.compiler.simulator.ptx import Entry, Module, launch

from .errors import Code, Fault
from .machine import Machine
from .nodes import Launch


def ptx_of(artifact: Any) -> str:
    """The text that the artifact's cubin was assembled from, which is made again of the module that the artifact keeps."""
    from hloom.compiler.cuda.compile_kernels import compile_kernels
    from hloom.compiler.parsing import parse_module
    from hloom.dialects.context import make_context
    from hloom.dialects.target import target_of

    module = parse_module(bytes(artifact.blobs["module"]).decode(), make_context())
    made = compile_kernels(module.operation, target_of(module.operation))
    assert made.cubin.bytes == bytes(artifact.blobs["cubin"]), "the artifact's machine code is not that of its module"
    return made.ptx


class Ptx:
    """Runs kernels of a text; `cudaGraphSetConditional`, which they may call, sets the machine's conditions."""

    def __init__(self, text: str):
        self.module = Module(text)

    def launch(self, machine: Machine, given: Launch) -> None:
        entry = self.module.entries.get(given.kernel.name)
        if entry is None:
            raise Fault(f"nobody says what {given.kernel.name} does", Code.LAUNCH_FAILED)
        sizes, found = [nbytes for _, nbytes, _, _ in entry.params], [each.nbytes for each in given.kernel.entry.parameters]
        if sizes != found:
            raise Fault(f"the machine code's parameters are not the text's: {found}, {sizes}", Code.LAUNCH_FAILED)
        params = b"".join(_placed(entry, given.parameters))
        externals = {"cudaGraphSetConditional": machine.conditions.__setitem__}
        try:
            launch(self.module, entry.name, given.grid, given.block, given.shared_bytes, params, machine.memory, externals=externals)
        except SimulationError as error:
            raise Fault(str(error), Code.LAUNCH_FAILED) from error


def _placed(entry: Entry, values: list[bytes]) -> list[bytes]:
    """Each value, filled up to where the text has the next begin: an assembler aligns them to where its own area of parameters lies."""
    ends = [offset for *_, offset in entry.params[1:]] + [entry.parameter_bytes]
    return [value.ljust(end - offset, b"\0") for (*_, offset), end, value in zip(entry.params, ends, values)]
