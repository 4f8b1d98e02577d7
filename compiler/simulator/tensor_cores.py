"""mma.sync and ldmatrix: what a warp does together.

A fragment's registers are (row halves, k halves), its lanes (8 row groups, 4 column groups). In m16n8k(4·p·h), element j < p of register
(k half h, row half i) of lane (g, t) of A is A[8 i + g, 4 p h + p t + j]; of B, B[4 p h + p t + j, g]; of C, C[8 i + g, 2 t + j].
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .batch import Batch
from .lockstep import WARP
from .memory import MemRef

_ROW_BYTES = 16
_TF32 = np.uint32(0xFFFFE000)


def _by_warp(batch: Batch, fragment: np.ndarray) -> np.ndarray:
    """(registers, elements, warps, 8, 4)"""
    whole = np.broadcast_to(fragment, (*fragment.shape[:-2], *batch.whole))
    return whole.reshape(*fragment.shape[:-2], batch.blocks * batch.warps, 8, 4)


def widened(operand: np.ndarray, accumulator: Any, tf32: bool) -> np.ndarray:
    """Products are exact in the type that they are computed in; tf32 ignores the low 13 bits of an f32."""
    if tf32:
        return (np.ascontiguousarray(operand).view(np.uint32) & _TF32).view(np.float32).astype(np.float64)
    if np.dtype(accumulator).kind == "i":
        return operand.astype(np.float64)
    return operand.astype(np.float64 if operand.dtype == np.float64 else np.float32)


def mma(batch: Batch, a: np.ndarray, b: np.ndarray, c: np.ndarray, tf32: bool, mask: Any, at: int) -> np.ndarray:
    """nvgpu.mma.sync: D = A·B + C, accumulated in the type of C (f16 through f32)."""
    if mask is False:
        return np.zeros((*c.shape[:-2], 1, 1), c.dtype)
    batch.whole_warps(mask, "nvgpu.mma.sync", at)
    batch.counters.mma += batch.active_warps(mask)
    halves = c.shape[0]
    left, right = (widened(operand, c.dtype, tf32) for operand in (_by_warp(batch, a), _by_warp(batch, b)))
    registers, elements, warps = left.shape[:3]
    left = left.reshape(registers // halves, halves, elements, warps, 8, 4).transpose(3, 1, 4, 0, 5, 2).reshape(warps, 8 * halves, -1)
    right = right.transpose(2, 0, 4, 1, 3).reshape(warps, -1, 8)
    product = np.matmul(left, right).reshape(warps, halves, 8, 4, 2).transpose(1, 4, 0, 2, 3).reshape(halves, 2, *batch.whole)
    if c.dtype.kind == "i":
        return (product.astype(np.int64) + c).astype(c.dtype)
    return (product + c).astype(c.dtype)


def mma_of_bytes(
    batch: Batch, a: list[Any], b: list[Any], c: list[Any], kinds: tuple[Any, Any], mask: Any, at: int
) -> np.ndarray:  # fmt: skip
    """nvvm.mma.sync m16n8k32 on words of four bytes, which are of these types: the four registers of D."""
    left, right = (fragment(batch, words, kind) for words, kind in zip((a, b), kinds))
    sums = np.stack([batch.full(value) for value in c])
    return mma(batch, left, right, sums.reshape(2, 2, *batch.whole), False, mask, at).reshape(-1, *sums.shape[1:])


def fragment(batch: Batch, words: list[Any], kind: Any) -> np.ndarray:
    """Registers as (registers, elements, blocks, threads) of a type."""
    return np.stack([_elements(batch, word, kind) for word in words])


def _elements(batch: Batch, word: Any, kind: Any) -> np.ndarray:
    """(elements, blocks, threads)"""
    return np.moveaxis(np.ascontiguousarray(batch.full(word))[..., None].view(kind), -1, 0)


def ldmatrix(batch: Batch, memory: MemRef, indices: list[Any], tiles: int, transpose: bool, mask: Any, at: int) -> np.ndarray:
    """nvgpu.ldmatrix: tiles of 8 rows of 16 bytes; lane 8 i + r of a warp gives the address of row r of tile i."""
    row = _ROW_BYTES // memory.itemsize
    lane = row // 4
    if mask is False:
        return np.zeros((tiles, lane, 1, 1), memory.buffer.dtype)
    batch.whole_warps(mask, "nvgpu.ldmatrix", at)
    batch.counters.ldmatrix += batch.active_warps(mask)
    giving = (batch.lane < 8 * tiles) & batch.full(True if mask is None else mask)
    address = batch.addresses(memory, indices, row, giving, "ldmatrix", at)
    _observe(batch, memory, address, giving, at)
    rows = batch.full(address).reshape(-1, WARP)[:, : 8 * tiles]
    found = memory.buffer[rows[..., None] + np.arange(row)].reshape(-1, tiles, 8, row)
    if transpose:
        found = found.transpose(0, 1, 3, 2)
    return found.reshape(-1, tiles, 8, 4, lane).transpose(1, 4, 0, 2, 3).reshape(tiles, lane, *batch.whole)


def _observe(batch: Batch, memory: MemRef, address: np.ndarray, giving: np.ndarray, at: int) -> None:
    """All lanes of the warp read a row, so what any single thread wrote since the last barrier is a race."""
    givers = np.flatnonzero(giving)
    flat, row = batch.full(address).reshape(-1)[givers], _ROW_BYTES // memory.itemsize
    batch.counters.shared_read_bytes += len(flat) * _ROW_BYTES
    if batch.launch.checks and (wrong := flat % row).any():
        batch.fail("misaligned: ldmatrix reads rows of 16 aligned bytes", at, givers[np.argmax(wrong != 0)])
    if batch.launch.checks and memory.log is not None:
        who = batch.clock.of(memory.log.across_blocks, givers).as_warps()
        scale = memory.itemsize // memory.log.unit
        found = memory.log.read(flat * scale + memory.log_offset, row * scale, who)
        if found is not None:
            batch.fail(f"{found[0]}: {memory.name}", at, givers[np.argmax(found[1])])
    if batch.samples(memory, at):
        batch.sample(memory, flat, row, givers, False, _ROW_BYTES)
