"""Operands of products of narrow elements whose lanes of 32 bits lie in memory as an instruction wants them: they are read where they are.

    A[m, k] bf16, k even        lanes [m][k / 2]: what neighbours in depth are is contiguous, and all else whole lanes apart
    B[k / 2, n, 2] bf16         lanes [k / 2][n]: pack-weights and pack-filters lay bound weights out so

The buffer is seen as one of lanes by a cast, which is gone when buffers have become pointers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_mlir import ir

from ...common.control_flow import LoopBound
from ...common.linear_index import LinearIndex
from ...common.rewriting import value_of
from ...common.storage import Storage
from .access import Access
from .narrow_grouping import Grouping


def lies_in_lanes(operand: Access, strides: Sequence[int], grouping: Grouping) -> bool:
    """Whether its elements are what an instruction takes, and those at the beginnings of lanes are whole lanes apart. `strides`: of all
    loops but that over the elements of a lane."""
    storage, count = operand.storage, grouping.count
    steps = [*strides, *operand.origin.terms.values(), operand.origin.constant]
    (size,) = ir.MemRefType(storage.base.type).shape
    return grouping.keeps(storage.element) and storage.panels is None and size % count == 0 and all(step % count == 0 for step in steps)


def viewed(
    operand: Access, fixed: Mapping[int, LinearIndex], grouping: Grouping, strides: Sequence[int], sizes: tuple[LoopBound, ...]
) -> Storage:
    """Its lanes where the loops `fixed` are; `strides` and `sizes` of its dims are in lanes."""
    base, count = operand.storage.base, grouping.count
    lane = grouping.lane(operand.storage.element)
    (size,) = ir.MemRefType(base.type).shape
    cast = value_of("builtin.unrealized_conversion_cast", ir.MemRefType.get([size // count], lane), [base])
    start = operand.at(dict(fixed))
    offset = LinearIndex({value: step // count for value, step in start.terms.items()}, start.constant // count)
    ahead = operand.storage.ahead // count
    return Storage(cast, lane, offset, tuple(strides), sizes, writable=operand.storage.writable, ahead=ahead)
