"""Tensor maps of the launch table: what they must hold, and that they follow the addresses of what is recorded."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from fake_driver import FakeDriver

from hloom.runtime.cuda.kernel import KernelStep
from hloom.runtime.cuda.step import Memory
from hloom.runtime.cuda.tensor_maps import TensorMap
from hloom.runtime.errors import DamagedFileError
from hloom.runtime.thunks import Slice

ENTRY = {"argument": 1, "offset": 32, "dtype": "f16", "extents": [64, 72], "strides": [144, 2], "box": [64, 64], "swizzle": 128}


class OneThunk(dict):
    reads = (Slice(0, 0, 64), Slice(1, 256, 9216))
    writes = (Slice(2, 0, 64),)


def _step(entry: dict) -> KernelStep:
    step = KernelStep(OneThunk(callee="k"))
    launch = {"grid": [1, 1, 1], "block": [128, 1, 1], "shared_bytes": 0, "noalias": [True] * 3, "tensor_maps": [entry]}
    step.prepare(SimpleNamespace(launches={"k": launch}))
    return step


def test_they_follow_the_addresses():
    driver, step = FakeDriver({"k": lambda *given: None}), _step(ENTRY)
    step.initialise(SimpleNamespace(driver=driver, module="program"))
    for base in (4096, 8192):
        with driver.current():
            recorder = driver.recorder()
        step.execute(recorder, Memory([base, base + 1024, base + 65536]))
        (node,) = recorder.nodes
        assert node[-1] == (base, base + 1280, base + 65536, (TensorMap.read(ENTRY, "k"), base + 1312))
    assert driver.calls("encode") == [("encode", 4096 + 1312), ("encode", 8192 + 1312)]


@pytest.mark.parametrize(
    "change",
    [
        {"box": [64]},
        {"dtype": "i7"},
        {"swizzle": 16},
        {"strides": [144, 4]},
        {"argument": 2},
        {"offset": -16},
        {"extents": [0, 72]},
        {"box": "x"},
    ],
    ids=str,
)
def test_damaged(change):
    with pytest.raises(DamagedFileError, match="tensor map"):
        _step(ENTRY | change)


def test_incomplete():
    with pytest.raises(DamagedFileError, match="does not describe a tensor map of k: KeyError"):
        _step({name: value for name, value in ENTRY.items() if name != "swizzle"})
