"""Contractions to GPU kernels: which kernel a group gets.

- at most eight rows (or columns): gemv.py, which reads the large operand once, as it is;
- f16, bf16, and f32 where the program allows tf32: tensor cores, wgmma.py on sm_90a from 64 rows on where mma.py is not clearly
  faster by the estimate of both, else mma.py;
- integers of 8 bits summed in i32, floats of 8 bits: tensor cores, wgmma.py likewise, else mma_bytes.py;
- windows of single channels that lie last (depthwise convolutions): window.py;
- all else (f32, f64, integers, mixed types): simt.py.

Floats of 8 bits that none of them multiplies (few rows) are decoded where they are read (decode_floats.py).

Must hold: the function is at stage linalg. Declined (False, the function is untouched): what contraction.py does not read as one
contraction with an elementwise epilogue; other products of which neighbours in memory are of different ones; padding that no kernel
leaves out.
"""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...fused.planner.codes import Code
from ...tiled.schedules.gpu_contraction import SKINNY, Sizes, simt_schedule, tensor_core_schedule, warpgroup_schedule
from ...tiled.schedules.gpu_time import Estimate
from ...tiled.schedules.wanted import BLOCKS
from ...tiled.tiles_told import NO_BLOCKS, tell_rule
from . import gemv, mma, mma_bytes, simt, wgmma, window
from .contraction import ContractionGroup, read_contraction
from .decode_floats import decode_floats
from .epilogue import EpilogueEmitter


def try_distribute(function: ir.Operation, target: TargetView) -> bool:
    """If `function` is a contraction, makes it a kernel in the module's gpu.module @kernels and erases it; else returns False."""
    function = function.operation
    with function.context, function.location:
        contraction = read_contraction(function)
        if not _takes_codes(contraction, target) and decode_floats(function):
            contraction = read_contraction(function)
        if contraction is None or not EpilogueEmitter.accepts(contraction):
            return False
        if not _try_emit(contraction, target):
            return False
        if BLOCKS in function.attributes:
            tell_rule(function, Code.POLICY_UNMET, NO_BLOCKS)
        function.erase()
        return True


def _try_emit(contraction: ContractionGroup, target: TargetView) -> bool:
    rows, cols = contraction.rows.extent, contraction.cols.extent
    if min(rows, cols) == 1 and (rows == cols or _has_batches_innermost(contraction)):
        return rows != cols and window.try_emit(contraction, target)
    if _is_padded(contraction):
        return False
    if window.try_emit(contraction, target):
        return True
    if min(rows, cols) <= SKINNY:
        gemv.emit(contraction, target)
    elif wgmma.try_emit(contraction, target) or mma_bytes.try_emit(contraction, target):
        pass
    elif mma.accepts(contraction, target):
        mma.emit(contraction, target)
    else:
        simt.emit(contraction, target)
    return True


def estimate_of(contraction: ContractionGroup, sizes: Sizes, target: TargetView) -> Estimate | None:
    """How long tiles of the contraction's types take, were it of such sizes; None where there are none of few rows or columns."""
    if min(sizes.rows, sizes.cols) <= SKINNY:
        return None
    of_bytes = mma_bytes.multiplicands(contraction, target) is not None
    if not of_bytes and not mma.accepts(contraction, target):
        return simt_schedule(sizes, simt.widest(contraction), target).estimate
    size = 1 if of_bytes else element_bytes(contraction.left.element)
    found = [tensor_core_schedule(sizes, size, target).estimate]
    if wgmma.takes(contraction, target) and (schedule := warpgroup_schedule(sizes, size, target)) is not None:
        found.append(schedule.estimate)
    return min(found, key=lambda each: each.clocks)


def _has_batches_innermost(contraction: ContractionGroup) -> bool:
    """Whether neighbours in memory are of different products, as the channels of a depthwise convolution are."""
    result = contraction.results[0][1].index
    return any(result.coefficient(loop) == 1 for loop, _ in contraction.batch.loops)


def _is_padded(contraction: ContractionGroup) -> bool:
    """Whether an operand has padding that is nowhere in memory."""
    return any(leaf.access.edges for operand in (contraction.left, contraction.right) for leaf in operand.leaves)


def _takes_codes(contraction: ContractionGroup | None, target: TargetView) -> bool:
    """Whether tensor cores take floats of 8 bits as they are."""
    if contraction is None or min(contraction.rows.extent, contraction.cols.extent) <= SKINNY:
        return False
    return mma_bytes.multiplicands(contraction, target) is not None
