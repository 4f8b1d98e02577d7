"""What a policy's fusion rules ask of launches.

    [[fuse]]  op = "subtract", loc = "*adam*", action = "launch"      the kernels that hold such ops, and `with`'s, share launches
    [[fuse]]  op = "reduce", action = "alone"                         those that hold such ops have launches of their own

forbid, which keeps kernels apart, keeps their launches apart as well. Of the rules that match two kernels the first decides.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from ...common.rewriting import body_ops, symbol_name
from ..planner.policy import Policy, name, required
from ..planner.policy_rules import ALONE, FORBID, LAUNCH, Match

_ABOUT_LAUNCHES = (LAUNCH, ALONE, FORBID)


@dataclass(frozen=True)
class LaunchWish:
    """What a rule asks of two kernels: one launch, or two."""

    together: bool
    rule: str


@dataclass(frozen=True)
class _Asked:
    action: str
    require: bool
    name: str
    first: frozenset[str]
    second: frozenset[str]

    def about(self, a: str, b: str) -> bool:
        if self.action == ALONE:
            return a in self.first or b in self.first
        return (a in self.first and b in self.second) or (b in self.first and a in self.second)


class LaunchWishes:
    """The rules of a policy that are about launches, or whatever `actions`, with the group functions that hold what they match."""

    def __init__(self, policy: Policy, groups: Collection[ir.Operation], actions: Collection[str] = _ABOUT_LAUNCHES):
        self._asked = [
            _Asked(rule.action, rule.require, name("fuse", number, rule), _holding(rule, groups), _holding(rule.partner, groups))
            for number, rule in enumerate(policy.fuse)
            if rule.action in actions
        ]

    def of(self, a: str, b: str) -> LaunchWish | None:
        """What is asked of the kernels of two group functions; None: as the price says."""
        asked = next((each for each in self._asked if each.about(a, b)), None)
        return None if asked is None else LaunchWish(asked.action == LAUNCH, asked.name)

    @property
    def are_none(self) -> bool:
        """Whether nothing is asked of any kernels."""
        return not self._asked

    def alone(self, group: str) -> bool:
        """Whether a rule keeps a kernel apart from others: chains know of no pairs."""
        return any(group in each.first or (each.action == FORBID and group in each.second) for each in self._asked if each.action != LAUNCH)

    def wanted(self, group: str) -> bool:
        """Whether a rule asks for a launch that a kernel shares, large or not."""
        return any(each.action == LAUNCH and (group in each.first or group in each.second) for each in self._asked)

    def unmet(self, launches: Sequence[Collection[str]]) -> Iterator[tuple[str, list[str], str]]:
        """The rules that ask for launches of which there are none: the rule, the kernels and the reason. Raises PolicyError where one is
        required."""
        for each in self._asked:
            if each.action != LAUNCH or any(_among(each, list(kernels)) for kernels in launches):
                continue
            kernels = sorted(each.first | each.second)
            reason = "one needs another's result, or a limit keeps them apart" if len(kernels) > 1 else "no two kernels hold such ops"
            required(each.name, each.require, reason)
            yield each.name, kernels, reason


def _holding(rule: Match, groups: Collection[ir.Operation]) -> frozenset[str]:
    """The functions with an op that the rule is about."""
    return frozenset(symbol_name(group) for group in groups if any(map(rule.matches, body_ops(group))))


def _among(asked: _Asked, kernels: Sequence[str]) -> bool:
    return any(asked.about(a, b) for place, a in enumerate(kernels) for b in kernels[:place])
