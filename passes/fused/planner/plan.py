"""The greedy contraction of a block's ops into groups: a priority queue of merges, the most profitable first.

The rules (rules/) propose what is legal, the planner prices it; the queue's key holds program order and integers, so the plan is a function
of the module and nothing else. A merge gives the union a new version, drops the queue's entries for the old ones,
and proposes the merges around the union again. Around a large group (cost.py), or one with many neighbours, it proposes only merges with
the neighbours of what the group took in; older entries are priced again when their turn comes. So planning takes time in proportion to the
number of merges. Late rules join the queue when no other merge gains anything.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence, Set
from dataclasses import dataclass

from ...common.index_expression import substitute
from .codes import Code, DecisionCode
from .cost import EXACT, SECOND, CostModel, is_large
from .group import Group, Union
from .grouping import Grouping
from .legality import Limits, Refusal
from .memory import Memory
from .records import Decision
from .rules import Rule, all_rules
from .wishes import Wish, Wishes

FORCED_PS = 1 << 60
"""What a merge that a policy forces is taken to gain, beside its price."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A legal merge of `u` into each of `targets` (one, unless it duplicates), with figures in picoseconds."""

    rule: Rule
    u: int
    targets: tuple[int, ...]
    unions: tuple[Union, ...]
    versions: tuple[int, ...]
    before: int
    after: int
    parts: tuple[tuple[int, int], ...]
    wish: Wish | None = None


