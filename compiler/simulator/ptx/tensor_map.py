"""What the simulated driver writes where a GPU's would encode a tensor map: 128 bytes of which only this file knows the form."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import ml_dtypes
import numpy as np

BYTES = 128
_MAGIC = b"hloomTMA"
_RANK = 5
_LAYOUT = struct.Struct("<8sQBBHxxxx5I5Q5HxxxxxxH")
_ELEMENTS = ("uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float64", "bfloat16")
"""By the numbers of CUtensorMapDataType that they stand for."""


@dataclass(frozen=True)
class TensorMap:
    """A tensor in global memory and the box that one copy moves. Dimensions outermost first, strides in bytes, `dtype` by numpy's name."""

    address: int
    dtype: str
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    """As many as extents; the last is an element."""
    box: tuple[int, ...]
    swizzle: int = 0
    """0, 32, 64 or 128 bytes."""

    @property
    def element(self) -> np.dtype:
        return np.dtype(ml_dtypes.bfloat16) if self.dtype == "bfloat16" else np.dtype(self.dtype)

    def pack(self) -> bytes:
        rank = len(self.extents)
        parts = (list(values) + [0] * (_RANK - rank) for values in (self.extents, self.strides, self.box))
        extents, strides, box = parts
        head = (_MAGIC, self.address, rank, _ELEMENTS.index(self.dtype), self.swizzle)
        return _LAYOUT.pack(*head, *extents, *strides, *box, 0).ljust(BYTES, b"\0")

    @staticmethod
    def unpack(found: bytes) -> TensorMap | None:
        """None where nothing was packed."""
        magic, address, rank, dtype, swizzle, *rest = _LAYOUT.unpack(found[: _LAYOUT.size])
        if magic != _MAGIC:
            return None
        extents, strides, box = (tuple(rest[start : start + rank]) for start in (0, _RANK, 2 * _RANK))
        return TensorMap(address, _ELEMENTS[dtype], extents, strides, box, swizzle)
