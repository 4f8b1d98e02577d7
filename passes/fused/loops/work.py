"""What the scalars of a loop take to compute, in operations."""

from __future__ import annotations

from collections.abc import Iterable

from ...common.ops import OPS
from .nodes import Computed, Dot, Element, Folded, Loop, Node, Scope
from .rules import region_ops

UNKNOWN = 4
"""Where nobody knows how often a loop turns, it is taken to do so as often."""
GATHERED = 8
"""An element that does not lie beside its neighbour's costs so many operations."""


def work_of_turn(nodes: Iterable[Node], outer: Loop) -> tuple[int, int]:
    """A turn of the outermost loop: what differs between a tile's elements, which each of them takes, and what is the same for all."""
    varying = same = 0
    for node in nodes:
        work = work_in_turn(node, outer) if node.scope.depth else 0
        varying, same = (varying + work, same) if node.varies else (varying, same + work)
    return varying, same


def work_in_turn(node: Node, outer: Loop) -> int:
    """Of a scalar within the outermost loop."""
    return turns_of(node.scope, outer) * work_of(node)


def turns_of(scope: Scope, outer: Loop) -> int:
    """How often a turn of the outer loop computes what lies in that scope."""
    times, at = 1, scope
    while at.loop is not None and at.loop is not outer:
        times *= UNKNOWN if at.loop.trips is None else at.loop.trips
        assert at.parent is not None
        at = at.parent
    return times


def work_of(node: Node) -> int:
    if isinstance(node, Computed):
        return OPS[node.op.name].work
    if isinstance(node, Folded):
        return (len(node.operands) - 1) * region_ops(node.op)
    if isinstance(node, Dot):
        return len(node.operands)
    if isinstance(node, Element) and node.varies:
        last = node.point[-1] if node.point else None
        return 1 if last is not None and last.dims else GATHERED
    return 0
