"""Loop nests for the works of a tile: which loop is vectorised, and its chunks.

Works of equal extents that read each other only at the point where they are share one nest: softmax's exponential and its sum are one
pass over the row. A nest has vector loops of whole chunks and one masked chunk for what is left.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from math import prod

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from hloom.dialects.storage import element_bytes
from hloom.dialects.target import TargetView

from ...common.affine import dim_position, used_dims
from ...common.control_flow import Body, LoopBound, for_each, for_loop, if_then
from ...common.linear_index import LinearIndex
from ...common.storage import Storage
from ...common.tiled_function import is_multiple, last_rest, size_bound
from ...common.vectors import static_mask, vector_of
from .lanes import Lanes
from .work import Work, stride_along

_LONG_BODY = 512
"""A body of more ops gets chunks of half the width: with more lanes, more values would be spilled than are computed in parallel."""

_APART = 8
"""An element that is gathered takes as long as so many that are loaded."""

_FEW_LANES = 8
"""Loops of fewer steps leave most of a register idle."""

_MOST_CHUNKS = 64
"""At most this many chunks are emitted one by one, where it then is known which elements each reads."""


def vector_loop(works: list[Work]) -> int | None:
    """The loop to vectorise: the one with the fewest elements read and written one by one, or few at a time; among equals, the one along
    which most operands are contiguous. None where every loop has a single step."""
    loops = [dim for dim, extent in enumerate(works[0].extents) if extent != 1]
    return min(reversed(loops), key=lambda dim: (sum(_scattered(w, dim) for w in works), -_contiguous(works, dim)), default=None)


def rows_loop(work: Work) -> int | None:
    """The loop over rows that have a lane each, where several values are reduced at once, which no register's lanes combine."""
    if len(work.outputs) < 2:
        return None
    kept = [dim for dim, extent in enumerate(work.extents) if work.parallel[dim] and extent != 1]
    stored = [(m, storage) for m, storage in zip(work.output_maps, work.outputs) if storage is not None]
    return next((dim for dim in reversed(kept) if all(stride_along(m, storage, dim) == 1 for m, storage in stored)), None)


