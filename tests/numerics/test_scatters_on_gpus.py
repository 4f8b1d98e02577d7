"""What JAX builds on scatters, on a simulated GPU: the bits that the CPU gives, whose tests are in test_scatters_of_jax.py."""

from __future__ import annotations

import numpy as np
import pytest
from numerics.test_sorts_on_gpus import agree

import hloom

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")

RNG = np.random.default_rng(0)
ROWS, PLACES = RNG.standard_normal((30, 5), np.float32), RNG.integers(-3, 35, 200).astype(np.int32)
UPDATES = RNG.standard_normal((200, 5), np.float32)


def test_gradient_of_a_max_pool():
    def pooled(y):
        return (jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "VALID") ** 2).sum()

    agree(jax.grad(pooled), RNG.standard_normal((1, 32, 32, 1), np.float32))


def test_rows_and_segments():
    def functions(x, i, u):
        return (
            x.at[i].add(u),
            x.at[i].set(u),
            x.at[i].multiply(u),
            x.at[i, i % 5].add(u[:, 0]),
            jax.ops.segment_sum(u, i % 7, num_segments=7),
            jax.ops.segment_max(u, i % 7, num_segments=7),
            jnp.bincount(i % 7, length=7),
            x.at[jnp.arange(0, 20, 3)].apply(jnp.negative),
        )

    agree(functions, ROWS, PLACES, UPDATES)


def test_complex_rows():
    agree(lambda x, i, u: x.at[i].add(u), (ROWS * (1 + 2j)).astype(np.complex64), PLACES, (UPDATES * (2 - 1j)).astype(np.complex64))


def test_unique():
    agree(lambda x: jnp.unique(x, size=12, return_counts=True), RNG.integers(0, 12, 300).astype(np.int32))


TWO = """
func.func @main(%x: tensor<4xi64>, %y: tensor<4xi16>, %i: tensor<3x1xi64>, %u: tensor<3xi64>, %v: tensor<3xi16>)
    -> (tensor<4xi64>, tensor<4xi16>) {
  %r:2 = "stablehlo.scatter"(%x, %y, %i, %u, %v) ({
  ^bb0(%a: tensor<i64>, %b: tensor<i16>, %c: tensor<i64>, %d: tensor<i16>):
    %e = stablehlo.xor %a, %c : tensor<i64>
    %f = stablehlo.or %b, %d : tensor<i16>
    stablehlo.return %e, %f : tensor<i64>, tensor<i16>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<4xi64>, tensor<4xi16>, tensor<3x1xi64>, tensor<3xi64>, tensor<3xi16>) -> (tensor<4xi64>, tensor<4xi16>)
  return %r#0, %r#1 : tensor<4xi64>, tensor<4xi16>
}
"""


def test_two_operands_of_two_types_by_atomics():
    inputs = [
        np.arange(1, 5),
        np.arange(1, 5, dtype=np.int16),
        np.array([[1], [3], [1]]),
        np.array([8, 8, 16]),
        np.array([8, 8, 16], np.int16),
    ]
    for result in hloom.compile(TWO, target="sim:sm_90a").flat(inputs):
        np.testing.assert_array_equal(result, [1, 2 | 8 | 16, 3, 4 | 8])


def test_many_updates_of_few_places():
    """Blocks combine in copies of their own; places beyond the end are dropped."""
    rng = np.random.default_rng(1)
    places, values = rng.integers(-5, 40, 20_000).astype(np.int32), rng.integers(-1000, 1000, (20_000, 2)).astype(np.int32)

    def functions(i, u):
        table = jnp.arange(66, dtype=jnp.int32).reshape(33, 2)
        return jnp.bincount(i, length=33), table.at[i].add(u), table.at[i].max(u), table.at[i, i % 3].min(u[:, 0])

    agree(functions, places, values)


HALVED = """
func.func @main(%x: tensor<4xf32>, %i: tensor<3x1xi32>, %u: tensor<3xf32>) -> tensor<4xf32> {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %r = "stablehlo.scatter"(%x, %i, %u) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %c = stablehlo.divide %b, %two : tensor<f32>
    %d = stablehlo.add %a, %c : tensor<f32>
    stablehlo.return %d : tensor<f32>
  }) {scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}
    : (tensor<4xf32>, tensor<3x1xi32>, tensor<3xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
"""


def test_what_a_body_makes_of_an_update_is_added():
    unordered = {"kernel": [{"op": "scatter", "use": "unordered"}]}
    inputs = [np.arange(4, dtype=np.float32), np.array([[1], [3], [1]], np.int32), np.array([8, 4, 16], np.float32)]
    (result,) = hloom.compile(HALVED, target="sim:sm_90a", policy=unordered).flat(inputs)
    np.testing.assert_array_equal(result, [0, 13, 2, 5])


MANY = (
    TWO.replace("i64", "i32").replace("i16", "i64").replace("4x", "33x").replace("3x1x", "20000x1x").replace("tensor<3x", "tensor<20000x")
)


@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_80+ptx"])
def test_many_updates_of_tables_of_two_widths(target):
    """The copy of the second lies on a multiple of what its elements take."""
    rng = np.random.default_rng(2)
    places, short, wide = rng.integers(0, 33, (20_000, 1)), rng.integers(0, 1 << 20, 20_000), rng.integers(0, 1 << 40, 20_000)
    inputs = [np.zeros(33, np.int32), np.zeros(33, np.int64), places.astype(np.int32), short.astype(np.int32), wide]
    first, second = hloom.compile(MANY, target=target).flat(inputs)
    for place in range(33):
        chosen = places[:, 0] == place
        assert first[place] == np.bitwise_xor.reduce(short[chosen]) and second[place] == np.bitwise_or.reduce(wide[chosen])
