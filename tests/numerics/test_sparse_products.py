"""Products with constant matrices of few numbers a column, against NumPy in f64 and against JAX."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")


def compiled(function, x, target="auto"):
    exe = hloom.compile(function, x, target=target)
    if x.dtype == np.float32:  # some processors multiply halves fast
        assert "dot_general" not in [op["op"] for op in exe.report.data["ops"]]
    return np.asarray(exe(x), np.float64)


@st.composite
def matrices(draw):
    extent, count = draw(st.integers(16, 70)), draw(st.integers(1, 40))
    rng, terms = np.random.default_rng(draw(st.integers(0, 99))), draw(st.integers(1, extent // 16))
    matrix = np.zeros((extent, count), np.float32)
    for column in range(count):
        first = rng.integers(extent - terms + 1)
        places = rng.choice(extent, terms, replace=False) if draw(st.booleans()) else np.arange(first, first + terms)
        matrix[places[rng.random(terms) < 0.8], column] = rng.standard_normal()
    matrix[:, 0] = np.arange(extent) == rng.integers(extent)  # some number
    return matrix


@settings(max_examples=12, deadline=None)
@given(matrices(), st.sampled_from([(), (1,), (5,), (3, 7)]), st.booleans(), st.booleans())
def test_random_matrices(matrix, rest, first, leads):
    """The operand's dimension is the first or the last, and so is the result's."""
    extent = len(matrix)
    x = np.random.default_rng(0).standard_normal((extent, *rest) if first else (*rest, extent)).astype(np.float32)
    along = 0 if first else x.ndim - 1

    def function(x):
        return jnp.tensordot(matrix, x, (0, along)) if leads else jnp.tensordot(x, matrix, (along, 0))

    wide = [matrix.astype(np.float64), x.astype(np.float64)]
    wanted = np.tensordot(*wide, (0, along)) if leads else np.tensordot(*wide[::-1], (along, 0))
    np.testing.assert_allclose(compiled(function, x), wanted, 1e-5, 1e-5)


@pytest.mark.parametrize("target", ["auto", "sim:sm_90a"])
@pytest.mark.parametrize(("method", "dtype"), [("bilinear", jnp.float32), ("lanczos3", jnp.float32), ("cubic", jnp.bfloat16)])
def test_resizes(method, dtype, target):
    x = jnp.asarray(np.random.default_rng(0).random((2, 65, 67, 3), np.float32), dtype)

    def resized(x):
        return jax.image.resize(x, (2, 33, 90, 3), method)

    tolerance = 1e-5 if dtype == jnp.float32 else 0.02
    np.testing.assert_allclose(compiled(resized, x, target), np.asarray(jax.jit(resized)(x), np.float64), tolerance, tolerance)


def test_the_gradient_of_a_resize():
    x = np.random.default_rng(0).random((1, 40, 44, 5), np.float32)
    gradient = jax.grad(lambda x: (jax.image.resize(x, (1, 80, 99, 5), "bilinear") ** 3).sum())
    np.testing.assert_allclose(compiled(gradient, x), np.asarray(jax.jit(gradient)(x), np.float64), 1e-4, 1e-4)


@pytest.mark.parametrize(
    "made",
    [
        lambda: jnp.diag(jnp.full(36, 2.0)) - jnp.diag(jnp.ones(35), 1) - jnp.diag(jnp.ones(34), -2),
        lambda: jnp.eye(36)[jnp.array([*range(18, 36), *range(18)])],
        lambda: jnp.kron(jnp.eye(6, k=1), jnp.eye(6)) + 3 * jnp.roll(jnp.eye(36), 2, 1),
        lambda: jax.nn.one_hot(jnp.arange(40, -1, -3), 36),
    ],
    ids=["diagonals", "permutation", "kron", "one_hot"],
)
def test_matrices_made_in_the_program(made):
    x = np.random.default_rng(0).random((36, 5), np.float32)
    np.testing.assert_allclose(compiled(lambda x: made() @ x, x), np.asarray(made(), np.float64) @ x.astype(np.float64), 1e-6, 1e-6)


def test_differences_in_a_loop():
    """A heat equation by its matrix, periodic at the ends."""
    count = 96
    matrix = (np.roll(np.eye(count), 1, 0) - 2 * np.eye(count) + np.roll(np.eye(count), -1, 0)).astype(np.float32)

    def heat(u):
        return jax.lax.fori_loop(0, 20, lambda _, u: u + 0.1 * (matrix @ u), u)

    u = np.random.default_rng(0).random((count, 3), np.float32)
    wanted = u.astype(np.float64)
    for _ in range(20):
        wanted = wanted + 0.1 * (matrix.astype(np.float64) @ wanted)
    np.testing.assert_allclose(compiled(heat, u), wanted, 1e-5, 1e-6)


def test_zeros_do_not_spread_what_is_not_finite():
    matrix = np.eye(32, dtype=np.float32)[::-1]
    x = np.ones((32, 4), np.float32)
    x[3] = np.nan
    assert np.isnan(compiled(lambda x: matrix @ x, x)).sum() == 4
