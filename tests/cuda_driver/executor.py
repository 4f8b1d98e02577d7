"""What runs a kernel that the emulated driver launches."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable
from typing import Any, Protocol

from .errors import Code, Fault
from .machine import Machine
from .nodes import Launch

CONDITIONS: dict[str, Callable[..., None]] = {}
_FORMATS = {1: "<B", 2: "<H", 4: "<I", 8: "<Q"}


class Executor(Protocol):
    def launch(self, machine: Machine, launch: Launch) -> None:
        """Runs a whole grid. Raises Fault."""


def numbers(launch: Launch) -> list[Any]:
    """The parameters as unsigned numbers; those of other sizes as they are."""
    return [struct.unpack(_FORMATS[len(value)], value)[0] if len(value) in _FORMATS else value for value in launch.parameters]


class Functions:
    """Kernels that are Python functions, by name: each is given the machine and the kernel's parameters."""

    def __init__(self, functions: dict[str, Callable[..., None]]):
        self.functions = {**CONDITIONS, **functions}

    def launch(self, machine: Machine, launch: Launch) -> None:
        function = self.functions.get(launch.kernel.name)
        if function is None:
            raise Fault(f"nobody says what {launch.kernel.name} does", Code.LAUNCH_FAILED)
        function(machine, *numbers(launch))


class ByImage:
    """Kernels by the machine code that they are in, as it was loaded; others are looked for among `others`."""

    def __init__(self, others: Executor | None = None):
        self.images: dict[bytes, Executor] = {}
        self._others = others or Functions({})

    def launch(self, machine: Machine, launch: Launch) -> None:
        self.images.get(launch.kernel.library.image.code, self._others).launch(machine, launch)


def _condition(function: Callable[..., None]) -> Callable[..., None]:
    CONDITIONS[function.__name__] = function
    return function


def _value(machine: Machine, address: int, nbytes: int) -> int:
    machine.memory.check(address, nbytes, write=False)
    return int.from_bytes(bytes(_bytes(address, nbytes)), "little", signed=True)


def _bytes(address: int, nbytes: int) -> Any:
    return (ctypes.c_uint8 * nbytes).from_address(address)


@_condition
def hloom_while(machine: Machine, handle: int, predicate: int) -> None:
    machine.conditions[handle] = _value(machine, predicate, 1)


@_condition
def hloom_for(machine: Machine, handle: int, counter: int, limit: int) -> None:
    count = _value(machine, counter, 8)
    machine.conditions[handle] = int(count < limit)
    _bytes(counter, 8)[:] = (count + 1).to_bytes(8, "little")


@_condition
def hloom_case(machine: Machine, handle: int, index: int, width: int, branches: int) -> None:
    value = _value(machine, index, width)
    machine.conditions[handle] = value if 0 <= value < branches else branches - 1
