"""The static report: a program's machine code for two GPUs, its line, and the page; what failed does not stop the others."""

from __future__ import annotations

import json

import pytest

from benchmarks.gpu import static
from benchmarks.gpu.static_page import page, spilling, summary

pytest.importorskip("cuda.core")


@pytest.fixture
def reports(tmp_path, monkeypatch, capsys):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "broken.mlir").write_text("no program")
    monkeypatch.setenv("HLOOM_PROGRAMS", str(tmp_path))
    command = ["mlp_layer", "broken", "--target", "sm_80", "--target", "sm_90a", "-o", str(tmp_path / "static")]
    assert static.main(command) == 1
    said = capsys.readouterr().out
    assert "no code for: broken, sm_80, broken, sm_90a" in said and "mlp_layer, sm_90a: kernels" in said
    return tmp_path / "static"


def test_what_is_there_is_not_compiled_again(reports, capsys):
    file = reports / "sm_80" / "mlp_layer.json"
    report = json.loads(file.read_text())
    report["kernels"][0] |= {"spills": 16, "registers": 255}
    file.write_text(json.dumps(report))
    assert static.main(["mlp_layer", "--target", "sm_80", "-o", str(reports)]) == 0
    said = capsys.readouterr().out
    assert "| 16 | 255 |" in said and "16 bytes spilled: mlp_layer, sm_80" in said


def test_a_summary_counts_calls_and_leaves_out_what_runs_once():
    kernel = {"grid": [300], "block": [128], "registers": 40, "spills": 0, "occupancy": 50, "moved": 300, "least": 200, "wide": 100}
    rows = [kernel | {"name": "a", "roofline_ps": 10}, kernel | {"name": "b", "roofline_ps": 30, "occupancy": 100, "wide": None}]
    groups = [{"name": "a", "entry": "main", "calls": 3}, {"name": "b", "entry": "init", "calls": 1}]
    library = {"call": "gemm", "calls": 2, "least": 1000, "roofline_ps": 5}
    found = summary({"kernels": rows, "groups": groups, "libraries": [library]})
    assert (found.kernels, found.launches, found.libraries) == (2, 3, 2)
    assert (found.moved, found.least, found.occupancy, found.worst, found.wide) == (2900, 2600, 50, 50, 100)
    assert found.seconds == pytest.approx(40e-12)
    reports = {("p", "sm_80"): {"kernels": rows, "groups": groups, "libraries": [library]}}
    assert "| p | 2 | 3 + 2 | - | 40 | 50 % (50 %) | 2.6 KB × 1.12 | 100 % | 4e-05 µs |" in page(reports)
    assert not spilling(reports)
