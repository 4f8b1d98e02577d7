"""PTX texts of small kernels, and what runs them on numpy arrays."""

from __future__ import annotations

import numpy as np

from hloom.compiler.simulator import Counters
from hloom.compiler.simulator.ptx import Module, launch

_HEAD = ".version 8.6\n.target sm_90a\n.address_size 64\n"
_REGISTERS = ".reg .pred %p<20>; .reg .b16 %h<40>; .reg .b32 %r<40>; .reg .b64 %d<40>;"


class Arrays:
    """The arrays of a launch as the device's memory."""

    def __init__(self, arrays):
        self.ranges = [(array.ctypes.data, array.nbytes) for array in arrays]

    def check(self, address, nbytes, write):
        if not any(start <= address and address + nbytes <= start + size for start, size in self.ranges):
            raise IndexError("nothing is allocated there")


def run(body: str, *arrays: np.ndarray, grid=(1, 1, 1), block=(32, 1, 1), shared: int = 0, before: str = "", **more) -> Counters:
    """Runs the body, in which %d0, %d1, … are the arrays' addresses and %r0 the number of the thread in the grid."""
    params = ", ".join(f".param .u64 a{i}" for i in range(len(arrays)))
    loads = "".join(f"ld.param.u64 %d{i}, [a{i}];" for i in range(len(arrays)))
    number = "mov.u32 %r0, %tid.x; mov.u32 %r1, %ctaid.x; mov.u32 %r2, %ntid.x; mad.lo.s32 %r0, %r1, %r2, %r0;"
    text = f"{_HEAD}{before}\n.visible .entry k({params})\n{{ {_REGISTERS} {loads} {number}\n{body}\nret; }}\n"
    given = b"".join(array.ctypes.data.to_bytes(8, "little") for array in arrays)
    return launch(Module(text), "k", grid, block, shared, given, Arrays(arrays), **more)


def elementwise(code: str, kind: str, *operands: np.ndarray, result=None) -> np.ndarray:
    """What an instruction gives for each element: %x, %y, %z are the operands and %w the result."""
    size = operands[0].itemsize
    out = np.zeros(len(operands[0]), operands[0].dtype if result is None else result)
    names = "xyz"[: len(operands)]
    registers = f".reg .{kind} %x, %y, %z; .reg .b{8 * out.itemsize} %w;"
    loads = "".join(
        f"mul.wide.u32 %d9, %r0, {size}; add.s64 %d9, %d9, %d{i}; ld.global.{kind} %{name}, [%d9];" for i, name in enumerate(names)
    )
    store = f"mul.wide.u32 %d9, %r0, {out.itemsize}; add.s64 %d9, %d9, %d{len(operands)}; st.global.b{8 * out.itemsize} [%d9], %w;"
    assert len(out) % 32 == 0
    run(f"{registers} {loads} {code} {store}", *operands, out, grid=(len(out) // 32, 1, 1))
    return out
