"""A worker measures rows one after another; one that fails ends neither the run nor the worker."""

from __future__ import annotations

import os
import shutil
import time

import numpy as np
import pytest

from benchmarks.layers.table import Input, Layer
from benchmarks.session import Measured, Session
from benchmarks.settings import BUILD
from benchmarks.suite import Results, difference, load
from benchmarks.worker import sample


def test_a_row_that_fails_ends_nothing():
    pytest.importorskip("torch")
    pytest.importorskip("jax")
    suite = load("layers")
    BUILD.mkdir(parents=True, exist_ok=True)
    found = {}
    with Session(suite) as session:
        for name in ("alexnet_lrn_64_55", "classes_softmax_1000"):
            known = {peer: Measured() for peer in ("eager", "jax")}
            session.run_round(suite.rows[name], list(known), 1, 1, 0.005, known, 0)
            found[name] = known
    failed, measured = found["alexnet_lrn_64_55"], found["classes_softmax_1000"]
    assert "no such function in JAX" in failed["jax"].error and failed["eager"].medians
    assert measured["jax"].median > 0 and measured["jax"].processor > 0
    assert not measured["jax"].error and not measured["jax"].differs


def test_short_calls_are_timed_together():
    calls = []
    wall, processor = sample(lambda: calls.append(1), 0.01)
    assert len(wall) == len(processor) >= 3
    assert len(calls) > 3 * len(wall)
    assert 0 < np.median(wall) < 0.01


def test_a_long_call_is_enough():
    calls = []
    wall, _ = sample(lambda: (calls.append(1), time.sleep(0.01)), 0.005)
    assert len(calls) == len(wall) == 1 and wall[0] >= 10


@pytest.mark.parametrize(
    ("found", "expected", "said"),
    [
        ([1.0, 2.0], [1.0, 2.001], ""),
        ([1.0, 2.0], [1.0, 3.0], "differ by 0.33"),
        ([np.nan, 2.0], [np.nan, 2.0], ""),
        ([np.inf, 2.0], [1.0, 2.0], "differ by inf"),
        ([1.0, 2.0], [np.inf, 2.0], "differ by inf"),
        ([0.1], [0.0], "differ by inf"),
        ([0.0], [0.0], ""),
        ([], [], ""),
    ],
)
def test_what_differs(found: list[float], expected: list[float], said: str):
    a, b = (Results([[len(each)]], [np.array(each, np.float32)]) for each in (found, expected))
    assert said in (text := difference(Layer("", "", "", ()), a, b)) and bool(said) == bool(text)


def test_other_shapes_differ():
    a, b = Results([[2, 1]], [np.zeros(2)]), Results([[2]], [np.zeros(2)])
    assert "shapes" in difference(Layer("", "", "", ()), a, b)


def test_workers_leave_nothing_behind():
    suite = load("layers")
    with Session(suite) as session:
        session._worker("fma", 1)
        process = session._workers["fma", 1]._process
    assert process.poll() is not None
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


def test_limits_do_the_work_that_they_say():
    pytest.importorskip("torch")
    if shutil.which("gcc") is None:
        pytest.skip("no gcc")
    BUILD.mkdir(parents=True, exist_ok=True)
    peers = load("layers").peers
    row = Layer("", "", "Linear(64, 128, bias=False)", (Input((4096, 64), "f32"),))
    fma, stream = (peers[name].prepare(row, 2) for name in ("fma", "bandwidth"))
    assert int(fma.note) == 2 * 4096 * 64 * 128
    assert int(stream.note) == 4 * (4096 * 64 + 64 * 128 + 4096 * 128)
    seconds = min(sample(fma.call, 0.005)[1]) * 1e-3
    assert 1e9 < int(fma.note) / seconds < 1e12  # FLOP/s of one core, or two
    stream.call()