class Planner:
    """Plans one block. `memory`: of its grouping, which then declines what would take more than the budget."""

    def __init__(self, grouping: Grouping, cost: CostModel, limits: Limits, wishes: Wishes | None = None, memory: Memory | None = None):
        program, block = grouping.program, grouping.block
        self.memory = memory
        self.program, self.cost, self.limits, self.wishes = program, cost, limits, wishes
        self.once = block.function == "init"
        """Whether this is @init, which runs once: its buffers are memory that nobody has touched, so a merge that saves one pays, however
        little it gains by price."""
        self.grouping = grouping
        self.groups, self.order = self.grouping.groups, self.grouping.dag.order
        self.times = [cost.of(group) if group else (0, 0) for group in self.groups]
        self.constant = [op in cost.constant for op in self.grouping.nodes]
        self.versions = [0] * len(self.groups)
        self.large = {node for node in range(len(self.groups)) if self.grouping.dag.degree(node) > EXACT}
        """The nodes that are, or were, large or of many neighbours: their entries in the queue outlive a merge."""
        self.heap: list[tuple[int, int, int, int, str, int, Candidate]] = []
        self.rules: list[Rule] = []
        self.accepted: list[Decision] = []
        self.declined: dict[tuple[int, int], Decision] = {}
        self.offered = 0
        self.priced: dict[tuple[int, int], tuple[Union, tuple[int, int], tuple[int, int]]] = {}
        """For two nodes: their last union, the versions that it is of, and its price. A rule may propose it again while neither group
        changes."""

    def run(self) -> list[Group | int]:
        """The final groups and the control ops, in a topological order."""
        rules = all_rules()
        for late in (False, True):
            joining = [rule for rule in rules if rule.late == late]
            for node in self.grouping.alive():
                self.propose(node, joining, upstream=False)
            self.rules.extend(joining)
            self.drain()
        return self.grouping.in_order()

    def drain(self) -> None:
        """Makes the queued merges, best first, until none is left; skips those of groups that have changed since."""
        while self.heap:
            candidate = heapq.heappop(self.heap)[-1]
            nodes = (candidate.u, *candidate.targets)
            if not all(self.groups[n] for n in nodes):
                continue
            changed = [n for n, version in zip(nodes, candidate.versions) if self.versions[n] != version]
            if not changed:
                self.apply(candidate)
            elif candidate.rule.lasts and self.large.issuperset(changed):
                (v,) = candidate.targets
                self.propose(v, [candidate.rule], upstream=True, among={candidate.u})

    # -- pricing -----------------------------------------------------------------------------------------------------------------------

    def propose(self, node: int, rules: Sequence[Rule], upstream: bool, among: Set[int] | None = None) -> None:
        """Queues or declines what the rules propose around a group; `among`, if given, restricts lasting rules to merges with these
        nodes."""
        for rule in rules:
            of = (self.grouping, self.limits, node)
            for proposal in rule.proposals(*of, upstream) if among is None or not rule.lasts else rule.among(*of, among):
                if isinstance(proposal.unions, Refusal):
                    self.decline(proposal.u, proposal.targets[0], proposal.unions)
                else:
                    self.offer(rule, proposal.u, proposal.targets, proposal.unions)

    def offer(self, rule: Rule, u: int, targets: tuple[int, ...], unions: tuple[Union, ...]) -> None:
        """Queues a legal merge if it gains enough, else remembers why not."""
        nodes = (u, *targets)
        once = []  # of a call's kernels, those computed in @init, which cost it nothing
        if not all(self.constant[n] for n in nodes):
            once = [n for n in nodes if self.constant[n] and not self.is_sooner_made(n)]
        alone = [self.cost.time(*self.times[n]) for n in nodes]
        before = sum([time for n, time in zip(nodes, alone) if n not in once])
        parts = [self.price(rule, u, v, union) for v, union in zip(targets, unions)]
        after = sum(self.cost.time(*part) for part, v in zip(parts, targets) if not (u in once and v in once))
        after += sum(self.cost.copied(self.grouping.at(u), self.grouping.at(v)) for v in targets)
        gain = before - after - self.held(u, targets, unions)
        wish = self.wishes.of(self.grouping.at(u), [self.grouping.at(v) for v in targets], rule.name) if self.wishes else None
        if wish and not wish.forced:
            return self.decline(
                u, targets[0], Refusal(Code.POLICY_FORBIDDEN, "the policy keeps them apart"), unions[0], before, after, wish.rule
            )
        candidate = Candidate(rule, u, targets, unions, tuple(self.versions[n] for n in nodes), before, after, tuple(parts), wish)
        least = min(alone)  # removing a small kernel gains little of a large one's time
        if wish or gain > max(self.cost.target.min_gain_ps, 0 if self.once else least // 100):
            gain += FORCED_PS if wish else 0
            ops = self.grouping.nodes
            self.offered += 1
            heapq.heappush(self.heap, (-gain, self.order[targets[0]], ops[u], ops[targets[0]], rule.name, self.offered, candidate))
        elif rule.tells_price:
            rho = self.rho(self.grouping.at(u), self.grouping.at(targets[0]), unions[0])
            again = rho > 1 and parts[0][1] > sum(self.times[n][1] for n in nodes)
            refusal = Refusal(Code.NO_GAIN, "reading what is computed once is faster" if once else "one kernel is not faster", rho)
            if again and not once:
                refusal = Refusal(Code.RECOMPUTE_TOO_HIGH, "evaluating it again costs more than it saves", rho)
            self.decline(u, targets[0], refusal, unions[0], before, after)

    def is_sooner_made(self, node: int) -> bool:
        """Whether a group without inputs is computed faster than its result is read, because the caches do not hold it (a large iota).
        Keeping it from call to call would take memory for good, and kernels would wait for reading it."""
        group, (memory, arithmetic) = self.grouping.at(node), self.times[node]
        written = sum(self.program.values[value].bytes for value in group.results)
        return not group.reads and written > self.cost.target.llc_bytes and arithmetic < memory

    def price(self, rule: Rule, u: int, v: int, union: Union) -> tuple[int, int]:
        """(memory, arithmetic) of a union."""
        known, versions = self.priced.get((u, v)), (self.versions[u], self.versions[v])
        if known is not None and known[0] is union and known[1] == versions:
            return known[2]
        other, base = (v, u) if rule.into_first else (u, v)
        priced = self.cost.union(self.grouping.at(other), self.grouping.at(base), union, self.times[other], self.times[base])
        self.priced[u, v] = union, versions, priced
        return priced

    def held(self, u: int, targets: tuple[int, ...], unions: tuple[Union, ...]) -> int:
        """The price of the bytes that a merge adds to a memory peak near the policy's limit: what writing and reading them would cost."""
        if self.memory is None or self.memory.limit is None:
            return 0
        charged = self.memory.charged(self.memory.changed(u, targets, unions))
        return 2 * charged * SECOND // self.cost.target.dram_bytes_per_second

    def rho(self, p: Group, c: Group, union: Union) -> float:
        """How many times each element of the producer is evaluated."""
        value = next((v for v in union.edge if v in p.results), None)
        if value is None or not p.iterates:
            return 1.0
        merged = Group(union.axes, {}, {}, {}, alone=c.alone)
        points = sum(merged.points(substitute(p.results[value], image)) for image in union.images)
        return points * 100 // max(1, self.program.values[value].elements) / 100

    # -- merging -----------------------------------------------------------------------------------------------------------------------

    def apply(self, candidate: Candidate) -> None:
        """Makes a merge, or remembers that the graph forbids it."""
        u, targets, unions = candidate.u, candidate.targets, candidate.unions
        changes = self.memory.changed(u, targets, unions) if self.memory else {}
        if self.memory and (more := self.memory.raises(changes)):
            refusal = Refusal(Code.PEAK_MEMORY, f"{more} bytes more would be live at once than {self.memory.budget}")
            return self.decline(u, targets[0], refusal, unions[0], candidate.before, candidate.after)
        decision = self.explain(candidate)
        dag, kept = self.grouping.dag, targets
        new = {v: dag.successors[u] | dag.predecessors[u] for v in targets if v in self.large}
        if len(targets) > 1:
            self.grouping.duplicate(u, targets, unions)
        else:
            (v,) = targets
            if u in self.large:
                new[u] = dag.successors[v] | dag.predecessors[v]
            merged = self.grouping.merge(*((u, v) if candidate.rule.into_first else (v, u)), unions[0])
            if isinstance(merged, DecisionCode):
                refusal = Refusal(merged, "another path joins the two groups")
                return self.decline(u, v, refusal, unions[0], candidate.before, candidate.after)
            self.constant[merged] = self.constant[u] and self.constant[v]
            kept = (merged,)
        if self.memory:
            self.memory.commit(changes)
        self.accepted.append(decision)
        for node, part in zip(kept, candidate.parts):
            self.renew(node, part, new.get(node))

    def renew(self, node: int, priced: tuple[int, int], around: Set[int] | None) -> None:
        """A new version of a group. Its time is what it was priced at; where that is quick, what it is after equal instances became one.
        `around`: the neighbours of what a large group took up; those that it had before are in the queue."""
        group = self.grouping.at(node)
        self.versions[node] += 1
        self.times[node] = priced if is_large(group) else self.cost.of(group)
        if is_large(group) or self.grouping.dag.degree(node) > EXACT:
            self.large.add(node)
        self.propose(node, self.rules, upstream=True, among=around)

    # -- records -----------------------------------------------------------------------------------------------------------------------

    def explain(self, candidate: Candidate) -> Decision:
        """The record of a merge that is about to be made."""
        u, v, union, p = candidate.u, candidate.targets[0], candidate.unions[0], self.grouping.at(candidate.u)
        edge = union.edge[0] if union.edge else None
        code, reason = candidate.rule.told(p, self.grouping.at(v), candidate.unions)
        unread = [x for x in union.edge for _ in candidate.targets]
        unwritten = [x for x in p.results if x not in union.results]
        saved = sum(self.program.values[x].bytes for x in (*unread, *unwritten))
        rho = max(self.rho(p, self.grouping.at(v), each) for each in candidate.unions)
        against = ", against the price" if candidate.wish and candidate.after >= candidate.before else ""
        told = candidate.before, candidate.after, saved, rho, candidate.wish.rule if candidate.wish else ""
        return Decision(code, self.grouping.ends(edge, u, v), reason + against, edge, *told)

    def decline(
        self, u: int, v: int, refusal: Refusal, union: Union | None = None, before: int = 0, after: int = 0, rule: str = ""
    ) -> None:
        """Remembers why a pair of groups is not merged, in place of what was remembered."""
        producer, consumer = self.grouping.at(u), self.grouping.at(v)
        edge = union.edge[0] if union and union.edge else next((x for x in producer.results if x in consumer.reads), refusal.edge)
        ends = self.grouping.ends(edge, u, v)
        self.declined[u, v] = Decision(refusal.code, ends, refusal.reason, edge, before, after, 0, refusal.rho, rule, refusal.again)

    def decisions(self) -> list[Decision]:
        """All merges in the order they were made, then the last refusal of each pair of groups that is left."""
        left = [self.declined[pair] for pair in sorted(self.declined) if self.groups[pair[0]] and self.groups[pair[1]]]
        return [*self.accepted, *left]
