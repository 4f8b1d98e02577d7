"""A vector loop cut where its body's comparisons with constants turn: between two cuts they are known, and so is what a select takes.

    select (%i < 64), %x[min (%i, 63)], %y[max (%i - 64, 0)]          for %i in 0 to 64: %x[%i]; for %i in 64 to 128: %y[%i - 64]

So are concatenations and pads: what was a gather at clamped indices and a select is a load of neighbours.

Must hold: the extent of the loop is constant, and so is what its index is compared with. Declined: more than six cuts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from torch_mlir import ir

from ...common.linear_index import LinearIndex
from ...common.rewriting import ops_in
from ...common.scalars import constant_integer
from .comparisons import PREDICATES
from .lanes import Lanes
from .nests import chunks
from .work import Work

_MOST_CUTS = 6


def cuts(works: list[Work], loop: int) -> list[int]:
    """Where comparisons of the index of `loop` with constants turn, in order; none where they are too many."""
    extent = works[0].extents[loop]
    if not isinstance(extent, int):
        return []
    found = {cut for work in works if work.block is not None for cut in _turns(work.block, loop) if 0 < cut < extent}
    return sorted(found) if len(found) <= _MOST_CUTS else []


def _turns(block: ir.Block, loop: int) -> set[int]:
    """The values of the loop's index from which on a comparison or clamp of it gives something else."""
    ahead: dict[ir.Value, int] = {}  # values that are the loop's index and so much
    found: set[int] = set()
    for op in ops_in(block):
        if op.name == "linalg.index" and ir.IntegerAttr(op.attributes["dim"]).value == loop:
            ahead[op.results[0]] = 0
        if len(op.operands) != 2 or op.operands[0] not in ahead:
            continue
        offset, number = ahead[op.operands[0]], constant_integer(op.operands[1])
        if number is None:
            continue
        if op.name in ("arith.addi", "arith.subi"):
            ahead[op.results[0]] = offset + (number if op.name == "arith.addi" else -number)
        elif op.name in ("arith.maxsi", "arith.minsi"):
            found.add(number - offset + (op.name == "arith.minsi"))
            ahead[op.results[0]] = offset
        elif op.name == "arith.cmpi":
            found |= {number - offset, number - offset + 1} & _steps(op, number - offset)
    return found


def _steps(op: ir.Operation, number: int) -> set[int]:
    """Where a comparison with `number` turns."""
    predicate = PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value]
    return {"slt": {number}, "sge": {number}, "sle": {number + 1}, "sgt": {number + 1}}.get(predicate, {number, number + 1})


def segments(extent: int, at: list[int], count: int, least: int, body: Callable[[LinearIndex, Lanes], None]) -> None:
    """Chunks of each piece between two cuts, whose lanes know how far their indices reach."""
    for first, end in zip([0, *at], [*at, extent]):
        length = end - first

        def chunk(start: LinearIndex, lanes: Lanes, first: int = first, length: int = length) -> None:
            if start.is_constant:
                live = min(lanes.count, length - start.constant)
                body(start + first, replace(lanes, live=live))
                return
            last = length - length % lanes.count - lanes.count
            body(start + first, replace(lanes, live=lanes.count, reach={v: (0, last) for v in start.terms}))

        chunks(length, count, least, chunk)
