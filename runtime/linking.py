"""A program's object code, linked into this process."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

import llvmlite.binding as llvm

from .bounds import REPORT, checked
from .errors import CpuFeatureError, LoadError
from .interrupts import uninterrupted
from .library import blas, enable_amx, symbols
from .llvm import initialise
from .manifest import INTERFACE
from .processor import host_features, runs_code_of

ENTRY_TYPE = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


def require(target: Mapping[str, Any]) -> None:
    """Checks that this CPU (and the system, for AMX) is of the target's kind and has its features. Raises CpuFeatureError that names what
    is missing."""
    here = llvm.get_process_triple()
    if not runs_code_of(here, target.get("triple", here)):
        raise CpuFeatureError(f"the program is for {target['triple']}, this machine is {here}", remedy="compile it for this machine")
    wanted = sorted(target["features"])
    missing = [name for name in wanted if not host_features().get(name)]
    if missing:
        raise CpuFeatureError(f"the program needs {', '.join(missing)}, which this CPU lacks", remedy="compile it for this machine")
    if any(name.startswith("amx") for name in wanted) and not enable_amx():
        raise CpuFeatureError("the system does not let this process use AMX", remedy="compile for a target without AMX")


class LinkedCode:
    """Object files linked together against the native library; unloaded with the object."""

    @uninterrupted()
    def __init__(self, objects: Iterable[bytes], entries: Iterable[str], outside: Mapping[str, int] = MappingProxyType({})):
        """`outside` are the functions of custom calls, by the symbols that the objects refer to."""
        initialise()
        builder = llvm.JITLibraryBuilder().add_current_process()
        checks = False
        for data in objects:
            checks |= REPORT in data
            if b"hloom_gemm_" in data:
                blas()
            builder.add_object_img(data)
        for name, address in {**symbols(), **outside}.items():
            builder.import_symbol(name, address)
        names = list(entries)
        for name in (*names, INTERFACE):
            builder.export_symbol(name)
        machine = llvm.Target.from_default_triple().create_target_machine()
        # LLVM's older linker maps each section apart, and aborts where two come to lie more than 2 GB from each other
        self._jit = llvm.create_lljit_compiler(machine, use_jit_link=True, suppress_errors=True)
        try:
            self._library = builder.link(self._jit, "program")
        except RuntimeError as error:
            raise LoadError(f"the program's code does not link: {error}") from None
        self.interface = ctypes.string_at(self._library[INTERFACE]).decode(errors="replace")
        """What the code takes for granted of its manifest (manifest.py)."""
        found = {name: ENTRY_TYPE(self._library[name]) for name in names}
        self.entries = {name: checked(entry) for name, entry in found.items()} if checks else found
