"""How many warps a block has, given what its tile holds."""

from __future__ import annotations

from math import ceil, prod

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ...common.axes import read_tile_op
from ...common.combiner import SEQUENTIAL
from ...common.tiled_function import TiledFunction
from ...errors import PassFailure
from ...tiled.schedules.gpu_tile_sizes import access_elements, is_window
from ..support.emit import WARP
from ..support.layout import power_above
from .extents import loop_extents, shape_of

MOST_WARPS = 32
_FEW, _MOST_OF_MANY = 2, 16
"""Reductions of a block that may have 32 warps, and warps of one with more: 32 leave a thread 64 registers, too few for what all hold."""


def choose_warps(tiled: TiledFunction, target: TargetView) -> int:
    """Warps of the block that computes a tile; the attribute hloom.threads of the function overrides it.

    A thread has one access of an elementwise tile or of the results of windows, 32 elements of rows that it reduces (eight where there are
    few blocks), and one result where it reduces columns for itself.
    """
    function = tiled.op
    if "hloom.threads" in function.attributes:
        threads = ir.IntegerAttr(function.attributes["hloom.threads"]).value
        if threads % WARP or not 1 <= threads // WARP <= MOST_WARPS or threads & (threads - 1):
            raise PassFailure(f"hloom.threads = {threads}: a power of two from 32 to 1024 is wanted", stage="gpu")
        return threads // WARP
    few = tiled.tiles < 2 * max(1, target.multiprocessors)
    vector = access_elements(function)
    wanted = 1
    for op in tiled.ops:
        if op.name == "linalg.generic":
            read = read_tile_op(op)
            bounds = [e.bound for e in loop_extents(read)]
            if not all(read.parallel):
                kept = prod(n for n, parallel in zip(bounds, read.parallel) if parallel)
                points = prod(bounds)
                if SEQUENTIAL in op.attributes:
                    wanted = max(wanted, kept)
                elif is_window(read):
                    wanted = max(wanted, ceil(kept / vector))
                else:
                    wanted = max(wanted, ceil(points / (8 if few else 32)) if kept < 256 else kept)
    for insert in tiled.insertions:
        points = prod(e.bound for e in shape_of(insert.operands[0]))
        wanted = max(wanted, ceil(points / (32 if wanted > 1 and not few else vector)))
    reductions = sum(op.name == "linalg.generic" and not all(read_tile_op(op).parallel) for op in tiled.ops)
    return max(1, min(MOST_WARPS if reductions <= _FEW else _MOST_OF_MANY, power_above(ceil(wanted / WARP))))
