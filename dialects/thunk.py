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
    """A batched row-major matrix product C = op(A)·op(B) by a library.

    `transposed` is [A, B], 0 or 1 each; `sizes` is [batch, m, n, k]; `leading` and `strides` hold the distance of rows and of batches of
    A, B and C in elements. `element` is f32 or f64. On the CPU it is a call of this function of the native library (hloom_gemm_f64 for
    f64):

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
    element = str(ir.TypeAttr(op.element).value)
    counts = [len(part) for part in (reads, writes, sizes, leading, strides, transposed)]
    if counts != [2, 1, 4, 3, 3, 2] or element not in ("f32", "f64"):
        yield "wants two slices to read, one to write, four sizes, three leading dimensions and strides, f32 or f64"
        return
    batch, m, n, k = sizes
    shapes = [(k, m) if transposed[0] else (m, k), (n, k) if transposed[1] else (k, n), (m, n)]
    width = 4 if element == "f32" else 8
    for name, (rows, columns), lead, stride, (_, _, size) in zip("ABC", shapes, leading, strides, reads + writes):
        if min(batch, rows, columns) and ((batch - 1) * stride + (rows - 1) * lead + columns) * width > size:
            yield f"{name} reaches past its slice of {size} bytes"
