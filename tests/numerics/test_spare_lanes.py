"""Products and convolutions whose last columns take several steps of the sum in a register; against sums in f64."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("rows", "depth", "columns"),
    [(16, 40, 12), (67, 48, 24), (33, 64, 18), (130, 300, 40), (200, 64, 72), (50, 1504, 17)],
)
@pytest.mark.parametrize("bound", [True, False], ids=["bound", "given"])
def test_products(target: str, rows: int, depth: int, columns: int, bound: bool) -> None:
    """Halves, quarters and eighths of a register, masked where they are not whole, with what follows in registers."""
    generator = np.random.default_rng(columns)
    x, w, bias = (generator.standard_normal(shape, np.float32) for shape in ((rows, depth), (depth, columns), columns))
    bind = {1: w} if bound else None
    exe = hloom.compile(lambda x, w, bias: jnp.maximum(x @ w / 8 + bias, 0), x, w, bias, target=target, bind=bind)
    found = exe(x, bias) if bound else exe(x, w, bias)
    np.testing.assert_allclose(found, np.maximum(x.astype(np.float64) @ w / 8 + bias, 0), rtol=0, atol=2e-5)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("columns", [12, 20, 35])
def test_batches(target: str, columns: int) -> None:
    """The weights are packed again for each."""
    generator = np.random.default_rng(columns)
    x, w = generator.standard_normal((3, 40, 56), np.float32), generator.standard_normal((3, 56, columns), np.float32)
    found = hloom.compile(jnp.matmul, x, w, target=target)(x, w)
    np.testing.assert_allclose(found, x.astype(np.float64) @ w, rtol=0, atol=5e-5)


@pytest.mark.parametrize("target", TARGETS)
def test_f64(target: str) -> None:
    generator = np.random.default_rng(0)
    x, w = generator.standard_normal((40, 64)), generator.standard_normal((64, 10))
    with jax.enable_x64(True):
        found = hloom.compile(jnp.matmul, x, w, target=target)(x, w)
    np.testing.assert_allclose(found, x @ w, rtol=0, atol=1e-13)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    ("size", "channels", "features", "taps", "stride", "padding"),
    [
        ((19, 33), 16, 24, (3, 3), 2, ((1, 1), (1, 1))),
        ((9, 28), 32, 40, (5, 5), 1, ((2, 2), (2, 2))),
        ((7, 30), 36, 18, (1, 1), 1, ((0, 0), (0, 0))),
        ((60,), 48, 20, (5,), 1, ((4, 0),)),
        ((11, 21), 16, 56, (3, 2), 2, ((0, 1), (1, 0))),
        ((20, 20), 17, 24, (3, 3), 2, ((1, 1), (1, 1))),  # an odd number of channels: as it was
    ],
)
@pytest.mark.parametrize("bound", [True, False], ids=["bound", "given"])
def test_convolutions(target, size, channels, features, taps, stride, padding, bound) -> None:
    generator = np.random.default_rng(features)
    x = generator.standard_normal((2, *size, channels), np.float32)
    w = (generator.standard_normal((*taps, channels, features)) / np.sqrt(channels * np.prod(taps))).astype(np.float32)
    spatial = "HW"[: len(size)]
    numbers = (f"N{spatial}C", f"{spatial}IO", f"N{spatial}C")

    def program(x, w):
        return lax.conv_general_dilated(x, w, (stride,) * len(size), padding, dimension_numbers=numbers)

    exe = hloom.compile(program, x, w, target=target, bind={1: w} if bound else None)
    found = exe(x) if bound else exe(x, w)
    np.testing.assert_allclose(found, _convolved(x.astype(np.float64), w.astype(np.float64), stride, padding), rtol=0, atol=2e-5)


def _convolved(x: np.ndarray, w: np.ndarray, stride: int, padding: tuple[tuple[int, int], ...]) -> np.ndarray:
    """The convolution as a product of its windows and the weights."""
    dims = len(padding)
    padded = np.pad(x, ((0, 0), *padding, (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, w.shape[:dims], axis=tuple(range(1, dims + 1)))
    windows = windows[(slice(None), *[slice(None, None, stride)] * dims)]
    return np.tensordot(np.moveaxis(windows, dims + 1, -1), w, dims + 1)
