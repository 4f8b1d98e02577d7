"""wgmma: matrix products of four warps together, operands in shared memory.

Operands lie in panels as wide as their swizzle, one after the other: panel p holds columns p·w … p·w + w - 1. Register (i, j, h, v) of a
thread is D[64 i + 16 warp + 8 h + lane / 4, 8 j + 2 (lane mod 4) + v].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .batch import Batch
from .lockstep import WARP
from .memory import MemRef, row_major
from .tma import SPANS, swizzled

GROUP = 4 * WARP


@dataclass
class SharedMatrix:
    """A matrix in shared memory: nvgpu.warpgroup.generate.descriptor."""

    memory: MemRef
    swizzle: str


def accumulator(rows: int, columns: int, dtype: Any) -> np.ndarray:
    """nvgpu.warpgroup.mma.init.accumulator."""
    return np.zeros((rows // 64, columns // 8, 2, 2, 1, 1), dtype)


def warpgroup_mma(batch: Batch, a: SharedMatrix, b: SharedMatrix, c: np.ndarray, mask: Any, at: int) -> np.ndarray:
    """D = A·B + C, A of m x k, B of k x n, both with contiguous rows."""
    if mask is False:
        return c
    _whole_groups(batch, mask, at)
    left, right = (_matrix(batch, operand, mask, at).astype(np.float32) for operand in (a, b))
    product = np.matmul(left, right)
    batch.counters.mma += batch.active_warps(mask)
    blocks, groups, m, n = product.shape
    parts = product.reshape(blocks, groups, m // 64, 4, 2, 8, n // 8, 4, 2).transpose(2, 6, 4, 8, 0, 1, 3, 5, 7)
    return (parts.reshape(m // 64, n // 8, 2, 2, *batch.whole) + c).astype(c.dtype)


def warpgroup_store(batch: Batch, value: np.ndarray, memory: MemRef, mask: Any, at: int) -> None:
    """nvgpu.warpgroup.mma.store: each thread stores its registers, pairs at once."""
    if mask is False:
        return
    _whole_groups(batch, mask, at)
    warp, lane = batch.thread % GROUP // WARP, batch.lane
    blocks, columns = value.shape[:2]
    for i, j, h in np.ndindex(blocks, columns, 2):
        place = [64 * i + 16 * warp + 8 * h + lane // 4, 8 * j + 2 * (lane % 4)]
        batch.store(memory, place, value[i, j, h], 2, mask, 0, at)


def _whole_groups(batch: Batch, mask: Any, at: int) -> None:
    if batch.threads % GROUP:
        batch.fail("wgmma wants blocks of whole warp groups: multiples of 128 threads", at)
    if mask is None:
        return
    here = batch.full(mask).reshape(batch.blocks, -1, GROUP)
    missing = here.any(axis=-1, keepdims=True) & ~here
    if missing.any():
        batch.fail("wgmma that not all threads of the warp group reach; this one does not", at, int(np.argmax(missing)))


def _matrix(batch: Batch, operand: SharedMatrix, mask: Any, at: int) -> np.ndarray:
    """The operand of each warp group: (blocks, groups, rows, columns)."""
    memory = operand.memory
    rows, columns = memory.shape
    if memory.strides != row_major(memory.shape) or not SPANS[operand.swizzle]:
        batch.fail("wgmma reads dense matrices that were written with a swizzle", at)
    width = min(columns, SPANS[operand.swizzle] // memory.itemsize)
    row, column = np.arange(rows)[:, None], np.arange(columns)
    places = swizzled(column // width * rows * width + row * width + column % width, memory.itemsize, operand.swizzle)
    start = batch.full(memory.offset).reshape(batch.blocks, -1, GROUP)[:, :, :1, None]
    addresses = np.where(
        batch.full(True if mask is None else mask).reshape(batch.blocks, -1, GROUP)[:, :, :1, None], start + places, places
    )
    _check(batch, memory, addresses, mask, at)
    return memory.buffer[addresses]


def _check(batch: Batch, memory: MemRef, addresses: np.ndarray, mask: Any, at: int) -> None:
    batch.counters.shared_read_bytes += addresses.size * memory.itemsize
    if memory.log is None:
        return
    scale = memory.itemsize // memory.log.unit
    here = batch.full(True if mask is None else mask).reshape(batch.blocks, -1, GROUP)[:, :, 0]
    for block, group in zip(*np.nonzero(here)):
        first = block * batch.threads + group * GROUP
        flat = addresses[block, group].reshape(-1)
        who = batch.clock.of(False, np.full(len(flat), first)).as_warps()
        found = memory.log.read(flat * scale, scale, who)
        if found is not None:
            batch.fail(f"{found[0]}: {memory.name}", at, first)
