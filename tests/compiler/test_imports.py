"""The house's arrows: tools → compiler → passes → dialects → runtime, and no circle."""

from __future__ import annotations

import ast
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FLOORS = ["runtime", "dialects", "passes", "compiler", "tools"]
FILES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for floor in FLOORS
    for path in (ROOT / floor).rglob("*.py")
}


def imports(name: str) -> set[str]:
    """The house's files that the file imports, anywhere in it, but for types alone."""
    path = FILES[name]
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    tree = ast.parse(path.read_text())
    for_types = {
        id(node)
        for branch in ast.walk(tree)
        if isinstance(branch, ast.If) and ast.unparse(branch.test) == "TYPE_CHECKING"
        for node in ast.walk(branch)
    }
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.ImportFrom) or id(node) in for_types:
            continue
        start = package[: len(package) - node.level + 1] if node.level else []
        module = ".".join([*start, *filter(None, [node.module])]).removeprefix("hloom.")
        for alias in node.names:
            part = f"{module}.{alias.name}"
            found.add(part if part in FILES else module)
    return {each for each in found if each in FILES and each != name}


@pytest.fixture(scope="module")
def graph() -> dict[str, set[str]]:
    """Not made where tests are collected: that is done by every process."""
    return {name: imports(name) for name in FILES}


def test_arrows_point_down(graph):
    floor = {name: FLOORS.index(name.partition(".")[0]) for name in FILES}
    assert [(name, other) for name, others in graph.items() for other in others if floor[other] > floor[name]] == []


def test_the_runtime_imports_nothing_of_the_rest(graph):
    own = {name for name in FILES if name.startswith("runtime")}
    assert [(name, graph[name] - own) for name in own if graph[name] - own] == []


def test_no_circle(graph):
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(" → ".join(error.args[1]))
