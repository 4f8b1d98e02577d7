"""Libraries of kernels, and the kernels in them."""

from __future__ import annotations

from dataclasses import dataclass, field

from .calls import driver_call, put, put_int, text
from .devices import SHARED_DEFAULT, SHARED_OPTIN
from .errors import Code, require
from .images import Entry, Image, image_at
from .machine import Machine

_MAX_THREADS, _STATIC_SHARED, _REGISTERS, _MAX_DYNAMIC = 0, 1, 4, 8


@dataclass(eq=False)
class Library:
    image: Image
    is_unloaded: bool = False
    kernels: dict[str, int] = field(default_factory=dict)


@dataclass(eq=False)
class Kernel:
    library: Library
    entry: Entry
    dynamic_limit: int

    @property
    def name(self) -> str:
        return self.entry.name


@driver_call("ppppuppu", context=False)
def cuLibraryLoadData(machine: Machine, library: int, code: int, *options: int) -> None:
    image = image_at(code)
    same = image.architecture // 10 == machine.capability // 10 and image.architecture <= machine.capability
    require(same, Code.NO_BINARY_FOR_GPU, f"code for sm_{image.architecture} on a GPU of {machine.capability}")
    put(library, machine.new_handle(Library(image)))


@driver_call("p", context=False)
def cuLibraryUnload(machine: Machine, library: int) -> None:
    found = machine.drop_handle(library, Library)
    found.is_unloaded = True
    for kernel in found.kernels.values():
        machine.drop_handle(kernel, Kernel)


@driver_call("ppp", context=False)
def cuLibraryGetKernel(machine: Machine, kernel: int, library: int, name: int) -> None:
    found, wanted = machine.object(library, Library), text(name)
    require(wanted in found.image.entries, Code.NOT_FOUND, f"no kernel {wanted}")
    if wanted not in found.kernels:
        entry = found.image.entries[wanted]
        found.kernels[wanted] = machine.new_handle(Kernel(found, entry, SHARED_DEFAULT - entry.shared_bytes))
    put(kernel, found.kernels[wanted])


@driver_call("pp", context=False)
def cuKernelGetFunction(machine: Machine, function: int, kernel: int) -> None:
    machine.object(kernel, Kernel)
    put(function, kernel)


@driver_call("pp", context=False)
def cuKernelGetLibrary(machine: Machine, library: int, kernel: int) -> None:
    wanted = machine.object(kernel, Kernel).library
    put(library, next(handle for handle, made in machine.objects.items() if made is wanted))


@driver_call("pipi", context=False)
def cuKernelGetAttribute(machine: Machine, value: int, attribute: int, kernel: int, device: int = 0) -> None:
    found = machine.object(kernel, Kernel)
    known = {
        _MAX_THREADS: found.entry.max_threads,
        _STATIC_SHARED: found.entry.shared_bytes,
        _REGISTERS: 32,
        _MAX_DYNAMIC: found.dynamic_limit,
    }
    put_int(value, known.get(attribute, 0))


@driver_call("iipi", context=False)
def cuKernelSetAttribute(machine: Machine, attribute: int, value: int, kernel: int, device: int) -> None:
    found = machine.object(kernel, Kernel)
    if attribute != _MAX_DYNAMIC:
        return
    most = SHARED_OPTIN[machine.capability] - found.entry.shared_bytes
    require(0 <= value <= most, Code.INVALID_VALUE, f"{found.name} may be given {most} bytes of dynamic shared memory, not {value}")
    found.dynamic_limit = value


@driver_call("pppp", context=False)
def cuKernelGetParamInfo(machine: Machine, kernel: int, number: int, offset: int, nbytes: int) -> None:
    parameters = machine.object(kernel, Kernel).entry.parameters
    require(number < len(parameters), Code.INVALID_VALUE, f"no parameter {number}")
    put(offset, parameters[number].offset)
    put(nbytes, parameters[number].nbytes)
