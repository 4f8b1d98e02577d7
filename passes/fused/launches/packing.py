"""Which of the kernels that wait together share a launch: greedily in program order, up to a launch's limits, where it pays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from hloom.dialects.target import TargetView

from ..planner.codes import Code, DecisionCode
from .price import alone_ps, is_worth_it, together_ps
from .wishes import LaunchWish, LaunchWishes

MEMBERS = 32
"""Kernels of a launch: a block finds its own by five comparisons."""
OPEN = 4
"""So many launches take further kernels at once, the last ones."""
PARAMETER_BYTES = 4000
"""What a kernel of a GPU takes; a buffer is 8 bytes of it."""


@dataclass(frozen=True)
class Member:
    """A call of a kernel: its place in the block, the kernel's function and its time."""

    place: int
    call: ir.Operation
    kernel: str
    cost_ps: int

    @property
    def buffers(self) -> frozenset[ir.Value]:
        return frozenset([*self.call.operands, *self.call.results])


@dataclass
class Launch:
    """Kernels of one launch, or (`code`) those that do not share one, and why. `rule`: the policy's, if one decided."""

    members: list[Member]
    before: int = 0
    after: int = 0
    code: DecisionCode = Code.FUSED_HORIZONTAL
    rule: str = ""
    reason: str = field(default="")

    @property
    def places(self) -> tuple[int, ...]:
        return tuple(member.place for member in self.members)

    @property
    def shared(self) -> bool:
        return self.code is Code.FUSED_HORIZONTAL and len(self.members) > 1


class Packing:
    """`launches`: what was packed, those too that did not pay."""

    def __init__(self, target: TargetView, wishes: LaunchWishes):
        self.target, self.wishes = target, wishes
        self.launches: list[Launch] = []

    def pack(self, waiting: Sequence[Member]) -> list[list[Member]]:
        """Members that wait together, in steps; those of a step share a launch."""
        steps = []
        for group in self._within_limits(waiting):
            launch = self._priced(group)
            if len(group) > 1:
                self.launches.append(launch)
            steps += [group] if launch.shared else [[member] for member in group]
        return steps

    def _within_limits(self, waiting: Sequence[Member]) -> list[list[Member]]:
        """Members by the first launch that has room for them."""
        open_: list[_Open] = []
        for member in waiting:
            fits = next((each for each in open_[-OPEN:] if self._fits(each, member)), None)
            if fits is None:
                full = open_[-1:] and open_[-1].is_full(member)
                if full:
                    reason = f"a launch has {MEMBERS} kernels at most, and {PARAMETER_BYTES} bytes of parameters: another one begins"
                    self.launches.append(Launch([open_[-1].members[-1], member], code=Code.ARG_LIMIT, reason=reason))
                open_.append(fits := _Open())
            fits.members.append(member)
            fits.buffers |= member.buffers
        return [each.members for each in open_]

    def _fits(self, launch: _Open, member: Member) -> bool:
        if launch.is_full(member):
            return False
        if self.wishes.are_none:
            return True
        asked = {self.wishes.of(other, member.kernel) for other in {each.kernel for each in launch.members}}
        return all(wish is None or wish.together for wish in asked)

    def _priced(self, members: list[Member]) -> Launch:
        costs = [member.cost_ps for member in members]
        before, after = alone_ps(costs, self.target), together_ps(costs, self.target)
        kernels = list(dict.fromkeys(member.kernel for member in members))
        forced = self._forced(kernels)
        pays = is_worth_it(before, after, self.target)
        against = "" if pays else ", against the price"
        told = f"{len(members)} kernels that do not need each other are one launch{against}"
        launch = Launch(members, before, after, rule=forced.rule if forced else "", reason=told)
        if not pays and not forced:
            launch.code, launch.reason = Code.NO_GAIN, f"one launch of {len(members)} kernels is not faster"
        return launch

    def _forced(self, kernels: Sequence[str]) -> LaunchWish | None:
        if self.wishes.are_none:
            return None
        pairs = ((a, b) for place, a in enumerate(kernels) for b in kernels[: place + 1])
        return next((wish for a, b in pairs if (wish := self.wishes.of(a, b)) is not None), None)


@dataclass
class _Open:
    members: list[Member] = field(default_factory=list)
    buffers: frozenset[ir.Value] = frozenset()

    def is_full(self, member: Member) -> bool:
        """Whether it has no room for a further one."""
        return len(self.members) == MEMBERS or 8 * len(self.buffers | member.buffers) > PARAMETER_BYTES
