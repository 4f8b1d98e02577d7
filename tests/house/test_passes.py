"""Every pass documents itself: its docstring has one form, and a lit test of its name shows what it does and what it leaves."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from hloom.passes.registry import PassInfo, all_passes

ROOT = Path(__file__).parents[2]
PASSES = [pytest.param(info, id=info.name) for info in all_passes() if info.fn.__module__.startswith("hloom.")]


def docstring(info: PassInfo) -> str:
    return sys.modules[info.fn.__module__].__doc__ or ""


@pytest.mark.parametrize("info", PASSES)
def test_the_docstring_shows_before_and_after_and_what_is_declined(info: PassInfo):
    text = docstring(info)
    assert text.startswith(f"{info.name}: ")
    shown = re.search(r"(?m)^Before\b.*:\n(\n*    .*\n)+(.*\n)*After\b.*\n\n*    ", text)
    assert shown or "Changes nothing." in text, "IR before and after the pass"
    assert re.search(r"\bMust hold:\s\w", text), "what must hold before the pass"
    assert re.search(r"\bDeclined(, with \w+)?[:,]", text), "what the pass declines"


@pytest.mark.parametrize("info", PASSES)
def test_a_lit_test_of_its_name_shows_what_it_changes_declines_and_leaves(info: PassInfo):
    stage = info.fn.__module__.split(".")[2]
    folder = ROOT / "tests" / "passes" / stage
    assert (folder / f"{info.name}.mlir").is_file()
    texts = [path.read_text(encoding="utf-8") for path in (folder / f"{info.name}.mlir", *folder.glob(f"{info.name}-*.mlir"))]
    shown = {case for text in texts for case in re.findall(r"(?m)^ *// (Changed|Declined|Unchanged): \S", text)}
    wanted = {"Changed", "Declined", "Unchanged"}
    if "Changes nothing." in docstring(info):
        wanted.remove("Changed")
    if "Declined: nothing" in docstring(info) and "Changed" in wanted:
        wanted.remove("Declined")
    assert shown == wanted
