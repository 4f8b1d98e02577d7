"""libdevice: NVIDIA's math functions as LLVM bitcode, of which a module gets those that it calls.

Linking all 350 of them and optimising costs half a second, so each function is cut out once, with what it calls, and kept on disk.
"""

from __future__ import annotations

import functools
from pathlib import Path

import llvmlite.binding as llvm

from ..cache import key_of, read_entry, write_entry
from ..llvm_passes import run_passes
from .errors import INSTALL, ToolchainError

_PREFIX = "__nv_"


def link_libdevice(module: llvm.ModuleRef, machine: llvm.TargetMachine, context: llvm.ContextRef) -> None:
    """Links the functions of libdevice that `module`, which lives in `context`, declares into it, for itself alone.

    Raises ToolchainError if there is no libdevice.
    """
    wanted = [f.name for f in module.functions if f.is_declaration and f.name.startswith(_PREFIX)]
    own = {f.name for f in module.functions if not f.is_declaration}
    for name in wanted:
        part = llvm.parse_bitcode(_function(name, machine), context)
        part.triple, part.data_layout = module.triple, module.data_layout
        module.link_in(part)
    for function in module.functions:
        if not function.is_declaration and function.name not in own:
            function.linkage = "internal"


def _function(name: str, machine: llvm.TargetMachine) -> bytes:
    library = _library()
    key = key_of((_llvm_version(), name, library))
    bitcode = read_entry("libdevice", key)
    if bitcode is None:
        bitcode = _cut_out(name, library, machine)
        write_entry("libdevice", key, bitcode)
    return bitcode


def _cut_out(name: str, library: bytes, machine: llvm.TargetMachine) -> bytes:
    with llvm.parse_bitcode(library, llvm.create_context()) as module:
        if name not in {f.name for f in module.functions if not f.is_declaration}:
            raise ToolchainError(f"libdevice has no function {name!r}", stage="nvvm")
        for symbol in [*module.functions, *module.global_variables]:
            if not symbol.is_declaration and symbol.name != name:
                symbol.linkage = "internal"
        passes = llvm.create_new_module_pass_manager()
        passes.add_global_dead_code_eliminate_pass()
        run_passes(passes, module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=0)))
        return module.as_bitcode()


def _llvm_version() -> str:
    return ".".join(map(str, llvm.llvm_version_info))


@functools.cache
def _library() -> bytes:
    return _find().read_bytes()


def _find() -> Path:
    remedy = f"{INSTALL}, which brings nvidia-nvvm; or set CUDA_HOME to a CUDA toolkit"
    try:
        from cuda import pathfinder
    except ImportError:
        raise ToolchainError("cuda-pathfinder is not installed, which finds libdevice", stage="nvvm", remedy=remedy) from None
    try:
        return Path(pathfinder.find_bitcode_lib("device"))
    except pathfinder.BitcodeLibNotFoundError:
        raise ToolchainError("libdevice.10.bc is not installed; the kernels call its math functions", stage="nvvm", remedy=remedy) from None
