"""Atomic updates of memory: threads that meet at one address take turns, in the order of their numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .batch import Batch
from .memory import MemRef


def assign(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    return new


def unsigned_maximum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    kind = f"u{a.dtype}"
    return np.maximum(a.view(kind), b.view(kind)).view(a.dtype)


def unsigned_minimum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    kind = f"u{a.dtype}"
    return np.minimum(a.view(kind), b.view(kind)).view(a.dtype)


class Turns:
    """Iterating gives, turn by turn, the mask of threads whose turn it is and the value that each finds; `put` what it leaves there."""

    def __init__(self, batch: Batch, memory: MemRef, indices: list[Any], mask: Any, at: int):
        self.batch, self.memory = batch, memory
        self.before = np.zeros(batch.whole, memory.buffer.dtype)
        if mask is False:
            self.addresses, self.numbers = np.empty(0, np.int64), np.empty(0, np.int64)
            return
        if memory.readonly:
            batch.fail(f"writes {memory.name}, which is llvm.readonly or constant", at)
        address = batch.addresses(memory, indices, 1, mask, "atomic", at)
        batch.observe(memory, address, 1, mask, True, 0, at, atomic=True)
        self.numbers = np.flatnonzero(batch.full(True if mask is None else mask))
        self.addresses = batch.full(address).reshape(-1)[self.numbers]
        batch.counters.atomics += len(self.numbers)

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        order = np.argsort(self.addresses, kind="stable")
        ordered = self.addresses[order]
        starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])) if len(ordered) else ordered
        turn = np.arange(len(ordered)) - np.repeat(starts, np.diff([*starts, len(ordered)]))
        flat = self.before.reshape(-1)
        for number in range(int(turn.max(initial=-1)) + 1):
            mine = order[turn == number]
            mask = np.zeros(self.batch.whole, np.bool_)
            mask.reshape(-1)[self.numbers[mine]] = True
            flat[self.numbers[mine]] = self.memory.buffer[self.addresses[mine]]
            self._mine = mine
            yield mask, self.before

    def put(self, mask: np.ndarray, value: Any) -> None:
        self.memory.buffer[self.addresses[self._mine]] = self.batch.full(value).reshape(-1)[self.numbers[self._mine]]


def atomic(
    batch: Batch, memory: MemRef, indices: list[Any], value: Any, function: Callable[..., Any], used: bool, mask: Any, at: int
) -> np.ndarray:
    """memref.atomic_rmw; `used` says whether somebody wants what was there before."""
    turns = Turns(batch, memory, indices, mask, at)
    if not used and isinstance(function, np.ufunc):
        function.at(memory.buffer, turns.addresses, batch.full(value).reshape(-1)[turns.numbers])
        return turns.before
    for mine, old in turns:
        turns.put(mine, function(old, batch.full(value)))
    return turns.before
