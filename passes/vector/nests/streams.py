"""What a kernel reads once from end to end, and no near cache keeps until the next call: how far ahead it is prefetched."""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.storage import Storage

AHEAD_BYTES = 8192
"""Two pages. One came late where elements have few bits: they are multiplied at once."""


def is_streamed(storage: Storage, target: TargetView) -> bool:
    """Whether memory of which each element is read once fills half of L2, or more: what comes between two calls pushes it out."""
    return ir.MemRefType(storage.base.type).shape[0] * element_bytes(storage.element) >= target.l2_bytes // 2
