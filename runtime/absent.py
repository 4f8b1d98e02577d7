"""The device of a program on a machine that cannot run it, but can compile it for one that can. It keeps bound values for the file."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from .artifact import Buffer
from .errors import ExecutionError
from .program import LoadedProgram
from .tensors import view


class AbsentDevice:
    """Takes values to save; every call raises `reason`."""

    def __init__(self, program: LoadedProgram, reason: ExecutionError):
        self._program, self._reason = program, reason
        self._kept: dict[str, Buffer] = {}

    def bind(self, arrays: Mapping[int, Any]) -> None:
        bound = self._program.signature.bound
        found = {index: (view(bound[index], value), bound[index].nbytes) for index, value in arrays.items()}
        self._kept = {f"bound.{index}": ctypes.string_at(memory.address, nbytes) for index, (memory, nbytes) in found.items()}

    def start(self, kept: Mapping[str, Buffer]) -> None:
        self._kept = dict(kept)

    def kept(self) -> Mapping[str, Buffer]:
        return self._kept

    def call(self, inputs: Any, outputs: Any = None, *, in_place: bool = False) -> list[Any]:
        raise self._reason

    def measurements(self) -> list[tuple[int, int, int]]:
        return []
