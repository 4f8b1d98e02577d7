"""Indices that are computed in many steps, each of which reads the one before twice: passes look at each number once, not once a path."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("jax")

import jax.numpy as jnp
from jax.lax import dynamic_update_slice

import hloom

STEPS = 60


def stepped(i):
    for _ in range(STEPS):
        i = i * i + i
    return i & 31


def test_a_gather():
    def function(x, i):
        return x[stepped(i)]

    x, i = jnp.arange(32.0), jnp.arange(33, dtype=jnp.int32)  # a vector's lanes, and one element by itself
    np.testing.assert_array_equal(hloom.jit(function, fallback=False)(x, i), function(x, i))


def test_the_start_of_a_window_written_in_place():
    def function(x, y, i):
        return dynamic_update_slice(x, y, (stepped(i), 0))

    make = lambda: (jnp.zeros((40, 8)), jnp.ones((2, 8)), jnp.int32(5))  # noqa: E731
    np.testing.assert_array_equal(hloom.jit(function, donate_argnums=0, fallback=False)(*make()), function(*make()))
