"""thunk: the host program over buffer slices."""

# No `from __future__ import annotations` here: the definitions below are read from the annotations as types, not as text.

from collections.abc import Iterator

from torch_mlir import ir
from torch_mlir.dialects import ext

from ._support import WRITES_ANYTHING, DenseArray, Violation, load_once, symbols, violation, walk
from .lhlo import signature
from .storage import byte_size


class Thunk(ext.Dialect, name="thunk"):
    """The host program: what happens on a call, over slices of buffers.

    The buffers of a program are numbered: its arguments, its results, the arena, then one for each of its `constants`. The runtime makes
    an array of pointers in this order; a constant's pointer leads to the bytes of the memref.global of that name. A slice is (buffer,
    byte offset, byte size); attributes hold slices one after the other in an array of integers.
    """


class ProgramOp(Thunk.Operation, name="program", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """An entry of the host program, `@main` or `@init`.

    `argument_bytes`, `result_bytes` and `arena_bytes` are the sizes of those buffers. `signature` is the function type over tensors that
    the program implements, `value_attributes` holds the dictionary of attributes of each argument and result.
    """

    sym_name: ir.StringAttr
    signature: ir.TypeAttr
    value_attributes: ir.ArrayAttr
    argument_bytes: DenseArray
    result_bytes: DenseArray
    arena_bytes: ir.IntegerAttr
    constants: ir.ArrayAttr
    body: ir.Region


class KernelOp(Thunk.Operation, name="kernel", traits=[WRITES_ANYTHING]):
    """Runs the tiles of the kernel `callee` on the slices in `reads` and `writes`.

    `cost_ps` estimates the time of the whole kernel on one thread in picoseconds. `tiles` is the number of tiles, -1 before the kernel is
    generated; `grain` the fewest tiles that are worth a thread, 0 where the kernel is too small to share among threads.
    """

    callee: ir.FlatSymbolRefAttr
    reads: DenseArray
    writes: DenseArray
    cost_ps: ir.IntegerAttr
    tiles: ir.IntegerAttr
    grain: ir.IntegerAttr
    source: ir.ArrayAttr


class GemmOp(Thunk.Operation, name="gemm", traits=[WRITES_ANYTHING]):
    """A batched row-major matrix product by a library: C = f(op(A)·op(B) + residual + bias).

    `reads` holds A, B, then the bias and the residual where there are any. `transposed` is [A, B], 0 or 1 each; `sizes` is
    [batch, m, n, k]; `leading` and `strides` hold the distance of rows and of batches of A, B and C in elements. `element` is the type of
    A and B, `result` that of C, the bias and the residual: `element`, or f32 for f16 and bf16. Sums are taken in f32, f64 for f64.
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


class ConvOp(Thunk.Operation, name="conv", traits=[WRITES_ANYTHING]):
    """A forward convolution by a library: y = f(x * w + bias + residual), f the identity or max(·, 0).

    `reads` holds x, w, then the bias and the residual where `bias` and `residual` are 1; f is max(·, 0) where `relu` is 1. All are of type
    `element`; sums are taken in f32, f64 for f64. `input`, `filter` and `output` are the sizes [n, c, spatial…], [k, c / groups, spatial…]
    and [n, k, spatial…], one to three spatial dimensions; the strides are in elements, in the same order whatever the layout. The bias
    has k elements; the residual lies as y does. A dilation of d reads every d-th element.
    """

    reads: DenseArray
    writes: DenseArray
    element: ir.TypeAttr
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


class FftOp(Thunk.Operation, name="fft", traits=[WRITES_ANYTHING]):
    """A batch of Fourier transforms over the innermost dimensions by a library, on CUDA alone.

    `transform` is fft, ifft, rfft or irfft; inverse ones are not scaled. `lengths` are the extents of the transformed dimensions of the
    signal, one to three; `element` is f32 or f64, of which a complex number is a pair.
    """

    reads: DenseArray
    writes: DenseArray
    transform: ir.StringAttr
    lengths: DenseArray
    batch: ir.IntegerAttr
    element: ir.TypeAttr
    source: ir.ArrayAttr


class CholeskyOp(Thunk.Operation, name="cholesky", traits=[WRITES_ANYTHING]):
    """Cholesky factors of a batch of row-major matrices by a library, on CUDA alone.

    `sizes` is [batch, n]. The lower triangle is read and written where `lower` is 1, else the upper one; the other is copied.
    """

    reads: DenseArray
    writes: DenseArray
    sizes: DenseArray
    lower: ir.IntegerAttr
    element: ir.TypeAttr
    source: ir.ArrayAttr


class TriangularSolveOp(Thunk.Operation, name="triangular_solve", traits=[WRITES_ANYTHING]):
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


class CopyOp(Thunk.Operation, name="copy", traits=[WRITES_ANYTHING]):
    """Copies the slice in `reads` to the one in `writes`, of the same size."""

    reads: DenseArray
    writes: DenseArray


class FillOp(Thunk.Operation, name="fill", traits=[WRITES_ANYTHING]):
    """Repeats the bytes of `pattern` over the slice in `writes`."""

    writes: DenseArray
    pattern: DenseArray


class WhileOp(Thunk.Operation, name="while", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """Runs `cond`, then `body` and again, as long as the byte in the slice `reads` is 1 after `cond`."""

    reads: DenseArray
    cond: ir.Region
    body: ir.Region


class ForOp(Thunk.Operation, name="for", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """Runs `body` `trip_count` times."""

    trip_count: ir.IntegerAttr
    body: ir.Region


class CaseOp(Thunk.Operation, name="case", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """Runs one of the `thunk.sequence` ops in `branches`: the one that the integer in the slice `reads` counts, the last if there is none.

    The integer is as wide as the slice.
    """

    reads: DenseArray
    branches: ir.Region


class SequenceOp(Thunk.Operation, name="sequence", traits=[WRITES_ANYTHING, ir.NoTerminatorTrait]):
    """Runs the ops of `body` one after the other."""

    body: ir.Region


class ProfileBeginOp(Thunk.Operation, name="profile_begin", traits=[WRITES_ANYTHING]):
    """Starts the measurement number `id`, of what `label` says; `hloom_profile_begin(int64_t id)` on the CPU."""

    id: ir.IntegerAttr
    label: ir.StringAttr


class ProfileEndOp(Thunk.Operation, name="profile_end", traits=[WRITES_ANYTHING]):
    """Ends the measurement number `id`; `hloom_profile_end(int64_t id)` on the CPU."""

    id: ir.IntegerAttr


def register(context: ir.Context) -> None:
    """Loads the dialect into `context`, once."""
    load_once(Thunk, context)


Slice = tuple[int, int, int]
FLOAT_BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8}
EPILOGUES = ("none", "bias", "relu", "bias_relu", "gelu", "bias_gelu")
"""Of a matrix product by a library."""


def integers(attribute: ir.Attribute) -> list[int]:
    return list(ir.DenseI64ArrayAttr(attribute))


def slices(op: ir.Operation, name: str) -> list[Slice]:
    """The slices that the attribute `name` of an op holds, none if it has no such attribute."""
    flat = integers(op.attributes[name]) if name in op.attributes else []
    return list(zip(flat[::3], flat[1::3], flat[2::3]))


def buffer_sizes(program: ir.Operation, named: dict[str, ir.Operation]) -> list[int]:
    """The byte size of every buffer of a program. Raises KeyError if a constant is not in the module."""
    sizes = [*integers(program.attributes["argument_bytes"]), *integers(program.attributes["result_bytes"])]
    sizes.append(ir.IntegerAttr(program.attributes["arena_bytes"]).value)
    for symbol in program.attributes["constants"]:
        held = named[ir.FlatSymbolRefAttr(symbol).value]
        sizes.append(byte_size(ir.TypeAttr(held.attributes["type"]).value))
    return sizes


def verify(module: ir.Operation) -> list[Violation]:
    """What does not hold of the module's thunk programs beyond what their definitions constrain."""
    named = symbols(module)
    found: list[Violation] = []
    for program in named.values():
        if program.name != "thunk.program":
            continue
        try:
            sizes = buffer_sizes(program, named)
        except KeyError as error:
            found.append(violation(program, f"the constant @{error.args[0]} is not in this module"))
            continue
        arguments = len(integers(program.attributes["argument_bytes"]))
        writable = range(arguments, arguments + len(integers(program.attributes["result_bytes"])) + 1)
        for op in walk(program, "thunk."):
            messages = [*_check_slices(op, sizes, writable), *_check_op(op, named)]
            found.extend(violation(op, message) for message in messages)
    return found


def _check_slices(op: ir.Operation, sizes: list[int], writable: range) -> Iterator[str]:
    for name in ("reads", "writes"):
        if name in op.attributes and len(integers(op.attributes[name])) % 3:
            yield f"{name} holds no slices of three numbers"
            continue
        for buffer, offset, size in slices(op, name):
            if not 0 <= buffer < len(sizes):
                yield f"{name} buffer {buffer} of {len(sizes)}"
            elif offset < 0 or size < 0 or offset + size > sizes[buffer]:
                yield f"{name} bytes {offset} to {offset + size} of buffer {buffer}, which has {sizes[buffer]}"
            elif name == "writes" and buffer not in writable:
                yield f"writes buffer {buffer}, an argument or a constant"


def _check_op(op: ir.Operation, named: dict[str, ir.Operation]) -> Iterator[str]:
    view, reads, writes = op.opview, slices(op, "reads"), slices(op, "writes")
    if isinstance(view, KernelOp):
        yield from _check_kernel(view, named, [size for _, _, size in reads + writes])
    elif isinstance(view, CopyOp) and [size for _, _, size in reads] != [size for _, _, size in writes]:
        yield "copies between slices of different sizes"
    elif isinstance(view, FillOp):
        width = len(ir.DenseI8ArrayAttr(view.pattern))
        if not width or len(writes) != 1 or writes[0][2] % width:
            yield f"a pattern of {width} bytes does not fill the slice"
    elif isinstance(view, WhileOp) and [size for _, _, size in reads] != [1]:
        yield "the predicate is no slice of one byte"
    elif isinstance(view, CaseOp):
        inside = [inner.operation.name for block in view.branches.blocks for inner in block.operations]
        if len(reads) != 1 or reads[0][2] not in (1, 2, 4, 8):
            yield "the index is no slice of 1, 2, 4 or 8 bytes"
        if not inside or any(name != "thunk.sequence" for name in inside):
            yield "holds something else than one thunk.sequence or more"
    elif isinstance(view, GemmOp):
        yield from _check_gemm(view, reads, writes)
    elif isinstance(view, ConvOp):
        yield from _check_conv(view, reads, writes)


def _check_kernel(op: KernelOp, named: dict[str, ir.Operation], sizes: list[int]) -> Iterator[str]:
    name = ir.FlatSymbolRefAttr(op.callee).value
    callee = named.get(name)
    if callee is None or callee.name not in ("func.func", "llvm.func", "gpu.func"):
        yield f"runs @{name}, which is no function of this module"
    elif callee.name != "llvm.func":
        expected = [byte_size(kind) for kind in signature(callee)]
        if sizes != expected:
            yield f"slices of {sizes} bytes for @{name}, which takes {expected}"


def _check_gemm(op: GemmOp, reads: list[Slice], writes: list[Slice]) -> Iterator[str]:
    sizes, leading, strides, transposed = (integers(a) for a in (op.sizes, op.leading, op.strides, op.transposed))
    epilogue, accumulate = ir.StringAttr(op.epilogue).value, ir.IntegerAttr(op.accumulate).value
    element, result = (str(ir.TypeAttr(each).value) for each in (op.element, op.result))
    bias = epilogue.startswith("bias")
    counts = [len(part) for part in (reads, writes, sizes, leading, strides, transposed)]
    if counts != [2 + bias + accumulate, 1, 4, 3, 3, 2] or epilogue not in EPILOGUES or accumulate not in (0, 1):
        yield "wants A, B, the bias and the residual to read, one slice to write, four sizes, three leading dimensions and strides"
        return
    if element not in FLOAT_BYTES or result not in (element, "f32") or (element, result) == ("f64", "f32"):
        yield f"multiplies {element} to {result}"
        return
    batch, m, n, k = sizes
    shapes = [(k, m) if transposed[0] else (m, k), (n, k) if transposed[1] else (k, n), (m, n)]
    matrices = [("A", 0, element, reads[0]), ("B", 1, element, reads[1]), ("C", 2, result, writes[0])]
    if accumulate:
        matrices.append(("the residual", 2, result, reads[-1]))
    for name, at, kind, (_, _, size) in matrices:
        rows, columns = shapes[at]
        last = (batch - 1) * strides[at] + (rows - 1) * leading[at] + columns
        if min(batch, rows, columns) and last * FLOAT_BYTES[kind] > size:
            yield f"{name} reaches past its slice of {size} bytes"
    if bias and n * FLOAT_BYTES[result] > reads[2][2]:
        yield f"the bias reaches past its slice of {reads[2][2]} bytes"


def _check_conv(op: ConvOp, reads: list[Slice], writes: list[Slice]) -> Iterator[str]:
    tensors = [(integers(op.attributes[name]), integers(op.attributes[f"{name}_strides"])) for name in ("input", "filter", "output")]
    window = [integers(a) for a in (op.window_strides, op.padding_low, op.padding_high, op.dilations)]
    groups, bias, residual, relu = (ir.IntegerAttr(a).value for a in (op.groups, op.bias, op.residual, op.relu))
    element = str(ir.TypeAttr(op.element).value)
    spatial = len(window[0])
    lengths = {len(part) for part in window} | {len(part) - 2 for pair in tensors for part in pair}
    flags = {bias, residual, relu} <= {0, 1}
    if lengths != {spatial} or not 1 <= spatial <= 3 or not flags or len(reads) != 2 + bias + residual or len(writes) != 1:
        yield "wants x, w, the bias and the residual to read, one slice to write, and one to three spatial dimensions throughout"
        return
    if element not in FLOAT_BYTES:
        yield f"convolves {element}"
        return
    (n, c, *image), (k, depth, *taps), (batch, features, *result) = (sizes for sizes, _ in tensors)
    if groups < 1 or (n, k, c) != (batch, features, depth * groups) or k % groups:
        yield f"{groups} groups do not take {c} to {k} channels"
    for extent, tap, made, stride, low, high, dilation in zip(image, taps, result, *window):
        if min(stride, dilation) < 1 or made != max(0, (low + extent + high - (tap - 1) * dilation - 1) // stride + 1):
            yield f"a window of {tap} over {extent} elements gives no {made}"
    slices_of = [("x", 0, reads[0]), ("w", 1, reads[1]), ("y", 2, writes[0])]
    if residual:
        slices_of.append(("the residual", 2, reads[-1]))
    for name, at, (_, _, size) in slices_of:
        sizes, strides = tensors[at]
        last = sum((extent - 1) * stride for extent, stride in zip(sizes, strides))
        if min(sizes) and (last + 1) * FLOAT_BYTES[element] > size:
            yield f"{name} reaches past its slice of {size} bytes"
    if bias and k * FLOAT_BYTES[element] > reads[2][2]:
        yield f"the bias reaches past its slice of {reads[2][2]} bytes"
