"""The table of codes in docs/fusion.md, from the planner's enumeration."""

from __future__ import annotations

from pathlib import Path

from hloom.passes.fused.planner.codes import DecisionCode
from hloom.passes.fused.planner.rules import all_rules

_HEAD = "| code | verdict | meaning |\n|---|---|---|\n"


def text(page: Path) -> str:
    """The page with its table written anew."""
    before, _, rest = page.read_text(encoding="utf-8").partition(_HEAD)
    after = rest[rest.index("\n\n") :]
    return f"{before}{_HEAD}{chr(10).join(_rows())}{after}"


def _rows() -> list[str]:
    all_rules()  # imports the rules, which may have codes of their own
    return [f"| {code.name} | {code.verdict} | {code.meaning} |" for table in DecisionCode.__subclasses__() for code in table]
