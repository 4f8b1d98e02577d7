"""jax.lax.associative_scan, which the compiler knows by its slices and pads, against jax.jit."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp, scan = jax.numpy, jax.lax.associative_scan


def recurrence(a, b):
    return a[0] * b[0], b[0] * a[1] + b[1]


def longest(a, b):
    return a[0] + b[0], jnp.maximum(b[1], a[1] + b[0])


def segment(a, b):
    return a[0] | b[0], jnp.where(b[0], b[1], a[1] + b[1])


def compiled(function, *inputs):
    exe = hloom.compile(function, *inputs)
    for found, expected in zip(jax.tree.leaves(exe(*inputs)), jax.tree.leaves(jax.jit(function)(*inputs)), strict=True):
        np.testing.assert_allclose(np.asarray(found), np.asarray(expected), rtol=2e-5, atol=2e-5)


def test_one_op():
    """Of lengths of every form that the levels take, both ways, along each dimension."""
    x = np.random.default_rng(0).integers(-3, 4, (5, 37, 3)).astype(np.float32)

    def function(x):
        sums = [scan(jnp.add, x[:, :n], axis=1) for n in (1, 2, 3, 4, 5, 8, 37)]
        others = [scan(jnp.maximum, x, reverse=True), scan(jnp.multiply, x.astype("int32"), axis=2), scan(jnp.logical_or, x > 2, axis=1)]
        return *sums, *others, scan(lambda a, b: b + a, x[0, :, 0].astype("float16"))

    compiled(function, x)


def test_steps_of_two_arrays():
    random = np.random.default_rng(0)
    x, y = random.uniform(-1, 1, (2, 19, 33)).astype(np.float32)
    x[0, 0], x[0, 1] = np.inf, np.nan  # no step has taken these yet

    def function(x, y):
        return (
            *scan(recurrence, (x, y)),
            scan(recurrence, (x, y), axis=1, reverse=True)[1],
            scan(recurrence, ((x[1] * 3).astype("int32"), (y[1] * 9).astype("int32")))[1],
            scan(longest, (y, y[::-1]), axis=1)[1],
            *scan(segment, (y > 0.5, y), axis=1),
            scan(segment, (y[2] > 0.5, y[3]))[1],
        )

    compiled(function, x, y)


def test_steps_that_are_no_scan():
    """What is not associative is computed as the tree that the program writes; so is what takes several values, or one elsewhere."""
    x = np.random.default_rng(0).uniform(0.5, 1, (13, 4)).astype(np.float32)

    def function(x):
        complex_product = scan(lambda a, b: (a[0] * b[0] - a[1] * b[1], a[0] * b[1] + a[1] * b[0]), (x, x * 0.5))
        powers = scan(lambda a, b: (a[0] * b[0], b[0] + a[1] * b[1]), (x, x * 0.5))
        return scan(jnp.subtract, x), scan(lambda a, b: a * b + b, x), *complex_product, *powers, scan(jnp.add, x.astype("uint8"))

    compiled(function, x)
