"""A function of the driver in Python: named as the driver's, its arguments by their kinds, a status as its result.

What it returns beside the status it writes where the caller's pointers say (`put`).
"""

from __future__ import annotations

import ctypes
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .errors import Code, Refused

KINDS = {"p": ctypes.c_uint64, "i": ctypes.c_int32, "u": ctypes.c_uint32, "h": ctypes.c_uint16, "b": ctypes.c_uint8}
"""p: an address, a handle or a size."""


@dataclass(frozen=True)
class Function:
    name: str
    kinds: str
    body: Callable[..., None]
    needs_context: bool
    unsafe: bool
    """Whether a capture in the strict modes forbids it."""

    def call(self, machine: Any, *arguments: int) -> int:
        try:
            with machine.lock:
                machine.enter(self)
                self.body(machine, *arguments)
            return 0
        except Refused as refused:
            if refused.code != Code.NOT_READY:  # an answer
                machine.refusals.append((self.name, refused.code, refused.why))
            return int(refused.code)
        except Exception:
            machine.refusals.append((self.name, Code.UNKNOWN, traceback.format_exc()))
            return int(Code.UNKNOWN)


FUNCTIONS: dict[str, Function] = {}


def driver_call(kinds: str, *, context: bool = True, unsafe: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Declares a function of the driver; it is given the machine first. `context`: it wants a current one."""

    def declare(body: Callable[..., None]) -> Callable[..., None]:
        FUNCTIONS[body.__name__] = Function(body.__name__, kinds, body, context, unsafe)
        return body

    return declare


def put(address: int, value: int, ctype: Any = ctypes.c_uint64) -> None:
    """Writes a value where a pointer of the caller's says; a null pointer wants none."""
    if address:
        ctype.from_address(address).value = value


def put_int(address: int, value: int) -> None:
    put(address, value, ctypes.c_int32)


def get(address: int, ctype: Any = ctypes.c_uint64) -> int:
    return int(ctype.from_address(address).value)


def get_all(address: int, count: int, ctype: Any = ctypes.c_uint64) -> list[int]:
    return list((ctype * count).from_address(address)) if count else []


def text(address: int) -> str:
    return ctypes.string_at(address).decode()
