"""An attention block of four rows, whose kernels follow each other in one launch where none of them is a library's (GENERATED)."""

from __future__ import annotations

import numpy as np

GENERATED = {"kernel": [{"use": "generated"}]}

BLOCK = """func.func @main(%x: tensor<4x64xf32>, %w: tensor<64x192xf32>, %v: tensor<64x64xf32>) -> tensor<4x64xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x192xf32>) -> tensor<4x192xf32>
  %q = stablehlo.slice %0 [0:4, 0:64] : (tensor<4x192xf32>) -> tensor<4x64xf32>
  %k = stablehlo.slice %0 [0:4, 64:128] : (tensor<4x192xf32>) -> tensor<4x64xf32>
  %u = stablehlo.slice %0 [0:4, 128:192] : (tensor<4x192xf32>) -> tensor<4x64xf32>
  %1 = stablehlo.dot_general %q, %k, contracting_dims = [1] x [1] : (tensor<4x64xf32>, tensor<4x64xf32>) -> tensor<4x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.exponential %1 : tensor<4x4xf32>
  %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %5 = stablehlo.divide %2, %4 : tensor<4x4xf32>
  %6 = stablehlo.dot_general %5, %u, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x64xf32>) -> tensor<4x64xf32>
  %7 = stablehlo.dot_general %6, %v, contracting_dims = [1] x [0] : (tensor<4x64xf32>, tensor<64x64xf32>) -> tensor<4x64xf32>
  %8 = stablehlo.add %7, %x : tensor<4x64xf32>
  return %8 : tensor<4x64xf32>
}"""


def block_inputs() -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [0.1 * rng.standard_normal(shape, np.float32) for shape in ((4, 64), (64, 192), (64, 64))]


def block_result(x: np.ndarray, w: np.ndarray, v: np.ndarray) -> np.ndarray:
    """By NumPy."""
    query, key, value = np.split(x @ w, 3, axis=1)
    weights = np.exp(query @ key.T)
    return weights / weights.sum(1, keepdims=True) @ value @ v + x
