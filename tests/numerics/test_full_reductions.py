"""Reductions of many elements to few results: against NumPy, and the same bits on any number of threads."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hloom

X = np.random.default_rng(0).standard_normal((1453, 359)).astype(np.float32)
FUNCTIONS = {
    "sum": lambda x: jnp.sum(x),
    "mean of squares": lambda x: jnp.mean((x - 1) ** 2),
    "deviation": lambda x: jnp.std(x),
    "extremes": lambda x: (jnp.max(x), jnp.min(x), jnp.argmax(x)),
    "of integers": lambda x: jnp.sum((x * 9).astype(jnp.int32)),
    "of halves": lambda x: jnp.sum(x.astype(jnp.bfloat16) + 1),
    "columns": lambda x: jnp.sum(x.reshape(-1, 359)[:, :3], axis=0) + jnp.sum(x.reshape(359, 1453).T[:, :359], axis=0)[:3],
    "batch": lambda x: jnp.sum(x[:1452].reshape(2, 3, -1), axis=(0, 2)),
}


@pytest.fixture
def threads():
    before = hloom.get_threads()
    yield hloom.set_threads
    hloom.set_threads(before)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_on_any_number_of_threads(name, threads):
    exe = hloom.compile(FUNCTIONS[name], X)
    found = []
    for count in (1, 2, 3, 7):
        threads(count)
        found.append([np.asarray(value) for value in jax.tree.leaves(exe(X))])
    for others in found[1:]:
        for first, other in zip(found[0], others, strict=True):
            assert first.tobytes() == other.tobytes()
    for first, expected in zip(found[0], jax.tree.leaves(jax.jit(FUNCTIONS[name])(X)), strict=True):
        tolerance = 1e-2 if first.dtype.itemsize == 2 else 2e-5
        np.testing.assert_allclose(first.astype(np.float64), np.asarray(expected).astype(np.float64), rtol=tolerance, atol=1e-3)


def test_of_what_is_no_number():
    exe = hloom.compile(lambda x: (jnp.sum(x), jnp.max(x), jnp.min(x), jnp.argmax(x)), X)
    for place, value in ((7, np.nan), (X.size - 1, np.nan), (4321, np.inf)):
        x = X.copy()
        x.flat[place] = value
        total, most, least, where = (np.asarray(found) for found in exe(x))
        np.testing.assert_array_equal([total, most, least], [value, value, np.min(x)])
        assert where == place
