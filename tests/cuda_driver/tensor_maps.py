"""Tensor maps: what cuTensorMapEncodeTiled refuses. What it writes is NVIDIA's own form; here it is the PTX interpreter's."""

from __future__ import annotations

import ctypes

import numpy as np

from hloom.compiler.simulator.ptx import TensorMap

from .calls import driver_call, get_all
from .errors import Code, require
from .machine import Machine

_TYPES = {
    0: "uint8", 1: "uint16", 2: "uint32", 3: "int32", 4: "uint64", 5: "int64", 6: "float16", 7: "float32", 8: "float64", 9: "bfloat16",
    10: "float32", 11: "float32", 12: "float32",
}  # fmt: skip
_SWIZZLE_BYTES = {0: 0, 1: 32, 2: 64, 3: 128}
BYTES = 128


def _check(made: TensorMap, steps: list[int], interleave: int) -> None:
    def want(holds: object, why: str) -> None:
        require(holds, Code.INVALID_VALUE, f"tensor map: {why}")

    want(interleave == 0, "interleaved layouts")
    want(made.address % 16 == 0, f"the tensor at {made.address:#x} is not aligned to 16 bytes")
    want(all(1 <= extent <= 1 << 32 for extent in made.extents), f"extents {made.extents}")
    strides = made.strides[:-1]
    want(all(stride % 16 == 0 and stride < 1 << 40 for stride in strides), f"strides {strides} are no multiples of 16")
    want(all(1 <= size <= 256 for size in made.box), f"a box of {made.box}")
    want(all(step == 1 for step in steps), f"steps {steps}, which the interpreter does not know")
    inner = made.box[-1] * made.strides[-1]
    want(inner % 16 == 0, f"rows of the box have {inner} bytes, no multiple of 16")
    want(not made.swizzle or inner <= made.swizzle, f"rows of the box have {inner} bytes, swizzled within {made.swizzle}")


@driver_call("piuppppp" + "iiii")
def cuTensorMapEncodeTiled(
    machine: Machine, place: int, kind: int, rank: int, address: int, extents: int, strides: int, box: int, steps: int, *options: int
) -> None:
    interleave, swizzle, _, _ = options
    require(machine.capability >= 90, Code.NOT_SUPPORTED, "tensor maps, before compute capability 9.0")
    require(place % 64 == 0, Code.INVALID_VALUE, f"the tensor map at {place:#x} is not aligned to 64 bytes")
    require(1 <= rank <= 5 and kind in _TYPES and swizzle in _SWIZZLE_BYTES, Code.INVALID_VALUE, "rank, type or swizzle")
    element = 2 if _TYPES[kind] == "bfloat16" else np.dtype(_TYPES[kind]).itemsize
    made = TensorMap(
        address,
        _TYPES[kind],
        tuple(reversed(get_all(extents, rank))),
        (*reversed(get_all(strides, rank - 1)), element),
        tuple(reversed(get_all(box, rank, ctypes.c_uint32))),
        _SWIZZLE_BYTES[swizzle],
    )
    _check(made, get_all(steps, rank, ctypes.c_uint32), interleave)
    ctypes.memmove(place, made.pack(), BYTES)
