"""Products whose sums are so long that the rows of both operands are read some at a time: gradients by the weights of linear layers."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(("depth", "rows", "columns"), [(1024, 33, 40), (1025, 64, 64), (1300, 33, 40), (1408, 7, 130), (5000, 100, 9)])
def test_products_of_many_rows(target: str, depth: int, rows: int, columns: int) -> None:
    """What is added to the first rows' sums is added once, and the last rows, fewer than the others, are not left out."""
    generator = np.random.default_rng(depth)
    x, g, bias = (generator.standard_normal(shape, np.float32) for shape in ((depth, rows), (depth, columns), (rows, columns)))
    found = hloom.compile(lambda x, g, bias: jnp.tanh((x.T @ g + bias) / depth), x, g, bias, target=target)(x, g, bias)
    expected = np.tanh((x.astype(np.float64).T @ g + bias) / depth)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
