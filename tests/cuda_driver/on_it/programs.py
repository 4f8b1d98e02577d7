"""Whole programs as a user has them: compiled and saved without a GPU, loaded on the emulated one, and held against what they should give.

The examples, and what there is of a folder of programs (HLOOM_PROGRAMS, or `shared` beside the repository): its models, with the results
that came with them, and its workloads, in smaller sizes unless HLOOM_SLOW is set. What has no results of its own is interpreted. Where
results are farther apart than rounding should put them, the program may magnify roundings: then f64 decides (roundings.py).
"""

from __future__ import annotations

import gc
import os
import re
from pathlib import Path

import numpy as np
import pytest
from cuda_driver.roundings import within_roundings

import hloom
from benchmarks.gpu.cases import from_bytes, random_inputs
from hloom.compiler.interpreter import interpret
from hloom.runtime.cuda import device
from hloom.runtime.cuda.driver import Driver
from hloom.runtime.errors import MissingDriverError
from hloom.runtime.executable import load

ROOT = Path(__file__).parents[3]
SHARED = Path(os.environ.get("HLOOM_PROGRAMS", ROOT.parent / "shared"))
FOLDERS = [ROOT / "examples", SHARED / "models", SHARED / "workloads"]
PROGRAMS = [path for folder in FOLDERS for path in sorted(folder.glob("*.mlir"))]
SMALLER = {
    "cart": {1000: 20, 2048: 96},  # steps, environments
    "encoder": {128: 24, 512: 64, 64: 8, 1024: 128, 1536: 192, 2048: 160},  # tokens, widths
    "mlp": {256: 40, 1024: 128},  # rows, widths
    "simplemodel": {32: 16, 16384: 4096, 4096: 64, 1024: 48},  # lines of the image, widths of the layers behind
    "ew": {4096: 72},  # rows, as in the next two
    "layernorm": {4096: 72},
    "softmax": {4096: 72},
}
"""Numbers in the texts of workloads, by the beginning of a name."""
TOLERANCE = {2: 3e-2, 4: 2e-5, 8: 1e-12}
"""By bytes of an element, relative to the largest expected value."""


@pytest.fixture(scope="module")
def driver():
    return Driver(0)


def absent():
    raise MissingDriverError("no driver")


def text_of(path):
    text = path.read_text()
    if path.parent.name != "workloads" or os.environ.get("HLOOM_SLOW"):
        return text
    sizes = SMALLER[re.match("[a-z]+", path.name)[0]]
    return re.sub(r"(?<![\d.%])\d+(?![\d.])", lambda found: str(sizes.get(int(found[0]), found[0])), text)


def inputs_and_results(path, signature):
    stored = path.with_suffix(".npz")
    if not stored.exists():
        inputs = random_inputs(signature.inputs, seed=0)
        return inputs, interpret(text_of(path), inputs)
    with np.load(stored) as arrays:
        inputs = [from_bytes(arrays[f"in{number}"], spec) for number, spec in enumerate(signature.inputs)]
        return inputs, [from_bytes(arrays[f"out{number}"], spec) for number, spec in enumerate(signature.outputs)]


def agrees(found, expected):
    tolerance = TOLERANCE[expected.itemsize] if expected.dtype.kind not in "iub" else 0
    found, expected = found.astype(np.float64), expected.astype(np.float64)
    largest = np.abs(expected[np.isfinite(expected)]).max(initial=1e-30)
    return found.shape == expected.shape and np.allclose(found, expected, rtol=tolerance, atol=tolerance * largest, equal_nan=True)


@pytest.mark.parametrize(("gpu", "path"), [pytest.param(n % 6, path, id=path.stem) for n, path in enumerate(PROGRAMS)], indirect=["gpu"])
def test_a_program(gpu, driver, monkeypatch, tmp_path, path):
    monkeypatch.setattr(device, "default_driver", absent)
    target = f"sm_{gpu.capability}{'a' * (gpu.capability >= 90)}"
    hloom.compile(text_of(path), target=target, policy={"kernel": [{"use": "generated"}]}).save(tmp_path / "a.hloom")
    monkeypatch.setattr(device, "default_driver", lambda: driver)
    exe = load(tmp_path / "a.hloom")
    inputs, expected = inputs_and_results(path, exe.signature)
    for _ in range(2):  # the second by the graph of the first
        found = [np.asarray(result) for result in exe.flat(inputs)]
        if not all(agrees(*pair) for pair in zip(found, expected, strict=True)):
            assert within_roundings(text_of(path), inputs, found) == ""
    del exe  # its graphs and memory go in a thread that has no context
    gc.collect()
    assert gpu.refusals == []
