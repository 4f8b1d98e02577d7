"""Contractions of bytes on tensor cores (mma.sync m16n8k32) on the simulator, against NumPy and ml_dtypes."""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
import pytest
from test_gpu_matmul import LAYOUTS, TARGET, Case, kernel_of, run

import hloom
from hloom.compiler.frontend import load_program
from hloom.compiler.pipeline import run_stages
from hloom.compiler.target import load_target, resolve
from hloom.dialects.target import attach_target

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


@pytest.mark.parametrize("left_transposed", [False, True])
def test_warp_groups_where_both_lie_along_the_inner_loop(left_transposed):
    """wgmma transposes no bytes: such operands are left to mma.sync."""
    hopper = replace(load_target("sm_90a"), multiprocessors=1)
    counters, printed = run(_case(128, 64, 160, left_transposed=left_transposed, right_transposed=True), hopper)
    assert ("nvvm.wgmma.mma_async" in printed) != left_transposed == ("nvvm.mma.sync" in printed)
    if not left_transposed:
        # two warp groups of four warps, two steps of four instructions; a box a step and operand
        assert counters.mma == 2 * 4 * 2 * 4 and counters.async_copies == 2 * 2 and not counters.ldmatrix


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


LIBRARY = {"kernel": [{"op": "dot_general", "use": "library"}]}


@pytest.mark.parametrize(("element", "result"), [("i8", "i32"), ("f8E4M3FN", "bf16"), ("f8E4M3FN", "f32")])
def test_library(element, result):
    """cuBLASLt, as the simulator has it, takes bytes that lie along the inner loop, by sixteens."""
    exe = hloom.compile(_dot(("32x48", "16x48"), (element, element), "[1] x [1]", f"32x16x{result}"), target="sim:sm_90a", policy=LIBRARY)
    assert "gemm 1x32x16x48" in exe.report.text()
    rng = np.random.default_rng(0)
    shapes = (32, 48), (16, 48)
    x, w = (rng.integers(-128, 128, s).astype(np.int8) if element == "i8" else _random(s, element, 1) for s in shapes)
    wanted = x.astype(np.float64) @ w.astype(np.float64).T
    tolerance = {"i32": 0, "f32": 1e-6, "bf16": 4e-3}[result]
    np.testing.assert_allclose(exe(x, w).astype(np.float64), wanted, rtol=tolerance, atol=tolerance * np.abs(wanted).max())


@pytest.mark.parametrize("element", ["i8", "f8E4M3FN"])
def test_bound_weights_are_turned(element):
    """Once, in @init, so that wgmma takes them."""
    result = "i32" if element == "i8" else "f32"
    text = _dot(("64x96", "96x40"), (element, element), "[1] x [0]", f"64x40x{result}")
    shapes = (64, 96), (96, 40)
    rng = np.random.default_rng(0)
    x, w = (rng.integers(-128, 128, s).astype(np.int8) if element == "i8" else _random(s, element, 1) for s in shapes)
    exe = hloom.compile(text, target="sim:sm_90a", bind={1: w})
    assert "nvvm.wgmma.mma_async" in _kernels_of(text.replace(") -> tensor<64x40", " {hloom.bound}) -> tensor<64x40", 1), "sm_90a")
    wanted = x.astype(np.float64) @ w.astype(np.float64)
    np.testing.assert_allclose(exe(x), wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())


F8 = {"f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2}


def _dot(shapes: tuple[str, str], elements: tuple[str, str], dims: str, result: str, more: str = "") -> str:
    x, w = (f"tensor<{shape}x{element}>" for shape, element in zip(shapes, elements))
    return f"""
func.func @main(%x: {x}, %w: {w}) -> tensor<{result}> {{
  %0 = stablehlo.dot_general %x, %w, contracting_dims = {dims}{more} : ({x}, {w}) -> tensor<{result}>
  return %0 : tensor<{result}>
}}"""


def _kernels_of(text: str, target: str) -> str:
    module = load_program(text).module
    attach_target(module.operation, resolve(target))
    run_stages(module.operation, to="gpu")
    return str(module)


def _random(shape: tuple[int, ...], element: str, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape).astype(F8[element])


@pytest.mark.parametrize(
    ("target", "elements", "result", "kernel"),
    [
        ("sm_89", ("f8E4M3FN", "f8E5M2"), "f32", "nvvm.mma.sync"),
        ("sm_90a", ("f8E4M3FN", "f8E4M3FN"), "bf16", "nvvm.mma.sync"),
        ("sm_90a", ("f8E5M2", "f8E5M2"), "f16", "nvvm.mma.sync"),
        ("sm_80", ("f8E4M3FN", "f8E5M2"), "f32", "math.fma"),
    ],
)
def test_dots_of_floats(target, elements, result, kernel):
    """On tensor cores from sm_89 on, the left operand contiguous along its rows; the sums are those of f32."""
    text = _dot(("96x32", "96x40"), elements, "[0] x [0]", f"32x40x{result}")
    assert kernel in _kernels_of(text, target)
    exe = hloom.compile(text, target=f"sim:{target}")
    x, w = _random((96, 32), elements[0], 0), _random((96, 40), elements[1], 1)
    wanted = x.astype(np.float64).T @ w.astype(np.float64)
    tolerance = {"f32": 1e-6, "bf16": 4e-3, "f16": 5e-4}[result]
    np.testing.assert_allclose(exe(x, w).astype(np.float64), wanted, rtol=tolerance, atol=1e-6 * np.abs(wanted).max())


def test_floats_by_warp_groups():
    text = _dot(("64x96", "40x96"), ("f8E5M2", "f8E4M3FN"), "[1] x [1]", "64x40xf32")
    assert "nvvm.wgmma.mma_async" in _kernels_of(text, "sm_90a")
    x, w = _random((64, 96), "f8E5M2", 0), _random((40, 96), "f8E4M3FN", 1)
    wanted = x.astype(np.float64) @ w.astype(np.float64).T
    found = hloom.compile(text, target="sim:sm_90a")(x, w)
    np.testing.assert_allclose(found, wanted, rtol=1e-6, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
@pytest.mark.parametrize("rows", [2, 16])
def test_every_code(element, rows):
    """Each code times 1, infinities and NaN among them: decoded where there are few rows, else on tensor cores."""
    codes = np.arange(256, dtype=np.uint8).view(F8[element])
    ones = np.zeros((rows, 32), F8[element])
    ones[:, 3] = 1
    w = np.zeros((32, 256), F8[element])
    w[3] = codes
    exe = hloom.compile(_dot((f"{rows}x32", "32x256"), (element, element), "[1] x [0]", f"{rows}x256xf32"), target="sim:sm_90a")
    np.testing.assert_array_equal(exe(ones, w), np.broadcast_to(codes.astype(np.float32), (rows, 256)))
