"""Compiles, runs and compares a small program of each op and element type, many of them in one program as long as that is right."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from fuzz.elements import ALL
from fuzz.judge import Judge, Verdict
from fuzz.known import admitted
from fuzz.program import Op, Program, Region
from fuzz.recipes import load

from .cases import cases

TARGETS = ("cpu", "sim:sm_90a")
GROUP = 12
_ORDER = ("crashed", "failed", "wrong", "slow", "refused", "right", "unchecked")
"""What is told of an entry with several programs: the first of what they give."""
Entry = tuple[str, str]
"""An op and an element type."""
Tell = Callable[[Entry, str, str, str], None]
"""Gets an entry, a target, what becomes of it there, and where an oracle says something else."""


@dataclass(frozen=True)
class Case:
    """One of an entry's programs."""

    entry: Entry
    program: Program


def entries() -> list[Entry]:
    """What the specification has."""
    return [(name, element) for element in ALL for name in load() if name != "func.call" and admitted(name, element)]


def find(wanted: Sequence[Entry], tell: Tell, targets: Sequence[str] = TARGETS, alone: Collection[Entry] = ()) -> None:
    """Tells of each entry and target "right", "unchecked" (no oracle computes it), or the first line of the error.

    `alone`: entries that are not right, as far as is known: each has a program of its own.
    """
    judge = Judge()
    try:
        for group, target in product(_groups(wanted, alone), targets):
            found: dict[Entry, list[Verdict]] = {}
            programs = [Case(entry, program) for entry in group for program in cases(*entry, target)]
            _decide(judge, programs, target, lambda case, verdict, found=found: found.setdefault(case.entry, []).append(verdict))
            for entry, verdicts in found.items():
                worst = min(verdicts, key=lambda verdict: _ORDER.index(_kind(verdict)))
                tell(entry, target, said(worst), "; ".join(v.why for v in verdicts if v.why and _kind(v) == "right"))
    finally:
        judge.stop()


def _groups(wanted: Sequence[Entry], alone: Collection[Entry]) -> Iterator[list[Entry]]:
    """Of one element type."""
    for element in dict.fromkeys(element for _, element in wanted):
        entries = [entry for entry in wanted if entry[1] == element]
        together = [entry for entry in entries if entry not in alone]
        yield from (together[start : start + GROUP] for start in range(0, len(together), GROUP))
        yield from ([entry] for entry in entries if entry in alone)


def _decide(judge: Judge, group: Sequence[Case], target: str, told: Callable[[Case, Verdict], None]) -> None:
    """Those of one oracle in one program, as long as that is right."""
    for by_xla in (False, True):
        alike = [case for case in group if case.program.by_xla == by_xla]
        for start in range(0, len(alike), GROUP):
            _halved(judge, alike[start : start + GROUP], target, told)


def _halved(judge: Judge, group: Sequence[Case], target: str, told: Callable[[Case, Verdict], None]) -> None:
    verdict = judge(joined([strict(case.program) for case in group]), target)
    if (verdict.kind != "right" or verdict.why) and len(group) > 1:
        half = len(group) // 2
        _halved(judge, group[:half], target, told)
        return _halved(judge, group[half:], target, told)
    for case in group:
        if verdict.kind == "wrong" and case.program.vague:  # beyond its bound, as wide as that is, it stays wrong
            loose = judge(case.program, target)
            verdict = loose if loose.bad else Verdict("unknown")
        told(case, verdict)


def _kind(verdict: Verdict) -> str:
    return {"disputed": "right", "unknown": "unchecked"}.get(verdict.kind, verdict.kind)


def said(verdict: Verdict) -> str:
    kind = _kind(verdict)
    if kind in ("right", "unchecked"):
        return kind
    return verdict.why.splitlines()[0] if kind == "refused" else f"{kind}: {verdict.why.splitlines()[0]}"


def strict(program: Program) -> Program:
    """One of whose results no bound is known is right where they are as near as one function's may be, and else unchecked."""
    if not program.vague:
        return program
    return replace(program, tolerances=dict.fromkeys(program.tolerances, (1.0, 0.0)))


def joined(programs: Sequence[Program]) -> Program:
    """One program that returns what all of them do."""
    whole = Program([], [], [])
    for number, program in enumerate(programs):
        whole.arguments += program.arguments
        whole.ops += [_renamed(op, number) for op in program.ops]
        whole.returned += program.returned
        whole.tolerances |= program.tolerances
        whole.functions |= {f"f{number}_{name}": region for name, region in program.functions.items()}
        whole.by_xla = whole.by_xla or program.by_xla
    return whole


def _renamed(op: Op, number: int) -> Op:
    regions = [Region(r.arguments, [_renamed(inner, number) for inner in r.ops], r.returned) for r in op.regions]
    return Op(op.name, op.operands, op.results, op.attributes.replace("@f", f"@f{number}_f"), regions)
