"""lhlo: the program over buffers. Each op reads its inputs and writes its destination, which comes last."""

# No `from __future__ import annotations` here: the definitions below are read from the annotations as types, not as text.

import math
from collections.abc import Iterator, Sequence

from torch_mlir import ir
from torch_mlir.dialects import ext
from torch_mlir.dialects.ext import Operand, Result

from ._support import WRITES_ANYTHING, WRITES_OUTPUTS, DenseArray, Violation, load_once, symbols, violation, walk
from .storage import byte_size, element_bytes, storage_type


class Lhlo(ext.Dialect, name="lhlo"):
    """The program over buffers: each op reads its inputs and writes its destination, which comes last."""


class Buffer(Lhlo.Type, name="buffer"):
    """Stands for a memref in an operand list: the definition language wants all operands of a list to have one type."""


class RefOp(Lhlo.Operation, name="ref", traits=[ext.Pure]):
    """The reference to a buffer that `lhlo.fusion` takes."""

    buffer: Operand[ir.MemRefType]
    ref: Result[Buffer]


class FusionOp(Lhlo.Operation, name="fusion", traits=[WRITES_OUTPUTS]):
    """Runs the group function `callee` on the inputs and writes its results to the outputs.

    The callee takes and returns tensors; a buffer holds each as `dialects/storage.py` says. `inplace` holds pairs (input, output) that
    are one buffer; no other output shares memory with an input. `source` names the ops of the source program that the group carries.
    """

    inputs: Sequence[Operand[Buffer]]
    outputs: Sequence[Operand[Buffer]]
    callee: ir.FlatSymbolRefAttr
    inplace: DenseArray
    source: ir.ArrayAttr


