"""Tuning by measurement: of the groups that cost most, the candidates that the planner priced closest run on the machine at hand.

    1. the program as the policy at hand has it is compiled and measured, group by group
    2. of the groups that take most of the time, the candidates (candidates.py) are compiled one by one, the closest first
    3. one that beats the program as it stands in two contests (contest.py), and gives the same results, is kept: it stands from there on
    4. when something was kept there are new candidates; and at last all that was kept is held against the program without, once more

It ends when the time is up, or nothing is left to try. The outcome is a policy.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from hloom.passes.errors import CompileError
from hloom.passes.fused.planner.policy import Policy
from hloom.runtime.comparison import difference
from hloom.runtime.errors import ExecutionError
from hloom.runtime.executable import Executable
from hloom.runtime.profile import measured_thunks
from hloom.runtime.suggestions import Rule

from ..compile import Compilation
from .candidates import Candidate, Known, add_tiles, candidates, known_groups
from .contest import Outcome, contest
from .progress import Progress

SECONDS = 60.0
"""How long a program is tuned if nobody says."""
_SHARE, _MOST_GROUPS = 0.02, 12
"""Groups that take less of a call than that are left as they are."""
_PROFILED_CALLS = 7
_TOLERANCE = 1e-2, 1e-2
"""Sums in another order round otherwise; what differs by more, of the value or of the largest, is a fault that no time makes up for."""
_CLOSE = 0.1
"""What the price says is slower by more than this is tried last."""
_OUTER = ("while", "for", "case", "if", "sequence")
"""Thunks around others, whose time is theirs."""


@dataclass(frozen=True)
class Measured:
    """A group: what it was priced at, and seconds of a call that it took, over all its calls."""

    group: str
    calls: int
    priced: float
    measured: float


@dataclass(frozen=True)
class Trial:
    """A candidate that was measured. `outcome`: None where it could not be, for the reason `why`."""

    candidate: Candidate
    outcome: Outcome | None
    kept: bool
    why: str = ""


@dataclass
class Tuning:
    """What was found: the rules, the candidates that were measured, the groups' times, and the program before and after."""

    policy: Policy
    rules: list[tuple[Candidate, Outcome]] = field(default_factory=list)
    trials: list[Trial] = field(default_factory=list)
    groups: list[Measured] = field(default_factory=list)
    whole: Outcome | None = None
    seconds: float = 0.0


Make = Callable[[Policy, bool], Compilation]
"""The program under that policy, before it is compiled; whether it is to measure its thunks."""


