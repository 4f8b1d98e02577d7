"""What would keep a forked child waiting."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("compiler", "dialects", "passes", "runtime", "tools")


def test_no_property_holds_a_lock_of_all_objects():
    """functools.cached_property of Python 3.11 has one: a child forked amid a compile waited for it (hloom.runtime.lazy)."""
    paths = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert [path.name for path in paths if "cached_property" in _names(path)] == []


def _names(path: Path) -> set[str]:
    """What a file imports, and the attributes that it reads."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    return attributes | {node.name for node in nodes if isinstance(node, ast.alias)}
