"""The ways in which groups may become one: a rule a file, found here by the planner.

A rule proposes merges around a group, each with the union that it would make (a `Refusal` where it is not legal), and tells of a merge that
is made. What every rule has in common, such as the price and the graph's cycles, is the planner's.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator, Set
from dataclasses import dataclass

from hloom.runtime.forking import process_lock

from ..codes import DecisionCode
from ..group import Group, Union
from ..grouping import Grouping
from ..legality import Limits, Refusal


@dataclass(frozen=True, slots=True)
class Proposal:
    """The merge of node `u` with each of `targets`: the unions, one a target; or why it is not legal."""

    u: int
    targets: tuple[int, ...]
    unions: tuple[Union, ...] | Refusal


class Rule:
    """`late`: asked when nothing else gains any more. `into_first`: a union is in u's axes, not in its target's. `tells_price`: a
    merge that does not pay leaves a record. `lasts`: it proposes pairs, each for its own sake: what it proposed of a group stays when the
    group takes up another."""

    name: str
    late = into_first = tells_price = lasts = False

    def proposals(self, grouping: Grouping, limits: Limits, node: int, upstream: bool) -> Iterator[Proposal]:
        """What concerns a new group: merges with what it feeds and, `upstream`, with what feeds it."""
        raise NotImplementedError

    def among(self, grouping: Grouping, limits: Limits, node: int, others: Set[int]) -> Iterator[Proposal]:
        """Of a rule that lasts: those with the other nodes alone."""
        return self.proposals(grouping, limits, node, upstream=True)

    def told(self, u: Group, target: Group, unions: tuple[Union, ...]) -> tuple[DecisionCode, str]:
        """The code and reason of a merge that is made."""
        raise NotImplementedError


def all_rules() -> list[Rule]:
    """Every rule of this folder, the late ones last."""
    with process_lock:
        for module in pkgutil.iter_modules(__path__, f"{__name__}."):
            importlib.import_module(module.name)
    return sorted((rule() for rule in Rule.__subclasses__()), key=lambda rule: (rule.late, rule.name))
