"""What is reversed and read by quotients. MLIR takes `(9 i + 8 - d) floordiv 2` for `(9 i - d) floordiv 2 + 4`, which divides what may be
below zero."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import hloom


def interleaved(x):
    """Lines of an odd number of elements, which begin with either of two."""
    y = jnp.concatenate([x[..., None], 2 * x[..., None]], -1).reshape(-1, 9)
    return y + jnp.flip(y, 1)


def repeated(x):
    return jnp.flip(jnp.repeat(x.reshape(-1), 6), 0).reshape(-1, 9).sum(1)


def repeated_twice(x):
    """A quotient of a quotient."""
    y = jnp.flip(jnp.repeat(x.reshape(-1), 6).reshape(-1, 3), (0, 1))
    return jnp.repeat(y.reshape(-1)[:-8], 4).reshape(-1, 2) * 2


@pytest.mark.parametrize("target", ["auto", "cpu-avx2", "sim:sm_80"])
@pytest.mark.parametrize("rows", [5, 500])
@pytest.mark.parametrize("function", [interleaved, repeated, repeated_twice])
def test_reversed(function, rows: int, target: str) -> None:
    if target.startswith("sim") and rows > 5:
        pytest.skip("as many blocks as a simulator takes long for")
    x = np.arange(rows * 9, dtype=np.float32).reshape(rows, 9)
    np.testing.assert_allclose(hloom.compile(function, x, target=target)(x), jax.jit(function)(x))