class Tuner:
    """One program on this machine."""

    def __init__(self, make: Make, inputs: Callable[[Compilation], Sequence[np.ndarray]], policy: Policy, seconds: float):
        self.make, self.inputs_of, self.seconds = make, inputs, seconds
        self.found = Tuning(policy)
        self.start = policy
        self.outputs: list[Any] | None = None
        self.progress = Progress(seconds)
        self.tried: set[Rule] = set()

    def run(self) -> Tuning:
        """Raises CompileErrors of the program itself; candidates that do not compile are told of."""
        began = time.perf_counter()
        with self.progress:
            self.progress.tell("compiling")
            compilation = self.make(self.start, False)
            first = best = compilation.executable()
            self.inputs = [np.array(value) for value in self.inputs_of(compilation)]
            self.arrays, self.outputs = [value.copy() for value in self.inputs], None
            self.expected = self._results(first)
            while (better := self._pass(best)) is not None:
                best = better
            self._confirm(first, best)
        self.found.seconds = time.perf_counter() - began
        return self.found

    def _pass(self, best: Executable) -> Executable | None:
        """Tries what was not tried yet; the program with all that was kept, None where nothing was."""
        self.progress.tell("measuring its groups")
        better = None
        for candidate in self._candidates():
            if self.progress.over:
                break
            self.tried.add(candidate.rule)
            self.progress.tell(candidate.what)
            policy = with_rule(self.found.policy, candidate)
            trial, challenger = self._try(best, policy, candidate)
            self.found.trials.append(trial)
            if trial.kept and trial.outcome is not None and challenger is not None:
                self.found.policy, best, better = policy, challenger, challenger
                self.found.rules.append((candidate, trial.outcome))
        return better

    def _try(self, best: Executable, policy: Policy, candidate: Candidate) -> tuple[Trial, Executable | None]:
        try:
            challenger = self.make(policy, False).executable()
            results = self._results(challenger)
        except (CompileError, ExecutionError) as error:
            return Trial(candidate, None, False, str(error).splitlines()[0]), None
        if challenger.program.blobs == best.program.blobs and challenger.program.manifest["programs"] == best.program.manifest["programs"]:
            return Trial(candidate, None, False, "it changes nothing"), None
        for one, other in zip(results, self.expected, strict=True):
            if not difference(one, other, *_TOLERANCE).ok:
                return Trial(candidate, None, False, "its results are others"), None
        outcome = contest(self._call(best), self._call(challenger))
        if outcome.won:
            outcome = contest(self._call(best), self._call(challenger))
        return Trial(candidate, outcome, outcome.won), challenger

    def _confirm(self, first: Executable, best: Executable) -> None:
        """All that was kept against the program as it was: if that is not faster after all, nothing is kept."""
        if self.found.rules:
            self.progress.tell("all together")
            self.found.whole = contest(self._call(first), self._call(best), seconds=1.0)
            if not self.found.whole.won:
                self.found.policy, self.found.rules = self.start, []

    def _call(self, exe: Executable) -> Callable[[], list[Any]]:
        """A call that all programs make with the same arrays: where these lie is no difference between them."""
        if self.outputs is None:
            self.outputs = exe.flat(self.arrays)
        return lambda: exe.flat(self.arrays, self.outputs)

    def _results(self, exe: Executable) -> list[np.ndarray]:
        return [np.array(value) for value in exe.flat([value.copy() for value in self.inputs])]

    def _candidates(self) -> list[Candidate]:
        """Those of the groups that take most of a call: first what is not priced much higher, and among them the costliest group's."""
        compilation = self.make(self.found.policy, True)
        compilation.to("fused")
        known = known_groups(compilation.module)
        compilation.to("tiled")
        add_tiles(compilation.module, known)
        found = list(candidates(compilation.module, known))
        groups = self._measured(compilation.executable(), known)
        self.found.groups = self.found.groups or groups
        whole = sum(each.measured for each in groups) or 1.0
        measured = {_group(each.group): each.measured for each in groups}
        priced = {name: each.cost_ps * 1e-12 for name, each in known.items()}
        worth = {name: measured.get(name, priced[name]) / whole for name in known}
        most = sorted(worth, key=lambda name: -worth[name])[:_MOST_GROUPS]
        distinct = {each.rule: each for each in reversed(found) if each.group in most and worth[each.group] > _SHARE}
        left = [each for key, each in distinct.items() if key not in self.tried]
        return sorted(left, key=lambda each: (each.distance > _CLOSE, -worth[each.group], each.distance, each.what))

    def _measured(self, exe: Executable, known: Mapping[str, Known]) -> list[Measured]:
        """What is called in `main`, by the time that it takes, longest first; the least of several calls."""
        call = self._call(exe)
        exe.device.measurements()
        thunks = {number: each for number, each in measured_thunks(exe.program.manifest).items() if each["entry"] == "main"}
        best: dict[str, tuple[float, int]] = {}
        for _ in range(_PROFILED_CALLS):
            call()
            times: dict[str, list[float]] = {}
            for number, begin, end in exe.device.measurements():
                if number in thunks and thunks[number]["thunk"] not in _OUTER:
                    times.setdefault(thunks[number].get("kernel") or thunks[number]["label"], []).append((end - begin) * 1e-9)
            for name, each in times.items():
                best[name] = min(best.get(name, (sum(each), len(each))), (sum(each), len(each)))
        found = []
        for name, (seconds, calls) in best.items():
            group = known.get(_group(name))
            found.append(Measured(name, calls, (group.cost_ps if group else 0) * calls * 1e-12, seconds))
        return sorted(found, key=lambda each: -each.measured)


def with_rule(policy: Policy, candidate: Candidate) -> Policy:
    """The policy with one rule more, before those of its table: of a table the first that matches decides."""
    entries, rule = policy.entries(), candidate.rule
    return Policy.of({**entries, rule.table: [rule.entries(), *entries.get(rule.table, [])]})


def _group(kernel: str) -> str:
    """The group that a kernel was made of."""
    return kernel.partition("_part_")[0].partition("_buffers_")[0]
