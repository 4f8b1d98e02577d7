"""Kernels as the PTX that their machine code was assembled from, run by the simulator's interpreter on the emulated GPU's memory."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from hloom.compiler.simulator.errors import SimulationError
from hloom.compiler.simulator.ptx import Module, launch

from . import linking
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


def keep_texts(programs: Iterable[Path], folder: Path) -> None:
    """The texts of saved programs, each under a name made of its machine code: for where there is no compiler."""
    from hloom.runtime.artifact import Artifact

    folder.mkdir(exist_ok=True)
    for path in programs:
        artifact = Artifact.load(path)
        if code := bytes(artifact.blobs.get("cubin", b"")):
            (folder / _name(code)).write_text(ptx_of(artifact))


def keep_conditions(folder: Path, architecture: str) -> None:
    """The machine code of the kernels that set conditions, which the driver assembles where there is nothing else that does."""
    from hloom.runtime.cuda.conditions import PTX

    (folder / "conditions.cubin").write_bytes(linking.assembled(PTX, architecture))


def _name(code: bytes) -> str:
    return f"{hashlib.sha256(code).hexdigest()[:16]}.ptx"


def follow_programs(machine: Machine, kept: Path | None = None) -> None:
    """Whatever program is loaded from now on, the machine runs the kernels of its machine code, by texts that were kept or made again."""
    from hloom.runtime.cuda.device import CudaDevice

    if kept:
        linking.assembler.append(lambda text, architecture: (kept / "conditions.cubin").read_bytes())
    load = CudaDevice.__init__

    @functools.wraps(load)
    def loaded(self: Any, program: Any, *given: Any, **named: Any) -> None:
        code = bytes(program.blobs.get("cubin", b""))
        if code.startswith(b"\x7fELF") and "module" in program.blobs and code not in machine.executor.images:
            machine.executor.images[code] = Ptx((kept / _name(code)).read_text() if kept else ptx_of(program))
        load(self, program, *given, **named)

    CudaDevice.__init__ = loaded  # type: ignore[method-assign]


class Ptx:
    """Runs kernels of a text; `cudaGraphSetConditional`, which they may call, sets the machine's conditions."""

    def __init__(self, text: str):
        self.module = Module(text)

    def launch(self, machine: Machine, given: Launch) -> None:
        entry = self.module.entries.get(given.kernel.name)
        if entry is None:
            raise Fault(f"nobody says what {given.kernel.name} does", Code.LAUNCH_FAILED)
        wanted, found = [nbytes for _, nbytes, _, _ in entry.params], [each.nbytes for each in given.kernel.entry.parameters]
        if wanted != found:
            raise Fault(f"the machine code's parameters are not the text's: {found}, {wanted}", Code.LAUNCH_FAILED)
        params = bytearray(entry.parameter_bytes)  # an assembler places them otherwise: by where its own area begins
        for (_, size, _, offset), content in zip(entry.params, given.parameters):
            params[offset : offset + size] = content
        sizes = given.grid, given.block, given.shared_bytes
        externals = {"cudaGraphSetConditional": machine.conditions.__setitem__}
        try:
            launch(
                self.module,
                entry.name,
                *sizes,
                bytes(params),
                machine.memory,
                cluster=given.cluster,
                cooperative=given.cooperative,
                externals=externals,
            )
        except SimulationError as error:
            raise Fault(str(error), Code.LAUNCH_FAILED) from error
