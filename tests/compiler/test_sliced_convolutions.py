"""Convolutions of which only some features are read, in one kernel with the slice."""

from __future__ import annotations

import numpy as np
import pytest

import hloom

PROGRAM = """
func.func @main(%x: tensor<2x14x14x{channels}xf32>, %w: tensor<3x3x{depth}x{features}xf32>) -> tensor<2x14x14x{count}xf32> {{
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{pad = [[1, 1], [1, 1]]}}
      {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}
      : (tensor<2x14x14x{channels}xf32>, tensor<3x3x{depth}x{features}xf32>) -> tensor<2x14x14x{features}xf32>
  %s = stablehlo.slice %y [0:2, 0:14, 0:14, {start}:{stop}]
      : (tensor<2x14x14x{features}xf32>) -> tensor<2x14x14x{count}xf32>
  %a = stablehlo.abs %s : tensor<2x14x14x{count}xf32>
  return %a : tensor<2x14x14x{count}xf32>
}}
"""


@pytest.mark.parametrize("target", ["cpu", "cpu-avx2"])
@pytest.mark.parametrize(
    ("groups", "channels", "features", "start", "stop"),
    [
        (4, 8, 36, 0, 17),
        (4, 32, 64, 5, 60),
        (1, 32, 64, 5, 60),
        (2, 32, 96, 50, 70),
        (2, 32, 96, 5, 92),
        (3, 48, 144, 48, 144),
        (3, 48, 120, 41, 79),
        (3, 48, 120, 0, 80),
    ],
    ids=[
        "groups",
        "groups-inside",
        "winograd",
        "winograd-group",
        "winograd-across",
        "winograd-groups",
        "winograd-partial",
        "winograd-narrow",
    ],
)
def test_features_of_a_convolution_are_sliced(groups, channels, features, start, stop, target):
    random = np.random.default_rng(0)
    depth, count = channels // groups, stop - start
    x = random.standard_normal((2, 14, 14, channels)).astype(np.float32)
    w = random.standard_normal((3, 3, depth, features)).astype(np.float32)
    text = PROGRAM.format(groups=groups, channels=channels, depth=depth, features=features, start=start, stop=stop, count=count)
    y = np.array(hloom.compile(text, target=target).flat([x, w])[0])
    np.testing.assert_allclose(y, np.abs(_convolution(x, w, groups)[..., start:stop]), rtol=1e-4, atol=2e-4)


@pytest.mark.parametrize("target", ["cpu", "cpu-avx2"])
@pytest.mark.parametrize("features", [96, 80])
def test_features_in_groups_are_read_in_one_line(features, target):
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 14, 14, 32)).astype(np.float32)
    w = random.standard_normal((3, 3, 16, features)).astype(np.float32)
    program = PROGRAM.format(groups=2, channels=32, depth=16, features=features, start=0, stop=features, count=features)
    line = f"tensor<2x{14 * 14 * features}xf32>"
    text = f"""
func.func @main(%x: tensor<2x14x14x32xf32>, %w: tensor<3x3x16x{features}xf32>) -> {line} {{
  {program[program.index("%y") : program.index("%s")]}
  %m = stablehlo.multiply %y, %y : tensor<2x14x14x{features}xf32>
  %r = stablehlo.reshape %m : (tensor<2x14x14x{features}xf32>) -> {line}
  %s = stablehlo.sqrt %r : {line}
  return %s : {line}
}}
"""
    y = np.array(hloom.compile(text, target=target).flat([x, w])[0]).reshape(2, 14, 14, features)
    np.testing.assert_allclose(y, np.abs(_convolution(x, w, 2)), rtol=1e-4, atol=2e-4)


def _convolution(x, w, groups):
    """Of 14 × 14 pixels and zeros around them, in f64."""
    padded = np.pad(x.astype(np.float64), ((0, 0), (1, 1), (1, 1), (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (1, 2)).reshape(2, 14, 14, groups, -1, 3, 3)
    filters = w.astype(np.float64).reshape(*w.shape[:3], groups, -1)
    return np.einsum("bhwgcij,ijcgf->bhwgf", windows, filters, optimize=True).reshape(2, 14, 14, -1)


@pytest.mark.parametrize("target", ["cpu", "cpu-avx2"])
@pytest.mark.parametrize("part", ["0:2, 5:26, 0:26", "0:2, 0:26, 7:26", "1:2, 5:26, 7:25", "0:2, 3:17, 3:17"])
def test_pixels_of_a_convolution_are_sliced(part, target):
    random = np.random.default_rng(0)
    x = random.standard_normal((2, 28, 28, 32)).astype(np.float32)
    w = random.standard_normal((3, 3, 32, 64)).astype(np.float32)
    slices = tuple(slice(*map(int, each.split(":"))) for each in part.split(","))
    shape = "x".join(str(each.stop - each.start) for each in slices)
    text = f"""
func.func @main(%x: tensor<2x28x28x32xf32>, %w: tensor<3x3x32x64xf32>) -> tensor<{shape}x64xf32> {{
  %y = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {{}}
      {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
      : (tensor<2x28x28x32xf32>, tensor<3x3x32x64xf32>) -> tensor<2x26x26x64xf32>
  %s = stablehlo.slice %y [{part}, 0:64] : (tensor<2x26x26x64xf32>) -> tensor<{shape}x64xf32>
  %a = stablehlo.abs %s : tensor<{shape}x64xf32>
  return %a : tensor<{shape}x64xf32>
}}
"""
    windows = np.lib.stride_tricks.sliding_window_view(x.astype(np.float64), (3, 3), (1, 2))
    expected = np.abs(np.einsum("bhwcij,ijcf->bhwf", windows, w.astype(np.float64))[slices])
    np.testing.assert_allclose(np.array(hloom.compile(text, target=target).flat([x, w])[0]), expected, rtol=1e-4, atol=2e-4)
