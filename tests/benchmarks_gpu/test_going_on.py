"""tests/gpu as a machine with a GPU runs them: what hangs, ends its process or breaks the GPU costs the tests behind it nothing."""

from __future__ import annotations

import os

from benchmarks.gpu import tests as going_on
from benchmarks.settings import ROOT

TESTS = """
import os, time, pytest
def test_before(): pass
def test_fails(): assert 1 == 2, "one is not two"
def test_breaks_the_gpu(): raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS: what comes next in this process fails too")
def test_ends_the_process(): os._exit(7)
def test_between(): pytest.skip("not here")
def test_hangs(): time.sleep(600)
@pytest.mark.xfail(strict=False)
def test_question(): assert False
def test_behind(): pass
"""


def test_all_are_told(tmp_path, monkeypatch):
    (tmp_path / "test_some.py").write_text(TESTS)
    monkeypatch.setattr(going_on, "ROOT", tmp_path)
    monkeypatch.setattr(going_on, "_QUIET", 4.0)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert not going_on.run_tests(tmp_path / "out", arguments=("test_some.py",))
    lines = (tmp_path / "out" / going_on.PAGE).read_text().splitlines()
    assert lines == [
        "FAILED test_some.py::test_fails - AssertionError: one is not two assert 1 == 2",
        "FAILED test_some.py::test_breaks_the_gpu - RuntimeError: CUDA_ERROR_ILLEGAL_ADDRESS: what comes next in this process fails too",
        "FAILED test_some.py::test_ends_the_process - the process ended with status 7",
        "SKIPPED test_some.py::test_between - Skipped: not here",
        "FAILED test_some.py::test_hangs - it hangs: nothing for 4 s",
        "XFAIL test_some.py::test_question - ",
        "4 failed, 2 passed, 1 skipped, 1 xfailed, of 8",
    ]
    assert "one is not two" in (tmp_path / "out" / going_on.FAILURES).read_text()


def test_what_has_no_time_is_told(tmp_path, monkeypatch):
    (tmp_path / "test_some.py").write_text("def test_one(): pass\n")
    monkeypatch.setattr(going_on, "ROOT", tmp_path)
    monkeypatch.setenv("PYTHONPATH", f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    assert going_on.run_tests(tmp_path / "out", deadline=0.0, arguments=("test_some.py",))
    told = (tmp_path / "out" / going_on.PAGE).read_text().splitlines()
    assert told == ["SKIPPED test_some.py::test_one - no time was left", "1 skipped, of 1"]
