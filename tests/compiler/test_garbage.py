"""Collections while hloom is imported and a program is compiled pass over what was there before."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

import hloom
from hloom.compiler import api
from hloom.runtime.garbage import SELDOM, known_objects_kept

ADD = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n  %0 = stablehlo.add %x, %x : tensor<4xf32>\n  return %0 : tensor<4xf32>\n}"


pytestmark = pytest.mark.usefixtures("nothing_frozen")


@pytest.fixture
def frozen(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many objects are frozen while a program is read."""
    counts: list[int] = []
    read = api.read_program
    monkeypatch.setattr(api, "read_program", lambda *given, **more: counts.append(gc.get_freeze_count()) or read(*given, **more))
    return counts


def test_only_while_a_program_is_compiled(frozen: list[int]) -> None:
    hloom.compile(ADD, target="cpu")
    with pytest.raises(hloom.CompileError):
        hloom.compile("func.func", target="cpu")
    assert len(frozen) == 2
    assert all(count > 1000 for count in frozen)
    assert gc.get_freeze_count() == 0


def test_what_a_process_froze_stays_frozen(frozen: list[int]) -> None:
    gc.freeze()
    try:
        before = gc.get_freeze_count()
        hloom.compile(ADD, target="cpu")
        assert before // 2 < frozen[0] <= before
        assert gc.get_freeze_count() > before // 2  # those that nobody refers to go
    finally:
        gc.unfreeze()


def test_frozen_objects_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """To count is to walk along all of them."""
    counted: list[int] = []
    count = gc.get_freeze_count
    monkeypatch.setattr(gc, "get_freeze_count", lambda: counted.append(0) or count())
    for _ in range(2):
        with known_objects_kept(), known_objects_kept():
            assert count() > 1000
        assert count() == 0
    assert len(counted) == 2  # nothing was frozen when they came

    gc.freeze()
    try:
        for _ in range(2):
            with known_objects_kept():
                assert gc.get_threshold()[0] == 700
        assert len(counted) == 3
    finally:
        gc.unfreeze()


@pytest.mark.parametrize("often", [700, 0, 10**7])
def test_collections_come_seldom_meanwhile(often: int, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []
    read = api.read_program
    monkeypatch.setattr(api, "read_program", lambda *given, **more: seen.append(gc.get_threshold()[0]) or read(*given, **more))
    before = gc.get_threshold()
    gc.set_threshold(often, *before[1:])
    try:
        hloom.compile(ADD, target="cpu")
        assert seen == [{700: SELDOM, 0: 0, 10**7: 10**7}[often]]
        assert gc.get_threshold()[0] == often
    finally:
        gc.set_threshold(*before)


def test_imports_are_not_collected() -> None:
    code = (
        "import gc, hloom; before = gc.get_threshold(), gc.get_freeze_count()\n"
        "began = []; gc.callbacks.append(lambda phase, info: began.append(phase)); hloom.compile; del gc.callbacks[:]\n"
        "assert not began, began; assert (gc.get_threshold(), gc.get_freeze_count()) == before"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
