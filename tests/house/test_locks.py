"""What would keep a forked child waiting."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("compiler", "dialects", "passes", "runtime", "tools")


def test_no_property_holds_a_lock_of_all_objects():
    """functools.cached_property of Python 3.11 has one: a child forked amid a compile waited for it (hloom.runtime.lazy)."""
    found = []
    for path in (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")):
        names = {node.attr if isinstance(node, ast.Attribute) else node.name for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
                 if isinstance(node, ast.Attribute | ast.alias)}  # fmt: skip
        found += [path.name] if "cached_property" in names else []
    assert found == []
