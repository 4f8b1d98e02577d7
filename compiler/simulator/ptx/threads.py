"""What an instruction of PTX does with the threads' registers, shared and global memory: loads, stores, atomics, shuffles, votes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hloom.runtime.lazy import lazy

from .. import atomics
from ..floats import maximum, minimum
from ..lockstep import WARP
from ..runs import gather, scatter
from ..values import planes, select
from .matrices import Accumulator, Layers, layered
from .spaces import Spaces

_UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
_ATOMICS: dict[str, Callable[..., Any]] = {
    "add": np.add, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor, "exch": atomics.assign,
}  # fmt: skip
_REDUCTIONS = {"add": "add", "min": "minimum", "max": "maximum", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor"}


class Threads(Spaces):
    running: Any = None
    """The threads that go on, as a mask."""
    externals: Mapping[str, Callable[..., Any]] = {}
    lingering: Callable[[], None] = staticmethod(lambda: None)
    """Fails with what the last thread waits for that was seen waiting."""

    def call(self, name: str, arguments: list[Any], mask: Any, at: int) -> None:
        """A function from outside, once for each active thread."""
        if name not in self.externals:
            self.fail(f"nothing is known of the function {name}", at)
        chosen = np.flatnonzero(self.full(True if mask is None else mask))
        values = [self.full(argument).reshape(-1) for argument in arguments]
        for thread in chosen:
            self.externals[name](*(int(value[thread]) for value in values))

    # Special registers.

    def special(self, name: str) -> Any:
        base, _, axis = name.lstrip("%").partition(".")
        found = {
            "tid": lambda: self.thread_id("xyz".index(axis)),
            "ntid": lambda: self.launch.block["xyz".index(axis)],
            "ctaid": lambda: self.block_id("xyz".index(axis)),
            "nctaid": lambda: self.launch.grid["xyz".index(axis)],
            "laneid": lambda: self.lane,
            "warpid": lambda: self.thread // WARP,
            "lanemask_lt": lambda: (1 << self.lane) - 1,
            "lanemask_le": lambda: (2 << self.lane) - 1,
            "lanemask_eq": lambda: 1 << self.lane,
            "lanemask_gt": lambda: 0xFFFFFFFF & -(2 << self.lane),
            "lanemask_ge": lambda: 0xFFFFFFFF & -(1 << self.lane),
            "clusterid": lambda: self.block_id("xyz".index(axis)) // (1 if axis != "x" else self.launch.cluster),
            "nclusterid": lambda: self.launch.grid["xyz".index(axis)] // (1 if axis != "x" else self.launch.cluster),
            "cluster_ctaid": lambda: self.block % self.launch.cluster if axis == "x" else 0,
            "cluster_ctarank": lambda: self.block % self.launch.cluster,
            "cluster_nctaid": lambda: self.launch.cluster if axis == "x" else 1,
            "cluster_nctarank": lambda: self.launch.cluster,
            "dynamic_smem_size": lambda: self.launch.shared_bytes,
        }[base]()  # fmt: skip
        return np.uint32(found) if isinstance(found, int) else np.asarray(found).astype(np.uint32)

    def update(self, mask: Any, new: Any, old: Any) -> Any:
        if mask is None or mask is False or old is None:
            return old if mask is False and old is not None else new
        if any(isinstance(value, Accumulator | Layers) for value in (new, old)):
            return layered(self, mask, new, old)
        return select(mask, new, old)

    # Memory.

    def read(self, space: str, address: Any, size: int, count: int, mask: Any, at: int) -> list[Any]:
        """ld: `count` unsigned integers of `size` bytes."""
        if mask is False:
            return [_UNSIGNED[size](0)] * count
        memory, index = self.place(space, address, _UNSIGNED[size], count, mask, False, at)
        self.observe(memory, planes(index), count, mask, False, size * count if count > 1 else 0, at)
        if not np.ndim(index):
            return [memory.buffer[int(index) + i] for i in range(count)]
        rows = gather(memory.buffer, index, count)
        return [np.ascontiguousarray(rows[..., i]) for i in range(count)]

    def write(self, space: str, address: Any, values: list[Any], size: int, mask: Any, at: int) -> None:
        """st"""
        if mask is False:
            return
        count = len(values)
        memory, index = self.place(space, address, _UNSIGNED[size], count, mask, True, at)
        self.observe(memory, planes(index), count, mask, True, size * count if count > 1 else 0, at)
        rows = np.stack([self.full(value) for value in values], axis=-1)
        where = self.full(index)
        if mask is not None:
            chosen = self.full(mask)
            where, rows = where[chosen], rows[chosen]
        scatter(memory.buffer, where, rows)

    def atomic(self, space: str, address: Any, op: str, dtype: Any, operands: list[Any], used: bool, mask: Any, at: int) -> Any:
        """atom and red; what was there before, in its own type."""
        if mask is False:
            return np.zeros((1, 1), dtype)
        memory, index = self.place(space, address, dtype, 1, mask, True, at)
        if op == "cas":
            turns = atomics.Turns(self, memory, [index - memory.offset], mask, at)
            compared, new = (self.full(operand) for operand in operands)
            for mine, old in turns:
                turns.put(mine, np.where(old == compared, new, old))
            return turns.before
        function = _atomic_function(op, np.dtype(dtype))
        return atomics.atomic(self, memory, [index - memory.offset], operands[0], function, used, mask, at)

    # Warps.

    def shfl(self, mode: str, value: Any, lane: Any, clamp: Any, mask: Any, at: int) -> tuple[Any, Any]:
        """shfl.sync: the value of another lane of the warp, and whether there is that lane."""
        self.counters.shuffles += self.active_warps(mask)
        own = self.lane.astype(np.int64)
        lane, clamp = np.asarray(lane).astype(np.int64) & 31, np.asarray(clamp).astype(np.int64)
        segment, clamp = clamp >> 8 & 31, clamp & 31
        last, first = (own & segment) | (clamp & ~segment), own & segment
        if mode == "up":
            source = own - lane
            valid = source >= last
        else:
            source = {"down": own + lane, "bfly": own ^ lane, "idx": first | (lane & ~segment)}[mode]
            valid = source <= last
        source = np.where(valid, source, own)
        return self.from_lanes(value, source, mask, at), valid

    def ballot(self, condition: Any, mask: Any) -> Any:
        here = self.full(condition) if mask is None else self.full(condition) & self.full(mask)
        lanes = self._by_warp(here).astype(np.uint64) << np.arange(WARP, dtype=np.uint64)
        return np.repeat(lanes.sum(axis=-1).astype(np.uint32), WARP, axis=1)[:, : self.threads]

    def vote(self, mode: str, condition: Any, members: Any, mask: Any, at: int) -> Any:
        """vote.sync"""
        yes, here = self.ballot(condition, mask), self.ballot(True, mask)
        if mode == "ballot":
            return yes
        if mode == "uni":
            return (yes == 0) | (yes == here)
        return yes == here if mode == "all" else yes != 0

    def redux(self, op: str, value: Any, mask: Any, at: int) -> Any:
        """redux.sync over whole warps."""
        self.whole_warps(mask, "redux.sync", at)
        function: np.ufunc = getattr(np, _REDUCTIONS[op])
        found = function.reduce(self._by_warp(self.full(value)), axis=-1).astype(value.dtype)
        return np.repeat(found, WARP, axis=1)[:, : self.threads]

    def elect(self, mask: Any, at: int) -> tuple[Any, Any]:
        """elect.sync: the first lane, and whether it is one's own."""
        self.whole_warps(mask, "elect.sync", at)
        return np.uint32(0), self.lane == 0

    @lazy
    def mbarriers(self) -> Any:
        from .mbarriers import Mbarriers

        return Mbarriers(self)

    def phase_over(self, space: str, address: Any, parity: Any, mask: Any, at: int) -> Any:
        return self.mbarriers.over(space, address, parity, mask, at)


def _atomic_function(op: str, dtype: np.dtype) -> Callable[..., Any]:
    if op in _ATOMICS:
        return _ATOMICS[op]
    if op == "inc":
        return lambda old, limit: np.where(old >= limit, dtype.type(0), old + dtype.type(1))
    if op == "dec":
        return lambda old, limit: np.where((old == 0) | (old > limit), limit, old - dtype.type(1))
    if dtype.kind in "iu":
        return np.minimum if op == "min" else np.maximum
    return minimum if op == "min" else maximum
