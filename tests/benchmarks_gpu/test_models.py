"""Models on a GPU, on the CPU: as in test_peers.py only the way through is tested."""

from __future__ import annotations

import pytest

from benchmarks.gpu import models, peers, prepare
from benchmarks.gpu.cases import Index
from benchmarks.layers.table import Input, Layer

pytest.importorskip("torch")
ROW = Layer("small", "small", "nn.Sequential(nn.Linear(6, 5), nn.GELU(), nn.BatchNorm1d(5))", (Input.of("3,6"),))


@pytest.fixture
def folder(tmp_path, monkeypatch, no_gpu):
    for module in (models, prepare):
        monkeypatch.setattr(module, "MODELS", {"small": ROW, "other": ROW})
    monkeypatch.setattr(models, "DEVICE", "cpu")
    index = Index("cpu", "today")
    prepare.prepare_models(tmp_path, "cpu", ["sm*"], index)
    assert [*index.models] == ["small"] and Index.read(tmp_path).models == index.models
    return tmp_path


@pytest.mark.parametrize("peer", models.PEERS)
def test_a_model(folder, peer):
    assert peer in peers.PEERS
    answer, ready = models.model_ready(folder, "small", peer)
    assert "differs" not in answer and answer["off"] < 1e-6 and answer["eager_off"] < 1e-6
    assert ready.device(0.01).median > 0 and ready.call(0.01).median > 0


def test_kernels(folder):
    assert all(kernel["us"] > 0 for kernel in models.model_kernels(folder, "small"))


def test_wrong_results_are_told(folder, monkeypatch):
    torch_peer = models.PEERS["eager"]

    def wrong(module, inputs, path):
        call, replay = torch_peer(module, inputs, path)
        return lambda: call() * 1.01, replay

    monkeypatch.setitem(models.PEERS, "eager", wrong)
    assert "from finer numbers" in models.model_ready(folder, "small", "eager")[0]["differs"]


def test_the_rows_are_in_both_types():
    assert {row.dtype for row in models._ROWS.values()} == {"f32"} and "resnet50_b32_bf16" in models.MODELS
    assert models.MODELS["resnet50_b32_bf16"].inputs[0].dtype == "bf16" and models.MODELS["bert_base_b32"].batch == 32
