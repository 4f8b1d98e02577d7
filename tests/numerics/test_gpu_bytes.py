"""Contractions of bytes on tensor cores (mma.sync m16n8k32) on the simulator, against NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_gpu_matmul import LAYOUTS, TARGET, Case, kernel_of, run

import hloom

ONE_PROCESSOR = replace(TARGET, multiprocessors=1)
"""Where few blocks cost nothing, tiles are as large as they can be."""


def _case(rows: int, cols: int, inner: int, **more) -> Case:
    return Case(rows, cols, inner, "i8", "i32", "i32", **more)


@pytest.mark.parametrize("transposed", LAYOUTS)
def test_operands_lie_either_way(transposed):
    counters, printed = run(_case(128, 128, 192, left_transposed=transposed[0], right_transposed=transposed[1]), ONE_PROCESSOR)
    assert "nvvm.mma.sync" in printed and "128x128x64" in printed
    # three steps of two instructions, of 8 x 16 pieces of the block's results
    assert counters.mma == 3 * 2 * 8 * 16 and counters.ldmatrix and counters.bank_conflicts == 1.0


@pytest.mark.parametrize(
    "case",
    [
        _case(33, 35, 50, left_transposed=True),
        _case(24, 16, 96, right_transposed=True, batch=3),
    ],
    ids=str,
)
def test_odd_sizes_and_batches(case):
    counters, _ = run(case)
    assert counters.mma


@pytest.mark.parametrize("signs", [(True, False), (False, True)])
def test_signs_of_operands(signs):
    case = _case(32, 16, 192, right_transposed=True)
    text = case.text()
    for side, signed in zip("ab", signs):
        text = text if signed else text.replace(f"%{side}w = arith.extsi", f"%{side}w = arith.extui")
    kernels, _ = kernel_of(text)
    rng = np.random.default_rng(0)
    left, right = (rng.integers(-128, 128, shape).astype(np.int8) for shape in case.shapes[:2])
    bias, out = np.zeros(case.cols, np.int32), np.zeros(case.shapes[3], np.int32)
    assert kernels.launch("k", [left.reshape(-1), right.reshape(-1), bias, out.reshape(-1)]).mma
    left, right = (x if signed else x.view(np.uint8) for x, signed in zip((left, right), signs))
    np.testing.assert_array_equal(out, np.matmul(left.astype(np.int64), right.astype(np.int64).swapaxes(1, 2)))


def test_sums_wrap():
    """A saturating instruction would stop at the largest number."""
    case = _case(16, 16, 32)
    kernels, _ = kernel_of(case.text())
    out = np.zeros(case.shapes[3], np.int32)
    full, bias = np.full(16 * 32, -128, np.int8), np.full(16, 2**31 - 1, np.int32)
    kernels.launch("k", [full, full, bias, out.reshape(-1)])
    np.testing.assert_array_equal(out, np.full(case.shapes[3], 2**31 - 1 + 32 * 128 * 128 - 2**32))


X, W = "tensor<48x96x!quant.uniform<i8:f32, 0.5:3>>", "tensor<96x40x!quant.uniform<i8:f32, 0.25>>"
Y = "tensor<48x40x!quant.uniform<i8:f32, 20.0:-1>>"
QUANTIZED = f"""
func.func @main(%x: {X}, %w: {W}) -> {Y} {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({X}, {W}) -> {Y}
  return %0 : {Y}
}}"""


def test_quantized_dot():
    """The zero point and the new scale are applied to the integer sums."""
    exe = hloom.compile(QUANTIZED, target="sim:sm_90a")
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-128, 128, shape).astype(np.int8) for shape in ((48, 96), (96, 40)))
    found = exe(x, w)
    real = (x.astype(np.int64) - 3) @ w.astype(np.int64) * 0.125
    np.testing.assert_array_equal(found, np.rint(np.clip(real.astype(np.float32) / np.float32(20) - 1, -128, 127)).astype(np.int8))
