"""What hloom-explain tells of a program for a GPU: each kernel beside the limits of its target, each library call with the reason for it.

asked    bytes that the threads ask global memory for (traffic.py)
moved    bytes that have to come from memory: a buffer that fits half the L2 is taken to come once, a larger one as often as asked for
least    each byte that the group needs of its inputs once, each result once
roofline launch + max(least / bandwidth, flops / rate): no kernel of the group is faster, unless its inputs are in the L2
"""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from torch_mlir import ir

from hloom.dialects.target import TargetView
from hloom.passes.common.rewriting import integer, symbol_name, walk
from hloom.passes.gpu.support.launch import launch_extents

from .statistics import KernelStatistics
from .traffic import Traffic, byte_size, traffic

_SECOND = 1_000_000_000_000
_WIDE = 16


def kernel_row(kernel: ir.Operation, element: str, target: TargetView) -> dict[str, Any]:
    """The figures of a gpu.func at stage gpu. `element`: the type that its contraction multiplies, "f32" if it has none."""
    memories = [a.type for a in kernel.regions[0].blocks[0].arguments if isinstance(a.type, ir.MemRefType)]
    sizes = [byte_size(memory.element_type) * prod(memory.shape) for memory in memories]
    asked = traffic(kernel)
    flops = integer(kernel, "hloom.flops", 0)
    moved = _moved(asked, sizes, target)
    least = min(moved, integer(kernel, "hloom.bytes", 0) or moved)  # a window updated in place is less than the result that was planned
    return {
        "name": symbol_name(kernel),
        "grid": launch_extents(kernel, "grid"),
        "block": launch_extents(kernel, "block"),
        "read": sum(asked.read.values()),
        "written": sum(asked.written.values()),
        "moved": moved,
        "least": least,
        "flops": flops,
        **roofline(least, flops, element, target),
    }


def roofline(least: int, flops: int, element: str, target: TargetView) -> dict[str, Any]:
    """The least time on the target, launch included, and what bounds it."""
    times = {
        "launch": target.launch_ps,
        "memory": least * _SECOND // target.dram_bytes_per_second,
        "arithmetic": flops * _SECOND // target.peak_flops(element),
    }
    time = times["launch"] + max(times["memory"], times["arithmetic"])
    return {"roofline_ps": time, "bound": max(times, key=lambda what: times[what])}


def resources_row(statistics: KernelStatistics) -> dict[str, Any]:
    """What a compiled kernel uses, and how wide its accesses are: bytes a thread → instructions."""
    used, held = statistics.resources, statistics.occupancy
    widths = {"loads": statistics.global_loads, "stores": statistics.global_stores, "copies": statistics.async_copies}
    return {
        "registers": used.registers,
        "spills": used.spills,
        "stack": used.stack,
        "shared": used.shared + statistics.dynamic_shared,
        "occupancy": held.percent,
        "blocks": held.blocks,
        "limit": held.limit,
        "widths": {kind: {str(width): count for width, count in counts.items()} for kind, counts in widths.items() if counts},
        "wide": _wide(widths),
        "instructions": dict(statistics.instructions),
    }


def _wide(widths: Mapping[str, Mapping[int, int]]) -> int | None:
    """Percent of the bytes of the accesses that 128-bit ones move, each counted once; None where there is none."""
    moved = [(width, width * count) for counts in widths.values() for width, count in counts.items()]
    whole = sum(size for _, size in moved)
    return 100 * sum(size for width, size in moved if width >= _WIDE) // whole if whole else None


def _moved(asked: Traffic, sizes: list[int], target: TargetView) -> int:
    def once(argument: int, size: int) -> int:
        whole = sizes[argument] if argument < len(sizes) else size
        return min(whole, size) if whole <= target.l2_bytes // 2 else size

    return sum(once(argument, size) for part in (asked.read, asked.written) for argument, size in part.items())


def kernels_of(module: ir.Operation) -> list[ir.Operation]:
    """The gpu.funcs that say how they are launched."""
    return walk(module, lambda op: op.name == "gpu.func" and "known_grid_size" in op.attributes)
