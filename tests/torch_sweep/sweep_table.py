"""The table in docs/torch.md: what of the sweep is right, and what is refused and why; generated, never written by hand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from sweep_workers import Setting, Told

DOCS = Path(__file__).parents[2] / "docs" / "torch.md"
BEGIN, END = "<!-- the sweep's table: written by tests/torch_sweep -->", "<!-- the end of the sweep's table -->"

_OF_VALUES = "item nonzero masked_select bincount _unique2 unique_dim unique_consecutive linalg_lstsq".split()
"""Ops whose results have sizes that depend on values, and that which reads a value."""


def need(op: str) -> str:
    """What a refused op waits for."""
    return "sizes that depend on values" if op in _OF_VALUES else "a lowering"


def table(found: Mapping[Setting, Told], total: int) -> str:
    """Markdown: the figures, the refusals by name, and the names that are right at every setting that ran."""
    kinds = Counter(kind for kind, _ in found.values())
    share = 100 * kinds["right"] / max(len(found), 1)
    lines = [
        BEGIN,
        f"Of {total} settings {len(found)} ran: {kinds['right']} right ({share:.1f}%), {kinds['refused']} refused, {kinds['wrong']} wrong.",
        "",
        "| name | refused at | torch op | needs |",
        "|---|---|---|---|",
    ]
    names = list(dict.fromkeys(name for name, _ in found))
    for name in names:
        told = [found[setting] for setting in found if setting[0] == name]
        ops = list(dict.fromkeys(why for kind, why in told if kind == "refused"))
        if ops:
            count = sum(kind == "refused" for kind, _ in told)
            needs = list(dict.fromkeys(map(need, ops)))
            lines.append(f"| {name} | {count} of {len(told)} | {', '.join(ops)} | {', '.join(needs)} |")
    wrong = [f"`{name}{text}`: {why}" for (name, text), (kind, why) in found.items() if kind == "wrong"]
    if wrong:
        lines += ["", "Wrong:", "", *(f"- {each}" for each in wrong)]
    whole = [name for name in names if all(kind == "right" for (each, _), (kind, _) in found.items() if each == name)]
    lines += ["", f"Right at every setting that ran ({len(whole)}): {', '.join(whole)}.", END]
    return "\n".join(lines)


def write(found: Mapping[Setting, Told], total: int) -> None:
    """Puts the table into docs/torch.md."""
    replace(table(found, total), BEGIN, END)


def replace(text: str, begin: str, end: str) -> None:
    """Puts a text, which starts and ends with those marks, in the place of the one that docs/torch.md has."""
    page = DOCS.read_text()
    DOCS.write_text(page[: page.index(begin)] + text + page[page.index(end) + len(end) :])
