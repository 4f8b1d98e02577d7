"""Measured programs: where the time of a call goes, step by step, as a table or as a trace.

A program is measured that was compiled with the pass insert-profiling; its manifest says what each measurement is of. Traces are in
Chrome's JSON form, which Perfetto (ui.perfetto.dev) and chrome://tracing open.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .errors import ExecutionError

if TYPE_CHECKING:
    from .executable import Executable

_REMEDY = "compile it to be measured: hloom.compile(…, profile=True), or hloom-run --profile of the .mlir program"
_MOVES = ("reshape", "transpose", "broadcast_in_dim", "slice", "convert", "constant")
_MOST_NAMES = 3
Measurement = tuple[int, int, int]
"""The number of a measured thunk, and when it began and ended in nanoseconds."""


def measured_thunks(manifest: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """What each measurement is of: the thunk between the two ops, by their number."""
    found: dict[int, dict[str, Any]] = {}
    for entry, program in manifest.get("programs", {}).items():
        _collect(program.get("body", ()), {"entry": entry}, found)
    return found


def _collect(ops: Sequence[Mapping[str, Any]], place: Mapping[str, Any], found: dict[int, dict[str, Any]]) -> None:
    for op, following in zip(ops, [*ops[1:], {}]):
        if op["op"] == "profile_begin":
            found[op["id"]] = {"label": op["label"], **place, **_describe(following)}
        for region in ("cond", "body", "branches"):
            _collect(op.get(region, ()), {**place, "inside": True}, found)


def _describe(op: Mapping[str, Any]) -> dict[str, Any]:
    both = (("bytes read", "reads"), ("bytes written", "writes"))
    moved = {name: sum(size for _, _, size in op.get(slices, ())) for name, slices in both}
    named = {"kernel": op["callee"]} if "callee" in op else {}
    known = {"thunk": op.get("op", ""), **named, "source": list(op.get("source", ()))}
    return known | {name: size for name, size in moved.items() if size}


def trace(exe: Executable, measurements: Sequence[Measurement]) -> dict[str, Any]:
    """The trace: a slice for each measurement, nested where thunks are, with the source ops' names and scopes."""
    thunks = measured_thunks(exe.program.manifest)
    origins = {group["name"]: group["from"] for group in exe.report.data.get("groups", []) if group.get("from")}
    start = min((begin for _, begin, _ in measurements), default=0)
    target = exe.program.target
    events: list[dict[str, Any]] = [
        {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": f"{exe.program.name} on {target.get('name', 'cpu')}"}},
    ]
    for number, begin, end in measurements:
        known = dict(thunks.get(number, {"label": f"thunk {number}"}))
        name, _ = known.pop("label"), known.pop("inside", None)
        if found := origins.get(known.get("kernel", "")):
            known["from"] = found
        times = {"ts": (begin - start) / 1e3, "dur": (end - begin) / 1e3}
        events.append({"ph": "X", "name": name, "cat": known.get("thunk", ""), "pid": 0, "tid": 0, **times, "args": known})
    return {"displayTimeUnit": "ns", "traceEvents": events}


@dataclass(frozen=True)
class Step:
    """A thunk of a measured program."""

    name: str
    """The source ops that it carries out, and their scopes."""
    kernel: str
    """Empty where it is no kernel."""
    runs: float
    """In a call: more than one in a loop."""
    seconds: float
    """In a call: the median of all calls. Of a loop, what is inside too."""
    bytes: int
    """Read and written by a run."""
    flops: int
    """Of a run."""
    inside: bool
    """Whether it is part of another step, a loop or a branch."""


@dataclass(frozen=True)
class Profile:
    """Where the time of some calls went; printed as a table, the longest step first."""

    steps: Sequence[Step]
    calls: int
    exe: Executable
    measurements: Sequence[Measurement]

    @property
    def seconds(self) -> float:
        """Of all steps of a call."""
        return sum(step.seconds for step in self.steps if not step.inside)

    def table(self, rows: int = 20) -> str:
        """At most so many steps. `runs` is per call; GFLOP/s and GB/s are of what the ops and their operands ask for at least."""
        lines = [f"{self.seconds * 1e3:.3f} ms a call in {len(self.steps)} steps, medians of {self.calls} calls"]
        lines.append(f"{'ms':>9} {'share':>6} {'runs':>7} {'GFLOP/s':>8} {'GB/s':>7}  step")
        for step in self.steps[:rows]:
            share = 100 * step.seconds / self.seconds if self.seconds else 0.0
            rates = (step.runs * amount / step.seconds / 1e9 if step.seconds else 0.0 for amount in (step.flops, step.bytes))
            flops, moved = (f"{rate:.1f}" if rate else "" for rate in rates)
            lines.append(f"{step.seconds * 1e3:9.3f} {share:5.1f}% {step.runs:7g} {flops:>8} {moved:>7}  {'  ' * step.inside}{step.name}")
        left = self.steps[rows:]
        if left:
            lines.append(f"{sum(step.seconds for step in left) * 1e3:9.3f} in {len(left)} more")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()

    def write_trace(self, path: str | os.PathLike[str]) -> None:
        """Writes every measurement as a trace for Perfetto. Raises ExecutionError where the file cannot be written."""
        write_trace(path, self.exe, self.measurements)


def profile(exe: Executable, inputs: Sequence[Any], calls: int) -> Profile:
    """Measures some calls, after one that is not, with inputs in the order of the signature. Raises ExecutionError where the program was
    not compiled to be measured."""
    if calls < 1:
        raise ExecutionError(f"a profile of {calls} calls measures nothing", remedy="ask for one call or more")
    thunks = measured_thunks(exe.program.manifest)
    if not thunks:
        raise ExecutionError("the program was not compiled to be measured", remedy=_REMEDY)
    exe.flat(inputs)
    exe.device.measurements()
    measured: list[list[Measurement]] = []
    for _ in range(calls):
        exe.flat(inputs)
        measured.append(list(exe.device.measurements()))
    return Profile(_steps(exe, thunks, measured), calls, exe, [each for call in measured for each in call])


def _name(label: str) -> str:
    """`dot_general, add, multiply, … [0/linear, 1/gelu]` of `transpose 0/linear; dot_general 0/linear; …`: each op and scope once, some of
    many, what only moves numbers where there is nothing else."""
    parts = [part.partition(" ") for part in label.split("; ")]
    ops = list(dict.fromkeys(op for op, _, _ in parts))
    scopes = list(dict.fromkeys(scope for _, _, scope in parts if scope))
    kept = [op for op in ops if op not in _MOVES] or ops
    return ", ".join(_some(kept)) + (f" [{', '.join(_some(scopes))}]" if scopes else "")


def _some(names: Sequence[str]) -> list[str]:
    return [*names] if len(names) <= _MOST_NAMES else [*names[:_MOST_NAMES], "…"]


def _steps(exe: Executable, thunks: Mapping[int, Mapping[str, Any]], measured: Sequence[Sequence[Measurement]]) -> list[Step]:
    totals: dict[int, list[int]] = defaultdict(lambda: [0] * len(measured))
    runs: dict[int, int] = defaultdict(int)
    for call, measurements in enumerate(measured):
        for number, begin, end in measurements:
            totals[number][call] += end - begin
            runs[number] += 1
    groups = {group["name"]: group for group in exe.report.data.get("groups", [])}
    steps = []
    for number, times in totals.items():
        known = thunks.get(number, {"label": f"thunk {number}"})
        kernel = known.get("kernel", "")
        moved = known.get("bytes read", 0) + known.get("bytes written", 0)
        flops = groups.get(kernel, {}).get("flops", 0) or 0
        inside = bool(known.get("inside"))
        steps.append(Step(_name(known["label"]), kernel, runs[number] / len(measured), float(np.median(times)) / 1e9, moved, flops, inside))
    return sorted(steps, key=lambda step: -step.seconds)


def write_trace(path: str | os.PathLike[str], exe: Executable, measurements: Sequence[Measurement]) -> None:
    """Raises ExecutionError where the program was not compiled to be measured, or the file cannot be written."""
    if not measured_thunks(exe.program.manifest):
        raise ExecutionError("the program was not compiled to be measured", remedy=_REMEDY)
    try:
        with open(path, "w") as file:
            json.dump(trace(exe, measurements), file)
    except OSError as error:
        raise ExecutionError(f"{path} cannot be written: {error.strerror}") from None
