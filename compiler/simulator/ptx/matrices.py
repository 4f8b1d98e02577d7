"""Tensor cores on the words that PTX gives them: mma.sync, ldmatrix, wgmma."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import tensor_cores, wgmma
from .conversions import convert

if TYPE_CHECKING:
    from .threads import Threads

_ROW_BYTES = 16


class Accumulator:
    """A register that tensor cores may still work on: one of the sums of a warp group. It looks like an array that can only be viewed."""

    def __init__(self, batch: Threads, sums: wgmma.Sums, index: int, at: int):
        self.batch, self.sums, self.index, self.at = batch, sums, index, at

    def view(self, kind: Any) -> np.ndarray:
        return np.asarray(wgmma.warp_groups(self.batch).settled(self.sums, self.at)[self.index].view(kind))


class Layers:
    """A register in which threads have several such, or plain values: pairs of who has it, the last of all others, and what."""

    def __init__(self, batch: Threads, layers: list[tuple[np.ndarray, Any]]):
        self.batch, self.layers = batch, layers

    def view(self, kind: Any) -> np.ndarray:
        """What the running threads do not have may still be worked on."""
        running, found = self.batch.full(True if self.batch.running is None else self.batch.running), None
        for mine, value in reversed(self.layers):
            if isinstance(value, Accumulator) and value.sums.values is None and not (mine & running).any():
                continue
            found = value.view(kind) if found is None else np.where(mine, value.view(kind), found)
        assert found is not None
        return found

    def of(self, active: np.ndarray) -> Any:
        """What all of these threads have; itself where they have several."""
        for mine, value in self.layers:
            if (mine & active).any():
                return value if not (active & ~mine).any() else self
        return self


def layered(batch: Threads, mask: Any, new: Any, old: Any) -> Layers:
    """`new` in the threads of the mask, `old` in the others."""
    mine, everyone = batch.full(mask), batch.full(True)
    above, below = (each.layers if isinstance(each, Layers) else [(everyone, each)] for each in (new, old))
    layers = [(part, value) for had, value in above if (part := mine & had).any()]
    return Layers(batch, layers + [(had & ~mine, value) for had, value in below if (had & ~mine).any()])


def mma(batch: Threads, a: list[Any], b: list[Any], c: list[Any], kinds: tuple[Any, Any, Any], tf32: bool, mask: Any, at: int) -> list[Any]:
    """mma.sync: the words of D."""
    if mask is False:
        return c
    left, right, sums = (tensor_cores.fragment(batch, words, kind) for words, kind in zip((a, b, c), kinds))
    whole = sums.shape
    halves = max(1, sums.shape[0] * sums.shape[1] // 2)
    found = tensor_cores.mma(batch, left, right, sums.reshape(halves, 2, *batch.whole), tf32, mask, at).reshape(whole)
    words = np.ascontiguousarray(np.moveaxis(found, 1, -1)).view(c[0].dtype)[..., 0]
    return list(words)


def load(batch: Threads, address: Any, tiles: int, transpose: bool, mask: Any, at: int) -> list[Any]:
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
    batch: Threads, left: Any, right: Any, sums: list[Any], keep: Any, columns: int, depth: int, kinds: tuple[Any, Any, Any],
    along_k: tuple[bool, bool], mask: Any, at: int,
) -> list[Any]:  # fmt: skip
    """wgmma.mma_async: the accumulators, which are there when their group was waited for. `keep` is false where they begin at 0."""
    made: list[Any] = []
    for groups, mine in wgmma.warp_groups_of(batch, mask):
        active = batch.full(True if mine is None else mine)
        own = [value.of(active) if isinstance(value, Layers) else value for value in sums]
        first = own[0]
        known = [(value.sums, value.index) for value in own if isinstance(value, Accumulator)]
        if not np.all(keep):
            if np.any(keep) or mine is not None:
                batch.fail("wgmma that begins at 0 in some threads only is not simulated", at)
            given = wgmma.sums_of(batch, np.zeros((len(sums), 1, 1), kinds[2]))
        elif isinstance(first, Accumulator) and known == [(first.sums, i) for i in range(len(sums))]:
            given = first.sums
        else:
            given = wgmma.sums_of(batch, np.stack([batch.full(value.view(kinds[2])) for value in own]))
        result = groups.multiply(left, right, given, columns, depth, kinds, along_k, mine, at)
        registers = [Accumulator(batch, result, i, at) for i in range(len(sums))]
        made = [layered(batch, mine, *pair) for pair in zip(registers, made)] if made else registers
    return made


def from_bytes(word: Any, source: Any, kind: Any) -> Any:
    """cvt of two bytes to two halves."""
    parts = np.ascontiguousarray(word).reshape(*np.shape(word), 1).view(source)
    return np.ascontiguousarray(parts.astype(kind)).view(np.uint32)[..., 0]


def to_bytes(word: Any, source: Any, kind: Any, modes: list[str]) -> Any:
    """cvt of two halves to two bytes."""
    parts = np.ascontiguousarray(word).reshape(*np.shape(word), 1).view(source)
    return np.ascontiguousarray(convert(parts, kind, modes)).view(np.uint16)[..., 0]
