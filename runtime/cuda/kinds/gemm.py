"""thunk.gemm: a matrix product by cuBLASLt, with its bias, activation and residual as the library's epilogue.

cuBLASLt counts columns first: a row-major matrix is the transpose of what it sees. So it is asked for Cᵀ = op(B)ᵀ·op(A)ᵀ, which lies in
memory as the C that is wanted, and whose bias, one value for each of our columns, is the one for each row that it knows. The residual is
its C with β = 1. The algorithm is asked for once, when the program is loaded, and kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...errors import CudaError
from ...schema import one_of, row
from ...thunk_schema import BIT, FLOATS, NAMES, SIZE, Tensor, moving, past_slices
from ...thunks import Launches, Op, Thunk
from ..arrays import ALIGNMENT
from ..libraries import checked, generated_instead
from ..step import BufferAddresses, Context, Needs, Step

_WORKSPACE = 32 << 20
"""What NVIDIA advises for Hopper; the heuristic counts on no more than it is told of."""
_SPLIT_SUMS = "COMPUTE_TYPE"
"""Where a sum is split among blocks the parts are added in the type of the arithmetic, not in that of the result (f16, bf16)."""

_DATA = {"f32": 0, "f64": 1, "f16": 2, "i8": 3, "i32": 10, "bf16": 14, "f8E4M3FN": 28}
"""cudaDataType_t."""
_COMPUTE = {"f32": 68, "f64": 70, "i32": 72}
"""cublasComputeType_t: in f32 (64 is in f16), in f64, in i32. Sums of f8 are added up in f32 now and then (no FAST_ACCUM)."""
_SCALARS = {"f32": np.float32, "f64": np.float64, "i32": np.int32}
RESULTS = {
    "f16": ("f16", "f32"), "bf16": ("bf16", "f32"), "f32": ("f32",), "f64": ("f64",), "i8": ("i32",), "f8E4M3FN": ("f32", "f16", "bf16"),
}  # fmt: skip
"""What the library makes of products of elements of a type."""
EPILOGUES = {
    "none": "DEFAULT", "bias": "BIAS", "relu": "RELU", "bias_relu": "RELU_BIAS", "gelu": "GELU", "bias_gelu": "GELU_BIAS",
}  # fmt: skip


_FIELDS = {
    **moving(),
    "transposed": row(BIT, BIT),
    "sizes": row(*[SIZE] * 4),
    "leading": row(*[SIZE] * 3),
    "strides": row(*[SIZE] * 3),
    "element": one_of(*RESULTS),
    "result": one_of(*FLOATS, "i32"),
    "epilogue": one_of(*EPILOGUES),
    "accumulate": BIT,
    "source": NAMES,
}


class GemmStep(Step, kind="gemm", fields=_FIELDS):
    @staticmethod
    def faults(op: Op, launches: Launches) -> Iterator[str]:
        if len(op["reads"]) != 2 + op["epilogue"].startswith("bias") + op["accumulate"] or len(op["writes"]) != 1:
            yield "wants A, B, the bias and the residual to read, and one slice to write"
            return
        if op["result"] not in RESULTS[op["element"]]:
            yield f"multiplies {op['element']} to {op['result']}"
            return
        for tensor in tensors(op):
            if len(tensor.extents) == 3 and tensor.extents[1] > 1 and tensor.strides[1] < tensor.extents[2]:
                yield f"has rows of {tensor.name} that overlap"
            yield from past_slices([tensor])

    def __init__(self, thunk: Thunk):
        super().__init__(thunk)
        self.batch, self.m, self.n, self.k = thunk["sizes"]
        self.element, self.result = thunk["element"], thunk["result"]
        self.epilogue, self.accumulate = thunk["epilogue"], bool(thunk["accumulate"])
        self.has_bias = self.epilogue.startswith("bias")
        self.empty = 0 in (self.batch, self.m, self.n)

    def prepare(self, needs: Needs) -> None:
        self._lt, self._handle = needs.libraries.module("cuBLASLt"), needs.libraries.handle("cuBLASLt")
        needs.ask_workspace(_WORKSPACE)

    @checked("cuBLASLt", "planning a matrix product")
    def initialise(self, context: Context) -> None:
        lt = self._lt
        self._workspace, self._workspace_bytes = context.workspace, context.workspace_bytes
        sums = {"f64": "f64", "i8": "i32"}.get(self.element, "f32")
        self._alpha, self._beta = np.ones(1, _SCALARS[sums]), np.full(1, self.accumulate, _SCALARS[sums])
        ours, theirs = self.thunk["transposed"], lt.MatmulDescAttribute
        self._operation = lt.matmul_desc_create(_COMPUTE[sums], _DATA[sums])
        context.libraries.at_close(lt.matmul_desc_destroy, self._operation)
        self._set("matmul_desc", self._operation, theirs.TRANSA, int(ours[1]))
        self._set("matmul_desc", self._operation, theirs.TRANSB, int(ours[0]))
        self._set("matmul_desc", self._operation, theirs.EPILOGUE, int(lt.Epilogue[EPILOGUES[self.epilogue]]))
        if self.has_bias:
            self._set("matmul_desc", self._operation, theirs.BIAS_DATA_TYPE, _DATA[self.result])
        m, n, k = self.m, self.n, self.k
        rows, columns = [k if ours[0] else m, n if ours[1] else k, m], [m if ours[0] else k, k if ours[1] else n, n]
        kinds = [self.element, self.element, self.result]
        self._a, self._b, self._c = (
            self._layout(context, _DATA[kind], columns[i], rows[i], self.thunk["leading"][i], self.thunk["strides"][i])
            for i, kind in enumerate(kinds)
        )
        self._algorithm = self._heuristic()

    def _layout(self, context: Context, kind: int, rows: int, columns: int, leading: int, stride: int) -> int:
        """A matrix as cuBLASLt sees it: `rows` is the extent that is contiguous."""
        layout = self._lt.matrix_layout_create(kind, rows, columns, max(leading, rows))
        context.libraries.at_close(self._lt.matrix_layout_destroy, layout)
        if self.batch > 1:
            attribute = self._lt.MatrixLayoutAttribute
            self._set("matrix_layout", layout, attribute.BATCH_COUNT, self.batch)
            self._set("matrix_layout", layout, attribute.STRIDED_BATCH_OFFSET, stride)
        return layout

    def _heuristic(self) -> Any:
        lt, attribute = self._lt, self._lt.MatmulPreferenceAttribute
        preference = lt.matmul_preference_create()
        self._set("matmul_preference", preference, attribute.MAX_WORKSPACE_BYTES, self._workspace_bytes)
        self._set("matmul_preference", preference, attribute.REDUCTION_SCHEME_MASK, int(lt.ReductionScheme[_SPLIT_SUMS]))
        for name, alignment in zip("ABCD", (self._alignment(1), self._alignment(0), self._alignment(2), self._alignment(2))):
            self._set("matmul_preference", preference, attribute[f"MIN_ALIGNMENT_{name}_BYTES"], alignment)
        found, count = lt.MatmulHeuristicResult(1), np.zeros(1, np.int32)
        lt.matmul_algo_get_heuristic(
            self._handle, self._operation, self._b, self._a, self._c, self._c, preference, 1, found.ptr, count.ctypes.data
        )  # fmt: skip
        lt.matmul_preference_destroy(preference)
        if not count[0] or int(found.state):  # the state of a result that is not to be used says why
            shape = f"{self.batch}x{self.m}x{self.n}x{self.k} {self.element} to {self.result}, epilogue {self.epilogue}"
            raise CudaError(f"cuBLASLt has no algorithm for the matrix product {shape}", remedy=generated_instead("dot_general"))
        return found

    def _alignment(self, matrix: int) -> int:
        """What is known of the addresses of A, B, or C and the residual: that of buffers, less where a slice starts between."""
        slices = [self.thunk.reads[0], self.thunk.reads[1], self.thunk.writes[0]]
        parts = [slices[matrix], *([self.thunk.reads[-1]] if matrix == 2 and self.accumulate else [])]
        return min(ALIGNMENT if not part.offset else min(ALIGNMENT, part.offset & -part.offset) for part in parts)

    @checked("cuBLASLt", "running a matrix product")
    def execute(self, recorder: Any, buffers: BufferAddresses) -> None:
        a, b, *more = (buffers.address(at) for at in self.thunk.reads)
        out = buffers.address(self.thunk.writes[0])
        if self.has_bias:
            self._set("matmul_desc", self._operation, self._lt.MatmulDescAttribute.BIAS_POINTER, more[0])
        residual = more[-1] if self.accumulate else out
        self._lt.matmul(
            self._handle, self._operation, self._alpha.ctypes.data, b, self._b, a, self._a, self._beta.ctypes.data, residual, self._c,
            out, self._c, self._algorithm.ptr, self._workspace, self._workspace_bytes, recorder.stream,
        )  # fmt: skip

    def _set(self, what: str, object_: int, attribute: Any, value: int) -> None:
        dtype = getattr(self._lt, f"get_{what}_attribute_dtype")(attribute)
        data = np.array([value], dtype)
        getattr(self._lt, f"{what}_set_attribute")(object_, int(attribute), data.ctypes.data, data.nbytes)


def tensors(op: Op) -> list[Tensor]:
    """A, B and C, then the residual and the bias where there are any; matrices are [batch, row, column]."""
    batch, m, n, k = op["sizes"]
    shapes = [(k, m) if op["transposed"][0] else (m, k), (n, k) if op["transposed"][1] else (k, n), (m, n)]
    places = [((batch, *shape), (stride, lead, 1)) for shape, lead, stride in zip(shapes, op["leading"], op["strides"])]
    a, b, *more = op["reads"]
    found = [Tensor("A", *places[0], op["element"], a), Tensor("B", *places[1], op["element"], b)]
    found.append(Tensor("C", *places[2], op["result"], op["writes"][0]))
    if op["accumulate"]:
        found.append(Tensor("the residual", *places[2], op["result"], more[-1]))
    if op["epilogue"].startswith("bias"):
        found.append(Tensor("the bias", (n,), (1,), op["result"], more[0]))
    return found
