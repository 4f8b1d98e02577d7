"""The peers and the measuring, on the CPU: torch.cuda is replaced by what does nothing, so that only the way through is tested."""

from __future__ import annotations

import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks.gpu import peers
from benchmarks.gpu.timing import MOST_COPIES, call_times, copies_for, device_times
from benchmarks.rows import ROWS, Row, _norm, layers, random

torch = pytest.importorskip("torch")
NORM = Row("norm", "", "layernorm", partial(_norm, 6, 16))
MLP = Row("mlp", "", "mlp", lambda: [random(0, 4, 8)], partial(layers, 8, 8))


def _layernorm() -> np.ndarray:
    x, scale, shift = NORM.inputs()
    centred = x - x.mean(1, keepdims=True)
    return centred / np.sqrt((centred**2).mean(1, keepdims=True) + 1e-5) * scale + shift


def test_copies():
    assert copies_for(16 << 20, 50 << 20) * (16 << 20) > 2 * (50 << 20)
    assert copies_for(1 << 30, 50 << 20) == 1 and copies_for(4, 50 << 20) == MOST_COPIES


def test_times_are_of_one_call(no_gpu):
    wait = partial(time.sleep, 0.002)
    for times in (device_times([wait] * 3, 0.05), call_times([wait] * 3, lambda: None, 0.05)):
        assert 2000 <= times.least <= times.median < 20_000 and times.samples >= 5


def test_torch_compile(no_gpu, tmp_path):
    ready = peers.PEERS["compile"].prepare(MLP, 3, tmp_path)
    (x,), (weight, bias) = MLP.inputs(), MLP.weights()
    np.testing.assert_allclose(ready.results[0], np.maximum(x @ weight + bias, 0), rtol=1e-4, atol=1e-5)
    assert ready.device(0.01).median < ready.call(0.01).median


def test_hand_written_cuda(no_gpu, tmp_path, monkeypatch):
    launched = []
    monkeypatch.setattr(peers, "device_facts", lambda: {"architecture": "sm_90"})

    def bind(program, architecture, addresses, sizes):
        return lambda stream: launched.append((addresses, sizes, stream))

    monkeypatch.setattr(peers, "bind_cuda", bind)
    monkeypatch.setattr(torch, "empty", lambda shape, device: torch.zeros(shape))
    ready = peers.PEERS["cuda"].prepare(NORM, 2, tmp_path)
    assert [result.shape for result in ready.results] == [(6, 16)]
    addresses, sizes, stream = launched[0]
    assert len(addresses) == 4 and sizes == (6, 16) and stream == 7
    assert launched[-1][0] == addresses and len({tuple(each[0]) for each in launched}) == 2
    ready = peers.PEERS["cuda"].prepare(ROWS["cartpole"], 1, tmp_path)
    assert launched[-1][1] == (1000, 2048) and [result.shape for result in ready.results] == [(4, 2048), (2048,)]


def test_hloom(no_gpu, tmp_path, monkeypatch):
    spec = SimpleNamespace(shape=(6, 16), numpy_dtype=np.dtype(np.float32))

    def flat(inputs, outputs):
        outputs[0].copy_(torch.layer_norm(inputs[0], (16,), inputs[1], inputs[2]))

    exe = SimpleNamespace(signature=SimpleNamespace(outputs=[spec]), flat=flat)
    monkeypatch.setattr(peers.Index, "read", lambda folder: SimpleNamespace(case=lambda name: None))
    monkeypatch.setattr(peers, "load_case", lambda case, folder: (exe, NORM.inputs()))
    ready = peers.PEERS["hloom"].prepare(NORM, 2, tmp_path)
    np.testing.assert_allclose(ready.results[0], _layernorm(), rtol=1e-4, atol=1e-5)
    assert ready.device(0.01).median > 0


def test_jax(tmp_path):
    jax = pytest.importorskip("jax")
    before = jax.config.jax_default_matmul_precision
    try:
        ready = peers.PEERS["jax"].prepare(NORM, 3, tmp_path)
        times = ready.device(0.01), ready.call(0.01)
    finally:
        jax.config.update("jax_default_matmul_precision", before)
    np.testing.assert_allclose(ready.results[0], _layernorm(), rtol=1e-4, atol=1e-5)
    assert all(each.median > 0 for each in times)
