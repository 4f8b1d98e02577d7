"""Softmax and its like over rows that no cache keeps: the parts' maxima and sums are one pass, whatever is infinite among them."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp = jax.numpy
TARGETS = ("auto", "cpu-avx2", "sim:sm_90a")
FUNCTIONS = (jax.nn.softmax, jax.nn.log_softmax, jax.nn.logsumexp)


def rows(dtype=np.float32) -> np.ndarray:
    """Of 2 MiB and more, the last odd in ways that parts could get wrong."""
    random = np.random.default_rng(0)
    x = 3 * random.standard_normal((7, 589824)).astype(dtype)
    x[1] -= 1e4
    x[2] = np.sort(x[2])  # a part's maximum is far below the row's
    x[3, : 400 << 10] = -np.inf
    x[4] = -np.inf
    x[5, 7] = np.inf
    x[6, -1] = np.nan
    return x


def check(function, x, target, tolerance):
    exe = hloom.compile(lambda x: function(x, -1), x, target=target)
    with jax.enable_x64(True):
        expected = np.asarray(jax.jit(lambda x: function(x, -1))(x.astype(np.float64)))
    np.testing.assert_allclose(exe(x), expected, rtol=tolerance, atol=1e-30)
    assert any(each["code"] == "FUSED_MULTI_REDUCE" for each in exe.report.data["decisions"])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_like_jax(function, target):
    few = target.startswith("sim")  # a simulator takes as long as there are elements
    check(function, rows()[[0, 3, 4, 5], : 1 << 16] if few else rows(), target, 2e-5)


def test_doubles():
    with jax.enable_x64(True):
        check(jax.nn.softmax, rows(np.float64), "auto", 1e-12)
