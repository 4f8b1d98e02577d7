"""Reductions of columns on GPUs, as gradients of norms are: partial results that all warps share, and several sums of one input."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom

_TYPES = {"f32": np.float32, "bf16": ml_dtypes.bfloat16, "f64": np.float64}


def sums(rows: int, cols: int, element: str) -> str:
    """The sums of a column, its largest element and the first row that holds it."""
    matrix, wide = f"tensor<{rows}x{cols}x{element}>", f"tensor<{rows}x{cols}xf32>"
    return f"""
      func.func @main(%x: {matrix}) -> (tensor<{cols}xf32>, tensor<{cols}x{element}>, tensor<{cols}xi32>) {{
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
        %low = stablehlo.convert %least : (tensor<f32>) -> tensor<{element}>
        %none = stablehlo.constant dense<0> : tensor<i32>
        %f = stablehlo.convert %x : ({matrix}) -> {wide}
        %sum = stablehlo.reduce(%f init: %zero) applies stablehlo.add across dimensions = [0] : ({wide}, tensor<f32>) -> tensor<{cols}xf32>
        %i = stablehlo.iota dim = 0 : tensor<{rows}x{cols}xi32>
        %m:2 = stablehlo.reduce(%x init: %low), (%i init: %none) across dimensions = [0]
            : ({matrix}, tensor<{rows}x{cols}xi32>, tensor<{element}>, tensor<i32>) -> (tensor<{cols}x{element}>, tensor<{cols}xi32>)
          reducer(%a: tensor<{element}>, %b: tensor<{element}>) (%p: tensor<i32>, %q: tensor<i32>) {{
            %keep = stablehlo.compare GE, %a, %b : (tensor<{element}>, tensor<{element}>) -> tensor<i1>
            %v = stablehlo.select %keep, %a, %b : tensor<i1>, tensor<{element}>
            %w = stablehlo.select %keep, %p, %q : tensor<i1>, tensor<i32>
            stablehlo.return %v, %w : tensor<{element}>, tensor<i32>
          }}
        return %sum, %m#0, %m#1 : tensor<{cols}xf32>, tensor<{cols}x{element}>, tensor<{cols}xi32>
      }}"""


@settings(max_examples=10, deadline=None)
@given(rows=st.integers(100, 900), cols=st.integers(1, 80), element=st.sampled_from(list(_TYPES)))
def test_columns(rows, cols, element):
    exe = hloom.compile(sums(rows, cols, element), target="sim:sm_90a")
    x = np.random.default_rng(rows + cols).integers(-9, 10, (rows, cols)).astype(_TYPES[element])
    total, most, first = exe(x)
    np.testing.assert_array_equal(total, x.astype(np.float64).sum(0).astype(np.float32))
    np.testing.assert_array_equal(most, x.max(0))
    np.testing.assert_array_equal(first, x.astype(np.float32).argmax(0))


def gradients_of_a_norm(shape: tuple[int, ...], kept: int) -> str:
    """What the gradients of a norm's bias and scale sum: d, and (x - mean) d, in bf16."""
    dims, dim = "x".join(map(str, shape)), shape[kept]
    summed = ", ".join(str(d) for d in range(len(shape)) if d != kept)
    half, wide, one = f"tensor<{dims}xbf16>", f"tensor<{dims}xf32>", f"tensor<{dim}xf32>"
    return f"""
      func.func @main(%x: {half}, %d: {half}, %m: {one}) -> ({one}, {one}) {{
        %z = stablehlo.constant dense<0.0> : tensor<f32>
        %xf = stablehlo.convert %x : ({half}) -> {wide}
        %df = stablehlo.convert %d : ({half}) -> {wide}
        %mb = stablehlo.broadcast_in_dim %m, dims = [{kept}] : ({one}) -> {wide}
        %c = stablehlo.subtract %xf, %mb : {wide}
        %p = stablehlo.multiply %c, %df : {wide}
        %0 = stablehlo.reduce(%df init: %z) applies stablehlo.add across dimensions = [{summed}] : ({wide}, tensor<f32>) -> {one}
        %1 = stablehlo.reduce(%p init: %z) applies stablehlo.add across dimensions = [{summed}] : ({wide}, tensor<f32>) -> {one}
        return %0, %1 : {one}, {one}
      }}"""


@pytest.mark.parametrize(("shape", "kept"), [((4, 8, 24, 128), 1), ((512, 96), 1), ((8, 7, 9, 40), 3)])
def test_gradients_of_a_norm(shape, kept):
    exe = hloom.compile(gradients_of_a_norm(shape, kept), target="sim:sm_90a")
    rng = np.random.default_rng(0)
    x, d = (rng.integers(-4, 5, shape).astype(ml_dtypes.bfloat16) for _ in range(2))
    mean = rng.integers(-2, 3, shape[kept]).astype(np.float32)
    others = tuple(axis for axis in range(len(shape)) if axis != kept)
    centred = x.astype(np.float64) - mean.reshape([-1 if axis == kept else 1 for axis in range(len(shape))])
    found = exe(x, d, mean)
    np.testing.assert_array_equal(found[0], d.astype(np.float64).sum(others))
    np.testing.assert_array_equal(found[1], (centred * d.astype(np.float64)).sum(others))


@pytest.mark.parametrize(("shape", "kept"), [((32, 64, 56, 56), 1), ((4096, 768), 1)])
def test_both_sums_are_one_kernel_of_many_blocks(shape, kept):
    kernels = hloom.compile(gradients_of_a_norm(shape, kept), target="sim:sm_90a").report.data["kernels"]
    largest = max(kernels, key=lambda kernel: kernel["moved"])
    assert largest["moved"] < 2.1 * 2 * np.prod(shape) and largest["grid"][0] >= 132
