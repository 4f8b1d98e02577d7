"""Which groups may stand beside one another: those that read the same value and iterate over the same extents, by topological order.

Each list is sorted, so that a group finds its neighbours without looking at all others: a step size that thousands of updates read would
else be looked through for each of them. A value of which all points read the same element brings no groups together.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Collection, Iterable, Iterator, Sequence

from ...common.index_expression import dims_of
from .axes import Signature
from .graph import Dag
from .group import Group

Key = tuple[int | None, tuple[int, ...]]
"""A value that is read, and extents; None for the groups of single numbers, which need not read the same."""


class Alike:
    """Lists of (topological number, node). `groups` are the planner's, as they stand when a change is told."""

    def __init__(self, dag: Dag, groups: Sequence[Group | None]):
        self.dag, self.groups = dag, groups
        self._listed: dict[int, tuple[int, list[Key]]] = {}
        """Of each node, the topological number that it is listed by, and where."""
        self._lists: dict[Key, list[tuple[int, int]]] = {}
        dag.moved.clear()
        self.changed(range(len(groups)))

    def changed(self, nodes: Iterable[int]) -> None:
        """Lists the nodes as they are now, and those that the graph has moved since."""
        for node in {*nodes, *self.dag.moved}:
            number, keys = self._listed.pop(node, (0, []))
            for key in keys:
                entries = self._lists[key]
                del entries[bisect_left(entries, (number, node))]
            if group := self.groups[node]:
                number, keys = self.dag.order[node], _keys(group)
                self._listed[node] = number, keys
                for key in keys:
                    insort(self._lists.setdefault(key, []), (number, node))
        self.dag.moved.clear()

    def nearest(self, node: int, most: int) -> Iterator[int]:
        """The nodes listed with this one, for each value that it reads the `most` nearest that were not told yet."""
        number, keys = self._listed[node]
        seen = {node}
        for key in keys:
            near = _nearest(self._lists[key], (number, node), seen, most)
            seen.update(near)
            yield from near


def _nearest(entries: list[tuple[int, int]], entry: tuple[int, int], seen: Collection[int], most: int) -> list[int]:
    """The nodes of entries around one of them, nearest first."""
    found: list[int] = []
    low = bisect_left(entries, entry)
    high = low + 1
    while len(found) < most and (low > 0 or high < len(entries)):
        sides = [(abs(entries[at][0] - entry[0]), entries[at][1], at) for at in (low - 1, high) if 0 <= at < len(entries)]
        _, node, at = min(sides)
        low, high = (at, high) if at < low else (low, at + 1)
        if node not in seen:
            found.append(node)
    return found


def _keys(group: Group) -> list[Key]:
    extents = tuple(group.extents((*group.parallel, *group.reduced)))
    return [(value, extents) for value in sorted(group.reads) if _is_worth(group, value)] if extents else [(None, ())]


def _is_worth(group: Group, value: int) -> bool:
    return any(saves(signature, group) for signature in group.reads[value])


def saves(signature: Signature, group: Group) -> bool:
    """Whether who reads a value there beside `group`, which does too, reads less: a number that all points read is read once a kernel."""
    return bool(dims_of(signature)) or all(axis.extent == 1 for axis in group.axes.values())
