"""The explain report: what became of every op of a program, and why. Plain data from the compiler, told as text, JSON or one HTML page.

    {"program":   {"name", "source", "target", "inputs", "outputs"},
     "memory":    {"arena", "live", "constants", "bound", "init"},                                        bytes
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

from .errors import DamagedFileError
from .explorer.page import page
from .report_schema import REPORT
from .schema import Mismatch


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
        """Aligned tables, one a section."""
        lines = [f"{key + ':':<9} {value}" for key, value in self.data.get("program", {}).items()]
        lines += ["memory:   " + ", ".join(f"{key} {_bytes(value)}" for key, value in self.data.get("memory", {}).items())]
        for title, header, rows in self._sections():
            lines += ["", f"{title} ({len(rows)})", *_aligned([header, *rows])]
        return "\n".join(lines) + "\n"

    def html(self, path: str | os.PathLike[str] | None = None) -> str:
        """The explorer (docs/explain.md): one page that needs nothing beside it; written to `path` if given."""
        facts = [(key, str(value)) for key, value in self.data.get("program", {}).items()]
        facts += [(key, _bytes(value)) for key, value in self.data.get("memory", {}).items()]
        made = page({**self.data, "lines": self.lines}, self.texts, facts, self._sections())
        if path is not None:
            Path(path).write_text(made, encoding="utf-8")
        return made

    def _sections(self) -> Iterable[tuple[str, list[str], list[list[str]]]]:
        data = self.data
        if groups := data.get("groups"):
            header = ["group", "entry", "kind", "kernel", "calls", "ops", "reads", "writes", "flops", "from"]
            yield "groups", header, [_group_row(group) for group in groups]
        if threads := data.get("threads"):
            header = ["threads", "estimated", "of one's", "in what runs on one"]
            yield "threads", header, [_threads_row(row, threads[0]["cost_ps"]) for row in threads]
        if kernels := data.get("kernels"):
            yield "kernels", _KERNEL_HEADER, [_kernel_row(kernel) for kernel in kernels]
        if libraries := data.get("libraries"):
            header = ["call", "calls", "ops", "least bytes", "flops", "roofline", "bound by", "reason"]
            yield "library calls", header, [_library_row(library) for library in libraries]
        if ops := data.get("ops"):
            rows = [[op["op"], op.get("type", ""), " ".join(op["groups"]) or "-", op.get("from") or op.get("location", "")] for op in ops]
            yield "ops", ["op", "type", "in", "from"], rows
        if decisions := data.get("decisions"):
            yield "decisions", ["verdict", "code", "groups", "reason"], [_decision_row(decision) for decision in decisions]
        if timing := data.get("timing"):
            yield "compile time", ["pass", "ms"], [[name, f"{seconds * 1e3:.1f}"] for name, seconds in timing]


def _group_row(group: dict[str, Any]) -> list[str]:
    ops = _ops(group)
    sizes = [_bytes(group.get("reads", 0)), _bytes(group.get("writes", 0)), _count(group.get("flops", 0))]
    places = group.get("from", [])
    sizes.append(" … ".join(places[:1] + places[1:][-1:]))
    return [group["name"], group.get("entry", ""), group.get("kind", ""), group.get("kernel", ""), str(group.get("calls", 1)), ops, *sizes]


def _threads_row(row: dict[str, Any], one: float) -> list[str]:
    cost, alone = row["cost_ps"], row["alone_ps"]
    return [str(row["threads"]), _time(cost), f"{cost / max(one, 1):.2f} ×", _time(alone)]


_KERNEL_HEADER = [
    *("kernel", "grid", "block", "registers", "spills", "shared", "occupancy", "limit", "bytes asked", "moved", "least"),
    *("widths", "128-bit", "flops", "roofline", "bound by", "calls", "ops"),
]


def _kernel_row(kernel: dict[str, Any]) -> list[str]:
    """A row of a kernel; what only a compiled one has is - on the simulator."""

    def known(name: str, form: Callable[[Any], str] = str) -> str:
        return "-" if kernel.get(name) is None else form(kernel[name])

    asked = _bytes(kernel.get("read", 0) + kernel.get("written", 0))
    spills = "-" if "spills" not in kernel else str(kernel["spills"]) + (f" (stack {kernel['stack']})" if kernel.get("stack") else "")
    return [
        *(kernel["name"], _extents(kernel.get("grid", [])), _extents(kernel.get("block", []))),
        *(known("registers"), spills, known("shared", _bytes), known("occupancy", lambda share: f"{share}%"), known("limit")),
        *(asked, known("moved", _bytes), known("least", _bytes), known("widths", _widths), known("wide", lambda share: f"{share}%")),
        *(known("flops", _count), known("roofline_ps", _time), known("bound"), known("calls"), _ops(kernel)),
    ]


def _library_row(library: dict[str, Any]) -> list[str]:
    figures = [_bytes(library["least"]), _count(library["flops"]), _time(library["roofline_ps"]), library["bound"], library["reason"]]
    return [library["call"], str(library["calls"]), _ops(library), *figures]


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


def _time(picoseconds: float) -> str:
    return f"{picoseconds / 1e6:.2f} us"


def _decision_row(decision: dict[str, Any]) -> list[str]:
    figures = ", ".join(f"{key} {_figure(key, value)}" for key, value in decision.get("figures", {}).items())
    reason = "; ".join(filter(None, [str(decision.get("reason", "")), figures]))
    groups = decision.get("groups", [])
    return [str(decision.get("verdict", "")), str(decision.get("code", "")), " ".join(groups), reason]


def _figure(key: str, value: Any) -> str:
    if "bytes" in key and isinstance(value, (int, float)):
        return _bytes(value)
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _bytes(value: float) -> str:
    for unit in ("B", "KiB", "MiB"):
        if abs(value) < 1024:
            return f"{value:.0f} {unit}" if unit == "B" else f"{value:.1f} {unit}"
        value /= 1024
    return f"{value:.2f} GiB"


def _count(value: float) -> str:
    for unit in ("", "k", "M", "G"):
        if abs(value) < 1000:
            return f"{value:.0f}" if not unit else f"{value:.1f}{unit}"
        value /= 1000
    return f"{value:.1f}T"


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
