"""The documents tell the truth: pages that are written from the code are as it says, and what they name is there."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md")])
FROM_DOCSTRINGS = ("passes.md",)
SOURCES = sorted(path for floor in ("compiler", "dialects", "passes", "runtime", "tools") for path in (ROOT / floor).rglob("*.py"))
FILE = re.compile(r"(?<![\w/.<>*{-])((?:[\w.-]+/)*[\w-]+\.(?:py|cpp|toml|mlir|md))\b")
"""A file that a text names."""
EXAMPLES = re.compile(r"(^|/)(drop[-_]negations|model|mine|out|OUT|in|fault|llvm|mlp|fused)\b")
"""What a reader's own files are called."""


@cache
def files() -> frozenset[str]:
    """All files of the repository, relative to its root."""
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True)
    return frozenset(listed.stdout.splitlines())


def exists(name: str, page: Path) -> bool:
    """Whether a page means a file of the repository: from its own folder or one around it; a bare name may lie anywhere."""
    folder = page.parent.relative_to(ROOT)
    if any(os.path.normpath(each / name) in files() for each in (folder, *folder.parents)):
        return True
    return "/" not in name and any(path.endswith(f"/{name}") for path in files())


def gone(text: str, page: Path) -> list[str]:
    """The files that a text of the page names and that are not there."""
    return [name for name in FILE.findall(text) if not EXAMPLES.search(name) and not exists(name, page)]


def docstrings(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            yield ast.get_docstring(node) or ""


def folders_gone(text: str) -> list[str]:
    """The folders of the repository that a text names, from its root, and that are not there."""
    named = re.findall(r"`((?:compiler|dialects|passes|runtime|tools|tests|docs|benchmarks)/[\w/]*)`", text)
    return [name for name in named if not (ROOT / name).exists()]


def section(page: Path, title: str) -> str:
    """The text under a heading of the page, up to the next of its level."""
    level, text = title.split(" ")[0], page.read_text(encoding="utf-8")
    return text.split(f"\n{title}\n")[1].split(f"\n{level} ")[0]


def test_written_pages_are_as_the_code_says():
    done = subprocess.run([sys.executable, str(ROOT / "docs" / "generate"), "--check"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_and_pages_that_a_page_names_are_there(page: Path):
    text = page.read_text(encoding="utf-8")
    assert page.name in FROM_DOCSTRINGS or gone(text, page) + folders_gone(text) == []
    links = re.findall(r"\]\((?!https?:)([^)#]+)[^)]*\)", text)
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_files_that_docstrings_name_are_there():
    missing = {
        str(path.relative_to(ROOT)): [name for text in docstrings(path) for name in gone(text, path) + folders_gone(text)]
        for path in SOURCES
    }
    assert {path: names for path, names in missing.items() if names} == {}


def commands(page: Path) -> list[str]:
    """The command lines of a page that run hloom's tools on a program of examples/."""
    text = page.read_text(encoding="utf-8")
    return re.findall(r"(?m)(?:^ {4}|`)((?:[A-Z_]+=\S+ )?hloom-\w+ examples/[^`\n]+)", text)


def imports(page: Path) -> list[str]:
    """The lines of a page's Python that import something of hloom."""
    return re.findall(r"(?m)^ *((?:from|import) hloom\b.*)$", page.read_text(encoding="utf-8"))


@pytest.mark.parametrize("line", sorted({line for page in PAGES for line in imports(page)}))
def test_imports_of_a_page_work(line: str):
    exec(line, {})


@pytest.mark.parametrize("command", [command for page in PAGES for command in commands(page)])
def test_commands_on_examples_run(command: str, tmp_path: Path):
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    there = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(command, shell=True, cwd=tmp_path, env=there, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_readme_leads_to_every_page():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [page.name for page in (ROOT / "docs").glob("*.md") if f"(docs/{page.name})" not in readme] == []


def test_an_afternoons_reading_has_the_lines_that_it_says():
    text = section(ROOT / "README.md", "## An afternoon's reading").split("\nThen follow")[0]
    names = re.findall(r"`([\w/]+\.(?:py|md|mlir))`", text)
    lines = sum(len((ROOT / name).read_text(encoding="utf-8").splitlines()) for name in names)
    said = re.search(r"About ([\d,]+) lines", text)
    assert said and abs(lines - int(said[1].replace(",", ""))) <= 200, lines


@pytest.mark.parametrize(
    ("recipe", "most"), [("An elementwise op", 2), ("A pass", 2), ("A kind of thunk", 2), ("A target", 1), ("A fusion rule", 1)]
)
def test_a_recipe_touches_few_files(recipe: str, most: int):
    """Each numbered step is a file; tests and documents do not count."""
    steps = re.findall(r"(?m)^\d\. (.*)$", section(ROOT / "CONTRIBUTING.md", f"### {recipe}"))
    code = [step for step in steps if re.match(r"(Its line in the pipeline: )?`(compiler|dialects|passes|runtime|tools)/", step)]
    assert len(code) <= most, code
