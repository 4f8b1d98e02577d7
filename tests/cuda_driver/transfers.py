"""Memory as the driver's functions give it out, copy and fill it."""

from __future__ import annotations

import ctypes

from .calls import driver_call, put
from .errors import Code, require
from .machine import Machine
from .nodes import Appear, Copy, Fill, Vanish
from .streams import find_stream, submit


@driver_call("pp", unsafe=True)
def cuMemAlloc(machine: Machine, address: int, nbytes: int) -> None:
    require(nbytes > 0, Code.INVALID_VALUE, "no bytes")
    put(address, machine.memory.allocate(nbytes).address)


@driver_call("p", unsafe=True)
def cuMemFree(machine: Machine, address: int) -> None:
    """At once: that the real one waits for work is no promise."""
    if address:
        machine.memory.take_away(machine.memory.to_free(address))


@driver_call("ppp")
def cuMemAllocAsync(machine: Machine, address: int, nbytes: int, stream: int) -> None:
    require(nbytes > 0, Code.INVALID_VALUE, "no bytes")
    made = machine.memory.allocate(nbytes, is_ordered=True)
    submit(machine, stream, Appear(made))
    put(address, made.address)


@driver_call("pp")
def cuMemFreeAsync(machine: Machine, address: int, stream: int) -> None:
    find_stream(machine, stream)
    submit(machine, stream, Vanish(machine.memory.to_free(address)))


@driver_call("pp", unsafe=True)
def cuMemAllocHost(machine: Machine, address: int, nbytes: int) -> None:
    memory = (ctypes.c_uint8 * nbytes)()
    machine.objects[ctypes.addressof(memory)] = memory
    put(address, ctypes.addressof(memory))


@driver_call("p", unsafe=True)
def cuMemFreeHost(machine: Machine, address: int) -> None:
    machine.drop_handle(address, ctypes.Array)


@driver_call("pp")
def cuMemGetInfo(machine: Machine, free: int, total: int) -> None:
    put(free, 64 << 30)
    put(total, 80 << 30)


def _copy(machine: Machine, stream: int, target: int, source: int, nbytes: int, *, on_device: tuple[bool, bool]) -> None:
    for address, wanted in zip((target, source), on_device):
        require(machine.memory.is_device(address) or not wanted, Code.INVALID_VALUE, f"{address:#x} is no device memory")
    submit(machine, stream, Copy(target, source, nbytes))


@driver_call("pppp")
def cuMemcpyHtoDAsync(machine: Machine, target: int, source: int, nbytes: int, stream: int) -> None:
    """The host's memory is read when the copy runs: pinned memory is."""
    _copy(machine, stream, target, source, nbytes, on_device=(True, False))


@driver_call("pppp")
def cuMemcpyDtoHAsync(machine: Machine, target: int, source: int, nbytes: int, stream: int) -> None:
    _copy(machine, stream, target, source, nbytes, on_device=(False, True))


@driver_call("pppp")
def cuMemcpyDtoDAsync(machine: Machine, target: int, source: int, nbytes: int, stream: int) -> None:
    _copy(machine, stream, target, source, nbytes, on_device=(True, True))


@driver_call("pppp")
def cuMemcpyAsync(machine: Machine, target: int, source: int, nbytes: int, stream: int) -> None:
    _copy(machine, stream, target, source, nbytes, on_device=(False, False))


def _copy_now(machine: Machine, target: int, source: int, nbytes: int, *, on_device: tuple[bool, bool]) -> None:
    _copy(machine, 0, target, source, nbytes, on_device=on_device)
    machine.finish(find_stream(machine, 0).tail)


@driver_call("ppp", unsafe=True)
def cuMemcpyHtoD(machine: Machine, target: int, source: int, nbytes: int) -> None:
    _copy_now(machine, target, source, nbytes, on_device=(True, False))


@driver_call("ppp", unsafe=True)
def cuMemcpyDtoH(machine: Machine, target: int, source: int, nbytes: int) -> None:
    _copy_now(machine, target, source, nbytes, on_device=(False, True))


@driver_call("pbpp")
def cuMemsetD8Async(machine: Machine, target: int, value: int, count: int, stream: int) -> None:
    submit(machine, stream, Fill(target, value, 1, count))


@driver_call("phpp")
def cuMemsetD16Async(machine: Machine, target: int, value: int, count: int, stream: int) -> None:
    submit(machine, stream, Fill(target, value, 2, count))


@driver_call("pupp")
def cuMemsetD32Async(machine: Machine, target: int, value: int, count: int, stream: int) -> None:
    submit(machine, stream, Fill(target, value, 4, count))


@driver_call("ppuppp")
def cuMemsetD2D32Async(machine: Machine, target: int, pitch: int, value: int, width: int, height: int, stream: int) -> None:
    submit(machine, stream, Fill(target, value, 4, width, height, pitch))
