"""Divisions in kernels of wgmma, which call no function: quotients of all kinds of numbers, and what activations make of them."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

import hloom
from hloom.compiler.compile import Compilation
from hloom.compiler.cuda.assemble import assembler
from hloom.compiler.frontend import load_program

ROWS, COLS, INNER = 64, 64, 64
QUOTIENTS = """func.func @main(
    %x: tensor<64x64xf16>, %w: tensor<64x64xf16>, %a: tensor<64x64xf32>, %b: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %s = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64xf16>, tensor<64x64xf16>) -> tensor<64x64xf32>
  %z = stablehlo.constant dense<-1.0> : tensor<64x64xf32>
  %p = stablehlo.compare GT, %s, %z, FLOAT : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xi1>
  %c = stablehlo.select %p, %a, %s : tensor<64x64xi1>, tensor<64x64xf32>
  %q = stablehlo.divide %c, %b : tensor<64x64xf32>
  return %q : tensor<64x64xf32>
}"""
ACTIVATION = """func.func @main(%x: tensor<64x64x{half}>, %w: tensor<64x64x{half}>, %a: tensor<64x64xf32>) -> tensor<64x64x{result}> {{
  %s = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<64x64x{half}>, tensor<64x64x{half}>) -> tensor<64x64xf32>
  %c = stablehlo.add %s, %a : tensor<64x64xf32>
  {op}
  {last}
  return %r : tensor<64x64x{result}>
}}"""
SPECIAL = np.array(
    [0, -0.0, np.inf, -np.inf, np.nan, 1e-45, -1e-40, 3.4e38, -3e38, 1.2e-38, 1, -1, 2.0**126, 2.0**127, 2.0**-126, 2.0**-127], np.float32
)


def _numbers(seed: int) -> np.ndarray:
    random = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        return (random.standard_normal((ROWS, COLS)) * 10.0 ** random.integers(-44, 38, (ROWS, COLS))).astype(np.float32)


def _halves(value: float, dtype=np.float16) -> tuple[np.ndarray, np.ndarray]:
    return np.full((ROWS, INNER), value, dtype), np.full((INNER, COLS), value, dtype)


def test_quotients_of_all_kinds_of_numbers():
    a, b = _numbers(0), _numbers(1)
    a[:16, :16], b[:16, :16] = SPECIAL[:, None], SPECIAL[None, :]
    found = np.asarray(hloom.compile(QUOTIENTS, target="sim:sm_90a+ptx")(*_halves(0), a, b))
    with np.errstate(all="ignore"):
        expected = a / b
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected))
    ulps = np.abs(found.view(np.int32).astype(np.int64) - expected.view(np.int32))[~np.isnan(expected)]
    exact = np.abs(a)[~np.isnan(expected)] > 2.0**-100
    assert not ulps[exact].any() and ulps.max() <= 1  # the excess over a tiny numerator is no normal number


@pytest.mark.parametrize("name", ["gelu", "silu", "sigmoid", "tanh"])
def test_kernels_call_no_function(name):
    text = ACTIVATION.format(half="bf16", result="f32", op=_OPS[name], last=f"%r = stablehlo.add %y, %y : {_WIDE}")
    ptx = Compilation(load_program(text), target="sm_90a").text("ptx")
    assert "wgmma.mma_async" in ptx and "div.rn" not in ptx and "(C75" not in assembler().run(ptx, "sm_90a")[1]


def _reference(name: str, c: np.ndarray) -> np.ndarray:
    erf = np.vectorize(math.erf, otypes=[np.float64])
    with np.errstate(all="ignore"):
        return {
            "gelu": lambda: c * 0.5 * (1 + erf(c * np.sqrt(0.5))),
            "silu": lambda: c * np.exp(-np.logaddexp(0, -c)),
            "sigmoid": lambda: np.exp(-np.logaddexp(0, -c)),
            "tanh": lambda: np.tanh(c),
        }[name]()


_WIDE = "tensor<64x64xf32>"
_OPS = {
    "gelu": f"""%h = stablehlo.constant dense<0.5> : {_WIDE}
  %one = stablehlo.constant dense<1.0> : {_WIDE}
  %k = stablehlo.constant dense<0.70710678> : {_WIDE}
  %u = stablehlo.multiply %c, %k : {_WIDE}
  %e = chlo.erf %u : {_WIDE} -> {_WIDE}
  %v = stablehlo.add %e, %one : {_WIDE}
  %t = stablehlo.multiply %c, %h : {_WIDE}
  %y = stablehlo.multiply %t, %v : {_WIDE}""",
    "silu": f"%l = stablehlo.logistic %c : {_WIDE}\n  %y = stablehlo.multiply %c, %l : {_WIDE}",
    "sigmoid": f"%y = stablehlo.logistic %c : {_WIDE}",
    "tanh": f"%y = stablehlo.tanh %c : {_WIDE}",
}
_TOLERANCE = {"f32": 4e-7, "bf16": 2.0**-8, "f16": 2.0**-10}


@pytest.mark.parametrize("result", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("name", list(_OPS))
def test_activations(name, result):
    half = "bf16" if result == "bf16" else "f16"
    last = f"%r = stablehlo.convert %y : ({_WIDE}) -> tensor<64x64x{result}>" if result != "f32" else f"%r = stablehlo.add %y, %y : {_WIDE}"
    text = ACTIVATION.format(half=half, result=result, op=_OPS[name], last=last)
    c = _numbers(2)
    c[:48] = np.random.default_rng(3).uniform(-20, 20, (48, COLS))
    c[0, :12] = [0, -0.0, np.inf, -np.inf, np.nan, 88, -88, -87.5, -100, -104, 1e-40, -3e-39]
    dtype = np.float16 if half == "f16" else ml_dtypes.bfloat16
    found = np.asarray(hloom.compile(text, target="sim:sm_90a+ptx")(*_halves(0, dtype), c)).astype(np.float64)
    expected = _reference(name, c.astype(np.float64)) * (2 if result == "f32" else 1)
    # where the program multiplies infinity by 0 it has NaN, the function a limit
    np.testing.assert_array_equal(np.isnan(found), np.isnan(expected) | (np.isnan(found) & (c == -np.inf)))
    with np.errstate(all="ignore"):
        least = {"f32": 3e-45, "bf16": 9.2e-41, "f16": 6e-8}[result] + (
            1e-37 if name in ("silu", "sigmoid") else 0.0
        )  # exp(-x) is infinite
        cancelled = 2e-6 * np.minimum(1, np.abs(c)) if name == "gelu" else 0.0  # 1 + erf
        wrong = np.abs(found - expected) > np.abs(expected) * _TOLERANCE[result] + cancelled + least
    wrong &= ~np.isnan(found) & (np.abs(expected) < (6e4 if result == "f16" else 1e38))
    assert not wrong.any(), [(c[w], found[w], expected[w]) for w in zip(*np.nonzero(wrong))][:8]
