"""What runs a kernel that the emulated driver launches."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any, Protocol

from hloom.runtime.cuda.conditions import PTX as CONDITIONS

from .errors import Code, Fault
from .machine import Machine
from .nodes import Launch
from .ptx import Ptx

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
        self.functions = functions

    def launch(self, machine: Machine, launch: Launch) -> None:
        function = self.functions.get(launch.kernel.name)
        if function is None:
            raise Fault(f"nobody says what {launch.kernel.name} does", Code.LAUNCH_FAILED)
        function(machine, *numbers(launch))


class ByImage:
    """Kernels by the machine code that they are in, as it was loaded; all others are those that set conditions."""

    def __init__(self) -> None:
        self.images: dict[bytes, Executor] = {}
        self._others = Ptx(CONDITIONS)

    def launch(self, machine: Machine, launch: Launch) -> None:
        self.images.get(launch.kernel.library.image.code, self._others).launch(machine, launch)
