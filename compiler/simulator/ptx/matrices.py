"""Tensor cores on the words that PTX gives them: mma.sync, ldmatrix, wgmma."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import tensor_cores, wgmma
from ..values import select
from .conversions import convert

if TYPE_CHECKING:
    from .machine import Machine

_ROW_BYTES = 16


class Accumulator:
    """A register that tensor cores may still work on: one of the sums of a warp group. It looks like an array that can only be viewed.

    Threads that are not in the `mask` have what was there before, `old`.
    """

    def __init__(self, batch: Machine, sums: wgmma.Sums, index: int, at: int, mask: Any = None, old: Any = None):
        self.batch, self.sums, self.index, self.at, self.mask, self.old = batch, sums, index, at, mask, old

    def view(self, kind: Any) -> np.ndarray:
        found = np.asarray(wgmma.warp_groups(self.batch).settled(self.sums, self.at)[self.index].view(kind))
        return found if self.mask is None else select(self.mask, found, self.old.view(kind))

    def where(self, mask: Any, old: Any) -> Accumulator:
        """This in the threads of the mask, `old` in the others, which tensor cores may work on as well."""
        mine, others = self.batch.full(mask), None if self.mask is None else self.batch.full(self.mask)
        if others is not None and (mine & ~others).any():
            return select(mask, self.view(np.uint32), old.view(np.uint32))
        if isinstance(old, Accumulator) and old.mask is not None and np.array_equal(mine, self.batch.full(old.mask)):
            old = old.old
        return Accumulator(self.batch, self.sums, self.index, self.at, mine, old)


def mma(batch: Machine, a: list[Any], b: list[Any], c: list[Any], kinds: tuple[Any, Any, Any], tf32: bool, mask: Any, at: int) -> list[Any]:
    """mma.sync: the words of D."""
    if mask is False:
        return c
    left, right, sums = (tensor_cores.fragment(batch, words, kind) for words, kind in zip((a, b, c), kinds))
    whole = sums.shape
    halves = max(1, sums.shape[0] * sums.shape[1] // 2)
    found = tensor_cores.mma(batch, left, right, sums.reshape(halves, 2, *batch.whole), tf32, mask, at).reshape(whole)
    words = np.ascontiguousarray(np.moveaxis(found, 1, -1)).view(c[0].dtype)[..., 0]
    return list(words)


def load(batch: Machine, address: Any, tiles: int, transpose: bool, mask: Any, at: int) -> list[Any]:
    """ldmatrix of 16-bit elements: a word a tile."""
    if mask is False:
        return [np.uint32(0)] * tiles
    giving = (batch.lane < 8 * tiles) & batch.full(True if mask is None else mask)
    dtype = np.uint16 if transpose else np.uint32
    memory, index = batch.place("shared", address, dtype, _ROW_BYTES // np.dtype(dtype).itemsize, giving, False, at)
    found = tensor_cores.ldmatrix(batch, memory, [index - memory.offset], tiles, transpose, mask, at)
    words = np.ascontiguousarray(np.moveaxis(found, 1, -1)).view(np.uint32)[..., 0]
    return list(words)


def multiply(
    batch: Machine, left: Any, right: Any, sums: list[Any], keep: Any, columns: int, depth: int, kinds: tuple[Any, Any, Any],
    along_k: tuple[bool, bool], mask: Any, at: int,
) -> list[Any]:  # fmt: skip
    """wgmma.mma_async: the accumulators, which are there when their group was waited for. `keep` is false where they begin at 0."""
    first = sums[0]
    known = [(value.sums, value.index) for value in sums if isinstance(value, Accumulator)]
    if not np.all(keep):
        if np.any(keep) or mask is not None:
            batch.fail("wgmma that begins at 0 in some threads only is not simulated", at)
        given = wgmma.sums_of(batch, np.zeros((len(sums), 1, 1), kinds[2]))
    elif isinstance(first, Accumulator) and known == [(first.sums, i) for i in range(len(sums))]:
        given = first.sums
    else:
        given = wgmma.sums_of(batch, np.stack([batch.full(value.view(kinds[2])) for value in sums]))
    made = wgmma.warp_groups(batch).multiply(left, right, given, columns, depth, kinds, along_k, mask, at)
    return [Accumulator(batch, made, i, at) for i in range(len(sums))]


def from_bytes(word: Any, source: Any, kind: Any) -> Any:
    """cvt of two bytes to two halves."""
    parts = np.ascontiguousarray(word).reshape(*np.shape(word), 1).view(source)
    return np.ascontiguousarray(parts.astype(kind)).view(np.uint32)[..., 0]


def to_bytes(word: Any, source: Any, kind: Any, modes: list[str]) -> Any:
    """cvt of two halves to two bytes."""
    parts = np.ascontiguousarray(word).reshape(*np.shape(word), 1).view(source)
    return np.ascontiguousarray(convert(parts, kind, modes)).view(np.uint16)[..., 0]
