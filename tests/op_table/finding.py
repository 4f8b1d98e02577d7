"""Compiles, runs and compares a small program of each op and element type, many of them in one program as long as that is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from fuzz.elements import ALL
from fuzz.judge import Judge
from fuzz.known import admitted
from fuzz.program import Op, Program, Region
from fuzz.programs import small_program
from fuzz.recipes import load

TARGETS = ("cpu", "sim:sm_90a")
GROUP = 12
_REFUSED: dict[tuple[str, str], str] = {}
Entry = tuple[str, str]
"""An op and an element type."""
Tell = Callable[[Entry, str, str], None]


def entries() -> list[Entry]:
    """What the specification has."""
    return [(name, element) for element in ALL for name in load() if name != "func.call" and admitted(name, element)]


def find(wanted: Sequence[Entry], tell: Tell, targets: Sequence[str] = TARGETS) -> None:
    """Tells of each entry and target "right", "unchecked" (no oracle computes it), or the first line of the error."""
    judge = Judge()
    try:
        for group in _groups(wanted):
            for target in targets:
                refused = _type_refused(judge, group[0][1], target)
                for entry in group if refused else []:
                    tell(entry, target, refused)
                if not refused:
                    _decide(judge, group, target, tell)
    finally:
        judge.stop()


def _type_refused(judge: Judge, element: str, target: str) -> str:
    """What is said of the type, where neither reshapes nor converts of it compile; else nothing."""
    if (element, target) not in _REFUSED:
        verdicts = [judge(program, target) for program in (small_program("reshape", element), small_program("convert", element)) if program]
        refused = verdicts and all(verdict.kind == "refused" for verdict in verdicts)
        _REFUSED[element, target] = said(verdicts[0].kind, verdicts[0].why) if refused else ""
    return _REFUSED[element, target]


def _groups(wanted: Sequence[Entry]) -> Iterator[list[Entry]]:
    """Of one element type and one oracle; ops that stand alone, alone."""
    recipes = load()
    by_kind: dict[tuple[str, bool], list[Entry]] = {}
    for name, element in wanted:
        by_kind.setdefault((element, recipes[name].by_xla), []).append((name, element))
    for group in by_kind.values():
        yield from (group[start : start + GROUP] for start in range(0, len(group), GROUP))


def _decide(judge: Judge, group: Sequence[Entry], target: str, tell: Tell) -> None:
    verdict = judge(joined([small_program(*entry) for entry in group]), target)
    if verdict.kind != "right" and len(group) > 1:
        half = len(group) // 2
        _decide(judge, group[:half], target, tell)
        return _decide(judge, group[half:], target, tell)
    for entry in group:
        vague = verdict.kind == "right" and small_program(*entry).vague
        tell(entry, target, "unchecked" if vague else said(verdict.kind, verdict.why))


def said(kind: str, why: str) -> str:
    if kind in ("right", "disputed"):
        return "right"
    if kind == "unknown":
        return "unchecked"
    return why.splitlines()[0] if kind == "refused" else f"{kind}: {why.splitlines()[0]}"


def joined(programs: Sequence[Program | None]) -> Program:
    """One program that returns what all of them do."""
    whole = Program([], [], [])
    for number, program in enumerate(programs):
        assert program is not None
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
