"""Columns that are reduced and used again, over the channels of images and other outer dimensions: one kernel, whose tiles keep them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom

jax = pytest.importorskip("jax")
jnp = jax.numpy


def layer_norm(x, axis):
    centred = x - x.mean(axis, keepdims=True)
    return centred * jax.lax.rsqrt((centred * centred).mean(axis, keepdims=True) + 1e-6)


def argmax(x, axis):
    return jnp.argmax(x, axis)


FUNCTIONS = (jax.nn.softmax, layer_norm, argmax, jax.nn.logsumexp)


def check(function, x: np.ndarray, axis: int, target: str) -> hloom.Executable:
    exe = hloom.compile(lambda x: function(x, axis), x, target=target)
    with jax.enable_x64(True):
        expected = np.asarray(jax.jit(lambda x: function(x, axis))(x.astype(np.float64)))
    np.testing.assert_allclose(exe(x), expected, rtol=2e-5, atol=2e-6)
    return exe


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize(("shape", "axis"), [((2, 21, 30, 41), 1), ((33, 130), 0), ((3, 5, 7), 1)])
def test_one_kernel(function, shape, axis):
    exe = check(function, np.random.default_rng(0).standard_normal(shape).astype(np.float32), axis, "cpu-avx2")
    assert sum(group["flops"] > 10_000 for group in exe.report.data["groups"]) <= 1


def test_too_many_rows_are_several_kernels():
    exe = check(jax.nn.softmax, np.random.default_rng(1).standard_normal((5000, 130)).astype(np.float32), 0, "cpu-avx2")
    assert sum(group["flops"] > 10_000 for group in exe.report.data["groups"]) > 1


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(1, 19), min_size=2, max_size=4), st.integers(0, 3), st.sampled_from(FUNCTIONS), st.integers(0, 2**20))
def test_any_shape(shape, axis, function, seed):
    """Of eighths: two numbers of a column that differ by less than f32 tells of their mean have no normal form to compare with."""
    check(function, np.random.default_rng(seed).integers(-16, 16, shape).astype(np.float32) / 8, axis % len(shape), "auto")
