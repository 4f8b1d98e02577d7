"""The explain report: what became of every op of a program, and why. Plain data from the compiler, told as text, JSON or one HTML page.

    {"program":   {"name", "source", "target", "inputs", "outputs"},
     "memory":    {"unfused", "arena", "live", "constants", "bound", "init"},                             bytes
     "groups":    [{"name", "entry", "kind", "kernel", "calls", "ops", "from", "reads", "writes", "flops", "cost_ps", "tiles", "grain"}],
     "threads":   [{"threads", "cost_ps", "alone_ps"}],                                                                CPUs alone
     "kernels":   [{"name", "grid", "block", "registers", "spills", "stack", "shared", "occupancy", "blocks", "limit", "read", "written",
                    "moved", "least", "widths", "wide", "instructions", "flops", "roofline_ps", "bound", "calls", "ops"}],   GPUs alone
     "libraries": [{"call", "groups", "calls", "ops", "least", "flops", "roofline_ps", "bound", "reason"}],                  GPUs alone
     "ops":       [{"op", "type", "from", "location", "groups"}],
     "decisions": [{"code", "verdict", "groups", "ops", "reason", "figures"}],
     "graph":     {"ops", "places", "values", "calls", "hosts", "decisions", "lost"},                    compiler/explorer/graph.py
     "tuning":    {"policy", "seconds", "before_s", "after_s", "groups", "trials"},                          of programs that were tuned
     "timing":    [[pass, seconds]]}

Every part may be missing.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from . import figures
from .errors import DamagedFileError
from .explorer.page import page
from .report_schema import REPORT
from .schema import Mismatch
from .suggestions import suggestions


class Report:
    """Tells the compiler's data; `data` is the dictionary itself."""

    def __init__(self, data: dict[str, Any]):
        self.data = data
        self.texts: dict[str, dict[str, str]] = {}
        """By group, its text at each stage, where somebody kept them (compiler/explorer/explore.py)."""
        self.lines: dict[str, str] = {}
        """Lines of the source, by location."""

    @staticmethod
    def of(manifest: Mapping[str, Any]) -> Report:
        """That of a file's manifest. Raises DamagedFileError where it is no report."""
        data = manifest.get("report", {})
        try:
            REPORT(data)
        except (Mismatch, RecursionError) as error:
            raise DamagedFileError(f"the manifest's report cannot be told: {error}", remedy="write the file again") from None
        return Report(data)

    def json(self) -> str:
        return json.dumps(self.data, indent=1)

    def text(self) -> str:
        """Aligned tables, one a section; of groups, kernels, calls and decisions the dearest first."""
        lines = [f"{key + ':':<9} {value}" for key, value in self.data.get("program", {}).items()]
        lines += ["memory:   " + ", ".join(f"{key} {figures.size(value)}" for key, value in self.data.get("memory", {}).items())]
        for title, header, rows in self._sections():
            lines += ["", f"{title} ({len(rows)})", *figures.aligned([header, *rows])]
        return "\n".join(lines) + "\n"

    def html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The explorer (docs/explain.md): one page that needs nothing beside it; written to `path` if given."""
        facts = [(key, str(value)) for key, value in self.data.get("program", {}).items()]
        facts += [(key, figures.size(value)) for key, value in self.data.get("memory", {}).items()]
        rules = {str(number): rule.toml() for number, rule in suggestions(self.data).items()}
        made = page({**self.data, "lines": self.lines, "suggestions": rules}, self.texts, facts, self._sections())
        if path is not None:
            Path(path).write_text(made, encoding="utf-8")
        return made

    def _sections(self) -> Iterable[tuple[str, list[str], list[list[str]]]]:
        data = self.data
        if groups := data.get("groups"):
            header = ["group", "entry", "kind", "kernel", "calls", "priced", "share", "ops", "reads", "writes", "flops", "from"]
            whole = sum(map(_priced, groups)) or 1
            yield "groups", header, [_group_row(group, whole) for group in sorted(groups, key=lambda group: -_priced(group))]
        if threads := data.get("threads"):
            header = ["threads", "estimated", "of one's", "in what runs on one"]
            yield "threads", header, [_threads_row(row, threads[0]["cost_ps"]) for row in threads]
        if kernels := data.get("kernels"):
            yield "kernels", _KERNEL_HEADER, list(map(_kernel_row, _by_roofline(kernels)))
        if libraries := data.get("libraries"):
            header = ["call", "calls", "ops", "least bytes", "flops", "roofline", "bound by", "reason"]
            yield "library calls", header, list(map(_library_row, _by_roofline(libraries)))
        if ops := data.get("ops"):
            rows = [[op["op"], op.get("type", ""), " ".join(op["groups"]) or "-", op.get("from") or op.get("location", "")] for op in ops]
            yield "ops", ["op", "type", "in", "from"], rows
        if decisions := data.get("decisions"):
            ordered = sorted(decisions, key=lambda decision: -abs(decision.get("figures", {}).get("gain_ps", 0)))
            yield "decisions", ["verdict", "code", "groups", "ops", "reason"], list(map(_decision_row, ordered))
        if timing := data.get("timing"):
            yield "compile time", ["pass", "ms"], _timing_rows(timing)


def _timing_rows(timing: Sequence[tuple[str, float]]) -> list[list[str]]:
    """The passes in order, those of less than a hundredth of the time together: there are over a hundred of them."""
    whole = sum(seconds for _, seconds in timing)
    long = [(name, seconds) for name, seconds in timing if seconds >= whole / 100]
    rest = whole - sum(seconds for _, seconds in long)
    rows = [*long, (f"{len(timing) - len(long)} others", rest)] if len(long) < len(timing) else long
    return [[name, f"{seconds * 1e3:.1f}"] for name, seconds in rows]


def _priced(group: Mapping[str, Any]) -> float:
    """Picoseconds of all its calls; nothing for `@init`, which runs once."""
    return group.get("calls", 1) * group.get("cost_ps", 0) if group.get("entry", "main") == "main" else 0


def _by_roofline(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(rows, key=lambda row: -(row.get("roofline_ps") or 0) * (row.get("calls") or 1))


def _group_row(group: dict[str, Any], whole: float) -> list[str]:
    ops = _ops(group)
    priced = _priced(group)
    times = [figures.time(priced), f"{priced / whole:.0%}"] if priced else ["-", "-"]
    sizes = [figures.size(group.get("reads", 0)), figures.size(group.get("writes", 0)), figures.count(group.get("flops", 0))]
    places = group.get("from", [])
    sizes.append(" … ".join(places[:1] + places[1:][-1:]))
    return [
        group["name"],
        group.get("entry", ""),
        group.get("kind", ""),
        group.get("kernel", ""),
        str(group.get("calls", 1)),
        *times,
        ops,
        *sizes,
    ]


def _threads_row(row: dict[str, Any], one: float) -> list[str]:
    cost, alone = row["cost_ps"], row["alone_ps"]
    return [str(row["threads"]), figures.time(cost), f"{cost / max(one, 1):.2f} ×", figures.time(alone)]


_KERNEL_HEADER = [
    *("kernel", "grid", "block", "registers", "spills", "shared", "occupancy", "limit", "bytes asked", "moved", "least"),
    *("widths", "128-bit", "flops", "roofline", "bound by", "calls", "ops"),
]


def _kernel_row(kernel: dict[str, Any]) -> list[str]:
    """A row of a kernel; what only a compiled one has is - on the simulator."""

    def known(name: str, form: Callable[[Any], str] = str) -> str:
        return "-" if kernel.get(name) is None else form(kernel[name])

    asked = figures.size(kernel.get("read", 0) + kernel.get("written", 0))
    spills = "-" if "spills" not in kernel else str(kernel["spills"]) + (f" (stack {kernel['stack']})" if kernel.get("stack") else "")
    return [
        *(kernel["name"], _extents(kernel.get("grid", [])), _extents(kernel.get("block", []))),
        *(known("registers"), spills, known("shared", figures.size), known("occupancy", lambda share: f"{share}%"), known("limit")),
        *(
            asked,
            known("moved", figures.size),
            known("least", figures.size),
            known("widths", _widths),
            known("wide", lambda share: f"{share}%"),
        ),
        *(known("flops", figures.count), known("roofline_ps", figures.time), known("bound"), known("calls"), _ops(kernel)),
    ]


def _library_row(library: dict[str, Any]) -> list[str]:
    sizes = [figures.size(library["least"]), figures.count(library["flops"]), figures.time(library["roofline_ps"])]
    return [library["call"], str(library["calls"]), _ops(library), *sizes, library["bound"], figures.with_times(library["reason"])]


def _ops(row: dict[str, Any]) -> str:
    return " ".join(f"{name}×{count}" if count > 1 else name for name, count in row.get("ops", {}).items())


def _widths(widths: dict[str, dict[str, int]]) -> str:
    """Instructions by the bytes that one moves for a thread: "loads 16×4 4×1"."""
    return ", ".join(f"{kind} " + " ".join(f"{width}×{count}" for width, count in counts.items()) for kind, counts in widths.items()) or "-"


def _extents(extents: Sequence[int]) -> str:
    """Without the trailing ones."""
    kept = list(extents)
    while len(kept) > 1 and kept[-1] == 1:
        kept.pop()
    return "x".join(map(str, kept)) or "-"


def _decision_row(decision: dict[str, Any]) -> list[str]:
    chosen = decision.get("code") == "KERNEL_CHOSEN"  # has both prices in its reason
    known = {key: value for key, value in decision.get("figures", {}).items() if value not in ("", 0)}
    known = {key: value for key, value in known.items() if not (chosen and key.endswith("_ps"))}
    told = ", ".join(f"{figures.named(key)} {figures.figure(key, value)}" for key, value in known.items())
    reason = "; ".join(filter(None, [figures.with_times(str(decision.get("reason", ""))), told]))
    given = decision.get("ops")
    ops = [str(op.get("name", "")).partition(".")[2] for op in given if isinstance(op, Mapping)] if isinstance(given, list) else []
    between = " → ".join(ops) if len(ops) <= 2 else f"{len(ops)} ops"
    return [str(decision.get("verdict", "")), str(decision.get("code", "")), " ".join(decision.get("groups", [])), between, reason]
