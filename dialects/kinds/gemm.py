"""gemm: a batched matrix product by a library."""

from collections.abc import Iterator, Sequence
from math import prod

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects.ext import Operand

from hloom.runtime.cuda.kinds.gemm import EPILOGUES, RESULTS, tensors

from .._support import WRITES_OUTPUTS, DenseArray
from ..host_function import POINTER, HostFunction
from ..lhlo import Buffer, LhloOp, past_buffers, referenced
from ..library_call import accumulator, activated, past_slices, views
from ..thunk import Machine, ThunkOp, integers, slices
from ..thunk_json import plain


class LhloGemm(LhloOp, name="gemm", traits=[WRITES_OUTPUTS]):
    """A batched matrix product by a library: for each batch, C[m,n] = f(Σ_k A[m,k]·B[k,n] + residual[m,n] + bias[n]).

    `sizes` is [batch, m, n, k]; `strides` is [batch, row, column] of A, then of B, then of C, in elements. `more` is the bias, where
    `epilogue` names one (see `thunk.gemm`), and the residual, where `accumulate` is 1; that lies as C does. Bytes whose product is a float
    are codes of f8E4M3FN.
    """

    a: Operand[ir.MemRefType]
    b: Operand[ir.MemRefType]
    more: Sequence[Operand[Buffer]]
    out: Operand[ir.MemRefType]
    sizes: DenseArray
    strides: DenseArray
    epilogue: ir.StringAttr
    accumulate: ir.IntegerAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        sizes, strides = integers(self.sizes), integers(self.strides)
        if len(sizes) != 4 or len(strides) != 9 or min(sizes) < 0:
            yield "sizes are not [batch, m, n, k], or strides not three for each matrix"
            return
        more, accumulate = list(self.more), self.accumulate.value
        if len(more) != self.epilogue.value.startswith("bias") + accumulate:
            yield f"takes {len(more)} buffers for its bias and residual"
            return
        batch, m, n, k = sizes
        if min(sizes) == 0:
            return
        matrices = [
            ("A", self.a, (batch, m, k), strides[0:3]),
            ("B", self.b, (batch, k, n), strides[3:6]),
            ("C", self.out, (batch, m, n), strides[6:9]),
        ]
        if accumulate:
            matrices.append(("the residual", referenced(more[-1]), (batch, m, n), strides[6:9]))
        yield from past_buffers(matrices)

    def computed(self, named: dict[str, ir.Operation]) -> dict[str, ir.Attribute]:
        (_, m, n, k), strides = integers(self.sizes), integers(self.strides)
        a, b = _layout(strides[1], strides[2], m, k), _layout(strides[4], strides[5], k, n)
        numbers = {"transposed": [a[0], b[0]], "leading": [a[1], b[1], strides[7]], "strides": strides[::3]}
        element, result = (ir.MemRefType(each.type).element_type for each in (self.a, self.out))
        if isinstance(element, ir.IntegerType) and isinstance(result, ir.FloatType):
            element = ir.Float8E4M3FNType.get()
        types = {"element": ir.TypeAttr.get(element), "result": ir.TypeAttr.get(result)}
        return {**{name: ir.DenseI64ArrayAttr.get(each) for name, each in numbers.items()}, **types}


def _layout(row: int, column: int, rows: int, columns: int) -> tuple[int, int]:
    """(transposed, leading dimension) of a matrix with these strides, one of which is 1 or of no account."""
    if column == 1 or columns == 1:
        return 0, row if rows > 1 else max(columns, 1)
    return 1, column


