"""Contractions on GPUs whose inner loop is summed in parts: every loop and number of parts, on the simulator against numpy; and when."""

from __future__ import annotations

from unittest.mock import patch

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import hloom
from hloom.passes.gpu import split_k

_TYPES = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16, "i8": np.int8}
_SUMS = {"f64": "f64", "i8": "i32"}
_TOLERANCE = {"f32": 1e-5, "f64": 1e-12, "bf16": 1e-5, "f16": 1e-5, "i8": 0}


class Chosen:
    """Takes the `number`th of all splits into parts of at least four steps, for the fastest."""

    def __init__(self, number: int):
        self.number = number

    def __call__(self, contraction, nest, target):
        with patch.object(split_k, "_LEAST_STEPS", 4):
            found = list(split_k._splits(nest, contraction.sizes.inner))
        return found[self.number % len(found)]


def product(rows: int, cols: int, inner: tuple[int, ...], element: str) -> str:
    """(inner… x rows) by (inner… x cols), and a bias: as the gradient of a weight by tokens of several batches."""
    result = _SUMS.get(element, "f32")
    dims = "x".join(map(str, inner))
    kinds = f"tensor<{dims}x{rows}x{element}>", f"tensor<{dims}x{cols}x{element}>"
    summed = ", ".join(map(str, range(len(inner))))
    return f"""
      func.func @main(%a: {kinds[0]}, %b: {kinds[1]}, %c: tensor<{cols}x{result}>) -> tensor<{rows}x{cols}x{result}> {{
        %0 = stablehlo.dot_general %a, %b, contracting_dims = [{summed}] x [{summed}]
          : ({kinds[0]}, {kinds[1]}) -> tensor<{rows}x{cols}x{result}>
        %1 = stablehlo.broadcast_in_dim %c, dims = [1] : (tensor<{cols}x{result}>) -> tensor<{rows}x{cols}x{result}>
        %2 = stablehlo.add %0, %1 : tensor<{rows}x{cols}x{result}>
        return %2 : tensor<{rows}x{cols}x{result}>
      }}"""


def drawn(shape: tuple[int, ...], element: str) -> np.ndarray:
    rng = np.random.default_rng(sum(shape))
    return (rng.integers(-3, 4, shape) if element == "i8" else rng.standard_normal(shape)).astype(_TYPES[element])


@settings(max_examples=12, deadline=None)
@given(
    rows=st.integers(9, 70),
    cols=st.integers(9, 40),
    inner=st.lists(st.sampled_from([2, 3, 6, 16]), max_size=2),
    last=st.sampled_from([8, 12, 15, 24]),
    element=st.sampled_from(list(_TYPES)),
    number=st.integers(0, 20),
)
def test_parts_are_the_whole(rows, cols, inner, last, element, number):
    inner = [*inner, last]
    with patch.object(split_k, "_choose", Chosen(number)):
        exe = hloom.compile(product(rows, cols, tuple(inner), element), target="sim:sm_90a")
    left, right = drawn((*inner, rows), element), drawn((*inner, cols), element)
    wide = np.int32 if element == "i8" else np.float64
    bias = drawn((cols,), "i8").astype(np.int32 if element == "i8" else np.float64 if element == "f64" else np.float32)
    found = exe(left, right, bias)
    flat = left.reshape(-1, rows).astype(wide), right.reshape(-1, cols).astype(wide)
    expected = flat[0].T @ flat[1] + bias
    assert "are taken in" in exe.report.text()
    np.testing.assert_allclose(found, expected, rtol=_TOLERANCE[element], atol=_TOLERANCE[element] * np.abs(flat[0]).sum(0).max())


def test_gradient_of_a_filter():
    """The pixels of all images are summed; the images lie in dims that stride over padding."""
    text = """
      func.func @main(%x: tensor<4x8x8x16xf32>, %g: tensor<4x8x8x24xf32>) -> tensor<3x3x16x24xf32> {
        %0 = stablehlo.convolution(%x, %g) dim_numbers = [f, 0, 1, b]x[i, 0, 1, o]->[0, 1, b, f],
          window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<4x8x8x16xf32>, tensor<4x8x8x24xf32>) -> tensor<3x3x16x24xf32>
        return %0 : tensor<3x3x16x24xf32>
      }"""
    with patch.object(split_k, "_choose", Chosen(1)):
        exe = hloom.compile(text, target="sim:sm_90a", policy={"kernel": [{"use": "generated"}]})
    assert "are taken in" in exe.report.text()
    x, g = drawn((4, 8, 8, 16), "f32"), drawn((4, 8, 8, 24), "f32")
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0))).astype(np.float64)
    expected = [[np.einsum("nhwi,nhwo->io", padded[:, h : h + 8, w : w + 8], g.astype(np.float64)) for w in range(3)] for h in range(3)]
    np.testing.assert_allclose(exe(x, g), np.array(expected), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("rows", "cols", "inner", "is_split"),
    [(64, 64, 65536, True), (128, 128, 16384, True), (128, 768, 30522, True), (1024, 1024, 1024, False), (64, 64, 1024, False)],
)
def test_few_results_of_long_sums_are_split(rows, cols, inner, is_split):
    exe = hloom.compile(product(rows, cols, (inner,), "bf16"), target="sim:sm_90a")
    assert is_split == ("are taken in" in exe.report.text())


@pytest.mark.parametrize("features", [48, 64])
def test_no_library_gets_a_window_as_large_as_an_image(features):
    """A gradient by weights: forward kernels of libraries give its sums to a few blocks."""
    text = f"""
      func.func @main(%x: tensor<{features}x32x30x30xbf16>, %g: tensor<{features}x32x28x28xbf16>)
          -> tensor<{features}x{features}x3x3xbf16> {{
        %0 = stablehlo.convolution(%x, %g) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {{}}
          {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
          : (tensor<{features}x32x30x30xbf16>, tensor<{features}x32x28x28xbf16>) -> tensor<{features}x{features}x3x3xbf16>
        return %0 : tensor<{features}x{features}x3x3xbf16>
      }}"""
    assert not hloom.compile(text, target="sim:sm_90a").report.data["libraries"]
