"""Division by a scalar of a row on GPUs, which multiplies and corrects: the bits of a division, whatever the numbers; and half floats."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

QUOTIENTS = """func.func @main(%x: tensor<16x256xf32>, %d: tensor<16xf32>) -> tensor<16x256xf32> {
  %b = stablehlo.broadcast_in_dim %d, dims = [0] : (tensor<16xf32>) -> tensor<16x256xf32>
  %q = stablehlo.divide %x, %b : tensor<16x256xf32>
  return %q : tensor<16x256xf32>
}"""
ROUNDED = """func.func @main(%x: tensor<16x64xbf16>) -> tensor<16x64xbf16> {
  %y = stablehlo.negate %x : tensor<16x64xbf16>
  %s = stablehlo.add %x, %x : tensor<16x64xbf16>
  %t = stablehlo.multiply %s, %x : tensor<16x64xbf16>
  %u = stablehlo.add %t, %y : tensor<16x64xbf16>
  return %u : tensor<16x64xbf16>
}"""


@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_90a+ptx"])
def test_bits_of_a_division(target):
    random = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        x = (random.standard_normal((16, 256)) * 10.0 ** random.integers(-44, 38, (16, 256))).astype(np.float32)
        x[:, :8] = [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, 3e38, -1]
        d = (random.standard_normal(16) * 10.0 ** np.arange(-40, 40, 5)).astype(np.float32)
        d[:4] = [0, np.inf, np.nan, 3]
        expected = x / d[:, None]
    found = np.asarray(hloom.compile(QUOTIENTS, target=target)(x, d))
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    known = ~np.isnan(expected)
    np.testing.assert_array_equal(found.view(np.int32)[known], expected.view(np.int32)[known])


@pytest.mark.parametrize("target", ["sim:sm_90a", "sim:sm_90a+ptx"])
def test_bf16_is_rounded_after_each_op(target):
    dtypes = pytest.importorskip("ml_dtypes")
    x = np.random.default_rng(0).standard_normal((16, 64)).astype(dtypes.bfloat16)
    x[0, :4] = [np.inf, -np.inf, np.nan, 0]
    expected = (x + x) * x + -x
    found = np.asarray(hloom.compile(ROUNDED, target=target)(x))
    np.testing.assert_array_equal(found.astype(np.float32), expected.astype(np.float32))
