"""Values that stand in turn (stacks, interleaved pairs): stored a turn at once, also where rows end within a register."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
import pytest

import hloom


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def in_turn(count: int):
    """`count` functions of two values, side by side; a third is added where they lie."""

    def function(a, b, c):
        stacked = jnp.stack([a, b, a * b, a - b, a + b, -a, -b, a * a, b * b][:count], -1)
        return jnp.maximum(stacked.reshape(*a.shape[:-1], -1) + c, 0)

    return function


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16, np.int8])
@pytest.mark.parametrize("columns", [5, 40, 67])
@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 9])
def test_stacks(count, columns, dtype):
    a, b = (np.rint(4 * numbers(3, columns, seed=seed)).astype(dtype) for seed in (1, 2))
    c = np.rint(4 * numbers(3, columns * count, seed=3)).astype(dtype)
    function = in_turn(count)
    np.testing.assert_array_equal(np.asarray(hloom.compile(function, a, b, c)(a, b, c)), np.asarray(function(a, b, c)))


def test_pairs_that_are_turned():
    """Rotary embeddings of neighbours: the other one of a pair, with its sign."""

    def function(x, cosine, sine):
        other = jnp.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
        return x * cosine + other * sine

    x, cosine, sine = numbers(4, 33, 74), numbers(33, 74, seed=1), numbers(33, 74, seed=2)
    np.testing.assert_allclose(hloom.compile(function, x, cosine, sine)(x, cosine, sine), function(x, cosine, sine), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("axis", [1, 2])
def test_turns_whose_rows_are_padded_and_transposed(axis):
    """Every second value, or row, is another one's neighbour, zero where there is none."""

    def function(x, y):
        before = jnp.pad(y, [(0, 0), (1, 0)])[:, :-1]
        rows = x.shape[0]
        stacked = jnp.stack([x, before], axis).reshape(2 * rows if axis == 1 else rows, -1)
        return stacked.T + 1

    x, y = numbers(20, 37), numbers(20, 37, seed=1)
    np.testing.assert_array_equal(hloom.compile(function, x, y)(x, y), function(x, y))
