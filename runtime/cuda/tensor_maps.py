"""Tensor maps: what the tensor memory accelerator is told of a kernel's argument, as the artifact's launch table says it.

They hold addresses, so they are encoded whenever a launch is recorded.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import DamagedFileError

BYTES = {"f16": 2, "bf16": 2, "f32": 4}
"""The element types of tensor maps."""
_SWIZZLES = (32, 64, 128)
_MOST_DIMENSIONS = 5


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
    def read(entry: Mapping[str, Any], kernel: str) -> TensorMap:
        """An entry of `tensor_maps` of the launch table. Raises DamagedFileError."""
        try:
            lists = {name: tuple(int(n) for n in entry[name]) for name in ("extents", "strides", "box")}
            found = TensorMap(
                argument=int(entry["argument"]),
                offset=int(entry["offset"]),
                dtype=str(entry["dtype"]),
                swizzle=int(entry["swizzle"]),
                **lists,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise DamagedFileError(f"the manifest does not describe a tensor map of {kernel}: {error!r}") from None
        if not found._is_sound():
            raise DamagedFileError(f"{kernel} has a tensor map that there cannot be: {found}")
        return found

    def _is_sound(self) -> bool:
        return (
            self.dtype in BYTES
            and self.swizzle in _SWIZZLES
            and 1 <= len(self.extents) == len(self.strides) == len(self.box) <= _MOST_DIMENSIONS
            and min(self.argument, self.offset) >= 0
            and min(self.extents + self.box) > 0
            and self.strides[-1] == BYTES[self.dtype]
        )