def _scattered(work: Work, dim: int) -> int:
    """The number of elements of operands that are neither contiguous nor constant along the loop `dim`, times `_APART`. Results count
    twice, since inputs can be transposed in registers first (packing.py), but for what is summed: that is read again at each point. Of a
    loop of few steps, along which nothing is gathered, all points, as often as they fill less of a register than others."""
    apart = [_reads(element_bytes(kind), step) for kind, step in work.looked_up(dim) if step not in (-1, 0, 1)]
    idle = 0 if apart else max(0, _FEW_LANES // size_bound(work.extents[dim]) - 1)
    total = (sum(apart) + idle) * prod(map(size_bound, work.extents))
    for number, (m, storage) in enumerate(zip(work.maps, [*work.inputs, *work.outputs])):
        stride = stride_along(m, storage, dim) if isinstance(storage, Storage) else 0
        if isinstance(storage, Storage) and stride not in (-1, 0, 1) and not (number < len(work.inputs) and _lies_near(m, storage, dim)):
            moving = [d for d in range(m.n_dims) if stride_along(m, storage, d) != 0 or not work.parallel[dim]]
            total += prod(size_bound(work.extents[d]) for d in moving) * (
                _reads(element_bytes(storage.element), stride) if number < len(work.inputs) else 2 * _APART
            )
    return total


def _lies_near(m: ir.AffineMap, storage: Storage, dim: int) -> bool:
    """Whether the loop tells a quotient alone, at which neighbours are read (places.py)."""
    moved = [(expression, stride) for expression, stride in zip(m.results, storage.strides) if dim in used_dims(expression)]
    return len(moved) == 1 and moved[0][1] == 1 and isinstance(moved[0][0], ir.AffineFloorDivExpr) and dim_position(moved[0][0].lhs) == dim


def _reads(size: int, stride: int | None) -> int:
    """How many elements of `size` bytes are loaded for each of those that are so far apart (lanes.py); `_APART` for those that are
    gathered."""
    return min(abs(stride), _APART) if stride is not None and size >= 4 else _APART


def _contiguous(works: list[Work], dim: int) -> int:
    """How many operands are contiguous along the loop `dim`, results before what is read, less those that are strided."""
    score = 0
    for work in works:
        inputs = len(work.inputs)
        for number, (m, storage) in enumerate(zip(work.maps, [*work.inputs, *work.outputs])):
            if isinstance(storage, Storage):
                stride = stride_along(m, storage, dim)
                weight = 4 if number >= inputs else 3
                score += weight if stride in (-1, 1) else 0 if stride == 0 else -weight
        score += sum(3 if step in (-1, 1) else -3 for _, step in work.looked_up(dim)) + (1 if work.parallel[dim] else 0)
    return score


def lane_count(works: list[Work], vector: int, target: TargetView, registers: int | None = None) -> int:
    """Lanes of a chunk of the loop `vector`: `registers` registers of the widest type; fewer for long bodies, short loops and gathers."""
    extent = size_bound(works[0].extents[vector])
    widest = max(work.widest() for work in works)
    most = 16
    narrow = widest < 32  # no machine gathers these: with a stride, too, each is read alone
    if any(work.gathers(vector) or (narrow and work.strided(vector)) for work in works):
        widest, most = max(widest, 32), 4
    one = max(1, target.vector_bits // widest)
    if registers is None:
        size = sum(work.body_size() for work in works)
        registers = 4 if size <= _LONG_BODY else 2
    registers = min(registers, most)
    lanes = one * registers
    while lanes > 2 and lanes // 2 >= extent:
        lanes //= 2
    return lanes


def chunks(extent: int | ir.Value, count: int, least: int, body: Callable[[LinearIndex, Lanes], None], together: int = 1) -> None:
    """Emits `body(start, lanes)` for whole chunks of `count` lanes, so many `together`, then for the rest: smaller chunks (of at least
    `least` lanes), the last one masked; a single masked chunk where the size of the rest is known only at run time."""
    whole = whole_part(extent, count)

    def chunk(start: LinearIndex, carried: list[ir.Value]) -> list[ir.Value]:
        body(start, Lanes(count))
        return carried

    in_turns(whole, count, together, [], chunk)
    if isinstance(extent, int):
        _rest(LinearIndex(constant=whole), extent - whole, count, least, body)
        return
    rest = arith.subi(extent, whole)
    known = count // 2 if is_multiple(extent, count // 2) else last_rest(extent, count)
    with if_some(rest):
        if known is None:
            body(LinearIndex.of(whole), Lanes(count, dynamic_mask(count, rest)))
        else:
            _rest(LinearIndex.of(whole), known, count, least, body)


def in_turns(end: LoopBound, step: int, together: int, carried: list[ir.Value], body: Body) -> list[ir.Value]:
    """A loop of whole steps up to `end`, of which each turn takes so many `together`, and the last ones one by one."""
    if together == 1:
        return for_loop(0, end, step, carried, body)

    def turn(start: LinearIndex, values: list[ir.Value]) -> list[ir.Value]:
        for number in range(together):
            values = body(start + number * step, values)
        return values

    whole = whole_part(end, step * together)
    carried = for_loop(0, whole, step * together, carried, turn)
    if not isinstance(end, int) or not isinstance(whole, int):
        return for_loop(whole, end, step, carried, body)
    for start in range(whole, end, step):
        carried = body(LinearIndex(constant=start), carried)
    return carried


def masked_chunks(extent: int | ir.Value, count: int, least: int, body: Callable[[LinearIndex, Lanes], None]) -> None:
    """As `chunks`, but the rest is an iteration of the same loop, in which all chunks are masked: half the code of a long body."""
    if isinstance(extent, int) and (extent % count == 0 or extent < count):
        chunks(extent, count, least, body)
        return
    end = LinearIndex.of(extent)
    for_each(0, extent, count, lambda start: body(start, Lanes(count, dynamic_mask(count, (end - start).value()))))


def _rest(start: LinearIndex, rest: int, lanes: int, least: int, body: Callable[[LinearIndex, Lanes], None]) -> None:
    """The smaller chunks."""
    while rest:
        while lanes > least and lanes // 2 >= rest:
            lanes //= 2
        if lanes > 2 * least and rest <= lanes - lanes // 4:  # half of them and a masked quarter: less than all of them masked
            lanes //= 2
        live = min(lanes, rest)
        body(start, Lanes(lanes, None if live == lanes else static_mask(lanes, live)))
        start, rest = start + live, rest - live


def knows_places(works: list[Work], vector: int, lanes: int) -> bool:
    """Whether elements are read at places that are known where the chunks of the loop `vector` are emitted one by one (places.py)."""
    extent = works[0].extents[vector]
    if not isinstance(extent, int) or extent > _MOST_CHUNKS * lanes:
        return False
    inputs = [(m, s) for work in works for m, s in work.inputs_in_memory() if s.table]
    return any(stride_along(m, s, vector) == 1 and s.offset.is_constant for m, s in inputs)


def chunks_one_by_one(extent: int, lanes: int, body: Callable[[LinearIndex, Lanes], None]) -> None:
    """Emits `body(start, lanes)` once for each chunk of `lanes` lanes, with a constant start; the last chunk is masked."""
    for start in range(0, extent, lanes):
        live = min(lanes, extent - start)
        while lanes > 2 and lanes // 2 >= live:
            lanes //= 2
        body(LinearIndex(constant=start), Lanes(lanes, None if live == lanes else static_mask(lanes, live)))


def dynamic_mask(lanes: int, live: ir.Value) -> ir.Value:
    """The same where `live` is known at run time."""
    return vector.create_mask(vector_of(lanes, ir.IntegerType.get_signless(1)), [live])


def whole_part(extent: LoopBound, step: int) -> LoopBound:
    """The largest multiple of `step` that is not above `extent`."""
    if isinstance(extent, int):
        return extent - extent % step
    return arith.subi(extent, arith.remui(extent, LinearIndex(constant=step).value()))


def if_some(count: ir.Value) -> AbstractContextManager[None]:
    """Emits what follows under the condition that `count` is more than 0."""
    return if_then(arith.cmpi(arith.CmpIPredicate.ugt, count, LinearIndex().value()))


def point_indices(
    rank: int, fixed: Mapping[int, LinearIndex], vector: int | None, start: LinearIndex | None, lanes: Lanes
) -> list[LinearIndex]:
    """The index of each of `rank` loops: what is `fixed`, lanes from `start` on along the loop `vector`, 0 of the others."""
    at = [fixed.get(dim, LinearIndex()) for dim in range(rank)]
    if vector is not None and start is not None:
        at[vector] = start.along_lanes() if lanes.count > 1 else start.uniform()
    return at
