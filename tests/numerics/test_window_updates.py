"""Loops that write a window of a buffer each time round: what lies outside must stay, and only the window may be touched."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp = jax.numpy


def window(x, u, i, j):
    """Windows that the clamping of start indices moves."""
    return jax.lax.fori_loop(0, 3, lambda k, c: jax.lax.dynamic_update_slice(c, u * (k + 1), (i + k, j - k)), x)


def stacked(c):
    """Scans stack their outputs; the carry is returned both ways."""

    def step(c, _):
        d = c * 1.5 + 1
        return d, (d, d.sum(), c[:2] > 3)

    return jax.lax.scan(step, c, None, length=7)


def backwards(c):
    return jax.lax.scan(lambda c, v: (c + v, c * v), c, np.arange(30, dtype=np.float32).reshape(6, 5), reverse=True)


def cached(cache, n):
    """A cache that is read whole after each update."""

    def body(k, state):
        cache, total = state
        cache = jax.lax.dynamic_update_slice(cache, jnp.tanh(total)[None, None], (k, jnp.int32(0), jnp.int32(0)))
        return cache, total + cache.sum((0, 1)) * 0.1

    return jax.lax.fori_loop(0, n, body, (cache, jnp.ones(8)))


def bytes_(c):
    return jax.lax.fori_loop(0, 4, lambda k, c: jax.lax.dynamic_update_slice(c, (k * 7).astype(jnp.uint8)[None], (k * 2,)), c)


def from_neighbour(c):
    """Reads the buffer elsewhere than it writes."""
    return jax.lax.fori_loop(0, 4, lambda k, c: jax.lax.dynamic_update_slice(c, (c[k] * 2 + 1)[None], (k + 1,)), c)


def predicates(c):
    return jax.lax.fori_loop(0, 4, lambda k, c: jax.lax.dynamic_update_slice(c, (~c[k])[None], (k,)), c)


def turned(c):
    """Rows are written transposed, and by a window whose start is clamped."""

    def step(c, x):
        d = c + x
        return d, (d, d.T)

    last, (plain, across) = jax.lax.scan(step, c, jnp.arange(3 * c.size, dtype=c.dtype).reshape(3, *c.shape))
    return plain, across, jax.lax.dynamic_update_slice(jnp.pad(across[0] * 2, ((2, 3), (1, 4))), last.T, (9, 2))


def beside(x):
    """What is written beside the window has memory of its own, as all of the buffer is still read."""

    def inner(k, state):
        sums, out = state
        sums = jnp.cumsum(sums, 0)
        return sums, jax.lax.dynamic_update_slice(out, sums[:1], (k, 0))

    def outer(k, state):
        rows, out = state
        part = jax.lax.dynamic_slice(rows, (3 * k - 2, 0), (2, 65))
        part = jax.lax.fori_loop(0, 3, inner, (part, part[::-1]))[1]
        return jnp.resize(part, (7, 65)), jax.lax.dynamic_update_slice(out, jnp.resize(part, (1, 65)), (k, 0))

    return jax.lax.fori_loop(0, 3, outer, (x, x[::-1]))[1]


CASES = {
    beside: (np.arange(455, dtype=np.int32).reshape(7, 65),),
    turned: (np.ones((33, 47), np.float32),),
    window: (np.arange(120, dtype=np.float32).reshape(12, 10), np.full((5, 4), -1, np.float32), np.int32(2), np.int32(9)),
    stacked: (np.arange(5, dtype=np.float32),),
    backwards: (np.arange(5, dtype=np.float32),),
    cached: (np.zeros((16, 1, 8), np.float32), np.int32(9)),
    bytes_: (np.zeros(11, np.uint8),),
    from_neighbour: (np.ones(6, np.float32),),
    predicates: (np.zeros(6, np.bool_),),
}


@pytest.mark.parametrize("function", CASES, ids=lambda function: function.__name__)
def test_agrees_with_jax(function):
    inputs = CASES[function]
    exe = hloom.compile(function, *inputs)
    expected = jax.tree.leaves(jax.jit(function)(*inputs))
    for _ in range(2):
        for found, wanted in zip(jax.tree.leaves(exe(*inputs)), expected, strict=True):
            np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
@pytest.mark.parametrize("end", [lambda x: x + x, lambda x: x.sum(0), lambda x: x.max(1)], ids=["all", "columns", "rows"])
def test_parts_of_rows_from_where_an_index_tells(dtype, end):
    x = np.random.default_rng(0).integers(-4, 5, (9, 133)).astype(dtype)
    u = np.random.default_rng(1).integers(-4, 5, (4, 70)).astype(dtype)
    run = hloom.compile(lambda x, u, i, j: end(jax.lax.dynamic_update_slice(x, u, (i, j))), x, u, np.int32(0), np.int32(0))
    for i, j in ((2, 31), (-90, 200), (7, 63), (0, 0)):
        i, j = np.int32(i), np.int32(j)
        expected = np.array(x)
        row, column = (max(0, min(int(at) + size * (at < 0), size - part)) for at, size, part in ((i, 9, 4), (j, 133, 70)))
        expected[row : row + 4, column : column + 70] = u
        np.testing.assert_array_equal(run(x, u, i, j), end(expected).astype(run(x, u, i, j).dtype))


@pytest.mark.parametrize("dtype", ["float32", "int16", "float64"])
def test_joined_rows_from_where_an_index_tells(dtype):
    x = np.random.default_rng(0).integers(-4, 5, (9, 133)).astype(dtype)
    y = np.random.default_rng(1).integers(-4, 5, (9, 70)).astype(dtype)

    def joined(np, x, y):
        return np.concatenate([x, y * y, x[:, :20]], 1)

    run = hloom.compile(lambda x, y, i: jax.lax.dynamic_slice(joined(jnp, x, y), (0, i), (9, 90)), x, y, np.int32(0))
    for i in (0, 13, 131, 133, 150):
        at = min(i, 133)
        np.testing.assert_array_equal(run(x, y, np.int32(i)), joined(np, x, y)[:, at : at + 90])


def test_a_part_of_a_short_last_dimension():
    x, u = np.arange(6, dtype=np.int64).reshape(1, 3, 2), np.array([[[7], [8]]], np.int64)
    run = hloom.compile(
        """func.func public @main(%x: tensor<1x3x2xi64>, %u: tensor<1x2x1xi64>, %i: tensor<i32>, %j: tensor<i32>, %k: tensor<i32>)
             -> tensor<1x3x2xi64> {
          %0 = stablehlo.dynamic_update_slice %x, %u, %i, %j, %k
            : (tensor<1x3x2xi64>, tensor<1x2x1xi64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x3x2xi64>
          return %0 : tensor<1x3x2xi64>
        }"""
    )
    for j, k in ((0, 0), (1, 1), (5, -3)):
        expected, row, column = x.copy(), min(j, 1), max(k, 0)
        expected[:, row : row + 2, column : column + 1] = u
        np.testing.assert_array_equal(run(x, u, np.int32(0), np.int32(j), np.int32(k)), expected)


def test_a_part_that_nobody_asks_for():
    """The windows' sums of what was updated: of two results of one reduction the other one is taken."""
    run = hloom.compile(
        """func.func public @main(
              %x: tensor<1x2x3xf32>, %u: tensor<1x1x2xf32>, %i: tensor<i32>, %y: tensor<1x2x3xi32>, %a: tensor<i32>, %b: tensor<f32>)
             -> tensor<1x1x3xi32> {
          %0 = stablehlo.dynamic_update_slice %x, %u, %i, %i, %i
            : (tensor<1x2x3xf32>, tensor<1x1x2xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x2x3xf32>
          %1:2 = "stablehlo.reduce_window"(%y, %0, %a, %b) ({
            ^bb0(%2: tensor<i32>, %3: tensor<f32>, %4: tensor<i32>, %5: tensor<f32>):
              %6 = stablehlo.add %3, %5 : tensor<f32>
              stablehlo.return %2, %6 : tensor<i32>, tensor<f32>
          }) {window_dimensions = array<i64: 1, 1, 1>, window_strides = array<i64: 2, 2, 1>,
              padding = dense<[[1, 0], [0, 0], [0, 0]]> : tensor<3x2xi64>}
            : (tensor<1x2x3xi32>, tensor<1x2x3xf32>, tensor<i32>, tensor<f32>) -> (tensor<1x1x3xi32>, tensor<1x1x3xf32>)
          return %1#0 : tensor<1x1x3xi32>
        }"""
    )
    floats, whole = np.zeros((1, 2, 3), np.float32), np.ones((1, 2, 3), np.int32)
    assert run(floats, floats[:, :1, :2], np.int32(0), whole, np.int32(5), np.float32(0)).tolist() == [[[5, 5, 5]]]
