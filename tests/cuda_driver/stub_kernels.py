"""Python functions as kernels of a cubin: machine code with their names and parameters, which the driver loads, and what it then runs.

Their parameters are addresses.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from hloom.compiler.cuda.assemble import assembler

from .executor import Functions
from .machine import Machine

_HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"


def cubin_of(functions: dict[str, Callable[..., None]], capability: int) -> bytes:
    """Kernels that do nothing, of as many 64-bit parameters as the functions have."""
    entries = []
    for name, function in functions.items():
        parameters = ", ".join(f".param .u64 p{number}" for number in range(len(inspect.signature(function).parameters)))
        entries.append(f".visible .entry {name}({parameters}) {{ ret; }}\n")
    return assembler().run(_HEAD + "".join(entries), f"sm_{capability}")[0]


def run_by(machine: Machine, functions: dict[str, Callable[..., None]]) -> bytes:
    """The cubin of these functions, which the machine runs when kernels in it are launched."""
    code = cubin_of(functions, machine.capability)
    machine.executor.images[code] = Functions({name: _checked(function) for name, function in functions.items()})
    return code


def _checked(function: Callable[..., None]) -> Callable[..., None]:
    def launch(machine: Machine, *addresses: int) -> None:
        for address in addresses:
            machine.memory.check(address, 1, write=False)
        function(*addresses)

    return launch
