"""What each kernel of a gpu.module uses of a target, for hloom-explain: registers, occupancy, and the widths of its memory accesses.

Accesses are counted in the PTX, once each wherever they stand: in a loop they run more often. Widths are bytes a thread.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from math import prod

from torch_mlir import ir

from hloom.dialects.target import TargetView
from hloom.passes.common.rewriting import integer, symbol_name, walk
from hloom.passes.gpu.support.launch import is_kernel, launch_extents

from .assemble import Resources
from .compile_kernels import CompiledKernels, compile_kernels
from .ptx import only_gpu_module

WARP = 32
_REGISTERS_PER_WARP_UNIT = 256
_WARP_UNIT = 4
"""Warps are placed on the four schedulers of a multiprocessor alike."""
_SHARED_UNIT = 128
_RESERVED_SHARED = 1024
"""What the driver takes of a block's shared memory, from compute capability 8.0 on."""


@dataclass(frozen=True)
class Occupancy:
    """How many blocks of a kernel one multiprocessor holds at once, and what keeps it from holding more."""

    blocks: int
    percent: int
    """Percent of the threads that a multiprocessor can hold."""
    limit: str


@dataclass(frozen=True)
class KernelStatistics:
    """One kernel on one target."""

    name: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    dynamic_shared: int
    resources: Resources
    occupancy: Occupancy
    global_loads: Mapping[int, int] = field(default_factory=dict)
    """Width in bytes → instructions; likewise stores and asynchronous copies to shared memory."""
    global_stores: Mapping[int, int] = field(default_factory=dict)
    async_copies: Mapping[int, int] = field(default_factory=dict)
    instructions: Mapping[str, int] = field(default_factory=dict)
    """Others that say what a kernel does: shuffles, barriers, tensor-core steps, atomics, divisions, local memory."""


def kernel_statistics(gpu_module: ir.Operation, target: TargetView, compiled: CompiledKernels | None = None) -> dict[str, KernelStatistics]:
    """Statistics by kernel name of a gpu.module at stage gpu; compiles it, or reads the cache, unless given. Raises CompileError."""
    made = compiled or compile_kernels(gpu_module, target)
    bodies = split_entries(made.ptx)
    found = {}
    for kernel in filter(is_kernel, walk(only_gpu_module(gpu_module), "gpu.func")):
        name, grid, block = symbol_name(kernel), *(tuple(launch_extents(kernel, what)) for what in ("grid", "block"))
        dynamic = integer(kernel, "hloom.shared_bytes", 0)
        resources = made.cubin.statistics.get(name, Resources())
        held = occupancy(resources, prod(block), dynamic, target)
        found[name] = KernelStatistics(name, grid, block, dynamic, resources, held, *_counts(bodies[name]))
    return found


def occupancy(resources: Resources, threads: int, dynamic_shared: int, target: TargetView) -> Occupancy:
    """Blocks a multiprocessor, by the rules of the CUDA programming guide."""
    warps = -(-threads // WARP)
    limits = {
        "threads": target.threads_per_multiprocessor // (warps * WARP),
        "blocks": target.blocks_per_multiprocessor,
        "registers": _blocks_by_registers(resources.registers, warps, target),
        "shared memory": _blocks_by_shared(resources.shared + dynamic_shared, target),
    }
    limit = min(limits, key=lambda name: limits[name])
    blocks = limits[limit]
    return Occupancy(blocks, 100 * blocks * warps * WARP // target.threads_per_multiprocessor, limit)


def _blocks_by_registers(registers: int, warps: int, target: TargetView) -> int:
    if not registers:
        return target.blocks_per_multiprocessor
    per_warp = _round_up(registers * WARP, _REGISTERS_PER_WARP_UNIT)
    return target.registers_per_multiprocessor // per_warp // _WARP_UNIT * _WARP_UNIT // warps


def _blocks_by_shared(used: int, target: TargetView) -> int:
    if used > target.shared_bytes_per_block:
        return 0
    return target.shared_bytes_per_multiprocessor // _round_up(used + _RESERVED_SHARED, _SHARED_UNIT)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


_ENTRY = re.compile(r"^(?:\.visible )?\.entry ([\w$.]+)\(", re.MULTILINE)
_FUNCTION = re.compile(r"^(?:\.\w+ )?\.func ", re.MULTILINE)
_OPCODE = re.compile(r"^\s*(?:@!?%p\d+\s+)?(?P<opcode>[a-z][\w.:]*)(?P<rest>[^;]*);", re.MULTILINE)
_WIDTH = re.compile(r"(?:\.v(\d))?\.[busf](\d+)$")
_KINDS = tuple("shfl bar mma wgmma.mma_async ldmatrix stmatrix atom red div ld.local st.local ld.shared st.shared cp.async.bulk".split())


def split_entries(ptx: str) -> dict[str, str]:
    """The text of each kernel in a PTX text. Braces do not tell where it ends: inline assembly has its own."""
    _, *pieces = _ENTRY.split(ptx)
    return {name: _FUNCTION.split(text)[0] for name, text in zip(pieces[::2], pieces[1::2])}


def _counts(body: str) -> tuple[Mapping[int, int], Mapping[int, int], Mapping[int, int], Mapping[str, int]]:
    loads, stores, copies, others = Counter[int](), Counter[int](), Counter[int](), Counter[str]()
    for found in _OPCODE.finditer(body):
        opcode = found["opcode"]
        if opcode.startswith(("ld.global", "ld.volatile.global", "ld.relaxed")):
            loads[_width(opcode)] += 1
        elif opcode.startswith(("st.global", "st.volatile.global", "st.relaxed")):
            stores[_width(opcode)] += 1
        elif opcode.startswith("cp.async") and ".global" in opcode and "bulk" not in opcode:
            copies[int(found["rest"].split(",")[2])] += 1
        elif kind := next((kind for kind in _KINDS if opcode == kind or opcode.startswith(kind + ".")), None):
            others[kind] += 1
    return dict(sorted(loads.items())), dict(sorted(stores.items())), dict(sorted(copies.items())), dict(sorted(others.items()))


def _width(opcode: str) -> int:
    found = _WIDTH.search(opcode)
    return int(found[1] or 1) * int(found[2]) // 8 if found else 0
