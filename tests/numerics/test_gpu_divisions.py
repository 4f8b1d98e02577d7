"""Divisions in kernels of wgmma, which call no function: quotients of all kinds of numbers, and what activations make of them."""

from __future__ import annotations

import math

import numpy as np
import pytest

import hloom

ROWS, COLS, INNER = 64, 64, 64
QUOTIENTS = """func.func @main(%x: tensor<64x64xf16>, %w: tensor<64x64xf16>, %a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  %z = stablehlo.constant dense<-1.0> : tensor<64x64xf32>
  %p = stablehlo.compare GT, %s, %z, FLOAT : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  %c = stablehlo.select %p, %a, %s : tensor<64x64xi1>, tensor<64x64xf32>
  %q = stablehlo.divide %c, %b : tensor<64x64xf32>
  return %q : tensor<64x64xf32>
}"""
ACTIVATION = """func.func @main(%x: tensor<64x64x{half}>, %w: tensor<64x64x{half}>, %a: tensor<64x64xf32>) -> tensor<64x64x{result}> {{
  %s = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64x{half}>, tensor<64x64x{half}>) -> tensor<64x64xf32>
  %c = stablehlo.add %s, %a : tensor<64x64xf32>
  %y = {op} %c : tensor<64x64xf32> -> tensor<64x64xf32>
  {last}
  return %r : tensor<64x64x{result}>
}}"""
SPECIAL = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3.4e38, -3e38, 1.2e-38, 1, -1, 2.0**126, 2.0**127, 2.0**-126, 2.0**-127], np.float32)


def _numbers(seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        return (random.standard_normal((ROWS, COLS)) * 10.0 ** random.integers(-44, 38, (ROWS, COLS))).astype(np.float32)


def _halves(value: float, dtype=np.float16) -> tuple[np.ndarray, np.ndarray]:
    return np.full((ROWS, INNER), value, dtype), np.full((INNER, COLS), value, dtype)


def test_quotients_of_all_kinds_of_numbers():
    a, b = _numbers(0), _numbers(1)
    a[:16, :16], b[:16, :16] = SPECIAL[:, None], SPECIAL[None, :]
    found = np.asarray(hloom.compile(QUOTIENTS, target="sim:sm_90a+ptx")(*_halves(0), a, b))
    with np.errstate(all="ignore"):
        expected = a / b
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    ulps = np.abs(found.view(np.int32).astype(np.int64) - expected.view(np.int32))[~np.isnan(expected)]
    exact = np.abs(a)[~np.isnan(expected)] > 2.0**-100
    assert not ulps[exact].any() and ulps.max() <= 1  # the excess over a tiny numerator is no normal number


def _reference(name: str, c: np.ndarray) -> np.ndarray:
    erf = np.vectorize(math.erf, otypes=[np.float64])
    with np.errstate(all="ignore"):
        return {
            "gelu": lambda: np.where(c < -40, -0.0, c * 0.5 * (1 + erf(c * np.sqrt(0.5)))),
            "silu": lambda: c / (1 + np.exp(-c)),
            "sigmoid": lambda: 1 / (1 + np.exp(-c)),
            "tanh": lambda: np.tanh(c),
        }[name]()
