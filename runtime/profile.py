"""Traces of measured programs in Chrome's JSON form, which Perfetto (ui.perfetto.dev) and chrome://tracing open.

A program is measured that was compiled with the pass insert-profiling; its manifest says what each measurement is of.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

from .errors import ExecutionError
from .executable import Executable

Measurement = tuple[int, int, int]
"""The number of a measured thunk, and when it began and ended in nanoseconds."""


def measured_thunks(manifest: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """What each measurement is of: the thunk between the two ops, by their number."""
    found: dict[int, dict[str, Any]] = {}
    for entry, program in manifest.get("programs", {}).items():
        _collect(program.get("body", ()), entry, found)
    return found


def _collect(ops: Sequence[Mapping[str, Any]], entry: str, found: dict[int, dict[str, Any]]) -> None:
    for op, following in zip(ops, [*ops[1:], {}]):
        if op["op"] == "profile_begin":
            found[op["id"]] = {"label": op["label"], "entry": entry, **_describe(following)}
        for region in ("cond", "body", "branches"):
            _collect(op.get(region, ()), entry, found)


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
        name = known.pop("label")
        if found := origins.get(known.get("kernel", "")):
            known["from"] = found
        times = {"ts": (begin - start) / 1e3, "dur": (end - begin) / 1e3}
        events.append({"ph": "X", "name": name, "cat": known.get("thunk", ""), "pid": 0, "tid": 0, **times, "args": known})
    return {"displayTimeUnit": "ns", "traceEvents": events}


def write_trace(path: str | os.PathLike[str], exe: Executable, measurements: Sequence[Measurement]) -> None:
    """Raises ExecutionError where the program was not compiled to be measured, or the file cannot be written."""
    if not measured_thunks(exe.program.manifest):
        raise ExecutionError("the program measures nothing", remedy="compile it with profiling: hloom-run --profile of the .mlir program")
    try:
        with open(path, "w") as file:
            json.dump(trace(exe, measurements), file)
    except OSError as error:
        raise ExecutionError(f"{path} cannot be written: {error.strerror}") from None
