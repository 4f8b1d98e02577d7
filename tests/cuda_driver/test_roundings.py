"""A program that magnifies roundings is held to what f32 can do of it, and to no less."""

import numpy as np
import pytest

from cuda_driver.roundings import within_roundings

PROGRAM = """func.func @main(%x: tensor<64x512xf32>, %w: tensor<512x8xf32>) -> tensor<64x8xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x512xf32>, tensor<512x8xf32>) -> tensor<64x8xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %1 = stablehlo.reduce(%0 init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<64x8xf32>, tensor<f32>) -> tensor<64xf32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<64xf32>) -> tensor<64x8xf32>
  %3 = stablehlo.subtract %0, %2 : tensor<64x8xf32>
  %4 = stablehlo.exponential %3 : tensor<64x8xf32>
  return %4 : tensor<64x8xf32>
}"""


def shares(x, w):
    sums = x @ w
    return np.exp(sums - sums.max(1, keepdims=True))


def test_what_f32_computes_passes_and_what_it_would_not_does_not():
    rng = np.random.default_rng(0)
    x, w = (rng.standard_normal(shape, np.float32) * 8 for shape in ((64, 512), (512, 8)))
    right = shares(x, w)
    assert right.dtype == np.float32
    assert within_roundings(PROGRAM, [x, w], [right]) == ""
    half = x.astype(np.float16).astype(np.float32)
    assert "from f64" in within_roundings(PROGRAM, [x, w], [shares(half, w)])
    assert "from f64" in within_roundings(PROGRAM, [x, w], [np.full_like(right, np.nan)])


def test_other_types_are_not_judged():
    with pytest.raises(AssertionError, match="f32 alone"):
        assert within_roundings(PROGRAM.replace("f32", "bf16"), [], []) == ""
