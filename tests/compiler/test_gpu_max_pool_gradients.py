"""Gradients of max pools on GPUs: each element asks the windows that hold it, and nothing is sorted."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
from hloom.runtime.dtypes import numpy_dtype

jax = pytest.importorskip("jax")
jnp = jax.numpy

CASES = [
    # x, window, strides, padding, element
    ((2, 9, 8, 16), (1, 3, 3, 1), (1, 2, 2, 1), "SAME", "f32"),
    ((2, 9, 8, 16), (1, 3, 3, 1), (1, 2, 2, 1), ((0, 0), (1, 1), (1, 1), (0, 0)), "bf16"),
    ((2, 5, 9, 10), (1, 1, 2, 2), (1, 1, 2, 2), "VALID", "f32"),
    ((3, 11, 7), (1, 2, 1), (1, 3, 1), "VALID", "f32"),
    ((13,), (4,), (1,), ((2, 3),), "f32"),
    ((2, 20, 20), (1, 9, 9), (1, 2, 2), "VALID", "f32"),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_gradients_agree_with_jax(case) -> None:
    shape, window, strides, padding, element = case

    def pool(x):
        return jax.lax.reduce_window(x, -jnp.inf, jax.lax.max, window, strides, padding)

    def gradients(x, dy):
        return jax.vjp(pool, x)[1](dy)[0]

    random, dtype = np.random.default_rng(0), numpy_dtype(element)
    x = random.integers(-4, 4, shape).astype(dtype)  # of equal elements the first has the gradient
    dy = random.standard_normal(jax.eval_shape(pool, x).shape).astype(dtype)
    exe = hloom.compile(jax.jit(gradients), x, dy, target="sim:sm_90a")
    expected = np.asarray(jax.jit(gradients)(x.astype(np.float32), dy.astype(np.float32)))
    np.testing.assert_allclose(np.asarray(exe(x, dy), np.float32), expected, rtol=0, atol=2e-2 if element == "bf16" else 1e-5)
    few = np.prod([-(-size // stride) for size, stride in zip(window, strides)]) <= 16
    assert any(group["kind"] in ("sort", "scatter") for group in exe.report.data["groups"]) == (not few)
