"""Operands of products of narrow elements whose lanes of 32 bits lie in memory as an instruction wants them: they are read where they are.

    A[m, k] bf16, k even        lanes [m][k / 2]: what neighbours in depth are is contiguous, and all else whole lanes apart
    B[k / 2, n, 2] bf16         lanes [k / 2][n]: pack-weights and pack-filters lay bound weights out so

The buffer is seen as one of lanes by a cast, which is gone when buffers have become pointers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from torch_mlir import ir

from ...common.control_flow import LoopBound
from ...common.linear_index import LinearIndex
from ...common.rewriting import value_of
from ...common.storage import Storage
from .access import Access
from .narrow_grouping import Grouping
from .work import Work


def with_lane_loop(work: Work, count: int) -> Work:
    """The work with a loop over the `count` elements of a lane where an operand is read at `k floordiv count` and `k mod count` of a loop
    that is summed: what was k is count times the one loop and the other."""
    loops = len(work.extents)
    wanted = {(str(ir.AffineDimExpr.get(d) % count)): d for d, extent in enumerate(work.extents) if not work.parallel[d] and count > 1}
    split = next((wanted[str(e)] for m in work.maps for e in m.results if str(e) in wanted), None)
    extent = None if split is None else work.extents[split]
    if split is None or not isinstance(extent, int) or extent % count:
        return work
    lane, inside = ir.AffineDimExpr.get(split), ir.AffineDimExpr.get(loops)
    whole = [ir.AffineDimExpr.get(d) for d in range(loops)]
    whole[split] = lane * count + inside
    known = {str(lane % count): inside, str(ir.AffineExpr.get_floor_div(lane, count)): lane}
    at = ir.AffineMap.get(loops + 1, 0, whole)
    maps = [ir.AffineMap.get(loops + 1, 0, [known.get(str(e)) or e.compose(at) for e in m.results]) for m in work.maps]
    extents = [*work.extents, count]
    extents[split] = extent // count
    return replace(work, maps=maps, extents=extents, parallel=[*work.parallel, False])


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
    kind = ir.MemRefType.get([size // count], lane)
    cast = base if kind == base.type else value_of("builtin.unrealized_conversion_cast", kind, [base])
    start = operand.at(dict(fixed))
    offset = LinearIndex({value: step // count for value, step in start.terms.items()}, start.constant // count)
    ahead = operand.storage.ahead // count
    return Storage(cast, lane, offset, tuple(strides), sizes, writable=operand.storage.writable, ahead=ahead)
