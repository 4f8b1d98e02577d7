"""wgmma as the hardware has it: descriptors of 64 bits, products that run on until they are waited for.

A descriptor tells where an operand lies: start address, leading and stride byte offset, each in units of 16 bytes, and the swizzle. Within
a panel as wide as the swizzle, chunks of 16 bytes are exchanged by address: bits 4… are xored with bits 7….

    contiguous along k   row r, byte b of it      (r / 8) · stride + (r mod 8) · width + b
    contiguous along m   k-line l, byte b of it   (b / width) · leading + (l / 8) · stride + (l mod 8) · width + b mod width

Products are computed when they are waited for, from what is in shared memory then: what was overwritten too early shows. Register
4 j + 2 h + v of a thread is D[16 warp + 8 h + lane / 4, 8 j + 2 (lane mod 4) + v].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hloom.runtime.lazy import lazy

from .batch import Batch
from .lockstep import WARP
from .memory import MemRef
from .tensor_cores import widened

GROUP = 4 * WARP
_ROWS = 64
_WIDTHS = {1: 128, 2: 64, 3: 32}
"""The bytes of a panel by the swizzle's number."""
_BITS = 14
_UNIT = 16


@dataclass(eq=False)
class Sums:
    """The accumulators of all threads, (registers, blocks, threads); None while the tensor cores work on them."""

    values: np.ndarray | None


@dataclass
class _Operand:
    """What an instruction reads of shared memory: where, as (blocks, groups, rows or columns, k); who wrote it last, and what."""

    memory: MemRef
    dtype: Any
    addresses: np.ndarray
    writers: np.ndarray | None = None
    before: np.ndarray | None = None

    @property
    def values(self) -> np.ndarray:
        return self.memory.buffer.view(self.dtype)[self.addresses]

    @lazy
    def units(self) -> np.ndarray:
        assert self.memory.log is not None
        return self.addresses * np.dtype(self.dtype).itemsize // self.memory.log.unit


@dataclass
class _Product:
    source: Sums
    result: Sums
    groups: np.ndarray
    """The warp groups of a block that multiply."""
    left: _Operand | np.ndarray
    """In shared memory, or what was in registers."""
    right: _Operand
    total: Any
    """The type of the sums."""
    tf32: bool
    at: int


