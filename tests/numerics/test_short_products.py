"""Sums of few products for few columns, which have a row in each lane, and what is chosen within short rows: against JAX in f64."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom


def drawn(*shape, dtype=np.float32):
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32).astype(dtype)


def agree(function, *arguments, tolerance=1e-5):
    got = np.asarray(hloom.compile(function, *arguments)(*arguments)).astype(np.float64)
    with jax.enable_x64(True):
        wanted = np.asarray(function(*[jnp.asarray(each, jnp.float64) for each in arguments]))
    np.testing.assert_allclose(got, wanted, tolerance, tolerance)


def turned(q, v):
    t = 2 * jnp.cross(q[..., :3], v)
    return v + q[..., 3:] * t + jnp.cross(q[..., :3], t)


def overlap(a, b):
    sides = jnp.clip(jnp.minimum(a[:, 2:], b[:, 2:]) - jnp.maximum(a[:, :2], b[:, :2]), 0)
    return jnp.prod(sides, -1) / (jnp.prod(a[:, 2:] - a[:, :2], -1) + 30)


@settings(max_examples=12, deadline=None)
@given(st.integers(1, 200), st.integers(1, 9), st.integers(1, 17), st.booleans(), st.booleans())
def test_rows_by_a_matrix(rows, columns, steps, lies_across, with_bias):
    x, w, b = drawn(rows, steps), drawn(columns, steps) if lies_across else drawn(steps, columns), drawn(columns)
    agree(lambda x, w, b: x @ (w.T if lies_across else w) + (b if with_bias else 0), x, w, b)


@settings(max_examples=8, deadline=None)
@given(st.integers(1, 99), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4), st.booleans())
def test_batches(batches, rows, steps, columns, turns):
    x, y = drawn(batches, rows, steps), drawn(batches, columns, steps)
    agree(lambda x, y: jnp.einsum("bij,bkj->bki" if turns else "bij,bkj->bik", x, y), x, y)


@pytest.mark.parametrize("steps", [2, 3, 4])
def test_matrices_by_vectors(steps):
    agree(lambda a, x: jnp.einsum("bij,bj->bi", a, x), drawn(333, steps, steps), drawn(333, steps))
    agree(lambda a, x: jnp.einsum("bji,bj->bi", a, x) * 2, drawn(333, steps, steps), drawn(333, steps))


@pytest.mark.parametrize("dtype", [jnp.bfloat16, np.float16, np.float64])
def test_types(dtype):
    with jax.enable_x64(True):
        x, w = drawn(131, 3, dtype=dtype), drawn(3, 4, dtype=dtype)
        agree(lambda x, w: x @ w, x, w, tolerance=1e-9 if dtype == np.float64 else 0.02)


def test_pixels():
    agree(lambda x, w: jnp.einsum("bhwc,dc->bhwd", x, w), drawn(2, 19, 23, 3), drawn(3, 3))
    agree(lambda x, w: jnp.einsum("bchw,dc->bdhw", x, w), drawn(2, 3, 19, 23), drawn(3, 3))


def test_what_is_not_finite_stays_in_its_row():
    x = np.ones((50, 3), np.float32)
    x[7, 1], x[11, 2] = np.nan, np.inf
    got = np.asarray(hloom.compile(lambda x, w: x @ w, x, np.ones((3, 3), np.float32))(x, np.ones((3, 3), np.float32)))
    assert list(np.flatnonzero(~np.isfinite(got).all(1))) == [7, 11]


@pytest.mark.parametrize("rows", [5, 64, 1001])
def test_cross_products(rows):
    agree(jnp.cross, drawn(rows, 3), drawn(rows, 3) + 1)
    agree(turned, drawn(rows, 4), drawn(rows, 3))
    agree(jax.grad(lambda x, y: (jnp.cross(x, y) ** 2).sum()), drawn(rows, 3), drawn(rows, 3) + 1)


@pytest.mark.parametrize("rows", [5, 64, 1001])
def test_boxes(rows):
    agree(overlap, drawn(rows, 4), drawn(rows, 4) + 1)
    agree(lambda x: x[:, 1:3].sum(-1) + jnp.max(x[:, 2:5], -1), drawn(rows, 5))


def test_determinants():
    def determinant(a):
        return a[:, 0, 0] * (a[:, 1, 1] * a[:, 2, 2] - a[:, 1, 2] * a[:, 2, 1]) - a[:, 0, 1] * a[:, 1, 0] * a[:, 2, 2]

    agree(determinant, drawn(333, 3, 3))
