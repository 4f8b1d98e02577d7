"""Building blocks of GPU kernels: thread and block, barriers, shuffles, accesses of memory, and arithmetic on indices that are values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir
from torch_mlir.dialects import arith, gpu, memref, vector
from torch_mlir.dialects.arith import CmpIPredicate

from hloom.dialects.storage import element_bytes

from ...common.control_flow import if_else
from ...common.linear_index import LinearIndex
from ...common.rewriting import create, index_constant
from ...common.vectors import extract, from_elements, is_vector, splat, vector_of

WORKGROUP = "#gpu.address_space<workgroup>"
WARP = 32
"""Threads that run together, and may exchange values by shuffles."""


def thread_id() -> ir.Value:
    """The number of the thread in its block."""
    return gpu.thread_id(gpu.Dimension.x)


def block_id() -> ir.Value:
    """The number of the block in the grid."""
    return gpu.block_id(gpu.Dimension.x)


def select_each(condition: ir.Value, yes: Sequence[ir.Value], no: Sequence[ir.Value]) -> list[ir.Value]:
    """The values of `yes` where the condition holds, else those of `no`."""
    return [arith.select(condition, a, b) for a, b in zip(yes, no)]


def barrier() -> None:
    """Waits for all threads of the block."""
    gpu.barrier()


def barrier_of(threads: int) -> None:
    """Waits for the first `threads` threads of the block, whole warps, of which alone it is run; gpu.barrier has number 0."""
    i32 = ir.IntegerType.get_signless(32)
    operands = [arith.constant(i32, 1), arith.constant(i32, threads)]
    create("nvvm.barrier", operands=operands, operandSegmentSizes=ir.DenseI32ArrayAttr.get([1, 1]))


def grid_barrier() -> None:
    """Waits for all threads of all blocks."""
    create("grid.barrier")


def shuffle(value: ir.Value, distance: int | ir.Value, mode: gpu.ShuffleMode = gpu.ShuffleMode.XOR) -> ir.Value:
    """The value of the lane whose number is this one's xor `distance`, or, by another mode, so many below, or that; of vectors, element by
    element. Shuffles move 32 bits at least."""
    kind = value.type
    if is_vector(value):
        return from_elements([shuffle(extract(value, i), distance, mode) for i in range(kind.shape[0])])
    i32 = ir.IntegerType.get_signless(32)
    if kind.width >= 32:
        lane = arith.constant(i32, distance) if isinstance(distance, int) else arith.index_castui(i32, distance)
        return gpu.ShuffleOp(value, lane, arith.constant(i32, WARP), mode).shuffleResult
    bits = ir.IntegerType.get_signless(kind.width)
    is_integer = isinstance(kind, ir.IntegerType)
    narrow = value if is_integer else arith.bitcast(bits, value)
    moved = arith.trunci(bits, shuffle(arith.extui(i32, narrow), distance, mode))
    return moved if is_integer else arith.bitcast(kind, moved)


def divide(value: ir.Value, by: int) -> ir.Value:
    """value / by, rounded down; `value` is not negative."""
    return value if by == 1 else arith.divui(value, index_constant(by))


def remainder(value: ir.Value, by: int) -> ir.Value:
    """value % by; `value` is not negative."""
    return index_constant(0) if by == 1 else arith.remui(value, index_constant(by))


def less_than(left: LinearIndex, bound: int) -> ir.Value:
    """left < bound, both not negative."""
    return arith.cmpi(CmpIPredicate.ult, left.value(), index_constant(bound))


def all_of(conditions: Sequence[ir.Value]) -> ir.Value | None:
    """The conjunction of the conditions; None of no condition."""
    total: ir.Value | None = None
    for condition in conditions:
        total = condition if total is None else arith.andi(total, condition)
    return total


def digits(value: ir.Value, sizes: Sequence[int]) -> list[ir.Value]:
    """The digits of `value` to the mixed radix `sizes`, most significant first; the first digit is not bounded, whatever its size."""
    found = []
    for size in reversed(sizes[1:]):
        found.append(remainder(value, size))
        value = divide(value, size)
    return [value, *reversed(found)]


def choose(condition: ir.Value | None, types: Sequence[ir.Type], then: Callable[[], list[ir.Value]]) -> list[ir.Value]:
    """What `then` yields where `condition` holds, zeros elsewhere; a branch, so that nothing is read elsewhere."""
    return then() if condition is None else if_else(condition, types, then, lambda: [splat(t, 0) for t in types])


def load(buffer: ir.Value, indices: Sequence[ir.Value], length: int = 1) -> ir.Value:
    """An element (length 1) or an aligned vector of a buffer."""
    element = ir.MemRefType(buffer.type).element_type
    if length == 1:
        return memref.load(buffer, indices)
    return vector.load(vector_of(length, element), buffer, indices, alignment=length * element_bytes(element))


def store(value: ir.Value, buffer: ir.Value, indices: Sequence[ir.Value]) -> None:
    """Stores an element or an aligned vector."""
    if not is_vector(value):
        memref.store(value, buffer, indices)
        return
    kind = ir.VectorType(value.type)
    vector.store(value, buffer, indices, alignment=kind.shape[0] * element_bytes(kind.element_type))
