"""Maxima and minima, bit for bit: NaN wins, -0 is below +0, in every lane, kernel and order of the operands."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])
VALUES = (0.0, -0.0, np.nan, -np.nan, np.inf, -np.inf, 1.0, -1.0, 5e-324, -5e-324)
NEUTRAL = {"max": -np.inf, "min": np.inf}
OPS = {"max": "maximum", "min": "minimum"}


def expected(values: np.ndarray, body: str) -> np.ndarray:
    """Along the last dimension, as the specification says."""
    sign = 1 if body == "max" else -1
    order = np.where(np.isnan(values), np.inf, sign * values)
    # of equals, a NaN before infinity, then the zero that wins
    rank = np.isnan(values).astype(int) * 2 + (np.signbit(values) == (body == "min"))
    last = np.lexsort((rank, order), axis=-1)[..., -1:]
    return np.take_along_axis(values, last, -1)[..., 0]


def assert_same(got, want) -> None:
    got = np.asarray(got)
    np.testing.assert_array_equal(got, want)
    real = ~np.isnan(want)
    np.testing.assert_array_equal(np.signbit(got)[real], np.signbit(want)[real])


def of_two(body: str, x: np.ndarray) -> str:
    kind = f"tensor<{len(x)}xf{8 * x.itemsize}>"
    return f"""func.func public @main(%a: {kind}, %b: {kind}) -> {kind} {{
      %0 = stablehlo.{OPS[body]} %a, %b : {kind}
      return %0 : {kind}
    }}"""


def reduced(body: str, x: np.ndarray, dimension: int) -> str:
    element, neutral = f"f{8 * x.itemsize}", np.array(NEUTRAL[body], x.dtype).tobytes()[::-1].hex().upper()
    kind, result = f"tensor<{x.shape[0]}x{x.shape[1]}x{element}>", f"tensor<{x.shape[1 - dimension]}x{element}>"
    return f"""func.func public @main(%x: {kind}) -> {result} {{
      %neutral = stablehlo.constant dense<0x{neutral}> : tensor<{element}>
      %0 = stablehlo.reduce(%x init: %neutral) applies stablehlo.{OPS[body]} across dimensions = [{dimension}]
        : ({kind}, tensor<{element}>) -> {result}
      return %0 : {result}
    }}"""


def with_few_specials(shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Rows of which a third has a NaN, a third no value above -0."""
    random = np.random.default_rng(len(shape))
    rows = -np.abs(random.standard_normal(shape)).astype(dtype)
    for number, row in enumerate(rows):
        places = random.choice(row.size, 3, replace=False)
        row[places] = [(-0.0, 0.0, -0.0), (np.nan, 1, -np.nan), (-0.0, -0.0, -1)][number % 3]
    return rows


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("body", OPS)
def test_of_two(target, dtype, body):
    pairs = np.array(list(itertools.product(VALUES, VALUES)), dtype)
    exe = hloom.compile(of_two(body, pairs), target=target)
    assert_same(exe(pairs[:, 0].copy(), pairs[:, 1].copy()), expected(pairs, body))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("body", OPS)
@pytest.mark.parametrize("length", [3, 8, 49, 64, 131, 1024])
def test_of_rows_and_columns(target, dtype, body, length):
    x = with_few_specials((37, length), dtype) * (1 if body == "max" else -1)
    want = expected(x, body)
    assert_same(hloom.compile(reduced(body, x, 1), target=target)(x), want)
    columns = np.ascontiguousarray(x.T)
    assert_same(hloom.compile(reduced(body, columns, 0), target=target)(columns), want)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("zero", ["0.0", "-0.0"])
@pytest.mark.parametrize("body", OPS)
def test_of_one_and_zero(target, zero, body):
    x = np.array(VALUES * 7, np.float32)
    kind = f"tensor<{len(x)}xf32>"
    exe = hloom.compile(
        f"""func.func public @main(%x: {kind}) -> {kind} {{
          %zero = stablehlo.constant dense<{zero}> : {kind}
          %0 = stablehlo.{OPS[body]} %x, %zero : {kind}
          return %0 : {kind}
        }}""",
        target=target,
    )
    assert_same(exe(x), expected(np.stack([x, np.full_like(x, float(zero))], 1), body))


@pytest.mark.parametrize("target", TARGETS)
def test_a_special_in_each_lane(target):
    exe = hloom.compile(reduced("max", np.empty((4, 70), np.float32), 1), target=target)
    for place in range(70):
        x = np.full((4, 70), -1, np.float32)
        x[0, place], x[1, place], x[2, place] = np.nan, 0.0, -0.0
        assert_same(exe(x), expected(x, "max"))
