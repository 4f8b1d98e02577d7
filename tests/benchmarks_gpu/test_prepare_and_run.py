"""Programs are prepared for a GPU, and what was prepared is checked on the simulator, as it will be on a GPU."""

from __future__ import annotations

import json
import subprocess
import sys

import numpy as np
import pytest

from benchmarks.gpu import __main__ as command
from benchmarks.gpu.cases import Index
from benchmarks.gpu.expected import keep
from benchmarks.gpu.processes import Worker
from benchmarks.settings import ROOT

TANH = """func.func @main(%x: tensor<8x64xf32>) -> tensor<8x64xf32> {
  %0 = stablehlo.tanh %x : tensor<8x64xf32>
  return %0 : tensor<8x64xf32>
}"""
TWICE = TANH.replace("stablehlo.tanh %x", "stablehlo.add %x, %x")
SORT = """func.func @main(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = "stablehlo.custom_call"(%x) {call_target_name = "nobody"} : (tensor<8xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}"""


@pytest.fixture(scope="module")
def prepared(tmp_path_factory):
    programs, folder = tmp_path_factory.mktemp("programs"), tmp_path_factory.mktemp("prepared")
    for name, text in (("tanh", TANH), ("twice", TWICE), ("unknown", SORT)):
        (programs / f"{name}.mlir").write_text(text)
    x = np.linspace(-1, 1, 512, dtype=np.float32)
    np.savez(programs / "twice.npz", in0=x.view(np.uint8), out0=(2 * x).view(np.uint8))
    arguments = ["prepare", "--target=sm_90a", "-o", str(folder), f"--programs={programs}", "--only=tanh,twice,unknown"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("benchmarks.gpu.pack.pack", lambda *given: None)  # test_bare_machine.py looks at that
        assert command.main(arguments) == 0
    return folder


def test_the_index_says_what_is_there(prepared):
    cases = {case.name: case for case in Index.read(prepared).cases}
    assert cases["tanh"].reference == "hloom on the CPU" and not cases["tanh"].stored and not cases["tanh"].chaotic
    assert cases["twice"].stored and "HL101" in cases["unknown"].error
    assert not (prepared / "unknown.hloom").exists()


def test_all_is_right_on_the_simulator(prepared, tmp_path, capsys):
    assert command.main(["run", str(prepared), "-o", str(tmp_path), "--device=simulator"]) == 0
    assert "tanh: right\ntwice: right" in capsys.readouterr().out
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["checks"]["tanh"] == {"differs": ""} and "skipped" in found["checks"]["unknown"]
    assert "2 of 3 programs give the expected results: tanh, twice." in (tmp_path / "gpu.md").read_text()


def test_what_is_wrong_is_said(prepared, tmp_path):
    wrong = tmp_path / "prepared"
    wrong.mkdir()
    for path in prepared.iterdir():
        (wrong / path.name).write_bytes(path.read_bytes())
    np.savez(wrong / "tanh.npz", **keep([np.zeros((8, 64), np.float32)]))
    index = Index.read(wrong)
    index.case("twice").checksum += 1
    index.write(wrong)
    assert command.main(["run", str(wrong), "-o", str(tmp_path), "--device=simulator", "--only=tanh,twice"]) == 1
    table = (tmp_path / "gpu.md").read_text()
    assert "| tanh | out0 differs by" in table and "the inputs made here from the seeds are not" in table


def test_a_folder_that_was_not_prepared(tmp_path):
    with pytest.raises(SystemExit, match="prepare it first"):
        command.main(["run", str(tmp_path), "-o", str(tmp_path)])


def test_a_worker_that_failed_is_followed_by_another(tmp_path):
    worker = Worker(tmp_path / "log.txt")
    try:
        first = worker.ask(60, do="check", folder=str(tmp_path), name="none", device="simulator")
        second = worker.ask(60, do="nothing")
    finally:
        worker.stop()
    assert "FileNotFoundError" in first["error"] and "KeyError" in second["error"]


CHILD = """
import sys
sys.path[:] = [sys.argv[1], *sys.path, *sys.argv[2:]]
import benchmarks.gpu.check, benchmarks.gpu.worker, hloom
print(hloom.load.__module__, hloom.__path__[-1] == sys.argv[1], [name for name in ("torch_mlir", "torch", "jax") if name in sys.modules])
"""


def test_a_checkout_that_is_not_installed_needs_no_compiler():
    """Without `site` there is no editable install: only the folders as they lie."""
    packages = [path for path in sys.path if path.endswith("-packages")]
    child = subprocess.run([sys.executable, "-I", "-S", "-c", CHILD, str(ROOT), *packages], capture_output=True, text=True, timeout=60)
    assert child.stdout.split() == ["hloom.runtime.loading", "True", "[]"], child.stderr
