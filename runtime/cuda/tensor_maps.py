"""Tensor maps: what the tensor memory accelerator is told of a kernel's argument, as the artifact's launch table says it.

They hold addresses, so they are encoded whenever a launch is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class TensorMap:
    """A tensor in a kernel's argument of that number, and the box of it that one copy moves; dimensions outermost first."""

    argument: int
    offset: int
    """The bytes of the argument before the tensor."""
    dtype: str
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    """In bytes; the last is an element."""
    box: tuple[int, ...]
    swizzle: int
    """The bytes within which chunks of 16 are exchanged."""

    @staticmethod
    def read(entry: Mapping[str, Any]) -> TensorMap:
        """An entry of `tensor_maps` of the launch table."""
        lists = {name: tuple(entry[name]) for name in ("extents", "strides", "box")}
        return TensorMap(**{**entry, **lists})