class WarpGroups:
    """The wgmma instructions that have not ended: of all blocks of a batch, or of one."""

    def __init__(self, batch: Batch, block: int | None = None):
        self.batch = batch
        self.rows = slice(None) if block is None else slice(block, block + 1)
        self.numbers = np.arange(batch.blocks)[self.rows]
        self.fenced = False
        self.open: list[_Product] = []
        self.groups: list[list[_Product]] = []

    def fence(self) -> None:
        self.fenced = True

    def multiply(
        self, left: Any, right: Any, sums: Sums, columns: int, depth: int, dtypes: tuple[Any, Any, Any], along_k: tuple[bool, bool],
        mask: Any, at: int,
    ) -> Sums:  # fmt: skip
        """nvvm.wgmma.mma_async of 64 x `columns` x `depth`; `dtypes` are those of the operands and of the sums, `along_k` says whether each
        operand is contiguous along k. The left operand is a descriptor, or the words that threads have of it.
        """
        batch, members = self.batch, self._members(mask, at)
        if not self.fenced:
            batch.fail("wgmma before wgmma.fence: the accumulators may not be there yet", at)
        result = Sums(None)
        first, second = (
            self._fragments(operand, dtype, members)
            if isinstance(operand, list)
            else self._operand(operand, extent, depth, dtype, contiguous, members, at)
            for operand, extent, dtype, contiguous in zip((left, right), (_ROWS, columns), dtypes, along_k)
        )
        assert isinstance(second, _Operand)
        self.open.append(_Product(sums, result, members, first, second, dtypes[2], dtypes[0] is np.float32, at))
        batch.counters.mma += len(self.numbers) * len(members) * GROUP // WARP
        return result

    def _members(self, mask: Any, at: int) -> np.ndarray:
        """The warp groups that multiply, whole ones, the same in all blocks; others have other roles, and multiply nothing."""
        batch = self.batch
        active = self._full(True if mask is None else mask)
        here = self._by_group(active)
        if (here != here[:1, :, :1]).any() or active[:, here.shape[1] * GROUP :].any():
            batch.fail("wgmma that not all threads of the block's warp groups reach", at)
        members = np.flatnonzero(here[0, :, 0])
        if any(not np.array_equal(other.groups, members) for group in [*self.groups, self.open] for other in group):
            batch.fail("wgmma of some warp groups while others multiply is not simulated", at)
        return members

    def _full(self, value: Any) -> np.ndarray:
        """Of all threads of its blocks."""
        return self.batch.full(value)[self.rows]

    def _by_group(self, values: np.ndarray) -> np.ndarray:
        """(…, threads) as (…, groups, 128), without warps that make no whole group."""
        groups = self.batch.threads // GROUP
        return values[..., : groups * GROUP].reshape(*values.shape[:-1], groups, GROUP)

    def commit(self) -> None:
        self.groups.append(self.open)
        self.open = []

    def wait(self, running: int) -> None:
        """nvvm.wgmma.wait.group: all groups but the last `running` end."""
        while len(self.groups) > running:
            for product in self.groups.pop(0):
                self._finish(product)
        self.fenced = self.fenced and bool(self.groups or self.open)

    def settled(self, sums: Sums, at: int) -> np.ndarray:
        """The accumulators, for an instruction that reads them."""
        if sums.values is None:
            self.batch.fail("accumulators are read while wgmma works on them", at, remedy="wait for their group first")
        return sums.values

    def _finish(self, product: _Product) -> None:
        left, right = (self._read(operand, product.at) for operand in (product.left, product.right))
        left, right = (widened(values, product.total, product.tf32) for values in (left, right))
        exact = np.int64 if product.total is np.int32 else product.total
        found = np.matmul(left, right.swapaxes(-1, -2)).astype(exact)
        blocks, groups, _, columns = found.shape
        parts = found.reshape(blocks, groups, 4, 2, 8, columns // 8, 4, 2).transpose(5, 3, 7, 0, 1, 2, 4, 6)
        assert product.source.values is not None
        product.result.values = product.source.values.astype(product.total)
        ours = (product.groups[:, None] * GROUP + np.arange(GROUP)).reshape(-1)
        product.result.values[:, self.numbers[:, None], ours] += parts.reshape(-1, blocks, len(ours)).astype(product.total)

    def _fragments(self, words: list[Any], dtype: Any, members: np.ndarray) -> np.ndarray:
        """64 rows x k in registers: word 2 h + r of a thread is of row 16 warp + 8 r + lane / 4, part lane mod 4 of k's half h."""
        flat = np.ascontiguousarray(self._by_group(np.stack([self._full(word) for word in words]))).view(np.uint32)
        blocks = len(self.numbers)
        parts = flat[..., None].view(dtype).reshape(2, 2, blocks, -1, 4, 8, 4, 4 // np.dtype(dtype).itemsize)
        return parts.transpose(2, 3, 4, 1, 5, 0, 6, 7).reshape(blocks, parts.shape[3], _ROWS, -1)[:, members]

    def _operand(self, descriptor: Any, extent: int, depth: int, dtype: Any, along_k: bool, members: np.ndarray, at: int) -> _Operand:
        batch, itemsize = self.batch, np.dtype(dtype).itemsize
        word = self._by_group(np.ascontiguousarray(self._full(descriptor)).view(np.uint64))[:, members]
        if (word != word[:, :, :1]).any():
            batch.fail("a wgmma descriptor that is not the same for all threads of the warp group", at)
        start, leading, stride = (_field(word[:, :, 0], shift)[..., None, None] for shift in (0, 16, 32))
        swizzle = int(word.flat[0] >> np.uint64(62))
        width = _WIDTHS.get(swizzle)
        if width is None or (depth * itemsize > width and along_k) or int(_field(word, 49).max()) & 7 * _UNIT:
            batch.fail("a wgmma descriptor without swizzle, or with a base offset, is not simulated", at)
        if not along_k and itemsize != 2:
            batch.fail("wgmma wants operands that are no 16-bit types contiguous along k", at)
        free, inner = np.arange(extent)[:, None], np.arange(depth)[None, :]
        line, byte = (free, inner * itemsize) if along_k else (inner, free * itemsize)
        place = line // 8 * stride + line % 8 * width + byte // width * leading + byte % width
        address = start + place
        address = address ^ (address >> 7) % (width // _UNIT) * _UNIT
        memory = batch.shared_at(int(start.min()), at)
        local = address - memory.window
        size = int(np.prod(memory.shape)) * memory.itemsize
        if local.min() < 0 or local.max() + itemsize > size:
            batch.fail(f"wgmma out of bounds: bytes {local.min()} to {local.max() + itemsize - 1} of {memory.name}, which has {size}", at)
        origin = self._full(memory.origin)[:, :1, None, None] * memory.itemsize
        addresses = np.broadcast_to(origin + local, (*word.shape[:2], extent, depth)) // itemsize
        return self._observed(memory, dtype, addresses, members, at)

    def _observed(self, memory: MemRef, dtype: Any, addresses: np.ndarray, members: np.ndarray, at: int) -> _Operand:
        batch, log, itemsize = self.batch, memory.log, np.dtype(dtype).itemsize
        batch.counters.shared_read_bytes += addresses.size * itemsize
        operand = _Operand(memory, dtype, addresses)
        if log is None:
            return operand
        for block, group in np.ndindex(*addresses.shape[:2]):
            first = self.numbers[block] * batch.threads + members[group] * GROUP
            flat = operand.units[block, group].reshape(-1)
            found = log.read(flat, max(1, itemsize // log.unit), batch.clock.of(False, np.full(len(flat), first)).as_warps())
            if found is not None:
                batch.fail(f"{found[0]}: {memory.name}", at, first)
        operand.writers, operand.before = log.writer[operand.units], operand.values
        return operand

    def _read(self, operand: _Operand | np.ndarray, at: int) -> np.ndarray:
        if isinstance(operand, np.ndarray):
            return operand
        log = operand.memory.log
        if log is not None:
            assert operand.before is not None
            kind = f"u{operand.before.itemsize}"
            changed = (log.writer[operand.units] != operand.writers) | (operand.values.view(kind) != operand.before.view(kind))
            if log.pending is not None:
                changed |= log.pending[operand.units]
            if changed.any():
                block, group, *_ = np.argwhere(changed)[0]
                thread = self.numbers[block] * self.batch.threads + group * GROUP
                self.batch.fail(f"race: {operand.memory.name} is overwritten while wgmma reads it", at, thread)
        return operand.values


def warp_groups(batch: Batch) -> WarpGroups:
    """The batch's own."""
    return _of(batch, None)


def warp_groups_of(batch: Batch, mask: Any) -> list[tuple[WarpGroups, Any]]:
    """Those of the active threads, with their masks: of each block its own, where blocks of a cluster go on one before the other."""
    if batch.launch.cluster == 1:
        return [(warp_groups(batch), mask)]
    here = batch.full(True if mask is None else mask)
    return [(_of(batch, block), here & (batch.row == block)) for block in range(batch.blocks) if here[block].any()]


def _of(batch: Batch, block: int | None) -> WarpGroups:
    if block not in batch.products:
        batch.products[block] = WarpGroups(batch, block)
    return batch.products[block]


def sums_of(batch: Batch, values: np.ndarray) -> Sums:
    """Accumulators that hold these values, (registers, 1 or blocks, 1 or threads)."""
    return Sums(np.broadcast_to(values, (len(values), *batch.whole)))


def _field(words: np.ndarray, shift: int) -> np.ndarray:
    """A field of a descriptor, in bytes."""
    return (words >> np.uint64(shift) & np.uint64((1 << _BITS) - 1)).astype(np.int64) * _UNIT