class GemmOp(Lhlo.Operation, name="gemm", traits=[WRITES_OUTPUTS]):
    """A batched matrix product by a library: for each batch, C[m,n] = f(Σ_k A[m,k]·B[k,n] + residual[m,n] + bias[n]).

    `sizes` is [batch, m, n, k]; `strides` is [batch, row, column] of A, then of B, then of C, in elements. `more` is the bias, where
    `epilogue` names one (see `thunk.gemm`), and the residual, where `accumulate` is 1; that lies as C does.
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


class ConvOp(Lhlo.Operation, name="conv", traits=[WRITES_OUTPUTS]):
    """A forward convolution by a library: y = f(x * w + bias + residual). The attributes are those of `thunk.conv`.

    `more` is the bias and the residual, where `bias` and `residual` are 1.
    """

    x: Operand[ir.MemRefType]
    w: Operand[ir.MemRefType]
    more: Sequence[Operand[Buffer]]
    out: Operand[ir.MemRefType]
    input: DenseArray
    filter: DenseArray
    output: DenseArray
    input_strides: DenseArray
    filter_strides: DenseArray
    output_strides: DenseArray
    window_strides: DenseArray
    padding_low: DenseArray
    padding_high: DenseArray
    dilations: DenseArray
    groups: ir.IntegerAttr
    bias: ir.IntegerAttr
    residual: ir.IntegerAttr
    relu: ir.IntegerAttr
    source: ir.ArrayAttr


class CopyOp(Lhlo.Operation, name="copy", traits=[WRITES_OUTPUTS]):
    """Copies a buffer to another of the same type that does not overlap it."""

    input: Operand[ir.MemRefType]
    out: Operand[ir.MemRefType]


class FillOp(Lhlo.Operation, name="fill", traits=[WRITES_OUTPUTS]):
    """Sets every element of a buffer to the bytes of `pattern` (one element's bytes)."""

    out: Operand[ir.MemRefType]
    pattern: DenseArray


class WhileOp(Lhlo.Operation, name="while", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """Runs `cond`, which writes `pred`; as long as that holds 1, runs `body` and starts over. Carries are buffers that `body` updates."""

    pred: Operand[ir.MemRefType]
    cond: ir.Region
    body: ir.Region


class ForOp(Lhlo.Operation, name="for", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """Runs `body` a number of times that was known when the program was compiled."""

    trip_count: ir.IntegerAttr
    body: ir.Region


class CaseOp(Lhlo.Operation, name="case", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """Runs one of the `lhlo.branch` ops in `branches`: the one that the integer in `index` counts, the last if there is none."""

    index: Operand[ir.MemRefType]
    branches: ir.Region


class BranchOp(Lhlo.Operation, name="branch", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """One branch of an `lhlo.case`."""

    body: ir.Region


def register(context: ir.Context) -> None:
    """Loads the dialect into `context`, once."""
    load_once(Lhlo, context)


def verify(module: ir.Operation) -> list[Violation]:
    """What does not hold of the module's lhlo ops beyond what their definitions constrain."""
    named = symbols(module)
    found: list[Violation] = []
    for function in named.values():
        for op in walk(function, "lhlo."):
            found.extend(violation(op, message) for message in _check(op, named))
        if function.name not in ("gpu.func", "gpu.module"):  # kernels divide up their shared memory as they like
            for op in walk(function, "memref.view"):
                found.extend(violation(op, message) for message in _check_view(op))
    return found


def _check(op: ir.Operation, named: dict[str, ir.Operation]) -> Iterator[str]:
    view = op.opview
    if isinstance(view, FusionOp):
        yield from _check_call(view, named)
    elif isinstance(view, GemmOp):
        yield from _check_gemm(view)
    elif isinstance(view, ConvOp):
        yield from _check_conv(view)
    elif isinstance(view, CopyOp) and view.input.type != view.out.type:
        yield f"copies {view.input.type} to {view.out.type}"
    elif isinstance(view, FillOp):
        width, pattern = element_width(view.out.type), len(ir.DenseI8ArrayAttr(view.pattern))
        if width != pattern:
            yield f"pattern of {pattern} bytes for elements of {width}"
    elif isinstance(view, WhileOp) and str(view.pred.type) != "memref<i8>":
        yield f"the predicate is {view.pred.type}, not memref<i8>"
    elif isinstance(view, ForOp) and ir.IntegerAttr(view.trip_count).value < 0:
        yield f"trip count {ir.IntegerAttr(view.trip_count).value} is negative"
    elif isinstance(view, CaseOp):
        yield from _check_case(view)
    elif isinstance(view, BranchOp) and op.parent.name != "lhlo.case":
        yield "stands outside of an lhlo.case"


def referenced(ref: ir.Value) -> ir.Value:
    """The memref behind an operand that is an `!lhlo.buffer`."""
    return ref.owner.operation.operands[0]


def element_width(memref: ir.Type) -> int:
    return element_bytes(ir.MemRefType(memref).element_type)


def _check_call(op: FusionOp, named: dict[str, ir.Operation]) -> Iterator[str]:
    name = ir.FlatSymbolRefAttr(op.callee).value
    callee = named.get(name)
    if callee is None or callee.name not in ("func.func", "gpu.func"):
        yield f"calls @{name}, which is no function of this module"
        return
    if any(isinstance(v.owner, ir.Block) or v.owner.operation.name != "lhlo.ref" for v in op.operands):
        yield "an operand is no lhlo.ref"
        return
    inputs, outputs = [referenced(v) for v in op.inputs], [referenced(v) for v in op.outputs]
    expected = signature(callee)
    if len(expected) != len(inputs) + len(outputs):
        yield f"passes {len(inputs)} + {len(outputs)} buffers to @{name}, which has {len(expected)} inputs and outputs"
        return
    for position, (value, wanted) in enumerate(zip(inputs + outputs, expected)):
        if not _same_elements(value.type, wanted):
            yield f"buffer {position} for @{name} is {value.type}, expected {wanted}"
    pairs = list(ir.DenseI64ArrayAttr(op.inplace))
    if len(pairs) % 2:
        yield "inplace holds no pairs"
        return
    for i, o in zip(pairs[::2], pairs[1::2]):
        if not (0 <= i < len(inputs) and 0 <= o < len(outputs)):
            yield f"inplace pair ({i}, {o}) is out of range"
        elif inputs[i] != outputs[o]:
            yield f"input {i} and output {o} are declared in place, but are not one buffer"


def signature(function: ir.Operation) -> list[ir.Type]:
    """The buffers a group function takes: inputs, then outputs. Before `vector` it is a function over tensors, from there over memrefs.

    A kernel's tensor maps, which describe some of its buffers once more, do not count.
    """
    kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
    inputs = list(kind.inputs)
    if [str(t) for t in inputs[:2]] == ["index", "index"]:
        return inputs[2:]
    inputs = [t for t in inputs if not str(t).startswith("!nvgpu.tensormap.descriptor<")]
    return [t if isinstance(t, ir.MemRefType) else storage_type(t) for t in [*inputs, *kind.results]]


def _same_elements(buffer: ir.Type, wanted: ir.Type) -> bool:
    """Whether `buffer` is the memref `wanted`, or the same elements under another shape: a kernel's buffers have one dimension."""
    if buffer == wanted:
        return True
    buffer, wanted = ir.MemRefType(buffer), ir.MemRefType(wanted)
    return buffer.element_type == wanted.element_type and math.prod(buffer.shape) == math.prod(wanted.shape)


def _check_gemm(op: GemmOp) -> Iterator[str]:
    sizes, strides = list(ir.DenseI64ArrayAttr(op.sizes)), list(ir.DenseI64ArrayAttr(op.strides))
    if len(sizes) != 4 or len(strides) != 9 or min(sizes) < 0:
        yield "sizes are not [batch, m, n, k], or strides not three for each matrix"
        return
    more, accumulate = list(op.more), ir.IntegerAttr(op.accumulate).value
    if len(more) != ir.StringAttr(op.epilogue).value.startswith("bias") + accumulate:
        yield f"takes {len(more)} buffers for its bias and residual"
        return
    batch, m, n, k = sizes
    if min(sizes) == 0:
        return
    matrices = [("A", op.a, (m, k), strides[0:3]), ("B", op.b, (k, n), strides[3:6]), ("C", op.out, (m, n), strides[6:9])]
    if accumulate:
        matrices.append(("the residual", referenced(more[-1]), (m, n), strides[6:9]))
    for name, value, (rows, columns), (sb, sr, sc) in matrices:
        last = (batch - 1) * sb + (rows - 1) * sr + (columns - 1) * sc
        if min(sb, sr, sc) < 0 or (last + 1) * element_width(value.type) > byte_size(value.type):
            yield f"{name} reaches past its buffer {value.type}"


def _check_conv(op: ConvOp) -> Iterator[str]:
    tensors = [[list(op.attributes[f"{name}{suffix}"]) for suffix in ("", "_strides")] for name in ("input", "filter", "output")]
    bias, residual = ir.IntegerAttr(op.bias).value, ir.IntegerAttr(op.residual).value
    more = list(op.more)
    if len(more) != bias + residual or any(len(sizes) != len(strides) for sizes, strides in tensors):
        yield f"takes {len(more)} buffers for its bias and residual, or has not one stride a dimension"
        return
    values = [("x", op.x, tensors[0]), ("w", op.w, tensors[1]), ("y", op.out, tensors[2])]
    if residual:
        values.append(("the residual", referenced(more[-1]), tensors[2]))
    for name, value, (sizes, strides) in values:
        last = sum((extent - 1) * stride for extent, stride in zip(sizes, strides))
        if min(sizes) and (last + 1) * element_width(value.type) > byte_size(value.type):
            yield f"{name} reaches past its buffer {value.type}"


def _check_case(op: CaseOp) -> Iterator[str]:
    index = ir.MemRefType(op.index.type)
    if index.rank or not isinstance(index.element_type, ir.IntegerType):
        yield f"the index is {index}, not one integer"
    inside = [inner.operation.name for block in op.branches.blocks for inner in block.operations]
    if not inside or any(name != "lhlo.branch" for name in inside):
        yield "holds something else than one lhlo.branch or more"


def _check_view(op: ir.Operation) -> Iterator[str]:
    source, offset = op.operands[0], op.operands[1].owner
    if isinstance(offset, ir.Block) or offset.operation.name != "arith.constant":
        yield "the offset is no constant"
        return
    start, size, arena = ir.IntegerAttr(offset.operation.attributes["value"]).value, byte_size(op.results[0].type), byte_size(source.type)
    if start % 64:
        yield f"offset {start} is not aligned to 64 bytes"
    if start < 0 or start + size > arena:
        yield f"bytes {start} to {start + size} lie outside the arena of {arena}"
