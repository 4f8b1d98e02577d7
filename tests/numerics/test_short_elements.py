"""Elementwise programs whose last dimension is short, of which a register holds several rows: against JAX."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom


def resized(method, less=1):
    return lambda x: jax.image.resize(x, (*x.shape[:-2], 2 * x.shape[-2] - less, x.shape[-1]), method)


FUNCTIONS = {
    "a number a row": lambda x: x * x[..., :1] + 1,
    "a number a row, apart": lambda x: x[..., 0, None] * x.ravel()[: x.shape[-1]],
    "a number a column": lambda x: (x - x.ravel()[: x.shape[-1]]) * 2,
    "turned": lambda x: x[..., ::-1],
    "turned and others": lambda x: x[..., ::-1] * x + x[..., -1:],
    "rows turned": lambda x: x[..., ::-1, :] * x[..., :1],
    "part": lambda x: x[..., 1:] * 2,
    "first": lambda x: x[..., :2],
    "every second row": lambda x: x[..., ::2, :] + x.ravel()[: x.shape[-1]],
    "differences": lambda x: x[..., None, :] - x[..., None, :, :],
    "outer": lambda x: x[..., None] * x[..., None, :],
    "padded": lambda x: jnp.pad(x, [*[(0, 0)] * (x.ndim - 2), (3, 2), (0, 0)]),
    "padded, reflected": lambda x: jnp.pad(x, [*[(0, 0)] * (x.ndim - 2), (1, 1), (0, 0)], mode="edge") * 2,
    "joined": lambda x: jnp.concatenate([x, x[..., :2, :] * 3, x], -2),
    "rolled": lambda x: jnp.roll(x, 1, -2),
    "nearest": resized("nearest", less=0),  # else places are whole numbers by division, and less by XLA's reciprocals
    "linear": resized("linear"),
    "cubic": resized("cubic"),
    "smaller": lambda x: jax.image.resize(x, (*x.shape[:-2], x.shape[-2] // 2 + 1, x.shape[-1]), "linear"),
    "chosen": lambda x: jnp.where(jnp.arange(x.shape[-2])[:, None] % 3 == 1, x, -x),
    "looked up": lambda x: x[..., (jnp.abs(x[..., 0, 0] * 5).astype(int)).ravel()[:1].repeat(5), :],
}


def agree(function, x, tolerance):
    got, wanted = (np.asarray(each(x)).astype(np.float64) for each in (hloom.compile(function, x), jax.jit(function)))
    np.testing.assert_allclose(got, wanted, tolerance, tolerance)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name):
    for shape in ((67, 3), (4, 33, 5), (2, 16, 4)):
        agree(FUNCTIONS[name], np.random.default_rng(0).standard_normal(shape, np.float32), 1e-5)


@settings(max_examples=10, deadline=None)
@given(st.sampled_from(list(FUNCTIONS)), st.lists(st.integers(1, 40), max_size=2), st.integers(2, 40), st.integers(2, 9))
def test_shapes(name, shape, rows, points):
    agree(FUNCTIONS[name], np.random.default_rng(0).standard_normal((*shape, rows, points), np.float32), 1e-5)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.int32, np.float64, jnp.bfloat16, np.float16])
@pytest.mark.parametrize("name", ["turned and others", "part", "padded", "nearest", "joined", "a number a column"])
def test_types(name, dtype):
    with jax.enable_x64(True):
        x = (np.random.default_rng(0).standard_normal((1000, 3)) * 3).astype(dtype)
        agree(FUNCTIONS[name], x, 0.01 if dtype in (jnp.bfloat16, np.float16) else 1e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.float32, jnp.bfloat16])
@pytest.mark.parametrize(("rows", "points", "parts"), [(257, 7, 3), (1000, 5, 3), (64, 3, 3), (300, 3, 8), (16, 8, 20), (33, 4, 6)])
def test_many_rows_that_are_joined(rows, points, parts, dtype):
    """Blocks between cuts, one block of all rows, and other nests."""
    x, y = (np.random.default_rng(seed).integers(-99, 99, (rows, points)).astype(dtype) for seed in (0, 1))
    joined = lambda x, y: jnp.concatenate([x, y] * (parts // 2) + [x + y] * (parts % 2))  # noqa: E731
    padded = lambda x, y: jnp.pad(x, [(2, 3), (0, 0)]) + jnp.pad(y, [(5, 0), (0, 0)])  # noqa: E731
    rolled = lambda x, y: jnp.roll(x, rows // 3, 0) * y  # noqa: E731
    for function in (joined, padded, rolled):
        np.testing.assert_array_equal(*(np.asarray(compiled(x, y)) for compiled in (hloom.compile(function, x, y), jax.jit(function))))


def test_rows_of_tiles_that_are_not_whole():
    x = np.random.default_rng(0).standard_normal((3001, 3), np.float32)
    agree(lambda x: jnp.sin(x) * x[..., :1] + x[..., ::-1], x, 1e-5)


def test_bytes_become_floats():
    x = np.random.default_rng(0).integers(0, 256, (3, 41, 37, 3)).astype(np.uint8)
    agree(lambda x: (x.astype(jnp.float32) / 255 - jnp.array([0.1, 0.2, 0.3])) / jnp.array([0.5, 0.6, 0.7]), x, 1e-6)
