"""Examples as a user has them: compiled and saved without a GPU, loaded on the emulated one, and held against the CPU."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from cuda_driver.ptx import Ptx, ptx_of

import hloom
from hloom.runtime.artifact import Artifact
from hloom.runtime.cuda import device
from hloom.runtime.cuda.driver import Driver
from hloom.runtime.errors import MissingDriverError
from hloom.runtime.executable import load

EXAMPLES = Path(__file__).parents[3] / "examples"
NAMES = ("softmax", "residual_layernorm", "mlp_layer_bf16", "jax_random_walk", "newton_loop")
TOLERANCE = {2: 1e-2, 4: 2e-5, 8: 1e-12}


@pytest.fixture(scope="module")
def driver():
    return Driver(0)


def inputs_of(exe):
    rng = np.random.default_rng(5)
    kinds = [(spec.shape, spec.numpy_dtype) for spec in exe.signature.inputs]
    return [(rng.standard_normal(s) * 0.1 if d.kind not in "iub" else rng.integers(0, 2, s)).astype(d) for s, d in kinds]


def listed(results):
    return list(results) if isinstance(results, (tuple, list)) else [results]


def absent():
    raise MissingDriverError("no driver")


@pytest.mark.parametrize("name", NAMES)
def test_an_example(gpu, driver, monkeypatch, tmp_path, name):
    monkeypatch.setattr(device, "default_driver", absent)
    path, target = EXAMPLES / f"{name}.mlir", f"sm_{gpu.capability}{'a' * (gpu.capability >= 90)}"
    hloom.compile(path, target=target, policy={"kernel": [{"use": "generated"}]}).save(tmp_path / "a.hloom")
    saved = Artifact.load(tmp_path / "a.hloom")
    gpu.executor.images[bytes(saved.blobs["cubin"])] = Ptx(ptx_of(saved))
    monkeypatch.setattr(device, "default_driver", lambda: driver)
    exe, expected = load(tmp_path / "a.hloom"), hloom.compile(path)
    inputs = inputs_of(exe)
    for _ in range(2):
        for found, other in zip(listed(exe(*inputs)), listed(expected(*inputs)), strict=True):
            found, other = np.asarray(found), np.asarray(other)
            tolerance = TOLERANCE[other.itemsize] if other.dtype.kind not in "iub" else 0
            limit = tolerance * np.abs(other).max(initial=1e-30)
            np.testing.assert_allclose(found.astype(np.float64), other.astype(np.float64), rtol=tolerance, atol=limit)
