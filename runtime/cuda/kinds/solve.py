"""thunk.cholesky and thunk.triangular_solve: dense solvers, one matrix of the batch after the other.

Both libraries count columns first: a row-major lower triangle is an upper one to them, and X·op(A) = B is what they are asked for where we
want op(A)·X = B. Both work in place, so the operand is copied to the result first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...schema import one_of, row
from ...thunk_schema import BIT, FLOATS, NAMES, SIZE, Tensor, dense, moving, past_slices
from ...thunks import Launches, Op, Thunk
from ..libraries import checked
from ..step import BufferAddresses, Context, Needs, Step

_LOWER, _UPPER = 0, 1
_LEFT, _RIGHT = 0, 1
_LETTER = {"f32": "s", "f64": "d"}
_BLAS_WORKSPACE = 4 << 20
"""cuBLAS's own default; below 16 KiB its routines may fail."""
_FIELDS = {"lower": BIT, "element": one_of(*_LETTER), "source": NAMES}
_FLAGS = dict.fromkeys(("left", "transposed", "unit_diagonal"), BIT)


class CholeskyStep(Step, kind="cholesky", fields={**moving(1), **_FIELDS, "sizes": row(SIZE, SIZE)}):
    """`sizes` is [batch, n]; the triangle that `lower` names is factored, the other one is left as it was.

    Where there is a second slice to write, it gets an i32 for each matrix, 0 if there is a factor.
    """

    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        if len(op["reads"]) != 1 or len(op["writes"]) not in (1, 2):
            yield "wants matrices to read, factors and perhaps numbers to write"
            return
        yield from past_slices(factor_tensors(op))

    def __init__(self, thunk: Thunk):
        super().__init__(thunk)
        self.element: str = thunk["element"]
        self.batch, self.n = thunk["sizes"]
        self.side = _UPPER if thunk["lower"] else _LOWER

    @checked("cuSOLVER", "planning a factorisation")
    def prepare(self, needs: Needs) -> None:
        self._solver, self._handle = needs.libraries.module("cuSOLVER"), needs.libraries.handle("cuSOLVER")
        letter = _LETTER[self.element]
        self._run = getattr(self._solver, f"{letter}potrf")
        self._elements = getattr(self._solver, f"{letter}potrf_buffer_size")(self._handle, self.side, self.n, 0, max(1, self.n))
        needs.ask_workspace(self._elements * FLOATS[self.element])
        self._info = needs.ask_counter()

    def initialise(self, context: Context) -> None:
        self._workspace, self._info_address = context.workspace, context.counter(self._info)

    @checked("cuSOLVER", "factoring a matrix (not every cuSOLVER can be recorded into a CUDA graph)")
    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        source, target = buffers.address(self.thunk.reads[0]), buffers.address(self.thunk.writes[0])
        if source != target:
            recorder.copy(target, source, self.thunk.writes[0].size)
        info = buffers.address(self.thunk.writes[1]) if len(self.thunk.writes) == 2 else None
        self._solver.set_stream(self._handle, recorder.stream)
        step = self.n * self.n * FLOATS[self.element]
        for matrix in range(self.batch if self.n else 0):
            place = target + matrix * step
            told = self._info_address if info is None else info + 4 * matrix
            self._run(self._handle, self.side, self.n, place, self.n, self._workspace, self._elements, told)


class TriangularSolveStep(Step, kind="triangular_solve", fields={**moving(2, 1), **_FIELDS, **_FLAGS, "sizes": row(*[SIZE] * 3)}):
    """Solves op(A)·X = B, or X·op(A) = B where `left` is 0. `sizes` is [batch, m, n] of X; A is m×m, or n×n.

    `lower`, `transposed` and `unit_diagonal` are 0 or 1.
    """

    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        return past_slices(solve_tensors(op))

    def __init__(self, thunk: Thunk):
        super().__init__(thunk)
        self.element: str = thunk["element"]
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
    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        a, b = (buffers.address(at) for at in self.thunk.reads)
        x = buffers.address(self.thunk.writes[0])
        if x != b:
            recorder.copy(x, b, self.thunk.writes[0].size)
        self._blas.set_stream(self._handle, recorder.stream)
        self._blas.set_workspace(self._handle, self._workspace, self._workspace_bytes)
        side, triangle = (_RIGHT if self.left else _LEFT), (_UPPER if self.thunk["lower"] else _LOWER)
        flags = (side, triangle, int(self.thunk["transposed"]), int(self.thunk["unit_diagonal"]))
        width = FLOATS[self.element]
        for matrix in range(self.batch if self.m and self.n else 0):
            places = (a + matrix * self.order**2 * width, self.order, x + matrix * self.m * self.n * width, self.n)
            self._run(self._handle, *flags, self.n, self.m, self._one.ctypes.data, *places)


def factor_tensors(op: Op) -> list[Tensor]:
    """What a cholesky reads and writes, as an artifact holds it; its numbers, 4 bytes each, count as f32."""
    batch, n = op["sizes"]
    names = ("the matrices", "the factors")
    found = [dense(name, (batch, n, n), op["element"], at) for name, at in zip(names, (*op["reads"], op["writes"][0]))]
    return [*found, *(dense("the numbers", (batch,), "f32", at) for at in op["writes"][1:])]


def solve_tensors(op: Op) -> list[Tensor]:
    """A, B and X of a triangular_solve."""
    batch, m, n = op["sizes"]
    order = m if op["left"] else n
    shapes = {"A": (batch, order, order), "B": (batch, m, n), "X": (batch, m, n)}
    return [dense(name, shape, op["element"], at) for (name, shape), at in zip(shapes.items(), (*op["reads"], *op["writes"]))]
