"""A producer copied into each of its consumers, after which it is gone: for plain loops only, a reduction is never done twice.

    e = exp(x);  s = sum(e);  q = e / n        becomes        s = sum(exp(x));  q = exp(x) / n

Declines: values that the host needs, more than `MOST` consumers, and a block that copies would double.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..codes import Code, DecisionCode
from ..group import Group, Union
from ..grouping import Grouping
from ..legality import Limits, Refusal
from . import Proposal, Rule
from .vertical import vertical

MOST = 8
"""A producer is copied into no more consumers than this."""


class Copies(Rule):
    name = "copies"

    def __init__(self) -> None:
        self._made: dict[tuple[int, int], tuple[Group, Group, Union | Refusal]] = {}
        """The last union of two nodes, and of which groups: a producer is proposed again when any of its consumers has changed."""

    def proposals(self, grouping: Grouping, limits: Limits, node: int, upstream: bool) -> Iterator[Proposal]:
        for producer in (*(sorted(grouping.dag.predecessors[node]) if upstream else ()), node):
            group = grouping.groups[producer] if 2 <= len(grouping.dag.successors[producer]) <= MOST else None
            if group and group.iterates and not any(value in grouping.pinned for value in group.results):
                yield from self._copied(grouping, limits, producer, group)

    def told(self, u: Group, target: Group, unions: tuple[Union, ...]) -> tuple[DecisionCode, str]:
        return Code.FUSED_DUPLICATED, f"cheap to evaluate in each of {len(unions)} consumers"

    def _copied(self, grouping: Grouping, limits: Limits, node: int, group: Group) -> Iterator[Proposal]:
        consumers = sorted(grouping.dag.successors[node], key=grouping.dag.order.__getitem__)
        if grouping.growth + (len(consumers) - 1) * group.ops > 2 * len(grouping.nodes):
            return
        unions = []
        for consumer in consumers:
            into = grouping.groups[consumer]
            union = self._union(grouping, limits, node, consumer, group, into) if into else None
            if not isinstance(union, Union):
                return
            unions.append(union)
        yield Proposal(node, tuple(consumers), tuple(unions))

    def _union(self, grouping: Grouping, limits: Limits, node: int, consumer: int, group: Group, into: Group) -> Union | Refusal:
        """The same object for the same groups, by which the planner knows its price."""
        known = self._made.get((node, consumer))
        if known is not None and known[0] is group and known[1] is into:
            return known[2]
        union = vertical(group, into, (), grouping.program.values, limits)
        self._made[node, consumer] = group, into, union
        return union
