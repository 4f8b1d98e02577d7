"""Memory as kernels see it: a memref at run time."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .checks import AccessLog


@dataclass
class MemRef:
    """A memref: a flat buffer, and where in it the elements are.

    Shared and private memory hold one part for each block or thread: `origin` is where each begins, broadcasting to (blocks, threads).
    """

    buffer: np.ndarray
    shape: list[int]
    strides: list[int]
    name: str
    space: str = "global"
    offset: Any = 0
    origin: Any = 0
    log: AccessLog | None = None
    log_offset: int = 0
    """Where the buffer begins in the memory that `log` keeps account of, in its units."""
    readonly: bool = False
    window: int = 0
    """Where the buffer begins in a block's shared memory, in bytes."""
    views: dict[Any, np.ndarray] = field(default_factory=dict)

    @property
    def itemsize(self) -> int:
        return self.buffer.dtype.itemsize

    def view(self, byte_offset: Any, shape: list[int], dtype: Any) -> MemRef:
        """memref.view: a typed part of memory of bytes."""
        size = np.dtype(dtype).itemsize
        typed = self.views.setdefault(dtype, self.buffer.view(dtype))
        origin = self.origin // size
        return replace(
            self, buffer=typed, shape=shape, strides=row_major(shape), origin=origin, offset=(self.offset + byte_offset) // size, views={}
        )

    def part(self, offsets: list[Any], sizes: list[int], steps: list[Any], kept: list[int]) -> MemRef:
        """memref.subview with the dimensions `kept`."""
        offset = self.offset + sum(o * s for o, s in zip(offsets, self.strides))
        strides = [self.strides[d] * steps[d] for d in kept]
        return replace(self, shape=[sizes[d] for d in kept], strides=strides, offset=offset)

    def reshaped(self, shape: list[int], strides: list[int] | None = None, offset: Any = None) -> MemRef:
        """The same elements in another shape."""
        return replace(
            self, shape=shape, strides=row_major(shape) if strides is None else strides, offset=self.offset if offset is None else offset
        )


def row_major(shape: list[int]) -> list[int]:
    strides: list[int] = []
    size = 1
    for extent in reversed(shape):
        strides.insert(0, size)
        size *= extent
    return strides
