"""Bound weights of halves with lines of odd length, which a GPU reads padded (align-weights)."""

from __future__ import annotations

import numpy as np

import hloom

PRODUCT = """func.func @main(%x: tensor<70x80xf16>, %w: tensor<80x77xf16>) -> tensor<70x77xf32> {
  %s = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<70x80xf16>, tensor<80x77xf16>) -> tensor<70x77xf32>
  return %s : tensor<70x77xf32>
}"""


def test_a_weight_of_odd_lines():
    random = np.random.default_rng(0)
    x, w = (random.standard_normal(shape).astype(np.float16) for shape in ((70, 80), (80, 77)))
    exe = hloom.compile(PRODUCT, target="sim:sm_90a", bind={1: w})
    np.testing.assert_allclose(exe(x), x.astype(np.float32) @ w.astype(np.float32), rtol=1e-4, atol=1e-4)
