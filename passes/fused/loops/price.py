"""What a loop costs as one kernel, and as kernels that the host program calls turn by turn; integers, in picoseconds.

    inside   launch + what is read and written once + turns * arithmetic of all elements
    outside  turns * (turn + kernels * launch + max(carries and what is read, arithmetic))

Inside, what is the same for all elements is computed by every chunk of lanes again. Outside there is a kernel for the tile's carries and one
for those that are the same for all. Where nobody knows how often the loop turns, it is taken to do so `UNKNOWN` times.
"""

from __future__ import annotations

from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import byte_size
from hloom.dialects.target import TargetView

from ...common.ops import OPS
from ..planner.cost import SECOND
from .nodes import Computed, Dot, Element, Folded, Loop, Node, Scope
from .parts import Part
from .rules import region_ops

UNKNOWN = 16
GATHERED = 8
"""An element that does not lie beside its neighbour's costs so many operations."""


@dataclass(frozen=True)
class Price:
    """`work`: operations of a call; `trips`: None where unknown."""

    inside: int
    outside: int
    work: int
    bytes: int
    trips: int | None


def price(part: Part, outer: Loop, target: TargetView) -> Price:
    """Of the part as a kernel, and as it would be in the host program."""
    trips = UNKNOWN if outer.trips is None else outer.trips
    lanes = max(1, part.points)
    chunks = -(-lanes // (4 * target.lanes(32))) if target.kind == "cpu" else lanes
    varying = same = read = 0
    for node in part.tracer.nodes:
        times = _turns(node.scope, outer)
        work = _work(node) * times
        if node.varies:
            varying += work * lanes
        else:
            same += work
        if isinstance(node, Element) and node.scope.depth:
            read += lanes * times * 4 if node.varies else 0
    arithmetic = (varying + same) * SECOND // target.f32_flops
    again = (varying + same * chunks * (target.lanes(32) if target.kind == "cpu" else 1)) * SECOND // target.f32_flops
    carried = sum(byte_size(outer.op.results[carry].type) for carry, point in outer.slots if any(i.dims for i in point))
    once = (2 * carried * SECOND) // target.llc_bytes_per_second
    streamed = read * SECOND // target.llc_bytes_per_second
    kernels = 1 + any(not any(i.dims for i in point) for _, point in outer.slots) * bool(part.extents)
    turn = target.loop_iteration_ps + kernels * target.launch_ps
    inside = target.launch_ps + once + max(again, streamed)
    outside = trips * turn + max(arithmetic, streamed + trips * once)
    return Price(inside, outside, varying + same, 2 * carried, outer.trips)


def _turns(scope: Scope, outer: Loop) -> int:
    """How often a node in that scope is computed."""
    times, at = 1, scope
    while at.loop is not None:
        times *= UNKNOWN if at.loop.trips is None else at.loop.trips
        assert at.parent is not None
        at = at.parent
    return times


def _work(node: Node) -> int:
    if isinstance(node, Computed):
        return OPS[node.op.name].work
    if isinstance(node, Folded):
        return (len(node.operands) - 1) * region_ops(node.op)
    if isinstance(node, Dot):
        return len(node.operands)
    if isinstance(node, Element) and node.varies:
        kind = ir.RankedTensorType(node.value.type)
        last = node.point[-1] if kind.rank else None
        return 1 if last is not None and last.dims else GATHERED
    return 0
