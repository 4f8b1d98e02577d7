"""bf16 without its instructions, the lanes of even numbers first: each element where it belongs, at sizes with every tail; NaN kept."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from machines import runs_here

import hloom
from hloom.compiler.target import load_target

_BF16 = ml_dtypes.bfloat16
_SIZES = [(1, 5), (3, 16), (2, 31), (5, 33), (4, 48), (3, 77), (2, 130)]


@pytest.fixture(params=["cpu-avx2", "cpu-avx512"])
def target(request):
    if not runs_here(load_target(request.param)):
        pytest.skip(f"this machine does not run {request.param}")
    return request.param


def _numbers(rows: int, columns: int) -> np.ndarray:
    return np.random.default_rng(columns).standard_normal((rows, columns), np.float32).astype(_BF16)


def _special() -> np.ndarray:
    """Every bf16: infinities, NaN with all that they can hold, both zeros, what is below the normal numbers."""
    return np.arange(1 << 16, dtype=np.uint32).astype(np.uint16).view(_BF16).reshape(64, 1024)


def _compiled(target: str, body: str, kind: str, result: str, *arguments: np.ndarray) -> np.ndarray:
    names = ", ".join(f"%a{number}: tensor<{kind}xbf16>" for number in range(len(arguments)))
    text = f"func.func @main({names}) -> tensor<{result}> {{ {body} }}"
    return np.asarray(hloom.compile(text, target=target).flat(list(arguments))[0])


def _same(found: np.ndarray, expected: np.ndarray) -> None:
    nan = np.isnan(expected.astype(np.float32))
    np.testing.assert_array_equal(np.isnan(found.astype(np.float32)), nan)
    np.testing.assert_array_equal(found.view(np.uint16)[~nan], expected.view(np.uint16)[~nan])


@pytest.mark.parametrize("x", [*(_numbers(*size) for size in _SIZES), _special()], ids=lambda x: f"{x.shape[0]}x{x.shape[1]}")
def test_elements_stay_in_their_places(x, target):
    kind = f"{x.shape[0]}x{x.shape[1]}"
    y = np.flip(x).copy()
    body = f"""%0 = stablehlo.add %a0, %a1 : tensor<{kind}xbf16>
        %1 = stablehlo.multiply %0, %a1 : tensor<{kind}xbf16>
        %2 = stablehlo.maximum %1, %a0 : tensor<{kind}xbf16>
        return %2 : tensor<{kind}xbf16>"""
    with np.errstate(all="ignore"):
        product = (x.astype(np.float32) + y.astype(np.float32)).astype(_BF16).astype(np.float32) * y.astype(np.float32)
        expected = np.maximum(product.astype(_BF16).astype(np.float32), x.astype(np.float32)).astype(_BF16)
    found = _compiled(target, body, kind, f"{kind}xbf16", x, y)
    with np.errstate(invalid="ignore"):
        both_zero = (expected == 0) & (found == 0)  # NumPy does not order the zeros
    _same(np.where(both_zero, 0, found).astype(_BF16), np.where(both_zero, 0, expected).astype(_BF16))


@pytest.mark.parametrize("shape", _SIZES, ids=str)
def test_rows_are_summed_whole(shape, target):
    rows, columns = shape
    x = _numbers(rows, columns)
    body = f"""%z = stablehlo.constant dense<0.0> : tensor<f32>
        %0 = stablehlo.convert %a0 : (tensor<{rows}x{columns}xbf16>) -> tensor<{rows}x{columns}xf32>
        %1 = stablehlo.multiply %0, %0 : tensor<{rows}x{columns}xf32>
        %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] :
          (tensor<{rows}x{columns}xf32>, tensor<f32>) -> tensor<{rows}xf32>
        return %2 : tensor<{rows}xf32>"""
    found = _compiled(target, body, f"{rows}x{columns}", f"{rows}xf32", x)
    np.testing.assert_allclose(found, np.square(x.astype(np.float64)).sum(1), rtol=1e-5)


def test_nan_of_f32_stay_nan(target):
    bits = np.array([0x7F800001, 0x7FFFFFFF, 0xFFFFFFFF, 0xFF800001, 0x7FC00000, 0x7F800000, 0x3F808000, 0x3F818000], np.uint32)
    x = np.tile(bits, 5).view(np.float32)
    text = f"""func.func @main(%x: tensor<{x.size}xf32>) -> tensor<{x.size}xbf16> {{
        %0 = stablehlo.convert %x : (tensor<{x.size}xf32>) -> tensor<{x.size}xbf16>
        return %0 : tensor<{x.size}xbf16> }}"""
    found = np.asarray(hloom.compile(text, target=target).flat([x])[0])
    with np.errstate(invalid="ignore"):
        _same(found, x.astype(_BF16))
