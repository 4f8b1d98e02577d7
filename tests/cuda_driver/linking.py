"""The driver's own assembler, which cuda-core takes where there is no nvJitLink: PTX in, a cubin out."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field

from .calls import driver_call, put
from .errors import Code, require
from .machine import Machine

_PTX = 1


def assembled(text: str, architecture: str) -> bytes:
    """By the assembler that compiles kernels."""
    from hloom.compiler.cuda.assemble import assembler

    return assembler().run(text, architecture)[0]


assembler: list[Callable[[str, str], bytes]] = [assembled]
"""The last one is taken: where hloom's is not there, another has to be."""


@dataclass(eq=False)
class Link:
    text: str = ""
    made: list[ctypes.Array] = field(default_factory=list)
    """Lives as long as the link."""


@driver_call("uppp")
def cuLinkCreate(machine: Machine, count: int, options: int, values: int, link: int) -> None:
    put(link, machine.new_handle(Link()))


@driver_call("pipppupp")
def cuLinkAddData(machine: Machine, link: int, kind: int, data: int, nbytes: int, name: int, *options: int) -> None:
    found = machine.object(link, Link)
    require(kind == _PTX and not found.text, Code.NOT_SUPPORTED, "links of anything but one text of PTX")
    found.text = ctypes.string_at(data, nbytes).rstrip(b"\0").decode()


@driver_call("ppp")
def cuLinkComplete(machine: Machine, link: int, code: int, nbytes: int) -> None:
    found = machine.object(link, Link)
    cubin = assembler[-1](found.text, f"sm_{machine.capability}")
    found.made.append(ctypes.create_string_buffer(cubin, len(cubin)))
    put(code, ctypes.addressof(found.made[-1]))
    put(nbytes, len(cubin))


@driver_call("p")
def cuLinkDestroy(machine: Machine, link: int) -> None:
    machine.drop_handle(link, Link)
