"""The table of a run that never was: its figures are made up."""

from __future__ import annotations

import pytest

from benchmarks import report as cpu_report
from benchmarks.gpu.report import Found, section
from benchmarks.gpu.timing import MOST_COPIES


def _one(median: float, copies: int = 4) -> dict:
    times = {"median": median, "least": median - 1, "samples": 9}
    return {"differs": "", "copies": copies, "bytes": 33_554_432, "device": times, "call": {**times, "median": median + 20}}


@pytest.fixture
def found() -> Found:
    found = Found.start("sm_90a", "cuda")
    found.device = {"device": "Imaginary", "torch": "2", "jax": "0.1", "cuda": "13", "l2_bytes": 50 << 20}
    found.ceilings = {"copy kernel, GB/s": 4000.0, "cudaMemcpyAsync, GB/s": 3900.0, "bf16 matmul, TFLOP/s": 800.0}
    found.checks = {"softmax": {"differs": ""}, "chain": {"differs": "out0 differs by 0.1 of the largest"}}
    found.times = {
        "softmax": {"hloom": _one(11.0), "jax": _one(10.0), "compile": _one(22.0), "cuda": {"error": "no nvcc"}},
        "mlp_bf16": {"hloom": {**_one(5.0, MOST_COPIES), "differs": "out0 differs by 1 of the largest"}},
    }
    return found


def test_table(found):
    text = section(found)
    assert "## GPU: Imaginary" in text and "L2 50 MiB" in text and "| copy kernel, GB/s | 4000 |" in text
    assert "| softmax, 4096×1024 f32 | 11 / 10 (3050 GB/s, 76%) | failed | 10 / 9 (3355 GB/s, 84%) | 22 / 21 (1525 GB/s, 38%) |" in text
    assert "| softmax, 4096×1024 f32 | – | **1.10** | 0.50 |" in text
    assert "bf16 (may lie in the L2) | 5 / 4 (322.1 TFLOP/s, 40%) differs | – | – | – |" in text
    assert "CUDA: no nvcc" in text and "1 of 2 programs" in text


def test_kernels_programs_and_costs(found):
    found.costs = {"node of a graph, us": 0.5}
    kernel = {"us": 12.5, "kernel": "fusion_0", "source": "reduce, add", "roofline_us": 9.0, "bound": "memory"}
    found.kernels = {"softmax": {"kernels": [{"us": 3.0, "kernel": "fill", "source": ""}, kernel]}, "chain": {"error": "it | hangs"}}
    times = {"device": {"median": 20.0, "least": 19.0}, "call": {"median": 25.0, "least": 24.0}}
    found.programs = {"kmeans": times, "lstm": {"error": "no"}}
    text = section(found)
    assert "| node of a graph, us | 0.5 |" in text
    assert "| softmax | fusion_0 | reduce, add | 12.5 | 9 | memory |\n| softmax | fill |  | 3 | – |  |" in text
    assert "| chain | failed | it / hangs |" in text
    assert "| kmeans | 20 / 19 | 25 / 24 |" in text and "| lstm | failed | no |" in text


def test_models(found):
    measured = {"off": 2e-3, "eager_off": 3e-3, **_one(10.0)}
    found.models = {
        "net": {"hloom": measured, "compile": {**_one(20.0)}, "eager": {"error": "no memory"}},
        "other": {"hloom": {"error": "no"}},
    }
    text = section(found)
    assert "| net | 10, 30 | 20, 40 | failed | 0.50 | – | 2e-03 | 3e-03 |" in text
    assert "- net, torch, eager: no memory" in text and "- other, hloom: no" in text and "other" in found.failed()


def test_what_failed(found):
    assert found.failed() == ["chain", "mlp_bf16"]


def test_json_there_and_back(found, tmp_path):
    found.write(tmp_path)
    assert Found.read(tmp_path / "results.json") == found
    assert (tmp_path / "gpu.md").read_text().strip() == section(found)


def test_its_section_of_the_document(found, tmp_path):
    document = tmp_path / "benchmarks.md"
    cpu_report.write_section("speed", "the CPU's", document)
    for _ in range(2):
        cpu_report.write_section("gpu", section(found), document)
    text = document.read_text()
    assert text.count("## GPU: Imaginary") == 1 and "the CPU's" in text
