"""The bytes that are live in a block as its groups stand, and what a merge would make of them.

    a = tanh(x);  r = sum(x);  …;  y = f(r)        r moved into its reader keeps x alive all the while; alone it would not

At each slot of the groups' order there lie the results that are still read, or just written; of an op that runs blocks, what is live in
those besides. What the block hands on has memory of its own, and so have constants and arguments. A plan that takes more than the ops did,
each a kernel of its own, is made again under a budget: a merge that would raise the peak above it is declined (PEAK_MEMORY), so that by
induction no plan takes more. Under a limit of the policy, bytes have a price as well: where the peak is above four fifths of the limit, a
merge gains or loses the time in which what it changes of the peak could be written to memory and read back.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

import numpy as np

from .group import Union
from .grouping import Grouping

Span = tuple[int, int]
"""The slots at which a value is made and read last."""
Changes = dict[int, Span | None]
"""New spans of values; None: it is never in memory."""
NEAR_PERCENT = 80
"""The part of a limit up to which bytes have no price."""


class Memory:
    """What is live in the block of a grouping, whose merges it is told of. `inside[op]`: the most bytes that are live in the blocks that an
    op runs. `budget`: what no merge may exceed; `limit`: what the policy gives."""

    def __init__(self, grouping: Grouping, inside: Mapping[int, int], budget: int = 0, limit: int | None = None):
        self.grouping, self.budget, self.limit = grouping, budget, limit
        program, handed = grouping.program, grouping.block.handed
        self.live = np.zeros(len(grouping.nodes), np.int64)
        self._spans: dict[int, Span] = {}
        self._bytes = {v: program.values[v].bytes for op in grouping.nodes for v in program.ops[op].results if v not in handed}
        order = grouping.dag.order
        for node, op in enumerate(grouping.nodes):
            if inside.get(op):
                self._bytes[-1 - node] = inside[op]
                self._put(-1 - node, (order[node], order[node]))
            for value in self._results(node):
                self._put(value, self._span(order[node], grouping.users.get(value, ()), {}))

    @property
    def peak(self) -> int:
        return int(self.live.max(initial=0))

    def changed(self, u: int, targets: Sequence[int], unions: Sequence[Union]) -> Changes:
        """The spans that a merge of `u` with each of the targets changes; those of inner blocks have negative numbers."""
        return self._copied(u, targets) if len(targets) > 1 else self._merged(u, targets[0], unions[0])

    def _copied(self, u: int, targets: Sequence[int]) -> Changes:
        """`u` is gone, and its targets read what it read."""
        users = self.grouping.users
        changes: Changes = dict.fromkeys(self._results(u))
        for value in self._reads(u) & self._spans.keys():
            changes[value] = self._span(self._spans[value][0], (users[value] - {u}).union(targets), {})
        return self._different(changes)

    def _merged(self, u: int, v: int, union: Union) -> Changes:
        """The two are in one slot, for which others may make room; nothing where the graph forbids it."""
        grouping = self.grouping
        placed = grouping.dag.placed(u, v)
        if not isinstance(placed, tuple):
            return {}
        slot, moved = placed
        at = {**moved, u: slot, v: slot}
        changes: Changes = {-1 - node: (to, to) for node, to in at.items() if -1 - node in self._spans}
        made = {value: node for node in at for value in self._results(node)}
        for value in {value for node in at for value in (*self._results(node), *self._reads(node))} & self._spans.keys():
            users = grouping.users.get(value, set())
            inner = made.get(value) in (u, v)
            if inner and value not in union.results:
                changes[value] = None
                continue
            start = at[made[value]] if value in made else self._spans[value][0]
            changes[value] = self._span(start, users - {u, v} if inner else users, at)
        return self._different(changes)

    def raises(self, changes: Changes) -> int:
        """The bytes by which a merge would raise the peak of what it touches above the budget; 0 where it does not."""
        before, after = self._peaks(changes)
        return max(0, after - max(self.budget, before))

    def charged(self, changes: Changes) -> int:
        """The bytes that a merge adds to the peak where the limit is near; negative where it takes some away."""
        if self.limit is None:
            return 0
        before, after = (max(self.limit * NEAR_PERCENT // 100, peak) for peak in self._peaks(changes))
        return after - before

    def commit(self, changes: Changes) -> None:
        """The merge is made."""
        for value, span in changes.items():
            self._put(value, span)

    def _peaks(self, changes: Changes) -> tuple[int, int]:
        """The most bytes, before and after, at the slots that a merge touches."""
        moves = [(span, sign * self._bytes[v]) for v, new in changes.items() for span, sign in ((self._spans[v], -1), (new, 1)) if span]
        if not moves:
            return 0, 0
        low = min(start for (start, _), _ in moves)
        live = self.live[low : 1 + max(end for (_, end), _ in moves)].copy()
        before = int(live.max())
        for (start, end), size in moves:
            live[start - low : end + 1 - low] += size
        return before, int(live.max())

    def _put(self, value: int, span: Span | None) -> None:
        """A value is live over that span, and no other; of what takes no memory here nothing is kept."""
        if value not in self._bytes:
            return
        before = self._spans.pop(value, None)
        for each, size in ((before, -self._bytes[value]), (span, self._bytes[value])):
            if each:
                self.live[each[0] : each[1] + 1] += size
        if span:
            self._spans[value] = span

    def _different(self, changes: Changes) -> Changes:
        return {value: span for value, span in changes.items() if value in self._spans and self._spans[value] != span}

    def _span(self, start: int, users: Collection[int], at: Mapping[int, int]) -> Span:
        order = self.grouping.dag.order
        return start, max((at.get(node, order[node]) for node in users), default=start)

    def _results(self, node: int) -> Collection[int]:
        group = self.grouping.groups[node]
        if group:
            return group.results
        op = self.grouping.program.ops[self.grouping.nodes[node]]
        return () if op.node else op.results  # what was planned is in another group now

    def _reads(self, node: int) -> set[int]:
        group = self.grouping.groups[node]
        return set(group.reads) if group else {read.value for read in self.grouping.program.ops[self.grouping.nodes[node]].reads}
