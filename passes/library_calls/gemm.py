"""Dot products as matrix products: what a BLAS takes."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import ClassVar

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from hloom.runtime.cuda.kinds.gemm import RESULTS

from ..common.rewriting import i64_array, i64_attr
from .epilogue import Epilogue

_BYTES = ("i8", "f8E4M3FN")
_ALIGNMENT = 16


@dataclass(frozen=True)
class Gemm:
    """C[b,m,n] = Σ_k A[b,m,k]·B[b,k,n]. `sizes` is (b, m, n, k), `strides` is [batch, row, column] of A, B and C, in elements."""

    sizes: tuple[int, int, int, int]
    strides: tuple[int, ...]
    of_bytes: bool = False

    library: ClassVar = "gemm"
    activations: ClassVar = ("relu", "gelu")
    results: ClassVar = ("f32",)
    """The types of C that the library writes beside that of A and B."""

    @property
    def columns(self) -> tuple[int, int]:
        """(extent, inner): element i of C, as it lies, is of column i // inner % extent."""
        return self.sizes[2], 1

    @property
    def obstacle(self) -> str:
        """Why the library does not take it."""
        if 0 in self.sizes:
            return "it has no elements"
        if not self.of_bytes:
            return ""
        if self.strides[2] != 1 or self.strides[4] != 1:
            return "the library multiplies bytes that lie along what is summed"
        aligned = not any(number % _ALIGNMENT for number in (*self.sizes[1:], self.strides[1], self.strides[5]))
        return "" if aligned else f"the library multiplies bytes by {_ALIGNMENT}"

    def attributes(self, epilogue: Epilogue) -> dict[str, ir.Attribute]:
        """Those of lhlo.gemm."""
        added = {"epilogue": ir.StringAttr.get(epilogue.name), "accumulate": i64_attr(epilogue.residual is not None)}
        return {"sizes": i64_array(self.sizes), "strides": i64_array(self.strides), **added}


def gemm_of(dot: ir.Operation, half: bool = False) -> Gemm | None:
    """The matrix product that a stablehlo.dot_general on row-major operands is.

    Operands and result are f32 or f64 alike; with `half` also f16 or bf16, for which the result may be f32, i8 (i32) or f8E4M3FN. None for
    other types, and if
    the batch, free or contracting dimensions of an operand do not lie evenly one after the other or none of its two strides is 1, so
    that the product would have to be called piece by piece or on a transposed copy.
    """
    if dot.name != "stablehlo.dot_general":
        return None
    a, b, c = (ir.ShapedType(value.type) for value in (*dot.operands, dot.results[0]))
    element, other, result = (str(each.element_type) for each in (a, b, c))
    if element != other or result not in RESULTS.get(element, ()) or (not half and element not in ("f32", "f64")):
        return None
    numbers = _stablehlo.DotDimensionNumbers(dot.attributes["dot_dimension_numbers"])
    batch_a, batch_b = list(numbers.lhs_batching_dimensions), list(numbers.rhs_batching_dimensions)
    sum_a, sum_b = list(numbers.lhs_contracting_dimensions), list(numbers.rhs_contracting_dimensions)
    free_a = [d for d in range(a.rank) if d not in (*batch_a, *sum_a)]
    free_b = [d for d in range(b.rank) if d not in (*batch_b, *sum_b)]
    strides = [_stride(a, batch_a), _stride(a, free_a), _stride(a, sum_a), _stride(b, batch_b), _stride(b, sum_b), _stride(b, free_b)]
    batch, m, n, k = (prod(shape.shape[d] for d in dims) for shape, dims in ((a, batch_a), (a, free_a), (b, free_b), (a, sum_a)))
    known = [stride for stride in strides if stride is not None]
    if len(known) < 6 or not _one_is_unit(known[1:3], (m, k)) or not _one_is_unit(known[4:6], (k, n)):
        return None
    return Gemm((batch, m, n, k), (*known, m * n, n, 1), element in _BYTES)


def _stride(shaped: ir.ShapedType, dims: list[int]) -> int | None:
    """The stride of some dimensions taken as one, the last fastest; None if they cannot be. Dimensions of size 1 may lie anywhere."""
    shape = list(shaped.shape)
    dims = [d for d in dims if shape[d] != 1]
    if not dims:
        return 1
    strides = [prod(shape[d + 1 :]) for d in dims]
    even = all(outer == inner * shape[d] for outer, inner, d in zip(strides, strides[1:], dims[1:]))
    return strides[-1] if even else None


def _one_is_unit(strides: list[int], sizes: tuple[int, int]) -> bool:
    return any(stride == 1 or size == 1 for stride, size in zip(strides, sizes))
