"""docs/passes.md, from the passes' docstrings and the table of stages."""

from __future__ import annotations

import re
import sys

from hloom.compiler.passmanager import all_bundles
from hloom.compiler.pipeline import STAGES, Stage
from hloom.passes.registry import PassInfo, all_passes

_HEAD = """# hloom's passes

Written by `python docs/generate` from the docstrings in `passes/` and the table of stages in `compiler/pipeline.py`; a test compares them.
Each stage shows the passes that bring a program there, upstream's alike, then hloom's own in that order. Every pass says what must hold
before it and what it declines; its lit test, `tests/passes/<stage>/<pass>.mlir`, shows a program that it changes, one that it declines and
one that it leaves alone.
"""


def text() -> str:
    """All of docs/passes.md."""
    passes = all_passes()
    stages = [_stage(stage, [info for info in passes if _folder(info) == stage.name]) for stage in STAGES]
    return "\n".join([_HEAD, *(part for parts in stages for part in parts)])


def _stage(stage: Stage, passes: list[PassInfo]) -> list[str]:
    if not passes:
        return []
    bundles = {bundle.name: f" (`{bundle.text.replace(',', ', ')}`)" for bundle in all_bundles()}
    roads = {kind: stage.passes_for(kind) for kind in ("cpu", "cuda") if stage.kind in ("", kind)}
    same = len(set(roads.values())) == 1
    lines = [f"## {stage.name}: {stage.description}\n"]
    for kind, road in roads.items():
        if kind == "cpu" or not same or len(roads) == 1:
            lines.append(f"{'Passes' if same else f'Passes on the road to {kind}'}:\n")
            lines += [f"- `{entry}`{bundles.get(entry, '')}" for entry in road]
            lines.append("")
    order = ",".join(f"{entry}{bundles.get(entry, '')}" for road in roads.values() for entry in road)
    return [*lines, *map(_pass, sorted(passes, key=lambda info: _place(info.name, order)))]


def _place(name: str, order: str) -> int:
    """Where a pipeline names a pass first; behind all of it if nowhere."""
    found = re.search(rf"(?<![\w-]){name}(?![\w-])", order)
    return found.start() if found else len(order)


def _folder(info: PassInfo) -> str:
    """The stage whose folder holds the pass."""
    return info.fn.__module__.split(".")[2]


def _pass(info: PassInfo) -> str:
    summary, _, rest = docstring(info).partition("\n")
    options = ", ".join(f"`{name.replace('_', '-')}={default}`" for name, default in info.options.items())
    summary = summary.removeprefix(f"{info.name}: ")
    if re.match(r"[a-z]+ [^→]", summary):
        summary = summary[0].upper() + summary[1:]
    lines = [f"### {info.name}\n", summary, *([f"\nOptions: {options}."] if options else [])]
    return "\n".join([*lines, _fenced(rest.rstrip()), ""])


def docstring(info: PassInfo) -> str:
    """The docstring of the pass's file."""
    return (sys.modules[info.fn.__module__].__doc__ or "").strip()


def _fenced(body: str) -> str:
    """The text with its indented blocks between fences, as Markdown wants code."""
    blocks = re.sub(r"(?m)(?:^    .*\n|^\n(?=    ))*^    .*$", lambda block: f"```mlir\n{_dedented(block[0])}\n```", body)
    return re.sub(r"(?m)^(\S.*)\n```mlir", r"\1\n\n```mlir", re.sub(r"```\n(?=\S)", "```\n\n", blocks))


def _dedented(block: str) -> str:
    return re.sub(r"(?m)^    ", "", block).strip("\n")
