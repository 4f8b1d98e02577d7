"""Reductions and scans of what is put together: concatenations, shifts, turns, repetitions and picked columns, one after the other too,
against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp = jax.numpy


def _in_turn(np, x):
    return np.stack(np.split(x, 2, 1), -1).reshape(x.shape)


MOVEMENTS = {
    "pieces of a longer row": lambda np, x: np.concatenate([x.reshape(-1)[:1000], x.reshape(-1)[1300:2300]]).reshape(25, 80),
    "picked columns": lambda np, x: x[:, (np.arange(60) * 7) % 71],
    "rolled": lambda np, x: np.roll(x, (5, 7), (0, 1)),
    "in turn": lambda np, x: np.stack([x.reshape(-1)[:1000], x.reshape(-1)[1000:2000]], -1).reshape(25, 80),
    "repeated": lambda np, x: np.repeat(x, 2, 1),
    "repeated thrice and cut": lambda np, x: np.repeat(x, 3, 1)[:, 5:-4],
    "in turn and rolled": lambda np, x: np.roll(np.stack([x[:, :35], x[:, 35:70]], -1).reshape(37, 70), (5, 7), (0, 1)),
    "in turn twice": lambda np, x: _in_turn(np, _in_turn(np, x[:, :68])),
    "side by side and cut": lambda np, x: np.roll(np.tile(x, (2, 3)), 9, 1)[3:, 5:],
    "apart": lambda np, x: np.stack([x, 0 * x, 0 * x], -1).reshape(37, 213)[:, 4:-2],
    "repeated backwards": lambda np, x: np.repeat(x, 2, 1)[:, ::-1][:, 3:],
    "padded": lambda np, x: np.pad(x, ((2, 1), (3, 5)), constant_values=3),
    "padded, in rows of another length": lambda np, x: np.pad(x, ((2, 1), (3, 5))).reshape(79, 40),
    "joined, in rows of another length": lambda np, x: np.concatenate([x, x[:, :9]], 1).reshape(80, 37)[1:],
    "backwards": lambda np, x: np.concatenate([x, x[:, :9]], 1)[:, ::-1],
}
REDUCTIONS = {
    "rows": lambda np, x: x.sum(1),
    "columns": lambda np, x: x.sum(0),
    "places": lambda np, x: np.argmax(x, 1),
    "rows and columns": lambda np, x: x - x.sum(0) - x.max(1, keepdims=True),
    "scanned rows": lambda np, x: np.cumsum(x, 1),
    "scanned from the last": lambda np, x: np.cumsum(x[::-1], 0)[::-1],
}


@pytest.mark.parametrize("movement", MOVEMENTS)
@pytest.mark.parametrize("reduction", REDUCTIONS)
def test_agrees_with_numpy(movement, reduction):
    x = np.random.default_rng(0).integers(-9, 9, (37, 71)).astype(np.float32)
    moved, reduced = MOVEMENTS[movement], REDUCTIONS[reduction]
    found = hloom.compile(lambda x: reduced(jnp, moved(jnp, x)), x)(x)
    np.testing.assert_array_equal(found, reduced(np, moved(np, x)))


def test_gradients_of_sums_from_the_last():
    """Every second column has a gradient, of columns that are read from the last on."""
    x = np.random.default_rng(0).integers(-3, 4, (31, 259)).astype(np.float32)

    def loss(x):
        return (jnp.cumsum(jnp.tril(x[:, ::2]), 1) ** 2).sum()

    np.testing.assert_array_equal(hloom.compile(jax.grad(loss), x)(x), jax.jit(jax.grad(loss))(x))


BLOCKS = {
    "bits of columns": lambda np, x: np.packbits(x > 0, axis=0),
    "weighted": lambda np, x: (x.T.reshape(70, 8, 5) * np.arange(5, dtype=np.float32)).sum(2),
    "by their numbers": lambda np, x: (x.T.reshape(7, 10, 40) + np.arange(10, dtype=np.float32)[:, None]).max((0, 2)),
    "squared": lambda np, x: (x.T.reshape(14, 5, 4, 10) ** 2).sum((1, 3)),
    "joined": lambda np, x: (x.T.reshape(35, 80) * 2).sum(1),
}


@pytest.mark.parametrize("blocks", BLOCKS)
def test_blocks_of_columns(blocks):
    x = np.random.default_rng(0).integers(-9, 9, (40, 70)).astype(np.float32)
    found = hloom.compile(lambda x: BLOCKS[blocks](jnp, x), x)(x)
    np.testing.assert_array_equal(found, BLOCKS[blocks](np, x))
