"""Real programs with expected outputs, where a folder of them is present: HLOOM_PROGRAMS, or `shared` beside the repository."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from numerics.test_cartpole import numpy_cartpole

import hloom
from hloom.runtime.dtypes import numpy_dtype

ROOT = Path(os.environ.get("HLOOM_PROGRAMS", Path(__file__).parents[3] / "shared"))
INDEX = ROOT / "models" / "index.json"
MODELS = json.loads(INDEX.read_text()) if INDEX.exists() else []

TOLERANCE = {"f32": 2e-5, "bf16": 3e-2, "f16": 4e-3}
"""Relative to the largest expected value."""

pytestmark = pytest.mark.skipif(not MODELS, reason="no folder of programs beside the repository")


def read(archive, role: str, types, shapes):
    for i, (kind, shape) in enumerate(zip(types, shapes)):
        element = kind[len("tensor<") : -1].rpartition("x")[2]
        yield element, archive[f"{role}{i}"].view(numpy_dtype(element)).reshape(shape)


@pytest.mark.parametrize("model", MODELS, ids=[m["name"] for m in MODELS])
def test_model(model):
    path = ROOT / "models" / f"{model['name']}.mlir"
    archive = np.load(path.with_suffix(".npz"))
    inputs = [array for _, array in read(archive, "in", model["in_types"], model["in_shapes"])]
    results = hloom.compile(path)(*inputs)
    results = results if isinstance(results, (tuple, list)) else [results]
    for result, (element, expected) in zip(results, read(archive, "out", model["out_types"], model["out_shapes"]), strict=True):
        if element not in TOLERANCE:
            np.testing.assert_array_equal(result, expected)
            continue
        found, expected = np.asarray(result).astype(np.float64), expected.astype(np.float64)
        largest = np.abs(expected[np.isfinite(expected)]).max(initial=1e-30)
        np.testing.assert_allclose(found, expected, rtol=TOLERANCE[element], atol=TOLERANCE[element] * largest)


@pytest.mark.parametrize("name", ["cart_pre_f32", "cart_pre_noconcat_f32"])
def test_cartpole_workload(name):
    rng = np.random.default_rng(3)
    state, reset = (rng.uniform(-0.05, 0.05, (4, 2048)).astype(np.float32) for _ in range(2))
    randoms = rng.random((1000, 2048), np.float32)
    exe = hloom.compile(ROOT / "workloads" / f"{name}.stablehlo.mlir")
    _found, ended = exe(state, randoms, reset)
    _expected, counts = numpy_cartpole(state, randoms, reset)
    np.testing.assert_array_equal(ended, counts)
    assert counts.sum() > 2048
