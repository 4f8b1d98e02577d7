"""Tensor maps of the launch table: what they must hold, and that they follow the addresses of what is recorded."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from fake_driver import FakeDriver

from hloom.runtime.cuda.kinds.kernel import KernelStep
from hloom.runtime.cuda.step import BufferAddresses
from hloom.runtime.cuda.tensor_maps import TensorMap
from hloom.runtime.errors import DamagedFileError
from hloom.runtime.schema import Mismatch
from hloom.runtime.thunk_schema import LAUNCH, check_program
from hloom.runtime.thunks import Slice, Thunk

ENTRY = {"argument": 1, "offset": 32, "dtype": "f16", "extents": [64, 72], "strides": [144, 2], "box": [64, 64], "swizzle": 128}


THUNK = Thunk("kernel", (Slice(0, 0, 64), Slice(1, 256, 9216)), (Slice(2, 0, 64),), {}, {"callee": "k"})


def launches(entry: dict) -> dict:
    return {"k": {"grid": [1, 1, 1], "block": [128, 1, 1], "shared_bytes": 0, "noalias": [True] * 3, "tensor_maps": [entry]}}


def check(entry: dict) -> None:
    """What loading a file does with it."""
    given = launches(entry)
    LAUNCH(given["k"])
    op = {"op": "kernel", "callee": "k", "reads": THUNK.reads, "writes": THUNK.writes}
    check_program("main", [op], [64, 9472, 64], [False, False, True], given)


def test_they_follow_the_addresses():
    driver, step = FakeDriver({"k": lambda *given: None}), KernelStep(THUNK)
    step.prepare(SimpleNamespace(launches=launches(ENTRY)))
    step.initialise(SimpleNamespace(driver=driver, module="program"))
    for base in (4096, 8192):
        with driver.current():
            recorder = driver.recorder()
        step.execute(recorder, BufferAddresses([base, base + 1024, base + 65536]))
        (node,) = recorder.nodes
        assert node[-1] == (base, base + 1280, base + 65536, (TensorMap.read(ENTRY), base + 1312))
    assert driver.calls("encode") == [("encode", 4096 + 1312), ("encode", 8192 + 1312)]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"box": [64]}, "whose extents, strides and box are of different numbers"),
        ({"dtype": "i7"}, r"tensor_maps\[0\].dtype should be"),
        ({"swizzle": 16}, r"tensor_maps\[0\].swizzle should be"),
        ({"strides": [144, 4]}, "whose innermost stride is not an element"),
        ({"argument": 2}, "argument 2 of k, which reads 2"),
        ({"offset": -16}, r"tensor_maps\[0\].offset should be"),
        ({"offset": 64}, "ends at byte 9280 of 9216"),
        ({"extents": [0, 72]}, r"tensor_maps\[0\].extents\[0\] should be"),
        ({"box": "x"}, r"tensor_maps\[0\].box should be"),
    ],
    ids=str,
)
def test_damaged(change, message):
    with pytest.raises((Mismatch, DamagedFileError), match=message):
        check(ENTRY | change)


def test_incomplete():
    with pytest.raises(Mismatch, match=r"tensor_maps\[0\].swizzle should be there"):
        check({name: value for name, value in ENTRY.items() if name != "swizzle"})


def test_bytes():
    """Integers of 8 bits, and the codes of floats, whose innermost stride is one byte."""
    entry = {**ENTRY, "dtype": "i8", "extents": [32, 128], "strides": [144, 1], "box": [32, 128]}
    check(entry)
    with pytest.raises(DamagedFileError, match="innermost stride is not an element"):
        check(entry | {"dtype": "f16"})
