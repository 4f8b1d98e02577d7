"""What a policy's rules about fusions ask of the planner.

    [[fuse]]  op = "exponential", with = {op = "dot_general"}, action = "force"

force: a kernel that holds an op of the first kind, and one with an op of the second, become one wherever that is legal, whatever the price.
forbid: they never do. group: as force, among all the ops that it matches. duplicate: the producer is copied into each of its consumers
where it may be; once: it is not. (launch and alone: launches/wishes.py.) Of the rules that match two kernels the first decides.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .codes import Code
from .group import Group
from .policy import FuseRule, Policy, idle, name, required
from .policy_rules import ALONE, DUPLICATE, FORCE, GROUP, LAUNCH, ONCE, Match
from .records import Decision, Op, Program

COPIES = "copies"
"""The rule of rules/ that duplicates."""


@dataclass(frozen=True)
class Wish:
    """What a rule asks of a merge: `forced`, or else forbidden."""

    forced: bool
    rule: str


@dataclass(frozen=True)
class _Asked:
    rule: FuseRule
    name: str
    first: frozenset[int]
    second: frozenset[int]


class Wishes:
    """The fusion rules of a policy, with the ops of a program that they match."""

    def __init__(self, policy: Policy, program: Program):
        self.program = program
        nodes = [op for op in program.ops if op.node] if policy.fuse else []
        self._asked = [
            _Asked(rule, name("fuse", number, rule), _matching(rule, nodes), _matching(rule.second, nodes))
            for number, rule in enumerate(policy.fuse)
        ]

    def of(self, u: Group, targets: Sequence[Group], way: str) -> Wish | None:
        """What the rules ask of a merge of `u` into each target, proposed by a rule of rules/ of that name; None: as the price says."""
        for asked in self._asked:
            action = asked.rule.action
            if action in (LAUNCH, ALONE) or (action in (DUPLICATE, ONCE) and way != COPIES):
                continue
            if any(_between(asked, u, target, action in (DUPLICATE, ONCE)) for target in targets):
                return Wish(action in (FORCE, GROUP, DUPLICATE), asked.name)
        return None

    def unmet(self, groups: Sequence[Group | int], declined: Sequence[Decision]) -> Iterator[Decision]:
        """A record for each rule that asked two kernels of a block to be one which are not. Raises PolicyError where it is required."""
        homes = [ops_of(group) for group in groups if isinstance(group, Group)]
        there = frozenset().union(*homes)
        for asked in self._asked:
            if asked.rule.action not in (FORCE, GROUP) or not (asked.second & there):
                continue
            alone = next((op for op in sorted(asked.first & there) if not _has_company(op, asked, homes)), None)
            if alone is None:
                continue
            near = [each for each in declined if alone in each.ops and asked.second & set(each.ops) - {alone}]
            reason = f"{near[-1].code.name}: {near[-1].reason}" if near else "no value passes between the two"
            ops = near[-1].ops if near else (alone,)
            required(asked.name, asked.rule.require, reason, self.program.ops[alone].name, self.program.ops[alone].loc)
            yield Decision(Code.POLICY_UNMET, ops, reason, rule=asked.name)

    def idle(self) -> Iterator[tuple[str, str]]:
        """The rules that match no two ops, each with the reason. Raises PolicyError where one is required."""
        nodes = [op for op in self.program.ops if op.node]
        for asked in self._asked:
            if not asked.first:
                yield idle(asked.name, asked.rule, "it matches no op that is fused", nodes)
            elif not asked.second:
                near = asked.rule.partner.near_misses(nodes)
                required(asked.name, asked.rule.require, f"with matches no op that is fused{near}")
                yield asked.name, f"with matches no op that is fused{near}"


def ops_of(group: Group) -> set[int]:
    """The ops of a group."""
    return set().union(*(bucket.ops for bucket in group.body.values()))


def _matching(rule: Match, nodes: Sequence[Op]) -> frozenset[int]:
    return frozenset(op.id for op in nodes if rule.matches(op))


def _touches(group: Group, ops: frozenset[int]) -> bool:
    return any(not bucket.ops.isdisjoint(ops) for bucket in group.body.values())


def _between(asked: _Asked, u: Group, target: Group, one_way: bool) -> bool:
    """Whether the one holds an op that the rule matches, and the other one of its partners."""
    there = _touches(u, asked.first) and _touches(target, asked.second)
    return there or (not one_way and _touches(target, asked.first) and _touches(u, asked.second))


def _has_company(op: int, asked: _Asked, homes: Sequence[set[int]]) -> bool:
    """Whether a kernel with the op holds one of its partners; of a `group` all those of the block."""
    others = asked.second - {op}
    if asked.rule.action == GROUP:
        others &= frozenset().union(*homes)
        return any(op in home and others <= home for home in homes)
    return any(op in home and others & home for home in homes)
