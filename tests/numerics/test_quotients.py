"""Quotients of a vector and a scalar, bit for bit those of a division: zeros, specials and tiny numbers among usual ones, in every lane."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["auto", "cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])
DIVISORS = (6.0, 3.0, -3.0, 7e-8, 0.1, 1.9999999, 1e30, -1e-30, 0.0, -0.0, np.inf, np.nan)
SPECIALS = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-30, -1e-37, 1e-40, 1.5e38)


def text(size: int, element: str) -> str:
    return f"""func.func public @main(%x: tensor<{size}x{element}>, %c: tensor<{element}>) -> tensor<{size}x{element}> {{
      %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<{element}>) -> tensor<{size}x{element}>
      %1 = stablehlo.divide %x, %0 : tensor<{size}x{element}>
      return %1 : tensor<{size}x{element}>
    }}"""


def cases(dtype: str) -> np.ndarray:
    """Lines of 64 of which one number is special, those with zeros alone, and one of nothing special."""
    usual = np.random.default_rng(0).standard_normal((12, 64)).astype(dtype)
    for row, special in zip(usual, SPECIALS):
        row[(7 * np.arange(3) + row.size // 2) % row.size] = special
    usual[-2] *= 0
    return np.concatenate([usual.ravel(), usual.ravel()[:61]])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_are_rounded_as_divisions(target, dtype):
    x = cases(dtype)
    divide = hloom.compile(text(x.size, f"f{8 * x.itemsize}"), target=target)
    for divisor in np.array(DIVISORS, dtype):
        with np.errstate(all="ignore"):
            wanted = x / divisor
        (got,) = divide.flat([x, divisor])
        np.testing.assert_array_equal(np.isnan(got), np.isnan(wanted))
        np.testing.assert_array_equal(
            np.where(np.isnan(got), 0, got.view(f"i{x.itemsize}")), np.where(np.isnan(wanted), 0, wanted.view(f"i{x.itemsize}"))
        )
