"""The greedy contraction of a block's ops into groups: a priority queue of merges, the most profitable first.

Every candidate is legal and priced; the queue's key holds program order and integers, so the plan is a function of the module and nothing
else. A merge gives the union a new version, drops the entries of the old ones, and prices the union's own edges again. Siblings join the
queue when no vertical merge gains any more.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass

from ...common.index_expression import substitute
from .cost import CostModel
from .graph import Dag
from .group import Group, Union, absorb, copy, seed
from .legality import Limits, Refusal, sibling, vertical
from .records import Block, Decision, Program

SIBLINGS = 8
"""A group is tried beside so many users of the same value, on either side in topological order."""
COPIES = 8
"""A producer is duplicated into no more consumers than this."""

EXACT = 64
"""A group with no more reads and signatures than this is priced anew after each merge."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A legal merge of `u` into each of `targets` (one, unless it duplicates), with figures in picoseconds."""

    kind: str
    u: int
    targets: tuple[int, ...]
    unions: tuple[Union, ...]
    versions: tuple[int, ...]
    before: int
    after: int
    parts: tuple[tuple[int, int], ...]


class Planner:
    """Plans one block. Nodes are the block's planned ops and its control ops, numbered in program order; a control op has no group."""

    def __init__(self, program: Program, block: Block, cost: CostModel, limits: Limits):
        self.program, self.cost, self.limits, self.pinned = program, cost, limits, block.pinned
        self.nodes = [op for op in block.ops if program.ops[op].node or program.ops[op].kind == "control"]
        self.groups: list[Group | None] = [seed(program.ops[op], program) if program.ops[op].node else None for op in self.nodes]
        self.times = [cost.of(group) if group else (0, 0) for group in self.groups]
        self.constant = [op in cost.constant for op in self.nodes]
        self.versions = [0] * len(self.nodes)
        self.owner = list(range(len(self.nodes)))
        self.place = {op: node for node, op in enumerate(self.nodes)}
        self.users: dict[int, set[int]] = {}
        self.readers: dict[int, list[int]] = {}
        self.growth = len(self.nodes)
        edges = []
        for node, op in enumerate(self.nodes):
            for value in dict.fromkeys(read.value for read in program.ops[op].reads):
                self.users.setdefault(value, set()).add(node)
                self.readers.setdefault(value, []).append(op)
                producer = program.values[value].producer
                if producer in self.place:
                    edges.append((self.place[producer], node))
        self.dag = Dag(len(self.nodes), edges)
        self.heap: list[tuple[int, int, int, int, str, int, Candidate]] = []
        self.beside = False
        self.accepted: list[Decision] = []
        self.declined: dict[tuple[int, int], Decision] = {}
        self.offered = 0

    def run(self) -> list[Group | int]:
        """The final groups and the control ops, in a topological order."""
        for node in range(len(self.nodes)):
            self.price_edges(node, upstream=False)
        self.drain()
        self.beside = True
        for node in self.alive():
            self.price_siblings(node)
        self.drain()
        nodes = sorted(range(len(self.nodes)), key=self.dag.order.__getitem__)
        return [self.groups[n] or self.nodes[n] for n in nodes if self.groups[n] or self.program.ops[self.nodes[n]].kind == "control"]

    def alive(self) -> list[int]:
        return [node for node, group in enumerate(self.groups) if group]

    def drain(self) -> None:
        while self.heap:
            candidate = heapq.heappop(self.heap)[-1]
            nodes = (candidate.u, *candidate.targets)
            if all(self.groups[n] for n in nodes) and tuple(self.versions[n] for n in nodes) == candidate.versions:
                self.apply(candidate)

    # -- pricing -----------------------------------------------------------------------------------------------------------------------

    def price_edges(self, node: int, upstream: bool = True) -> None:
        """Prices what concerns a new group: its edges, its duplication and its producers', and its siblings if these are unlocked."""
        if not self.groups[node]:
            return
        producers = sorted(self.dag.predecessors[node]) if upstream else []
        for producer in producers:
            self.price_vertical(producer, node)
        for consumer in sorted(self.dag.successors[node]):
            self.price_vertical(node, consumer)
        for producer in (*producers, node):
            self.price_copies(producer)
        if self.beside:
            self.price_siblings(node)

    def price_vertical(self, u: int, v: int) -> None:
        p, c = self.groups[u], self.groups[v]
        if not p or not c:
            return
        union = vertical(p, c, lambda value: self.needed(value, v), self.program.values, self.limits)
        if not isinstance(union, Union):
            return self.decline(u, v, union)
        self.offer("vertical", u, (v,), (union,))

    def needed(self, value: int, consumer: int) -> bool:
        """Whether others than one consumer need a value as a buffer."""
        users = self.users.get(value, ())
        return value in self.pinned or len(users) - (consumer in users) > 0

    def price_copies(self, u: int) -> None:
        """The producer copied into every consumer, after which it is gone: for plain loops only, a reduction is never done twice."""
        p = self.groups[u]
        if not p or not p.iterates or not 2 <= len(self.dag.successors[u]) <= COPIES or any(value in self.pinned for value in p.results):
            return
        consumers = sorted(self.dag.successors[u], key=self.dag.order.__getitem__)
        if self.growth + (len(consumers) - 1) * p.ops > 2 * len(self.nodes):
            return
        unions = []
        for v in consumers:
            c = self.groups[v]
            union = vertical(p, c, lambda value: False, self.program.values, self.limits) if c else None
            if not isinstance(union, Union):
                return
            unions.append(union)
        self.offer("copies", u, tuple(consumers), tuple(unions))

    def price_siblings(self, u: int) -> None:
        a = self.groups[u]
        if not a or a.contraction is not None or a.window:
            return
        for v in self.neighbours(u, a):
            first, second = (u, v) if self.dag.order[u] < self.dag.order[v] else (v, u)
            if second in self.dag.successors[first]:
                continue
            union = sibling(self.groups[first], self.groups[second], self.program.values, self.limits)  # type: ignore[arg-type]
            if isinstance(union, Union):
                self.offer("sibling", first, (second,), (union,))
            elif union.code != "AXIS_CONFLICT":
                self.decline(first, second, union)

    def neighbours(self, u: int, a: Group) -> Iterator[int]:
        """The groups nearest to u that use a value of its own over the same extents; scalar groups need no common value."""
        key, seen = _extents(a), {u}
        buckets = [self.users[value] for value in sorted(a.reads)] if key else [set(self.alive())]
        for bucket in buckets:
            near = (v for v in bucket if self.groups[v] and v not in seen and _extents(self.groups[v]) == key)  # type: ignore[arg-type]
            nearest = heapq.nsmallest(2 * SIBLINGS, near, key=lambda v: (abs(self.dag.order[v] - self.dag.order[u]), v))
            seen.update(nearest)
            yield from nearest

    def offer(self, kind: str, u: int, targets: tuple[int, ...], unions: tuple[Union, ...]) -> None:
        """Queues a legal merge if it gains enough, else remembers why not."""
        p, nodes = self.groups[u], (u, *targets)
        once = [n for n in nodes if self.constant[n]]  # is computed once, in @init: costs a call nothing
        if len(once) == len(nodes):
            once = []
        before = sum(self.cost.time(*self.times[n]) for n in nodes if n not in once)
        parts = []
        for v, union in zip(targets, unions):
            # a sibling's union is expressed in the first group's axes, a vertical one in the consumer's
            other, base = (v, u) if kind == "sibling" else (u, v)
            parts.append(self.cost.union(self.groups[other], self.groups[base], union, self.times[other], self.times[base]))  # type: ignore[arg-type]
        after = sum(self.cost.time(*part) for part, v in zip(parts, targets) if not (u in once and v in once))
        gain = before - after
        candidate = Candidate(kind, u, targets, unions, tuple(self.versions[n] for n in nodes), before, after, tuple(parts))
        least = min(self.cost.time(*self.times[n]) for n in nodes)  # removing a small kernel gains little of a large one's time
        if gain > max(self.cost.target.min_gain_ps, least // 100):
            key = (-gain, self.dag.order[targets[0]], self.nodes[u], self.nodes[targets[0]], kind)
            self.offered += 1
            heapq.heappush(self.heap, (*key, self.offered, candidate))
        elif kind == "vertical":
            rho = self.rho(p, unions[0])  # type: ignore[arg-type]
            again = rho > 1 and parts[0][1] > sum(self.times[n][1] for n in nodes)
            refusal = Refusal("NO_GAIN", "reading what is computed once is faster" if once else "one kernel is not faster", rho)
            if again and not once:
                refusal = Refusal("RECOMPUTE_TOO_HIGH", "evaluating it again costs more than it saves", rho)
            self.decline(u, targets[0], refusal, unions[0], before, after)

    def rho(self, p: Group, union: Union) -> float:
        """How many times each element of the producer is evaluated."""
        value = next((v for v in union.edge if v in p.results), None)
        if value is None or not p.iterates:
            return 1.0
        merged = Group(union.axes, {}, {}, {})
        points = sum(merged.points(substitute(p.results[value], image)) for image in union.images)
        return points * 100 // max(1, self.program.values[value].elements) / 100

    # -- merging -----------------------------------------------------------------------------------------------------------------------

    def apply(self, candidate: Candidate) -> None:
        if candidate.kind == "copies":
            return self.duplicate(candidate)
        u, (v,), (union,) = candidate.u, candidate.targets, candidate.unions
        decision = self.explain(candidate)
        kept = self.dag.merge(u, v)
        if isinstance(kept, str):
            return self.decline(u, v, Refusal(kept, "another path joins the two groups"), union, candidate.before, candidate.after)
        other, base = (v, u) if candidate.kind == "sibling" else (u, v)
        gone = v if kept == u else u
        self.accepted.append(decision)
        self.release(gone, kept)
        if candidate.kind == "vertical":
            for value in union.edge:
                self.users[value].discard(kept)
        self.groups[kept] = absorb(self.groups[base], self.groups[other], union, self.program.ops)  # type: ignore[arg-type]
        self.groups[gone] = None
        self.constant[kept] = self.constant[u] and self.constant[v]
        self.owner[gone] = kept
        self.renew(kept, candidate.parts[0])

    def duplicate(self, candidate: Candidate) -> None:
        u, p = candidate.u, self.groups[candidate.u]
        assert p is not None
        self.accepted.append(self.explain(candidate))
        self.growth += (len(candidate.targets) - 1) * p.ops
        for value in p.reads:
            self.users[value].discard(u)
            self.users[value].update(candidate.targets)
        for v, union in zip(candidate.targets, candidate.unions):
            self.groups[v] = absorb(self.groups[v], copy(p), union, self.program.ops)  # type: ignore[arg-type]
        self.dag.dissolve(u)
        self.groups[u] = None
        self.owner[u] = candidate.targets[0]
        for v, part in zip(candidate.targets, candidate.parts):
            self.renew(v, part)

    def release(self, gone: int, kept: int) -> None:
        """The values that a merged node read are read by the surviving one."""
        for value in self.groups[gone].reads:  # type: ignore[union-attr]
            self.users[value].discard(gone)
            self.users[value].add(kept)

    def renew(self, node: int, priced: tuple[int, int]) -> None:
        """A new version of a group. Its time is what it was priced at; where that is quick, what it is after equal instances became one."""
        group = self.groups[node]
        assert group is not None
        self.versions[node] += 1
        self.times[node] = self.cost.of(group) if len(group.reads) + len(group.body) <= EXACT else priced
        self.price_edges(node)

    # -- records -----------------------------------------------------------------------------------------------------------------------

    def find(self, node: int) -> int:
        while self.owner[node] != node:
            self.owner[node] = self.owner[self.owner[node]]
            node = self.owner[node]
        return node

    def ends(self, value: int | None, u: int, v: int) -> tuple[int, ...]:
        """The op that produces the value between two groups and the first of v's that reads it; the groups' first ops if there is none."""
        if value is None or self.program.values[value].producer not in self.place:
            return self.nodes[u], self.nodes[v]
        reader = next((op for op in self.readers.get(value, ()) if self.find(self.place[op]) == v), self.nodes[v])
        return self.program.values[value].producer, reader  # type: ignore[return-value]

    def explain(self, candidate: Candidate) -> Decision:
        u, v, union, p = candidate.u, candidate.targets[0], candidate.unions[0], self.groups[candidate.u]
        edge = union.edge[0] if union.edge else None
        code, reason = _accepted(candidate, p, self.groups[v])  # type: ignore[arg-type]
        unread = [x for x in union.edge for _ in candidate.targets]
        unwritten = [] if candidate.kind == "sibling" else [x for x in p.results if x not in union.results]  # type: ignore[union-attr]
        saved = sum(self.program.values[x].bytes for x in (*unread, *unwritten))
        rho = 1.0 if candidate.kind == "sibling" else max(self.rho(p, each) for each in candidate.unions)  # type: ignore[arg-type]
        return Decision(code, "fused", self.ends(edge, u, v), reason, edge, candidate.before, candidate.after, saved, rho)

    def decline(self, u: int, v: int, refusal: Refusal, union: Union | None = None, before: int = 0, after: int = 0) -> None:
        producer, consumer = self.groups[u], self.groups[v]
        assert producer and consumer
        edge = union.edge[0] if union and union.edge else next((x for x in producer.results if x in consumer.reads), None)
        self.declined[u, v] = Decision(refusal.code, "declined", self.ends(edge, u, v), refusal.reason, edge, before, after, 0, refusal.rho)

    def decisions(self) -> list[Decision]:
        """All merges in the order they were made, then the last refusal of each pair of groups that is left."""
        left = [self.declined[pair] for pair in sorted(self.declined) if self.groups[pair[0]] and self.groups[pair[1]]]
        return [*self.accepted, *left]


def _extents(group: Group) -> tuple[int, ...]:
    return tuple(group.extents((*group.parallel, *group.reduced)))


def _accepted(candidate: Candidate, p: Group, c: Group) -> tuple[str, str]:
    """The code and reason of a merge that is made."""
    union = candidate.unions[0]
    if candidate.kind == "sibling":
        return "FUSED_SIBLING", "both read the same value, which is read once"
    if candidate.kind == "copies":
        return "FUSED_DUPLICATED", f"cheap to evaluate in each of {len(candidate.targets)} consumers"
    if p.contraction is not None:
        return "FUSED_EPILOGUE", "applied to the contraction's tile before it is written"
    reduced: set[int] = {i for i, axis in union.axes.items() if axis.reduced}
    persistent = any(expr.dims & reduced for signature in union.results.values() for expr in signature)
    if p.reductions and (union.phases > 1 or persistent):
        return "FUSED_MULTI_REDUCE", "the row stays in the tile between its reduction and its use"
    if any(value in union.results for value in p.results):
        return "FUSED_MULTI_OUTPUT", "the value is written once and used at once"
    if any(expr.depends_on("opaque") for image in union.images for expr in image.values()):
        return "FUSED_DEMAND", "evaluated only where it is needed"
    return "FUSED_VERTICAL", "the value is never written"
