"""Sorts of several arrays by one key, which long rows do by words of a key and a place or an element: against NumPy's stable argsort."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom

jax = pytest.importorskip("jax")
jnp = pytest.importorskip("jax.numpy")


def special(length: int, dtype, seed: int = 0, distinct: int = 0) -> np.ndarray:
    """Numbers of both signs; with `distinct`, so many and all that has several representations."""
    rng = np.random.default_rng(seed)
    x = (rng.standard_normal(length) * 100).astype(dtype)
    if not distinct:
        return x
    return np.where(
        rng.random(length) < 0.5,
        x[rng.integers(0, distinct, length)],
        np.array([0.0, -0.0, np.nan, -np.nan], dtype)[rng.integers(0, 4, length)],
    )


def order_of(x: np.ndarray) -> np.ndarray:
    """JAX's: -0 as 0, NaNs last."""
    return np.argsort(x.astype(np.float64), kind="stable")


def same_bits(found, wanted) -> None:
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.view(np.uint8), wanted.view(np.uint8))


def payloads(length: int) -> list[np.ndarray]:
    """An array of each width, and of each of the two kinds."""
    raw = np.random.default_rng(3).integers(0, 256, 8 * length, np.uint8)
    kinds = [np.int32, np.float32, np.uint8, bool, np.int16, ml_dtypes.bfloat16, np.int64]
    return [(raw[:length] & 1).astype(bool) if k is bool else raw[: np.dtype(k).itemsize * length].view(k) for k in kinds]


@pytest.mark.parametrize("length", [300, 9001])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_of_two_arrays(dtype, length):
    """Keys that tell their elements, and keys that do not, by the same program."""
    others = payloads(length)
    with jax.enable_x64(True):
        exe = hloom.compile(lambda x, *others: [jax.lax.sort((x, other), num_keys=1) for other in others], special(length, dtype), *others)
    for distinct in (0, 5):
        x = special(length, dtype, 1, distinct)
        order = order_of(x)
        for (key, value), other in zip(exe(x, *others), others):
            same_bits(key, x[order])
            same_bits(value, other[order])


def test_of_other_forms():
    """Three arrays; a key of the second one; descending; rows; an array of equal elements."""
    n = 4500
    x, y = special(n, np.float32, 1, 7), np.arange(n, dtype=np.int32)
    z = np.random.default_rng(2).integers(-9, 9, n).astype(np.int32)

    def program(x, y, z):
        return (
            jax.lax.sort((x, y, z), num_keys=1),
            jax.lax.sort((z, x, y, x, y), num_keys=1),
            jnp.argsort(x, descending=True),
            jnp.argsort(jnp.broadcast_to(z, (2, n)).reshape(6, -1), axis=1),
            jax.lax.sort((z, jnp.ones_like(z)), num_keys=1),
        )

    three, five, falling, rows, ones = hloom.compile(program, x, y, z)(x, y, z)
    for found, array in zip(three, (x, y, z)):
        same_bits(found, array[order_of(x)])
    for found, array in zip(five, (z, x, y, x, y)):
        same_bits(found, array[np.argsort(z, kind="stable")])
    same_bits(falling, np.asarray(jax.jit(lambda x: jnp.argsort(x, descending=True))(x)))
    same_bits(rows, np.argsort(np.broadcast_to(z, (2, n)).reshape(6, -1), axis=1, kind="stable").astype(np.int32))
    same_bits(ones[0], np.sort(z))
    same_bits(ones[1], np.ones(n, np.int32))


BY_THE_SECOND = """func.func @main(%x: tensor<700xi32>, %y: tensor<700xi32>) -> (tensor<700xi32>, tensor<700xi32>) {
  %0:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %p = stablehlo.compare GT, %c, %d, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<700xi32>, tensor<700xi32>) -> (tensor<700xi32>, tensor<700xi32>)
  return %0#0, %0#1 : tensor<700xi32>, tensor<700xi32>
}"""


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 1 << 30), st.integers(0, 1 << 30))
def test_by_the_second_array(distinct, seed):
    """Its keys do not tell the first array's elements, unless they happen to be equal."""
    rng = np.random.default_rng(seed)
    y = rng.integers(-distinct, distinct, 700).astype(np.int32)
    for x in (rng.integers(-distinct, distinct, 700).astype(np.int32), y):
        order = np.argsort(-y.astype(np.int64), kind="stable")
        for found, array in zip(_by_the_second()(x, y), (x, y)):
            same_bits(found, array[order])


_KEPT: list[hloom.Executable] = []


def _by_the_second() -> hloom.Executable:
    if not _KEPT:
        _KEPT.append(hloom.compile(BY_THE_SECOND))
    return _KEPT[0]


def test_nothing_is_touched_outside(monkeypatch):
    monkeypatch.setenv("HLOOM_DEBUG", "bounds")
    x = np.concatenate([special(6000, np.float32, 1, 4), special(6000, np.float32, 2)])
    found = hloom.compile(lambda x: (jnp.argsort(x.reshape(2, -1), axis=1), jnp.argsort(x.reshape(30, -1), axis=1)), x)(x)
    for places, length in zip(found, (6000, 400)):
        same_bits(places, np.stack([order_of(row) for row in x.reshape(-1, length)]).astype(np.int32))
