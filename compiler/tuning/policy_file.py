"""A tuning's outcome as a policy file that people can read, keep and ship, and as a part of the report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hloom.dialects.target import TargetView
from hloom.passes.fused.planner.policy import Policy
from hloom.runtime.figures import time
from hloom.runtime.suggestions import toml

from .contest import clock
from .tuner import Measured, Trial, Tuning

_LISTED = 12


def policy_text(tuning: Tuning, name: str, target: TargetView) -> str:
    """TOML with what was measured in comments: by the rules that were found, and by the groups that cost most."""
    timed = "CPU time of one thread" if clock().__name__ == "process_time" else "time of several threads"
    lines = [f"# {name} on {target.name}, tuned by hloom in {tuning.seconds:.0f} s: {len(tuning.trials)} candidates, {timed}."]
    if tuning.whole is not None:
        lines.append(f"# A call: {seconds(tuning.whole.holder)} before, {seconds(tuning.whole.challenger)} with these rules.")
    if not tuning.rules:
        lines.append("# Nothing that was tried is faster than what the price decides.")
    lines += ["#", "# group                     calls      priced    measured"]
    for row in tuning.groups[:_LISTED]:
        lines.append(f"# {row.group[:24]:<24} {row.calls:>6} {seconds(row.priced):>11} {seconds(row.measured):>11}")
    notes = {candidate.rule.table: [] for candidate, _ in tuning.rules}  # type: dict[str, list[tuple[dict[str, Any], str]]]
    for candidate, outcome in tuning.rules:
        told = f"{candidate.what}: {seconds(outcome.holder)} a call before, {seconds(outcome.challenger)} after"
        if candidate.before:
            told += f"; priced {seconds(candidate.before * 1e-12)} and {seconds(candidate.after * 1e-12)}"
        notes[candidate.rule.table].append((candidate.rule.entries(), told))
    for table, entries in tuning.policy.entries().items():
        for entry in entries:
            told = next((text for rule, text in notes.get(table, ()) if Policy.of({table: [rule]}).entries()[table] == [entry]), "")
            lines += ["", *([f"# {told}"] if told else ()), f"[[{table}]]", *(f"{key} = {toml(value)}" for key, value in entry.items())]
    return "\n".join(lines) + "\n"


def told(tuning: Tuning) -> str:
    """What was measured, for a terminal."""
    lines = [f"{'group':<32} {'calls':>6} {'priced':>10} {'measured':>10}"]
    lines += [
        f"{row.group[:32]:<32} {row.calls:>6} {seconds(row.priced):>10} {seconds(row.measured):>10}" for row in tuning.groups[:_LISTED]
    ]
    lines.append("")
    lines += [_trial(trial) for trial in tuning.trials]
    whole = tuning.whole
    kept = f"{len(tuning.rules)} of {len(tuning.trials)} candidates kept in {tuning.seconds:.0f} s"
    lines.append(kept if whole is None else f"{kept}; a call: {seconds(whole.holder)} before, {seconds(whole.challenger)} after")
    return "\n".join(lines)


def report_of(tuning: Tuning, text: str) -> dict[str, Any]:
    """Plain data for the report."""
    whole = tuning.whole
    return {
        "policy": text,
        "seconds": tuning.seconds,
        "before_s": 0.0 if whole is None else whole.holder,
        "after_s": 0.0 if whole is None else whole.challenger,
        "groups": [_row(row) for row in tuning.groups],
        "trials": list(_trials(tuning.trials)),
    }


def _row(row: Measured) -> dict[str, Any]:
    return {"name": row.group, "calls": row.calls, "priced_s": row.priced, "measured_s": row.measured}


def _trials(trials: Iterable[Trial]) -> Iterable[dict[str, Any]]:
    for each in trials:
        timed = {} if each.outcome is None else {"before_s": each.outcome.holder, "after_s": each.outcome.challenger}
        prices = {"priced_before_s": each.candidate.before * 1e-12, "priced_after_s": each.candidate.after * 1e-12}
        yield {"what": each.candidate.what, "group": each.candidate.group, "kept": each.kept, "why": each.why, **timed, **prices}


def _trial(trial: Trial) -> str:
    mark, outcome, candidate = "kept    " if trial.kept else "        ", trial.outcome, trial.candidate
    if outcome is None:
        return f"{mark}{candidate.what}: {trial.why}"
    priced = f", priced {seconds(candidate.before * 1e-12)} and {seconds(candidate.after * 1e-12)}" if candidate.before else ""
    return f"{mark}{candidate.what}: {seconds(outcome.holder)} before, {seconds(outcome.challenger)} after{priced}"


def seconds(value: float) -> str:
    """In a unit that suits."""
    return time(value * 1e12) if value > 0 else "-"
