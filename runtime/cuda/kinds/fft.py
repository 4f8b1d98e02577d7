"""thunk.fft: a batch of Fourier transforms over the innermost dimensions by cuFFT.

`transform` is fft, ifft, rfft or irfft; `lengths` are the extents of the transformed dimensions in the signal; `element` is f32 or f64, of
which a complex number is a pair. cuFFT does not scale inverse transforms: a kernel of the program does. Its transforms from complex to real
may overwrite what they read, so they read a copy.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...schema import each, one_of
from ...thunk_schema import NAMES, SIZE, Tensor, dense, moving, past_slices
from ...thunks import Launches, Op, Thunk
from ..layout import ALIGNMENT
from ..libraries import checked
from ..step import BufferAddresses, Context, Needs, Step

_TYPES = {
    ("fft", "f32"): 0x29, ("ifft", "f32"): 0x29, ("rfft", "f32"): 0x2A, ("irfft", "f32"): 0x2C,
    ("fft", "f64"): 0x69, ("ifft", "f64"): 0x69, ("rfft", "f64"): 0x6A, ("irfft", "f64"): 0x6C,
}  # fmt: skip
"""cufftType: C2C, R2C, C2R, and Z2Z, D2Z, Z2D."""
_RUN = {0x29: "exec_c2c", 0x2A: "exec_r2c", 0x2C: "exec_c2r", 0x69: "exec_z2z", 0x6A: "exec_d2z", 0x6C: "exec_z2d"}
_FORWARD, _INVERSE = -1, 1
_FIELDS = {
    **moving(1, 1),
    "transform": one_of("fft", "ifft", "rfft", "irfft"),
    "lengths": each(SIZE, least=1, most=3),
    "batch": SIZE,
    "element": one_of("f32", "f64"),
    "source": NAMES,
}


def tensors(op: Op) -> list[Tensor]:
    """The signal and the result of a thunk."""
    lengths, element = op["lengths"], op["element"]
    whole, half = (op["batch"], *lengths, 2), (op["batch"], *lengths[:-1], lengths[-1] // 2 + 1, 2)
    signal, result = {"rfft": (whole[:-1], half), "irfft": (half, whole[:-1])}.get(op["transform"], (whole, whole))
    return [dense("the signal", signal, element, op["reads"][0]), dense("the result", result, element, op["writes"][0])]


class FftStep(Step, kind="fft", fields=_FIELDS):
    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        return past_slices(tensors(op))

    def __init__(self, thunk: Thunk):
        super().__init__(thunk)
        self.transform, self.lengths, self.batch = thunk["transform"], list(thunk["lengths"]), thunk["batch"]
        self.type = _TYPES[self.transform, thunk["element"]]
        self.empty = self.batch == 0 or 0 in self.lengths

    @checked("cuFFT", "planning a Fourier transform")
    def prepare(self, needs: Needs) -> None:
        cufft = self._cufft = needs.libraries.module("cuFFT")
        self._plan = needs.libraries.new_handle("cuFFT")
        cufft.set_auto_allocation(self._plan, 0)
        signal, half = math.prod(self.lengths), math.prod(self.lengths[:-1]) * (self.lengths[-1] // 2 + 1)
        distances = {"rfft": (signal, half), "irfft": (half, signal)}.get(self.transform, (signal, signal))
        lengths = np.array(self.lengths, np.int64)
        rank, extents = len(self.lengths), lengths.ctypes.data
        size = cufft.make_plan_many64(self._plan, rank, extents, 0, 1, distances[0], 0, 1, distances[1], self.type, self.batch)
        self._copy_offset = -(-size // ALIGNMENT) * ALIGNMENT
        needs.ask_workspace(self._copy_offset + (self.thunk.reads[0].size if self.transform == "irfft" else 0))

    @checked("cuFFT", "planning a Fourier transform")
    def initialise(self, context: Context) -> None:
        self._cufft.set_work_area(self._plan, context.workspace)
        self._copy = context.workspace + self._copy_offset

    @checked("cuFFT", "running a Fourier transform")
    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        source, target = buffers.address(self.thunk.reads[0]), buffers.address(self.thunk.writes[0])
        if self.transform == "irfft":
            recorder.copy(self._copy, source, self.thunk.reads[0].size)
            source = self._copy
        direction = [_FORWARD if self.transform == "fft" else _INVERSE] if self.transform in ("fft", "ifft") else []
        self._cufft.set_stream(self._plan, recorder.stream)
        getattr(self._cufft, _RUN[self.type])(self._plan, source, target, *direction)
