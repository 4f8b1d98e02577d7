"""Reductions of rows of a few elements, of which each lane takes one: against NumPy in f64, and JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom

FUNCTIONS = {
    "sum": lambda x: x.sum(-1),
    "sum of sines": lambda x: jnp.sin(x).sum(-1),
    "prod": lambda x: x.prod(-1),
    "max": lambda x: x.max(-1),
    "mean and squares": lambda x: (x.mean(-1), (x * x).sum(-1)),
    "argmax": lambda x: x.argmax(-1),
    "any": lambda x: (x > 1).any(-1),
    "softmax": lambda x: jax.nn.softmax(x, -1),
    "logsumexp": lambda x: jax.nn.logsumexp(x, -1),
    "variance": lambda x: x.var(-1),
    "normalised": lambda x: x / jnp.sqrt((x * x).sum(-1, keepdims=True) + 1),
    "weighed": lambda x: (x * jnp.arange(1.0, x.shape[-1] + 1)).sum(-1),
    "part": lambda x: x[..., 1:].sum(-1),
    "turned": lambda x: (x[..., ::-1] * x).sum(-1),
    "centred": lambda x: (x - x.sum(-1, keepdims=True)) * 2,
    "row norms of differences": lambda x: jnp.sqrt(((x[1:] - x[:-1]) ** 2).sum(-1)),
}


def agree(function, x, tolerance):
    got = jax.tree.leaves(hloom.compile(function, x)(x))
    with jax.enable_x64(True):
        wanted = jax.tree.leaves(function(jnp.asarray(x, jnp.float64)))
    for each, other in zip(got, wanted, strict=True):
        np.testing.assert_allclose(np.asarray(each, np.float64), np.asarray(other, np.float64), tolerance, tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    for count, points in ((67, 3), (1000, 2), (48, 7)):
        agree(FUNCTIONS[name], np.random.default_rng(0).standard_normal((count, points), np.float32), 1e-5)


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(list(FUNCTIONS)), st.lists(st.integers(1, 40), min_size=1, max_size=3), st.integers(2, 9))
def test_shapes(name, shape, points):
    agree(FUNCTIONS[name], np.random.default_rng(0).standard_normal((1 + shape[0], *shape[1:], points), np.float32), 1e-5)


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16])
@pytest.mark.parametrize("name", ["sum of sines", "max", "softmax"])
def test_halves(name, dtype):
    x = jnp.asarray(np.random.default_rng(0).standard_normal((257, 3), np.float32), dtype)
    agree(FUNCTIONS[name], x, 0.02)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32])
def test_integers(dtype):
    x = np.random.default_rng(0).integers(0, 100, (333, 5)).astype(dtype)
    for function in (
        lambda x: x.sum(-1, dtype=x.dtype),
        lambda x: x.max(-1),
        lambda x: x.argmin(-1),
        lambda x: (x * x).sum(-1, dtype=x.dtype),
    ):
        np.testing.assert_array_equal(np.asarray(hloom.compile(function, x)(x)), np.asarray(function(x)))


def test_what_is_not_finite_stays_in_its_row():
    x = np.ones((50, 3), np.float32)
    x[7, 1], x[11, 2] = np.nan, np.inf
    got = np.asarray(hloom.compile(lambda x: (jnp.exp(x) * x).sum(-1), x)(x))
    assert list(np.flatnonzero(~np.isfinite(got))) == [7, 11]
