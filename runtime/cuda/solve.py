"""thunk.cholesky and thunk.triangular_solve: dense solvers, one matrix of the batch after the other.

Both libraries count columns first: a row-major lower triangle is an upper one to them, and X·op(A) = B is what they are asked for where we
want op(A)·X = B. Both work in place, so the operand is copied to the result first.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import DamagedFileError
from ..thunks import Thunk
from .libraries import checked
from .step import Context, Memory, Needs

_LOWER, _UPPER = 0, 1
_LEFT, _RIGHT = 0, 1
_WIDTH = {"f32": 4, "f64": 8}
_LETTER = {"f32": "s", "f64": "d"}
_BLAS_WORKSPACE = 4 << 20
"""cuBLAS's own default; below 16 KiB its routines may fail."""


def _element(thunk: Thunk) -> str:
    if thunk["element"] not in _WIDTH:
        raise DamagedFileError(f"a thunk.{thunk.kind} of {thunk['element']}")
    return thunk["element"]


class CholeskyStep:
    """`sizes` is [batch, n]; the triangle that `lower` names is factored, the other one is left as it was."""

    def __init__(self, thunk: Thunk):
        self.thunk, self.element = thunk, _element(thunk)
        self.batch, self.n = thunk["sizes"]
        self.side = _UPPER if thunk["lower"] else _LOWER

    @checked("cuSOLVER", "planning a factorisation")
    def prepare(self, needs: Needs) -> None:
        self._solver, self._handle = needs.libraries.module("cuSOLVER"), needs.libraries.handle("cuSOLVER")
        letter = _LETTER[self.element]
        self._run = getattr(self._solver, f"{letter}potrf")
        self._elements = getattr(self._solver, f"{letter}potrf_buffer_size")(self._handle, self.side, self.n, 0, max(1, self.n))
        needs.ask_workspace(self._elements * _WIDTH[self.element])
        self._info = needs.ask_counter()

    def initialise(self, context: Context) -> None:
        self._workspace, self._info_address = context.workspace, context.counter(self._info)

    @checked("cuSOLVER", "factoring a matrix (not every cuSOLVER can be recorded into a CUDA graph)")
    def execute(self, recorder: Any, memory: Memory) -> None:
        source, target = memory.address(self.thunk.reads[0]), memory.address(self.thunk.writes[0])
        recorder.copy(target, source, self.thunk.writes[0].size)
        self._solver.set_stream(self._handle, recorder.stream)
        step = self.n * self.n * _WIDTH[self.element]
        for matrix in range(self.batch if self.n else 0):
            place = target + matrix * step
            self._run(self._handle, self.side, self.n, place, self.n, self._workspace, self._elements, self._info_address)


class TriangularSolveStep:
    """Solves op(A)·X = B, or X·op(A) = B where `left` is 0. `sizes` is [batch, m, n] of X; A is m×m, or n×n.

    `lower`, `transposed` and `unit_diagonal` are 0 or 1.
    """

    def __init__(self, thunk: Thunk):
        self.thunk, self.element = thunk, _element(thunk)
        self.batch, self.m, self.n = thunk["sizes"]
        self.left = bool(thunk["left"])
        self.order = self.m if self.left else self.n

    @checked("cuBLAS", "planning a triangular solve")
    def prepare(self, needs: Needs) -> None:
        self._blas, self._handle = needs.libraries.module("cuBLAS"), needs.libraries.handle("cuBLAS")
        self._run = getattr(self._blas, f"{_LETTER[self.element]}trsm")
        needs.ask_workspace(_BLAS_WORKSPACE)

    def initialise(self, context: Context) -> None:
        self._workspace, self._workspace_bytes = context.workspace, context.workspace_bytes
        self._one = np.ones(1, np.float32 if self.element == "f32" else np.float64)

    @checked("cuBLAS", "solving a triangular system")
    def execute(self, recorder: Any, memory: Memory) -> None:
        a, b = (memory.address(at) for at in self.thunk.reads)
        x = memory.address(self.thunk.writes[0])
        recorder.copy(x, b, self.thunk.writes[0].size)
        self._blas.set_stream(self._handle, recorder.stream)
        self._blas.set_workspace(self._handle, self._workspace, self._workspace_bytes)
        side, triangle = (_RIGHT if self.left else _LEFT), (_UPPER if self.thunk["lower"] else _LOWER)
        flags = (side, triangle, int(self.thunk["transposed"]), int(self.thunk["unit_diagonal"]))
        width = _WIDTH[self.element]
        for matrix in range(self.batch if self.m and self.n else 0):
            places = (a + matrix * self.order**2 * width, self.order, x + matrix * self.m * self.n * width, self.n)
            self._run(self._handle, *flags, self.n, self.m, self._one.ctypes.data, *places)
