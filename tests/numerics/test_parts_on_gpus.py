"""Programs whose parts meet in kernels of simulated GPUs as few programs' do: what JAX gives."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")
lax = jax.lax


def agree(function, *arrays, tolerance: float = 0.0) -> None:
    got, wanted = hloom.compile(function, *arrays, target="sim:sm_90a")(*arrays), jax.jit(function)(*arrays)
    np.testing.assert_allclose(np.asarray(got, np.float32), np.asarray(wanted, np.float32), tolerance, tolerance)


def test_a_table_in_a_loop():
    """The kernel reads a constant that is no argument."""
    chosen = np.array([True, False, False, True])

    def function(x):
        def step(state):
            number, now, before = state
            return number + 1, jnp.tanh(jax.nn.softmax(jnp.where(chosen, before, -jnp.inf)) * 0.2), now

        return lax.while_loop(lambda state: state[0] < 4, step, (0, jnp.tanh(x), x))[1]

    agree(function, np.random.default_rng(0).standard_normal((2, 4), np.float32), tolerance=1e-6)


def test_a_loop_of_one_element():
    def function(x, steps, by):
        last = lax.while_loop(lambda state: state[0] < steps, lambda state: (state[0] + 1, state[1] * state[1]), (0, x))[1]
        return last >> by

    agree(function, np.int8([[3]]), np.int32(2), np.int8([[1]]))


def test_few_pixels_of_a_padded_convolution():
    def function(x, w):
        y = lax.conv_general_dilated(x, w, (1,), [(1, 1)], dimension_numbers=("NWC", "WIO", "NWC"), feature_group_count=2)
        return jnp.tanh(y.reshape(-1)[:64] * 0.2)

    draw = np.random.default_rng(0).standard_normal
    agree(function, *(jnp.asarray(draw(shape), jnp.bfloat16) for shape in ((4, 768, 2), (3, 1, 2))), tolerance=0.02)


def test_logarithms_of_sums_so_far_in_bf16():
    """What combines partial results has constants of its own."""
    x = jnp.asarray(np.random.default_rng(0).standard_normal((6, 32), np.float32), jnp.bfloat16)
    agree(lambda x: lax.cumlogsumexp(jnp.tanh(x)), x, tolerance=0.02)


def test_a_window_made_of_other_elements():
    """What is written into the carry is computed of elements that other blocks still read: not in place."""

    def function(x):
        def step(i, x):
            return lax.dynamic_update_slice(x, jnp.tanh(lax.cummax(x)[:2] * 0.2), (i, 0, 0))

        return lax.fori_loop(0, 3, step, x)

    agree(function, np.random.default_rng(0).standard_normal((16, 2, 32), np.float32), tolerance=1e-6)


def test_a_reduction_that_is_read_in_turn():
    """Its results, in registers, are fewer than the elements made of them."""

    def function(x):
        y = lax.reduce_window(x, jnp.inf, lax.min, (1, 3, 3, 3), (1, 1, 3, 1), ((0, 0), (1, 1), (0, 0), (1, 1)))
        return jnp.tanh(jnp.tile(y.reshape(3, 128), (1, 2))[:, :192].reshape(3, 3, 64) * 0.2)

    agree(function, np.random.default_rng(0).standard_normal((3, 2, 3, 64), np.float32), tolerance=1e-6)


def test_taps_along_rows_alone():
    def function(x, w):
        layout = ("NHWC", "HWIO", "NHWC")
        y = lax.conv_general_dilated(x, w, (3, 3), ((2, 2), (0, 0)), rhs_dilation=(2, 1), dimension_numbers=layout, feature_group_count=2)
        return jnp.tanh(y)

    draw = np.random.default_rng(0).standard_normal
    agree(function, draw((1, 4, 24, 2), np.float32), draw((3, 1, 1, 2), np.float32), tolerance=1e-6)


def test_places_in_a_loop_of_a_body():
    """What the loop reads is asked for by the place in the whole array, which no loop around it changes."""

    def function(x):
        def step(k, _):
            part = lax.dynamic_slice(x, (3, 0, k >> 3, 0), (8, 1, 15, 1))
            return jnp.tanh(jnp.resize(part, (17, 1, 17, 1)))

        return lax.fori_loop(0, 17, step, x)

    agree(function, np.random.default_rng(0).standard_normal((17, 1, 17, 1), np.float32), tolerance=1e-6)
