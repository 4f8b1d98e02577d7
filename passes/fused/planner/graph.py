"""The dependence graph of groups, contracted under a maintained topological order.

Contracting u → v must not close a cycle. With `order` a topological number for each node and lo = order[u] < hi = order[v]:

- if all successors of u are v, the merged node takes hi; if all predecessors of v are u, it takes lo;
- else gather F, what u reaches below hi: an edge from F to v is a cycle; without F the merged node takes hi;
- else gather B, what reaches v above lo, and refill the slots of u, B, F and v in the order B, merged, F.

Each merge moves the smaller adjacency into the larger, so all merges together cost O((V + E) log V) plus what the searches visit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from .codes import Code

BUDGET = 4096
"""A search that visits more nodes than this gives up."""


class Dag:
    """Nodes 0 … n-1, in topological order at first. `merge` returns the surviving node, or the reason for refusing."""

    def __init__(self, count: int, edges: Iterable[tuple[int, int]]):
        self.successors: list[set[int]] = [set() for _ in range(count)]
        self.predecessors: list[set[int]] = [set() for _ in range(count)]
        self.order = list(range(count))
        self.moved: set[int] = set()
        """The nodes that made room for others."""
        for u, v in edges:
            self.successors[u].add(v)
            self.predecessors[v].add(u)

    def degree(self, u: int) -> int:
        """How many nodes depend on u, or u on them."""
        return len(self.successors[u]) + len(self.predecessors[u])

    def merge(self, u: int, v: int) -> int | Code:
        """Contracts u and v; CYCLE if a path of two or more edges joins them, CYCLE_BUDGET if that cannot be told cheaply."""
        if self.order[u] > self.order[v]:
            u, v = v, u
        placed = self.placed(u, v)
        if isinstance(placed, Code):
            return placed
        slot, moved = placed
        for node, to in moved.items():
            self.order[node] = to
        self.moved.update(moved)
        kept, gone = (u, v) if self.degree(u) >= self.degree(v) else (v, u)
        self._redirect(gone, kept)
        self.order[kept] = slot
        return kept

    def dissolve(self, u: int) -> None:
        """Removes u after its work was copied into every successor: they now depend on what u depended on."""
        for p in self.predecessors[u]:
            self.successors[p].discard(u)
            self.successors[p] |= self.successors[u]
        for s in self.successors[u]:
            self.predecessors[s].discard(u)
            self.predecessors[s] |= self.predecessors[u]
        self.successors[u], self.predecessors[u] = set(), set()

    def _redirect(self, gone: int, target: int) -> None:
        for mine, theirs in ((self.successors, self.predecessors), (self.predecessors, self.successors)):
            for y in mine[gone]:
                theirs[y].discard(gone)
                if y != target:
                    mine[target].add(y)
                    theirs[y].add(target)
            mine[target].discard(gone)
            mine[gone] = set()

    def placed(self, u: int, v: int) -> tuple[int, dict[int, int]] | Code:
        """The topological number that the merged node would have, and those of the nodes that would make room for it."""
        if self.order[u] > self.order[v]:
            u, v = v, u
        lo, hi = self.order[u], self.order[v]
        if self.successors[u] <= {v}:
            return hi, {}
        if self.predecessors[v] <= {u}:
            return lo, {}
        forward = self._gather(u, v, self.successors, lambda slot: slot < hi)
        if isinstance(forward, Code):
            return forward
        if not forward:
            return hi, {}
        backward = self._gather(v, u, self.predecessors, lambda slot: slot > lo)
        if isinstance(backward, Code):
            return backward
        before, after = (sorted(nodes, key=self.order.__getitem__) for nodes in (backward, forward))
        slots = sorted({hi, *(self.order[x] for x in (*before, *after))})  # u's own slot is left free
        merged = slots[len(before)]
        return merged, {**dict(zip(before, slots)), **dict(zip(after, slots[len(before) + 1 :]))}

    def _gather(self, start: int, end: int, adjacent: list[set[int]], between: Callable[[int], bool]) -> set[int] | Code:
        """What `start` reaches strictly between the two, without the direct edge; CYCLE if that reaches `end`."""
        found = {x for x in adjacent[start] if x != end and between(self.order[x])}
        todo = list(found)
        while todo:
            for y in adjacent[todo.pop()]:
                if y == end:
                    return Code.CYCLE
                if y not in found and between(self.order[y]):
                    found.add(y)
                    todo.append(y)
            if len(found) > BUDGET:
                return Code.CYCLE_BUDGET
        return found
