"""Numbers put apart by zeros, of a row whose last part is short: LLVM made integers of twice the bits of them, for which x86 has no
instruction, and ended the process."""

from __future__ import annotations

import numpy as np
import pytest

jax = pytest.importorskip("jax")

import jax.numpy as jnp  # noqa: E402

import hloom  # noqa: E402


def test_gradients_of_running_maxima_of_joined_rows() -> None:
    draw = np.random.default_rng(0)
    x, weights = (draw.standard_normal((203, width)).astype(np.float32) for width in (251, 308))

    def weighed(x, weights):
        return (jax.lax.cummax(jnp.concatenate([x, x[:, :57] * 2], 1), 1) * weights).sum()

    gradient = jax.grad(weighed)
    found, wanted = hloom.compile(gradient, x, weights)(x, weights), jax.jit(gradient)(x, weights)
    np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5, atol=1e-5)
