"""Devices, what they say of themselves, and contexts: one primary context a device, a stack of current ones a thread."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

from .calls import driver_call, put, put_int
from .errors import Code, require
from .machine import Machine

VERSION = 13000
_NAMES = {80: "Emulated A100", 90: "Emulated H100", 100: "Emulated B200"}
SHARED_OPTIN = {80: 163 << 10, 90: 227 << 10, 100: 227 << 10}
"""The most shared memory a block, where its kernel asks for it."""
_MULTIPROCESSORS = {80: 108, 90: 132, 100: 148}
SHARED_DEFAULT = 48 << 10
_ATTRIBUTES = {
    1: 1024, 2: 1024, 3: 1024, 4: 64, 5: 2**31 - 1, 6: 65535, 7: 65535, 8: SHARED_DEFAULT, 9: 64 << 10, 10: 32, 11: 2**31 - 1, 12: 65536,
    13: 1_980_000, 14: 512, 15: 1, 17: 0, 18: 0, 19: 1, 20: 0, 31: 1, 32: 0, 36: 2_619_000, 37: 5120, 38: 50 << 20, 39: 2048,
    40: 3, 41: 1, 78: 1, 79: 1, 81: 228 << 10, 82: 65536, 83: 0, 84: 0, 88: 1, 89: 1, 90: 1, 95: 1, 106: 32, 111: 1 << 10, 115: 1, 120: 1,
}  # fmt: skip
"""By CUdevice_attribute; those that are not here are 0."""


@dataclass
class Context:
    device: int
    handle: int = 0
    retained: int = 0


def multiprocessors(machine: Machine) -> int:
    return _MULTIPROCESSORS[machine.capability]


def _device(machine: Machine, device: int) -> int:
    require(0 <= device < machine.device_count, Code.INVALID_DEVICE, f"there is no device {device}")
    return device


@driver_call("u", context=False)
def cuInit(machine: Machine, flags: int) -> None:
    require(flags == 0, Code.INVALID_VALUE, "flags must be 0")
    machine.is_initialised = True


@driver_call("p", context=False)
def cuDriverGetVersion(machine: Machine, version: int) -> None:
    put_int(version, VERSION)


@driver_call("p", context=False)
def cuDeviceGetCount(machine: Machine, count: int) -> None:
    put_int(count, machine.device_count)


@driver_call("pi", context=False)
def cuDeviceGet(machine: Machine, device: int, ordinal: int) -> None:
    put_int(device, _device(machine, ordinal))


@driver_call("pii", context=False)
def cuDeviceGetName(machine: Machine, name: int, size: int, device: int) -> None:
    _device(machine, device)
    content = _NAMES[machine.capability].encode()[: size - 1] + b"\0"
    ctypes.memmove(name, content, len(content))


@driver_call("pi", context=False)
def cuDeviceGetUuid(machine: Machine, uuid: int, device: int) -> None:
    ctypes.memmove(uuid, bytes([1 + _device(machine, device)] * 16), 16)


@driver_call("pi", context=False)
def cuDeviceTotalMem(machine: Machine, nbytes: int, device: int) -> None:
    put(nbytes, 80 << 30)


@driver_call("pii", context=False)
def cuDeviceGetAttribute(machine: Machine, value: int, attribute: int, device: int) -> None:
    _device(machine, device)
    known = {16: multiprocessors(machine), 75: machine.capability // 10, 76: machine.capability % 10, 97: SHARED_OPTIN[machine.capability]}
    put_int(value, {**_ATTRIBUTES, **known}.get(attribute, 0))


@driver_call("pi", context=False)
def cuDevicePrimaryCtxRetain(machine: Machine, context: int, device: int) -> None:
    if _device(machine, device) not in machine.primary:
        made = machine.primary[device] = Context(device)
        made.handle = machine.new_handle(made)
    machine.primary[device].retained += 1
    put(context, machine.primary[device].handle)


@driver_call("i", context=False)
def cuDevicePrimaryCtxRelease(machine: Machine, device: int) -> None:
    found = machine.primary.get(_device(machine, device))
    require(found and found.retained, Code.INVALID_CONTEXT, "the primary context was not retained")
    found.retained -= 1


@driver_call("ipp", context=False)
def cuDevicePrimaryCtxGetState(machine: Machine, device: int, flags: int, active: int) -> None:
    put_int(flags, 0)
    put_int(active, int(_device(machine, device) in machine.primary))


@driver_call("p", context=False)
def cuCtxSetCurrent(machine: Machine, context: int) -> None:
    stack = machine.context_stack
    if stack:
        stack.pop()
    if context:
        stack.append(machine.object(context, Context, Code.INVALID_CONTEXT))


@driver_call("p", context=False)
def cuCtxPushCurrent(machine: Machine, context: int) -> None:
    machine.context_stack.append(machine.object(context, Context, Code.INVALID_CONTEXT))


@driver_call("p")
def cuCtxPopCurrent(machine: Machine, context: int) -> None:
    put(context, machine.context_stack.pop().handle)


@driver_call("p", context=False)
def cuCtxGetCurrent(machine: Machine, context: int) -> None:
    stack = machine.context_stack
    put(context, stack[-1].handle if stack else 0)


@driver_call("p")
def cuCtxGetDevice(machine: Machine, device: int) -> None:
    put_int(device, machine.context.device)


@driver_call("pp")
def cuCtxGetStreamPriorityRange(machine: Machine, least: int, greatest: int) -> None:
    put_int(least, 0)
    put_int(greatest, -5)


@driver_call("", unsafe=True)
def cuCtxSynchronize(machine: Machine) -> None:
    machine.finish([work for stream in machine.streams for work in stream.tail])


_TEXTS: dict[bytes, ctypes.Array] = {}


def _static_text(value: str) -> int:
    content = value.encode()
    return ctypes.addressof(_TEXTS.setdefault(content, ctypes.create_string_buffer(content)))


@driver_call("ip", context=False)
def cuGetErrorName(machine: Machine, code: int, name: int) -> None:
    known = {0: "CUDA_SUCCESS", **{each.value: f"CUDA_ERROR_{each.name}" for each in Code}}
    require(code in known, Code.INVALID_VALUE, "no such error")
    put(name, _static_text(known[code]))


@driver_call("ip", context=False)
def cuGetErrorString(machine: Machine, code: int, string: int) -> None:
    """The real driver says a sentence about the code; this one why it refused the last time."""
    why = next((why for _, given, why in reversed(machine.refusals) if given == code), "no error" if code == 0 else "an error")
    put(string, _static_text(why))
