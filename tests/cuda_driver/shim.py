"""Builds and loads the libcuda.so.1 by which NVIDIA's packages reach the functions in Python.

It holds a table: a slot and an exported function for each. What is not in it is reported as absent, as an older driver would. When Python
ends the table is emptied, since destructors in C++ still call.
"""

from __future__ import annotations

import atexit
import ctypes
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from . import calls
from .errors import Code
from .machine import Machine

_ARGUMENTS = 13
"""As many as any function of the driver has; each is a register or eight bytes of the stack, whatever its type."""
_SOURCE = """
#include <stdint.h>
#include <string.h>
typedef uint64_t u;
typedef int (*function)({types});
static function table[{count}];
static const char *const names[] = {{{names}}};
{functions}
static void *const exported[] = {{{exported}}};
void hloom_fill(int slot, void *entry) {{ table[slot] = (function)entry; }}
int cuGetProcAddress_v2(const char *name, void **found, int version, u flags, int *status) {{
  *found = 0;
  if (!strcmp(name, "cuGetProcAddress")) *found = (void *)cuGetProcAddress_v2;
  for (int i = 0; i < {count} && !*found; i++)
    if (!strcmp(names[i], name)) *found = exported[i];
  if (status) *status = *found ? 0 : 1;
  return 0;
}}
int cuGetProcAddress(const char *name, void **found, int version, u flags) {{ return cuGetProcAddress_v2(name, found, version, flags, 0); }}
"""
_FUNCTION = "int {name}({parameters}) {{ return table[{slot}] ? table[{slot}]({arguments}) : {gone}; }}"

_kept: list[Any] = []


def source(names: list[str]) -> str:
    arguments = [f"a{number}" for number in range(_ARGUMENTS)]
    parameters, passed = ", ".join(f"u {each}" for each in arguments), ", ".join(arguments)
    functions = (
        _FUNCTION.format(name=name, parameters=parameters, slot=slot, arguments=passed, gone=int(Code.DEINITIALIZED))
        for slot, name in enumerate(names)
    )
    return _SOURCE.format(
        types=", ".join(["u"] * _ARGUMENTS),
        count=len(names),
        names=", ".join(f'"{name}"' for name in names),
        exported=", ".join(f"(void *){name}" for name in names),
        functions="\n".join(functions),
    )


def build(names: list[str], folder: Path) -> Path:
    """The library, built by the C compiler that is there."""
    path = folder / "libcuda.so.1"
    (folder / "shim.c").write_text(source(names))
    command = ["cc", "-shared", "-fPIC", "-O1", "-Wl,-soname,libcuda.so.1", "-o", str(path), str(folder / "shim.c")]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return path


class Emulated:
    """The driver of this process. `machine` is what it drives at present; another one is a machine that was just switched on."""

    def __init__(self, machine: Machine):
        self.machine = machine
        names = sorted(calls.FUNCTIONS)
        with tempfile.TemporaryDirectory() as folder:
            library = ctypes.CDLL(str(build(names, Path(folder))), ctypes.RTLD_GLOBAL)
        for slot, name in enumerate(names):
            entry = self._entry(calls.FUNCTIONS[name])
            _kept.append(entry)
            library.hloom_fill(slot, entry)
        atexit.register(lambda: [library.hloom_fill(slot, None) for slot in range(len(names))])

    def _entry(self, function: calls.Function) -> Any:
        kind = ctypes.CFUNCTYPE(ctypes.c_int, *(calls.KINDS[each] for each in function.kinds))
        return kind(lambda *arguments: function.call(self.machine, *arguments))


_installed: list[Emulated] = []


def install(machine: Machine) -> Emulated:
    """Makes the emulated driver the one that this process finds, which must not have looked for one yet."""
    if not _installed:
        _installed.append(Emulated(machine))
    _installed[0].machine = machine
    return _installed[0]
