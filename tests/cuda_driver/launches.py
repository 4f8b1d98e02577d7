"""Launches: what of a kernel's size the GPU takes, and the parameters, which the driver copies before it returns."""

from __future__ import annotations

import ctypes
import os

from .calls import driver_call, get, get_all, put_int
from .devices import SHARED_OPTIN, multiprocessors
from .errors import Code, Refused, require
from .machine import Machine
from .modules import Kernel
from .nodes import Launch
from .streams import submit

_GRID, _BLOCK = (2**31 - 1, 65535, 65535), (1024, 1024, 64)
_IGNORE, _COOPERATIVE, _CLUSTER = 0, 2, 4
_MAX_CLUSTER = 8
_REGISTERS, _MOST_REGISTERS = 65536, 255
_ATTRIBUTE_BYTES, _VALUE_AT = 72, 8
Sizes = tuple[int, int, int]


class _Piece(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


_libc = ctypes.CDLL(None, use_errno=True)


def _read(address: int, nbytes: int) -> bytes | None:
    """Bytes of this process; None where nothing lies there."""
    found = ctypes.create_string_buffer(nbytes)
    ours, theirs = _Piece(ctypes.addressof(found), nbytes), _Piece(address, nbytes)
    count = _libc.process_vm_readv(os.getpid(), ctypes.byref(ours), 1, ctypes.byref(theirs), 1, 0)
    return found.raw if count == nbytes else None


def _parameters(kernel: Kernel, pointers: int) -> list[bytes]:
    found = []
    for number, parameter in enumerate(kernel.entry.parameters):
        place = _read(pointers + 8 * number, 8) if pointers else None
        value = _read(int.from_bytes(place, "little"), parameter.nbytes) if place else None
        if value is None:
            raise Refused(
                Code.INVALID_VALUE, f"{kernel.name} takes {len(kernel.entry.parameters)} parameters; number {number} is not there"
            )
        found.append(value)
    return found


def _resident(machine: Machine, kernel: Kernel, threads: int, shared: int) -> int:
    """Blocks that a multiprocessor holds at once. Of registers an image says nothing: as many as a thread may have are counted."""
    by_shared = SHARED_OPTIN[machine.capability] // (kernel.entry.shared_bytes + shared + 1024)
    return min(_REGISTERS // (_MOST_REGISTERS * threads) or 1, by_shared, 2048 // threads, 32)


def _check(machine: Machine, kernel: Kernel, grid: Sizes, block: Sizes, shared: int, cluster: Sizes, cooperative: bool) -> None:
    for what, sizes, limits in (("grid", grid, _GRID), ("block", block, _BLOCK)):
        within = all(1 <= size <= limit for size, limit in zip(sizes, limits))
        require(within, Code.INVALID_VALUE, f"{kernel.name}: a {what} of {sizes}; the limits are {limits}")
    threads = block[0] * block[1] * block[2]
    require(threads <= 1024, Code.INVALID_VALUE, f"{kernel.name}: {threads} threads a block")
    most = kernel.entry.max_threads
    require(threads <= most, Code.INVALID_VALUE, f"{kernel.name}: {threads} threads a block; it was compiled for {most}")
    limit = kernel.dynamic_limit
    require(shared <= limit, Code.INVALID_VALUE, f"{kernel.name}: {shared} bytes of dynamic shared memory; it is allowed {limit}")
    room = multiprocessors(machine) * _resident(machine, kernel, threads, shared)
    there = not cooperative or grid[0] * grid[1] * grid[2] <= room
    require(
        there,
        Code.COOPERATIVE_LAUNCH_TOO_LARGE,
        f"{kernel.name}: a grid of {grid} whose blocks must all be there; there is room for {room}",
    )
    blocks = cluster[0] * cluster[1] * cluster[2]
    require(blocks == 1 or machine.capability >= 90, Code.NOT_SUPPORTED, "clusters, before compute capability 9.0")
    fits = 1 <= blocks <= _MAX_CLUSTER and not any(size % part for size, part in zip(grid, cluster))
    require(fits, Code.INVALID_CLUSTER_SIZE, f"{kernel.name}: clusters of {cluster} in a grid of {grid}")


def _launch(
    machine: Machine, function: int, grid: Sizes, block: Sizes, shared: int, stream: int, parameters: int, cluster: Sizes = (1, 1, 1),
    cooperative: bool = False,
) -> None:  # fmt: skip
    kernel = machine.object(function, Kernel)
    _check(machine, kernel, grid, block, shared, cluster, cooperative)
    submit(machine, stream, Launch(kernel, grid, block, shared, _parameters(kernel, parameters), cluster, cooperative))


@driver_call("puuuuuuuppp")
def cuLaunchKernel(
    machine: Machine, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: int, given: int, extra: int
) -> None:
    require(not extra, Code.NOT_SUPPORTED, "parameters in a buffer")
    _launch(machine, function, (gx, gy, gz), (bx, by, bz), shared, stream, given)


@driver_call("puuuuuuupp")
def cuLaunchCooperativeKernel(
    machine: Machine, function: int, gx: int, gy: int, gz: int, bx: int, by: int, bz: int, shared: int, stream: int, given: int
) -> None:
    _launch(machine, function, (gx, gy, gz), (bx, by, bz), shared, stream, given, cooperative=True)


@driver_call("pppp")
def cuLaunchKernelEx(machine: Machine, config: int, function: int, given: int, extra: int) -> None:
    require(not extra, Code.NOT_SUPPORTED, "parameters in a buffer")
    gx, gy, gz, bx, by, bz, shared = get_all(config, 7, ctypes.c_uint32)
    stream, attributes, count = get(config + 32), get(config + 40), get(config + 48, ctypes.c_uint32)
    cluster, cooperative = (1, 1, 1), False
    for number in range(count):
        place = attributes + _ATTRIBUTE_BYTES * number
        kind = get(place, ctypes.c_uint32)
        require(kind in (_IGNORE, _COOPERATIVE, _CLUSTER), Code.NOT_SUPPORTED, f"launch attribute {kind}")
        if kind == _CLUSTER:
            cluster = tuple(get_all(place + _VALUE_AT, 3, ctypes.c_uint32))  # type: ignore[assignment]
        cooperative |= kind == _COOPERATIVE and bool(get(place + _VALUE_AT, ctypes.c_int))
    _launch(machine, function, (gx, gy, gz), (bx, by, bz), shared, stream, given, cluster, cooperative)


@driver_call("ppip")
def cuOccupancyMaxActiveBlocksPerMultiprocessor(machine: Machine, count: int, function: int, threads: int, shared: int) -> None:
    put_int(count, _resident(machine, machine.object(function, Kernel), threads, shared))
