"""Scans of a GPU's kernels, on the simulators, against numpy and JAX."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp = jax.numpy
TARGETS = ("sim:sm_90a", "sim:sm_90a+ptx")


def check(function, *inputs, target=TARGETS[0], rtol=2e-5):
    exe = hloom.compile(function, *inputs, target=target)
    for found, expected in zip(jax.tree.leaves(exe(*inputs)), jax.tree.leaves(jax.jit(function)(*inputs)), strict=True):
        np.testing.assert_allclose(np.asarray(found, np.float64), np.asarray(expected, np.float64), rtol=rtol, atol=1e-5)
    return exe


@pytest.mark.parametrize("target", TARGETS)
def test_rows_and_columns(target):
    """Rows of a part of a warp, of several registers and of several warps; columns beside each other, with and without vectors."""
    random = np.random.default_rng(0)

    def function(*inputs):
        return [jnp.cumsum(x, axis) for x, axis in zip(inputs, (1, 1, 1, 0, 1, 0))]

    shapes = [(70, 3), (5, 1000), (2, 4096), (100, 64), (3, 50, 7), (700, 3)]
    check(function, *(random.uniform(-1, 1, shape).astype(np.float32) for shape in shapes), target=target, rtol=1e-4)


@pytest.mark.parametrize("target", TARGETS)
def test_steps_of_two_arrays(target):
    """Of what has no identity that is known, the first element begins, whatever numbers there are."""
    x, y = np.random.default_rng(0).uniform(-1, 1, (2, 3, 300)).astype(np.float32)
    x[0, 0], x[1, 7] = np.inf, 0

    def function(x, y):
        recurrence = jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (x[1:], y[1:]), axis=1)
        segments = jax.lax.associative_scan(lambda a, b: (a[0] | b[0], jnp.where(b[0], b[1], a[1] + b[1])), (y > 0.9, y), axis=1)
        columns = jax.lax.associative_scan(lambda a, b: (a[0] + b[0], jnp.maximum(b[1], a[1] + b[0])), (y.T, x.T), reverse=True)
        return recurrence, jnp.exp(segments[1]), columns[1]

    check(function, x, y, target=target)


def test_with_what_is_around():
    """What is computed of the elements before and of the sums after is part of the kernel, conversions of half floats too."""
    x = np.random.default_rng(0).uniform(0, 1, (6, 300)).astype(np.float32)
    exe = check(lambda x: jnp.tanh(jnp.cumsum(x * x, axis=1) - x * x) * 2, x)
    assert len(exe.report.data["groups"]) == 1
    check(lambda x: jnp.cumsum(x.astype("float16").astype("float32"), axis=1).astype("float16") + 1, x, rtol=2e-3)


def test_types_and_bodies():
    x = np.random.default_rng(0).integers(-3, 4, (9, 77))
    for kind in ("int8", "int32", "float16"):
        check(lambda x: (jax.lax.cummax(x, 1), jnp.cumprod(jnp.sign(x), axis=0), jnp.cumsum(x, axis=1, dtype=x.dtype)), x.astype(kind))
    check(lambda x: jax.lax.associative_scan(jnp.logical_xor, x > 1, axis=1), x.astype("int8"))
    check(lambda x: (jax.lax.cumlogsumexp(x, 1), jax.lax.cumlogsumexp(x, 0, reverse=True)), x.astype("float32") * 20)


def test_what_is_no_number():
    x = np.random.default_rng(0).standard_normal((4, 50)).astype(np.float32)
    x[0, 7], x[1, 0], x[2, 49], x[3, 20], x[3, 30] = np.nan, np.nan, np.nan, np.inf, -np.inf
    check(lambda x: (jnp.cumsum(x, 1), jax.lax.cummin(x, 1), jax.lax.cumlogsumexp(x, 1, reverse=True)), x, rtol=1e-4)


def test_of_a_constant():
    """Nothing else enters what each step adds; what follows reads the sums."""
    lax, y = jax.lax, np.float32(2)
    check(lambda y: (jnp.sin(lax.cummax(jnp.zeros(37))), jnp.cos(lax.cumlogsumexp(jnp.zeros(37))) * y), y)
    check(lambda y: jnp.sin(lax.cumprod(jnp.full((5, 37), 1.1), axis=1, reverse=True)) + y, y)


def test_of_bf16_arrays_with_what_follows():
    """Roundings to bf16 between the steps are part of how parts are combined."""
    x = np.random.default_rng(0).uniform(0, 0.5, 33).astype(jnp.bfloat16)
    step = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])  # noqa: E731
    check(lambda x, y: jnp.tanh(jax.lax.associative_scan(step, (x, y), reverse=True)[1]), x, x[::-1], rtol=2e-2)


def test_of_one_array_in_two_places():
    """What is combined could not tell which of the two is meant: the steps are taken in turn."""
    x = np.random.default_rng(0).uniform(0, 0.5, 33).astype(np.float32)
    step = lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1])  # noqa: E731
    check(lambda x: jnp.tanh(jax.lax.associative_scan(step, (x, x), reverse=True)[1]), x)


def test_without_room_for_the_sums():
    """Whoever reads one takes the steps up to there."""
    x = np.random.default_rng(0).standard_normal((7, 33, 16)).astype(np.float32)
    check(lambda x: jax.nn.log_softmax(jnp.maximum(jax.lax.cummax(x, 0), -50), 1), x)


def test_more_than_a_block_has():
    """Parts that divide the length and that do not, of rows and of columns; from the last element on; two arrays, as their levels."""
    random = np.random.default_rng(0)
    line, columns = random.uniform(0, 1, 33001).astype(np.float32), random.uniform(0, 1, (1536, 33)).astype(np.float16)
    check(lambda x, y: (jnp.cumsum(x), jax.lax.cummax(x, 0, reverse=True), jnp.cumsum(y, 0, dtype=y.dtype)), line, columns, rtol=2e-3)
    many = random.uniform(0, 0.5, 20000).astype(np.float32)
    check(lambda x: jax.lax.associative_scan(lambda a, b: (a[0] * b[0], b[0] * a[1] + b[1]), (x, x))[1], many)
