"""Tensor maps: what cuTensorMapEncodeTiled refuses, and what it writes. The real one's 128 bytes are NVIDIA's own; these can be decoded."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import dataclass

from .calls import driver_call, get_all
from .errors import Code, require
from .machine import Machine

_ELEMENT_BYTES = {0: 1, 1: 2, 2: 4, 3: 4, 4: 8, 5: 8, 6: 2, 7: 4, 8: 8, 9: 2, 10: 4, 11: 4, 12: 4}
_SWIZZLE_BYTES = {0: 0, 1: 32, 2: 64, 3: 128}
_LAYOUT = "<4sBBBxQ5Q4Q5H5H"
_MAGIC = b"TMAP"
BYTES = 128


@dataclass(frozen=True)
class TensorMap:
    """A tensor and the box that is moved, innermost dimension first."""

    address: int
    element_bytes: int
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    """In bytes, from the second dimension on."""
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int

    def encoded(self) -> bytes:
        def padded(values: tuple[int, ...], count: int) -> list[int]:
            return [*values, *[0] * (count - len(values))]

        lists = padded(self.extents, 5), padded(self.strides, 4), padded(self.box, 5), padded(self.steps, 5)
        head = struct.pack(
            _LAYOUT,
            _MAGIC,
            len(self.extents),
            self.element_bytes,
            self.swizzle,
            self.address,
            *(each for values in lists for each in values),
        )
        return head.ljust(BYTES, b"\0")

    @staticmethod
    def decoded(content: bytes) -> TensorMap:
        """Raises ValueError where nothing was encoded."""
        magic, rank, element, swizzle, address, *values = struct.unpack_from(_LAYOUT, content)
        if magic != _MAGIC:
            raise ValueError("no tensor map")
        extents, strides, box, steps = values[:5], values[5:9], values[9:14], values[14:]
        return TensorMap(
            address, element, tuple(extents[:rank]), tuple(strides[: rank - 1]), tuple(box[:rank]), tuple(steps[:rank]), swizzle
        )


def _check(made: TensorMap, interleave: int) -> None:
    def want(holds: object, why: str) -> None:
        require(holds, Code.INVALID_VALUE, f"tensor map: {why}")

    want(interleave == 0, "interleaved layouts")
    want(made.address % 16 == 0, f"the tensor at {made.address:#x} is not aligned to 16 bytes")
    want(all(1 <= extent <= 1 << 32 for extent in made.extents), f"extents {made.extents}")
    want(all(stride % 16 == 0 and stride < 1 << 40 for stride in made.strides), f"strides {made.strides} are no multiples of 16")
    want(all(1 <= size <= 256 for size in made.box), f"a box of {made.box}")
    want(all(1 <= step <= 8 for step in made.steps), f"steps {made.steps}")
    inner = made.box[0] * made.element_bytes
    want(inner % 16 == 0, f"rows of the box have {inner} bytes, no multiple of 16")
    want(not made.swizzle or inner <= made.swizzle, f"rows of the box have {inner} bytes, swizzled within {made.swizzle}")


@driver_call("piuppppp" + "iiii")
def cuTensorMapEncodeTiled(
    machine: Machine, place: int, kind: int, rank: int, address: int, extents: int, strides: int, box: int, steps: int, *options: int
) -> None:
    interleave, swizzle, _, _ = options
    require(machine.capability >= 90, Code.NOT_SUPPORTED, "tensor maps, before compute capability 9.0")
    require(place % 64 == 0, Code.INVALID_VALUE, f"the tensor map at {place:#x} is not aligned to 64 bytes")
    require(1 <= rank <= 5 and kind in _ELEMENT_BYTES and swizzle in _SWIZZLE_BYTES, Code.INVALID_VALUE, "rank, type or swizzle")
    made = TensorMap(
        address,
        _ELEMENT_BYTES[kind],
        tuple(get_all(extents, rank)),
        tuple(get_all(strides, rank - 1)),
        tuple(get_all(box, rank, ctypes.c_uint32)),
        tuple(get_all(steps, rank, ctypes.c_uint32)),
        _SWIZZLE_BYTES[swizzle],
    )
    _check(made, interleave)
    machine.memory.check(address, 1, write=False)
    ctypes.memmove(place, made.encoded(), BYTES)
