"""What JAX makes of scatters: gradients of lookups, indexed updates, segment sums, histograms; compared with jax.jit."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

jax = pytest.importorskip("jax")
jnp, lax = jax.numpy, jax.lax


def floats(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape).astype(np.float32)


def places(below: int, *shape: int, low: int = 0) -> np.ndarray:
    return np.random.default_rng([below, *shape]).integers(low, below, shape).astype(np.int32)


def check(function, *arguments) -> None:
    """hloom's results are jax.jit's, sums in the same order."""
    expected = jax.tree.leaves(jax.jit(function)(*arguments))
    found = jax.tree.leaves(hloom.compile(function, *arguments)(*arguments))
    for result, wanted in zip(found, expected, strict=True):
        result, wanted = np.asarray(result), np.asarray(wanted)
        assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
        np.testing.assert_allclose(result.astype(np.float64), wanted.astype(np.float64), rtol=2e-6, atol=1e-6)


@pytest.mark.parametrize("method", ["set", "add", "max", "min", "mul", "divide", "power"])
def test_indexed_updates(method):
    """Negative indices count from the end; those out of bounds, and duplicates, too."""
    check(lambda x, i, u: getattr(x.at[i], method)(u), abs(floats(20)), places(30, 15, low=-25), floats(15))
    check(lambda x, i, j, u: getattr(x.at[i, j], method)(u), abs(floats(20, 7)), places(20, 15), places(7, 15), floats(15))
    check(lambda x, i, u: getattr(x.at[i, 2:5], method)(u), abs(floats(20, 8)), places(20, 6), floats(6, 3))


def test_one_update_that_is_part_of_an_array():
    check(lambda x, u: x.at[np.array([1])].add(u[2:3]), floats(4), floats(5))
    check(lambda x, u: x.at[np.array([3])].set(u[2:3, 1:]), floats(4, 6), floats(5, 7))


@pytest.mark.parametrize("width", [1, 7, 33, 64, 160])
def test_gradient_of_an_embedding(width):
    check(jax.grad(lambda table, i: jnp.sum(jnp.sin(table[i]))), floats(50, width), places(50, 30))


@pytest.mark.parametrize("kind", [np.int32, np.int8, np.uint8])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_sums_of_one_hots(kind, dtype):
    """Of an index that is in the row, or not: below it, behind it."""
    i, x = places(128, 40, low=0 if kind is np.uint8 else -128).astype(kind), floats(40)
    check(lambda i: jax.nn.one_hot(i, 100, dtype=dtype).sum(-1), i)
    check(lambda i, x: (-jnp.where(jnp.arange(100) == i[:, None], 3, jnp.array(0, dtype)) * x[:, None].astype(dtype)).sum(1), i, x)
    check(lambda i, x: (jax.nn.one_hot(i, 7, axis=0, dtype=dtype) / x.astype(dtype)).sum(0), i, x)
    check(lambda i: jax.nn.one_hot(i, 100, dtype=dtype).sum(0), i)
    check(lambda i: jnp.where(lax.iota(kind, 300) == i[:, None], jnp.array(1, dtype), 0).sum(1), i)


@pytest.mark.parametrize("method", ["set", "add", "max", "mul", "min"])
@pytest.mark.parametrize("kind", [np.int32, np.int8, np.uint8])
def test_one_place_a_row(method, kind):
    """In an array that is the same everywhere: each row has one index, also out of bounds."""

    def each(shape, at):
        return jax.vmap(lambda i, j, u: getattr(jnp.full(shape, 1.5).at[at(i, j)], method)(u))

    low = 0 if kind is np.uint8 else -128
    i, j = (places(128, 40, low=low).astype(kind) for _ in range(2))
    check(each((19,), lambda i, j: i), i, j, floats(40))
    check(each((7, 110), lambda i, j: (i // 16, j)), i, j, floats(40))
    check(each((110, 9), lambda i, j: i), i, j, floats(40, 9))
    check(each((5, 110), lambda i, j: (slice(None), i)), i, j, floats(40, 5))
    check(lambda i, u: getattr(jnp.ones((50, 3)).at[i], method)(u), i[0], floats(3))


@pytest.mark.parametrize("kind", ["i8", "ui8"])
def test_a_place_of_a_type_without_room_for_the_extent(kind):
    text = f"""func.func @main(%i: tensor<6x1x{kind}>, %u: tensor<6xf32>) -> tensor<6x300xf32> {{
      %z = stablehlo.constant dense<0.0> : tensor<6x300xf32>
      %0 = "stablehlo.scatter"(%z, %i, %u) <{{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1],
          input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}}> ({{
      ^bb0(%a: tensor<f32>, %b: tensor<f32>):
        %s = stablehlo.add %a, %b : tensor<f32>
        stablehlo.return %s : tensor<f32>
      }}) : (tensor<6x300xf32>, tensor<6x1x{kind}>, tensor<6xf32>) -> tensor<6x300xf32>
      return %0 : tensor<6x300xf32>
    }}"""
    at = np.array([[0], [44], [127], [128], [200], [255]]).astype(np.uint8).view(np.uint8 if kind == "ui8" else np.int8)
    expected = np.zeros((6, 300), np.float32)
    for row, (place,) in enumerate(at):
        if place >= 0:
            expected[row, place] = row + 1
    np.testing.assert_array_equal(hloom.compile(text)(at, np.arange(1, 7, dtype=np.float32)), expected)


def test_gradient_of_a_cross_entropy():
    def loss(logits, classes):
        return -jnp.take_along_axis(jax.nn.log_softmax(logits), classes[:, None], 1).mean()

    check(jax.value_and_grad(loss), floats(37, 501), places(501, 37))


def test_columns_and_batches():
    check(lambda x, i, u: x.at[:, i].add(u), floats(64, 80), places(80, 60), floats(64, 60))
    check(jax.vmap(lambda x, i, u: x.at[i].add(u)), floats(24, 20), places(20, 24, 8), floats(24, 8))
    check(jax.vmap(lambda x, i, u: x.at[i].set(u)), floats(5, 20, 64), places(20, 5, 8), floats(5, 8, 64))
    check(jax.grad(lambda x, i: jnp.sum(jnp.take_along_axis(x, i, 1) ** 2)), floats(6, 9), places(9, 6, 4))


def test_functions_that_scatter():
    check(lambda x, i: x.at[i].apply(jnp.sin), floats(20), places(20, 4))
    check(lambda d, s: jax.ops.segment_sum(d, s, 10), floats(40, 3), places(10, 40))
    check(lambda d, s: jax.ops.segment_max(d, s, 10), floats(40, 3), places(10, 40))
    check(lambda i: jnp.bincount(i, length=12), places(12, 100))
    check(lambda x: jnp.histogram(x, bins=10), floats(200))
    check(lambda x: jnp.nonzero(x > 0, size=20), floats(40))


@pytest.mark.parametrize("window_first", [False, True])
@pytest.mark.parametrize("method", ["scatter", "scatter_mul"])
def test_windows_that_overlap(method, window_first):
    numbers = lax.ScatterDimensionNumbers((0,) if window_first else (1,), (), (0,))
    update = floats(5, 15) if window_first else floats(15, 5)
    check(lambda x, i, u: getattr(lax, method)(x, i, u, numbers), floats(20), places(24, 15, 1) - 2, update)


def test_what_is_updated_lives_on_or_dies():
    x, i, u = floats(20), places(20, 20), floats(20)
    check(lambda x, i, u: (x.at[i].add(u), x * 2), x, i, u)
    check(lambda x, i, u: (x * 2).at[i].add(u).sum(), x, i, u)
    check(lambda x, i, u: (lambda y: (y.at[i].add(u), y))(x * 2), x, i, u)
    check(lambda x, i: x.at[i].add(x), x, i)
    check(lambda x, i: (lambda y: y.at[i].add(y))(x * 2), x, i)
    check(lambda x, i: lax.fori_loop(0, 10, lambda k, c: c.at[i[k]].add(c[k] * 0.5), x), x, i)
    check(lambda x, i, u: lax.fori_loop(0, 3, lambda k, c: c.at[i].add(u), x), x, i, u)
    check(lambda x, i, u: lax.cond(u[0] > 0, lambda: x.at[i].add(u), lambda: x), x, i, u)
    check(lambda i: jnp.arange(20.0).at[i].add(1.0), i)


def test_results_are_the_same_from_run_to_run():
    exe = hloom.compile(lambda x, i, u: x.at[i].add(u), floats(100, 256), places(100, 3000), floats(3000, 256))
    arguments = floats(100, 256), places(100, 3000), floats(3000, 256)
    first = np.asarray(exe(*arguments))
    assert all(np.array_equal(first, exe(*arguments)) for _ in range(5))


@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_gradient_of_a_max_pool(padding):
    def loss(x):
        return jnp.sum(jnp.sin(lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), padding)))

    check(jax.grad(loss), floats(2, 11, 11, 5))


@pytest.mark.parametrize("kept", ["%6", "%4"], ids=["the update", "the element"])
@pytest.mark.parametrize("op", ["maximum", "add"])
def test_an_extreme_beside_what_is_put_there(op, kept):
    """Of two arrays with the same places, of which one is set to the updates, or left, while the other has the largest."""
    source = f"""func.func public @main(%x: tensor<5xi64>, %y: tensor<5xi32>, %i: tensor<2x1xi32>, %u: tensor<2xi64>, %v: tensor<2xi32>)
        -> (tensor<5xi64>, tensor<5xi32>) {{
      %r:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) ({{
        ^bb0(%4: tensor<i64>, %5: tensor<i32>, %6: tensor<i64>, %7: tensor<i32>):
          %8 = stablehlo.{op} %5, %7 : tensor<i32>
          "stablehlo.return"({kept}, %8) : (tensor<i64>, tensor<i32>) -> ()
      }}) {{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
            index_vector_dim = 1>}}
        : (tensor<5xi64>, tensor<5xi32>, tensor<2x1xi32>, tensor<2xi64>, tensor<2xi32>) -> (tensor<5xi64>, tensor<5xi32>)
      return %r#0, %r#1 : tensor<5xi64>, tensor<5xi32>
    }}"""
    places, updates, others = np.array([[1], [3]], np.int32), np.array([10, 20]), np.array([7, 1], np.int32)
    put, combined = hloom.compile(source)(np.arange(5), np.arange(5, dtype=np.int32), places, updates, others)
    assert put.tolist() == ([0, 10, 2, 20, 4] if kept == "%6" else [0, 1, 2, 3, 4])
    assert combined.tolist() == ([0, 7, 2, 3, 4] if op == "maximum" else [0, 8, 2, 4, 4])
