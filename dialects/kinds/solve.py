"""cholesky and triangular_solve: dense solvers by a library. No pass makes them yet."""

from torch_mlir import ir

from .._support import DenseArray
from ..thunk import ThunkOp


class ThunkCholesky(ThunkOp, name="cholesky"):
    """Cholesky factors of a batch of row-major matrices by a library, on CUDA alone.

    `sizes` is [batch, n]. The lower triangle is read and written where `lower` is 1, else the upper one; the other is copied.
    """

    reads: DenseArray
    writes: DenseArray
    sizes: DenseArray
    lower: ir.IntegerAttr
    element: ir.TypeAttr
    source: ir.ArrayAttr


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
