"""On a GPU: measured programs."""

from __future__ import annotations

import numpy as np
import pytest
from gpu_programs import ELEMENTWISE, WHILE, build

from hloom.runtime.profile import trace

pytestmark = pytest.mark.cuda


def test_kernels_are_measured_by_events(tmp_path):
    exe = build(ELEMENTWISE, tmp_path, profile=True)
    inputs = np.ones((128, 256), np.float32), np.ones(256, np.float32)
    for _ in range(3):
        exe(*inputs)
        ((number, begin, end),) = exe.device.measurements()
        assert number == 0 and 0 < end - begin < 100_000_000
    (event,) = [event for event in trace(exe, [(number, begin, end)])["traceEvents"] if event["ph"] == "X"]
    assert "tanh" in event["args"]["source"]


def test_a_loop_is_measured_as_one(tmp_path):
    exe = build(WHILE, tmp_path, profile=True)
    exe(np.ones(64, np.float32), np.int32(10))
    found = trace(exe, exe.device.measurements())["traceEvents"]
    assert [event["cat"] for event in found if event["ph"] == "X"].count("while") == 1
