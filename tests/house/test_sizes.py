"""The house stays in small rooms: no file over 500 lines, no function over 60."""

from __future__ import annotations

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
FILES = [path for floor in ("compiler", "dialects", "passes", "runtime", "tools") for path in (ROOT / floor).rglob("*.py")]


def test_no_file_has_over_500_lines():
    lines = {str(path.relative_to(ROOT)): len(path.read_text(encoding="utf-8").splitlines()) for path in FILES}
    assert {name: count for name, count in lines.items() if count > 500} == {}


def test_no_function_has_over_60_lines():
    functions = (
        (path, node)
        for path in FILES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.end_lineno is not None
    )
    lengths = {f"{path.relative_to(ROOT)}: {node.name}": node.end_lineno - node.lineno + 1 for path, node in functions}
    assert {name: length for name, length in lengths.items() if length > 60} == {}
