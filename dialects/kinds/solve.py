"""cholesky and triangular_solve: dense solvers by a library."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from hloom.runtime.cuda.kinds.solve import factor_tensors, solve_tensors

from .._support import WRITES_OUTPUTS, DenseArray
from ..lhlo import LhloOp
from ..library_call import past_slices, views
from ..storage import byte_size
from ..thunk import Machine, ThunkOp, integers
from ..thunk_json import plain


class LhloCholesky(LhloOp, name="cholesky", traits=[WRITES_OUTPUTS]):
    """Cholesky factors of a batch of row-major matrices by a library, and whether there were any; see `thunk.cholesky`."""

    input: Operand[ir.MemRefType]
    out: Operand[ir.MemRefType]
    info: Operand[ir.MemRefType]
    sizes: DenseArray
    lower: ir.IntegerAttr
    source: ir.ArrayAttr
    written = 2

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        buffers = [(0, 0, byte_size(value.type)) for value in (self.input, self.out, self.info)]
        op = {"sizes": integers(self.sizes), "element": _element(self.out), "reads": buffers[:1], "writes": buffers[1:]}
        yield from past_slices(factor_tensors(op))

    def computed(self, named: dict[str, ir.Operation]) -> dict[str, ir.Attribute]:
        return {"element": ir.TypeAttr.get(ir.MemRefType(self.out.type).element_type)}


class ThunkCholesky(ThunkOp, name="cholesky"):
    """Cholesky factors of a batch of row-major matrices by a library, on CUDA alone.

    `sizes` is [batch, n]. The lower triangle is read and written where `lower` is 1, else the upper one; the other is copied. `writes`
    holds the factors, then, where that is asked for, an i32 for each matrix, 0 if it has a factor.
    """

    reads: DenseArray
    writes: DenseArray
    sizes: DenseArray
    lower: ir.IntegerAttr
    element: ir.TypeAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        op = plain(self)
        if len(op["reads"]) != 1 or len(op["writes"]) not in (1, 2) or len(op["sizes"]) != 2:
            yield "wants matrices to read, factors and perhaps numbers to write, and two sizes"
            return
        yield from past_slices(factor_tensors(op))

    def simulate(self, machine: Machine) -> None:
        op = plain(self)
        found = views(machine, op, factor_tensors(op))
        given, factors = found["the matrices"].copy(), found["the factors"]
        half = np.tril if op["lower"] else np.triu
        factors[:] = given
        for number, matrix in enumerate(given):
            try:
                factor = np.linalg.cholesky(half(matrix) if op["lower"] else half(matrix).T)
            except np.linalg.LinAlgError:
                factor = np.full_like(matrix, np.nan)
            good = bool(np.isfinite(factor).all())
            if good:
                factor = factor if op["lower"] else factor.T
                factors[number] = factor + (matrix - half(matrix))
            if len(op["writes"]) == 2:
                machine.write(tuple(op["writes"][1])).view(np.int32)[number] = not good

    def describe(self) -> str:
        return f"library cholesky {'x'.join(map(str, integers(self.sizes)))} {self.element}"


class LhloTriangularSolve(LhloOp, name="triangular_solve", traits=[WRITES_OUTPUTS]):
    """Solves a batch of triangular systems by a library; see `thunk.triangular_solve`."""

    a: Operand[ir.MemRefType]
    b: Operand[ir.MemRefType]
    out: Operand[ir.MemRefType]
    sizes: DenseArray
    left: ir.IntegerAttr
    lower: ir.IntegerAttr
    transposed: ir.IntegerAttr
    unit_diagonal: ir.IntegerAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        buffers = [(0, 0, byte_size(value.type)) for value in (self.a, self.b, self.out)]
        op = {"sizes": integers(self.sizes), "left": self.left.value, "element": _element(self.out)}
        yield from past_slices(solve_tensors({**op, "reads": buffers[:2], "writes": buffers[2:]}))

    def computed(self, named: dict[str, ir.Operation]) -> dict[str, ir.Attribute]:
        return {"element": ir.TypeAttr.get(ir.MemRefType(self.out.type).element_type)}


class ThunkTriangularSolve(ThunkOp, name="triangular_solve"):
    """Solves op(A)·X = B, or X·op(A) = B where `left` is 0, for a batch of row-major matrices by a library, on CUDA alone.

    `reads` holds A and B, `sizes` is [batch, m, n] of X. A is triangular, as `lower` says; op transposes where `transposed` is 1; the
    diagonal is taken as ones where `unit_diagonal` is 1.
    """

    reads: DenseArray
    writes: DenseArray
    sizes: DenseArray
    left: ir.IntegerAttr
    lower: ir.IntegerAttr
    transposed: ir.IntegerAttr
    unit_diagonal: ir.IntegerAttr
    element: ir.TypeAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        op = plain(self)
        if len(op["reads"]) != 2 or len(op["writes"]) != 1 or len(op["sizes"]) != 3:
            yield "wants two slices to read, one to write, and three sizes"
            return
        yield from past_slices(solve_tensors(op))

    def simulate(self, machine: Machine) -> None:
        op = plain(self)
        a, b = (machine.read(tuple(at), f"operand {i} of a triangular_solve").copy() for i, at in enumerate(op["reads"]))
        tensors = solve_tensors(op)
        dtype = np.dtype(np.float32 if op["element"] == "f32" else np.float64)
        matrices, right = (x.view(dtype)[: int(np.prod(t.extents))].reshape(t.extents) for x, t in zip((a, b), tensors))
        lower, turned = bool(op["lower"]), bool(op["transposed"]) == bool(op["left"])
        matrices = matrices.swapaxes(1, 2) if turned else matrices
        solved = _substituted(matrices, right if op["left"] else right.swapaxes(1, 2), lower != turned, bool(op["unit_diagonal"]))
        solved = solved if op["left"] else solved.swapaxes(1, 2)
        machine.write(tuple(op["writes"][0])).view(dtype)[: solved.size] = solved.reshape(-1)

    def describe(self) -> str:
        return f"library triangular_solve {'x'.join(map(str, integers(self.sizes)))} {self.element}"


def _substituted(a: np.ndarray, b: np.ndarray, lower: bool, unit: bool) -> np.ndarray:
    """X of A·X = B, row by row; of A nothing is read but its triangle."""
    x = b.copy()
    rows = a.shape[1]
    for step in range(rows):
        i = step if lower else rows - 1 - step
        known = slice(0, i) if lower else slice(i + 1, rows)
        x[:, i] -= np.einsum("bk,bkn->bn", a[:, i, known], x[:, known])
        if not unit:
            with np.errstate(divide="ignore", invalid="ignore"):
                x[:, i] /= a[:, i, i, None]
    return x


def _element(value: Any) -> str:
    return str(ir.MemRefType(value.type).element_type)
