"""The lines of a program's source that its locations name: of the text itself, and of Python files that are there.

No other file is opened: a location can name any.
"""

from __future__ import annotations

import linecache
from typing import Any

from hloom.passes.common.places import place


def source_lines(report: dict[str, Any], text: str = "") -> dict[str, str]:
    """By location as the page shows it ("model.py:7"), the line without its margin. `text` is the program's, where it has one."""
    program, name = text.splitlines(), report.get("program", {}).get("name")
    found: dict[str, str] = {}
    for _, location in report.get("graph", {}).get("places", ()):
        where = place(location)
        if not where.file:
            continue
        if where.file.endswith(".py"):
            line = linecache.getline(where.file, where.line)
        else:
            line = program[where.line - 1] if where.file.endswith(f"{name}") and 0 < where.line <= len(program) else ""
        if line.strip():
            found[f"{where.file.rpartition('/')[2]}:{where.line}"] = line.strip()[:400]
    return found
