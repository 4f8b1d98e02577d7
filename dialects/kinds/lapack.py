"""lapack: a routine of linear algebra on a batch of matrices, by libraries on CUDA."""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from hloom.runtime.lapack import run_lapack
from hloom.runtime.lapack_routines import NAMES, ON_HOST, REAL, ROUTINES, faults

from .._support import WRITES_OUTPUTS, DenseArray
from ..lhlo import Buffer, LhloOp, referenced
from ..storage import byte_size
from ..thunk import Machine, ThunkOp, integers, slices


class LhloLapack(LhloOp, name="lapack", traits=[WRITES_OUTPUTS]):
    """A routine of LAPACK by a library; see `thunk.lapack`. An output that it updates is, or holds, what its input does."""

    inputs: Sequence[Operand[Buffer]]
    outputs: Sequence[Operand[Buffer]]
    routine: ir.StringAttr
    numbers: DenseArray
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        whole = [[(0, 0, byte_size(referenced(ref).type)) for ref in refs] for refs in (self.inputs, self.outputs)]
        yield from _faults(self, *whole)


class ThunkLapack(ThunkOp, name="lapack"):
    """A routine of LAPACK on a batch of column-major matrices, by cuSOLVER, cuBLAS or cuSPARSE, on CUDA alone; what
    none of them has, the host computes.

    `routine` is its name for real numbers after the letter of its type (s, d, c, z): "cgetrf", "corgqr". `numbers` are the batch, the
    extents of each operand and the options: runtime/lapack_routines.py has a row for each routine, with what it reads and writes. A
    slice that the routine updates holds the operand when it begins.
    """

    reads: DenseArray
    writes: DenseArray
    routine: ir.StringAttr
    numbers: DenseArray
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        yield from _faults(self, slices(self, "reads"), slices(self, "writes"))

    def simulate(self, machine: Machine) -> None:
        """By LAPACK on the host."""
        name, numbers = self.routine.value, integers(self.numbers)
        reads, writes = slices(self, "reads"), slices(self, "writes")
        updated = {result for _, result in ROUTINES[name[1:]].aliases}
        for place in updated:
            machine.read(writes[place], f"what a {name} updates")
        given = [machine.read(at, f"operand {i} of a {name}").copy() for i, at in enumerate(reads)]
        results = [machine.write(at) for at in writes]
        run = _FORMS.get(name[1:])
        if run is None:
            run_lapack(name, [*given, *results], numbers)
        else:
            run(name[0], numbers, given, results)

    def describe(self) -> str:
        where = "host" if self.routine.value[1:] in ON_HOST else "library"
        return f"{where} {self.routine.value} {'x'.join(map(str, integers(self.numbers)[: 1 + _extents(self.routine.value)]))}"


def _extents(name: str) -> int:
    """How many of its numbers are extents of the first operand."""
    return len(ROUTINES[name[1:]].operands[0].split()) - 1


def _faults(op: Any, reads: Sequence[Any], writes: Sequence[Any]) -> Iterator[str]:
    name = op.routine.value
    if name not in NAMES:
        yield f"wants a routine that LAPACK does not have, {name}"
        return
    yield from faults(name, integers(op.numbers), reads, writes)


# Forms that LAPACK does not have, by those that it has.


def _gtsv2(letter: str, numbers: Sequence[int], given: list[np.ndarray], results: list[np.ndarray]) -> None:
    diagonals = [each.copy() for each in given[:3]]
    info = np.zeros(4 * numbers[0], np.uint8)
    run_lapack(f"{letter}gtsv", [*given, *diagonals, results[0], info], numbers)


def _xgeev(letter: str, numbers: Sequence[int], given: list[np.ndarray], results: list[np.ndarray]) -> None:
    batch, n, _, mode = numbers
    real = np.dtype(np.float32 if REAL[letter] == "f32" else np.float64)
    complex_ = np.result_type(real, np.complex64)
    matrix, values, vectors, info = results
    told = [batch, n, n, ord("N"), mode]
    unused, right = (np.zeros((batch, n, n), complex_) for _ in "lr")
    if letter in "cz":
        run_lapack(f"{letter}geev", [matrix, values, unused, right, info], told)
        vectors.view(complex_)[: right.size] = right.reshape(-1)
        return
    re, im = np.zeros((2, batch, n), real)
    run_lapack(f"{letter}geev", [matrix, re, im, unused, right, info], told)
    values.view(complex_)[: re.size] = (re + 1j * im).reshape(-1)
    packed = np.where(im[:, :, None] < 0, -right.imag, right.real)  # a vector of the array is a column
    vectors.view(real)[: packed.size] = packed.reshape(-1)


_FORMS = {"gtsv2": _gtsv2, "xgeev": _xgeev}
