"""How many scalars a thread holds at once in a turn: the carries, what was read before the loop, and what the body has still to use."""

from __future__ import annotations

from collections import Counter

from .nodes import Carry, Known
from .parts import Part


def held_scalars(part: Part) -> int:
    """Of one element of the tile, at least; nodes are computed in the order of their numbers."""
    nodes = part.tracer.nodes
    inside = [node for node in nodes if node.scope.depth]
    before = {each for node in inside for each in node.operands if not each.scope.depth and not isinstance(each, Known)}
    carried = sum(len(loop.slots) for loop in part.tracer.loops.values())
    nexts = {node for loop in part.tracer.loops.values() for node in loop.nexts}
    last = {each: node.number for node in inside for each in node.operands if each not in nexts}
    ends: Counter[int] = Counter()
    now = most = 0
    for node in inside:
        now -= ends[node.number]
        if isinstance(node, (Carry, Known)):
            continue
        now += 1
        most = max(most, now)
        if node in last:
            ends[last[node]] += 1
    return len(before) + carried + most