class ThunkGemm(ThunkOp, name="gemm"):
    """A batched row-major matrix product by a library: C = f(op(A)·op(B) + residual + bias).

    `reads` holds A, B, then the bias and the residual where there are any. `transposed` is [A, B], 0 or 1 each; `sizes` is
    [batch, m, n, k]; `leading` and `strides` hold the distance of rows and of batches of A, B and C in elements. `element` is the type of
    A and B, `result` that of C, the bias and the residual: `element`, or f32 for f16 and bf16; i32 for i8; f32, f16 or bf16 for f8E4M3FN.
    Sums are taken in f32, f64 for f64, i32 for i8.
    `epilogue` is none, bias, relu, bias_relu, gelu or bias_gelu (gelu by tanh): the bias has n elements, one a column. Where
    `accumulate` is 1 there is a residual, which lies as C does. On the CPU `element` and `result` are f32 or f64, there is no epilogue,
    and the op is a call of this function of the native library (hloom_gemm_f64 for f64):

        void hloom_gemm_f32(int64_t trans_a, int64_t trans_b, int64_t batch, int64_t m, int64_t n, int64_t k, const float *a, int64_t lda,
        int64_t stride_a,
                            const float *b, int64_t ldb, int64_t stride_b, float *c, int64_t ldc, int64_t stride_c);
    """

    reads: DenseArray
    writes: DenseArray
    transposed: DenseArray
    sizes: DenseArray
    leading: DenseArray
    strides: DenseArray
    element: ir.TypeAttr
    result: ir.TypeAttr
    epilogue: ir.StringAttr
    accumulate: ir.IntegerAttr
    source: ir.ArrayAttr

    def violations(self, named: dict[str, ir.Operation]) -> Iterator[str]:
        op = plain(self)
        counts = [len(op[name]) for name in ("reads", "writes", "sizes", "leading", "strides", "transposed")]
        flags = op["epilogue"] in EPILOGUES and op["accumulate"] in (0, 1)
        if counts != [2 + op["epilogue"].startswith("bias") + op["accumulate"], 1, 4, 3, 3, 2] or not flags:
            yield "wants A, B, the bias and the residual to read, one slice to write, four sizes, three leading dimensions and strides"
            return
        element, result = op["element"], op["result"]
        if result not in RESULTS.get(element, ()):
            yield f"multiplies {element} to {result}"
            return
        yield from past_slices(tensors(op))

    def obstacle(self, named: dict[str, ir.Operation]) -> tuple[str, str | None] | None:
        if str(self.element) not in ("f32", "f64") or self.epilogue.value != "none" or len(slices(self, "reads")) != 2:
            return "no matrix product of the CPU's library", None
        return None

    def lower(self, host: HostFunction, loops: int) -> None:
        numbers = (integers(attribute) for attribute in (self.transposed, self.sizes, self.leading, self.strides))
        transposed, sizes, leading, strides = ([host.constant(number) for number in part] for part in numbers)
        matrices = [host.pointer(at) for at in slices(self, "reads") + slices(self, "writes")]
        operands = [part for matrix in zip(matrices, leading, strides) for part in matrix]
        kinds = ", ".join(["i64"] * 6 + [POINTER, "i64", "i64"] * 3)
        host.call(f"hloom_gemm_{self.element}", [*transposed, *sizes, *operands], kinds)

    def simulate(self, machine: Machine) -> None:
        op = plain(self)
        found = views(machine, op, tensors(op))
        wide = accumulator(op["result"])
        a, b = (found[name].astype(wide) for name in "AB")
        total = np.matmul(*(x.swapaxes(1, 2) if flag else x for x, flag in zip((a, b), op["transposed"])))
        if op["accumulate"]:
            total = total + found["the residual"].astype(wide)
        if "the bias" in found:
            total = total + found["the bias"].astype(wide)
        found["C"][:] = activated(total, op["epilogue"].rpartition("_")[2]).astype(found["C"].dtype)

    def describe(self) -> str:
        after = [self.epilogue.value, "residual" * self.accumulate.value]
        sizes = "x".join(map(str, integers(self.sizes)))
        return " ".join(["library gemm", sizes, str(self.element), *(each for each in after if each not in ("none", ""))])

    def flops(self) -> int:
        return 2 * prod(integers(self.sizes))
