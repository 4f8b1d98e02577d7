"""bf16 and f16 arithmetic and conversions on targets with and without instructions for them: each rounded once, everywhere alike."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch

import hloom
from hloom.compiler.target import host, load_target

SIZE = 1000  # no multiple of a vector
TYPES = {"bf16": ml_dtypes.bfloat16, "f16": np.float16}
RUNNABLE = ["auto", "cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])


def program(t: str) -> str:
    v = f"tensor<{SIZE}x{t}>"
    return f"""
      func.func @main(%a: {v}, %b: {v}, %i: tensor<{SIZE}xi32>, %d: tensor<{SIZE}xf64>)
          -> ({v}, {v}, {v}, {v}, {v}, tensor<{SIZE}xi32>, {v}) {{
        %product = stablehlo.multiply %a, %b : {v}
        %quotient = stablehlo.divide %product, %b : {v}
        %largest = stablehlo.maximum %quotient, %b : {v}
        %root = stablehlo.sqrt %largest : {v}
        %less = stablehlo.compare LT, %a, %b : ({v}, {v}) -> tensor<{SIZE}xi1>
        %from_int = stablehlo.convert %i : (tensor<{SIZE}xi32>) -> {v}
        %picked = stablehlo.select %less, %root, %from_int : tensor<{SIZE}xi1>, {v}
        %negated = stablehlo.negate %a : {v}
        %to_int = stablehlo.convert %product : ({v}) -> tensor<{SIZE}xi32>
        %from_double = stablehlo.convert %d : (tensor<{SIZE}xf64>) -> {v}
        return %quotient, %largest, %picked, %from_int, %negated, %to_int, %from_double : {v}, {v}, {v}, {v}, {v}, tensor<{SIZE}xi32>, {v}
      }}"""


@pytest.mark.parametrize("target", RUNNABLE)
@pytest.mark.parametrize("name", TYPES)
def test_each_operation_is_rounded_once(name, target):
    half = TYPES[name]
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(SIZE).astype(half) for _ in range(2))
    i = rng.integers(-60000, 60000, SIZE).astype(np.int32)
    d = rng.standard_normal(SIZE)
    d[:3] = [np.nan, np.inf, 1e300]
    got = hloom.compile(program(name), target=target)(a, b, i, d)

    def wide(x: np.ndarray) -> np.ndarray:
        return x.astype(np.float32)

    with np.errstate(invalid="ignore", over="ignore"):
        product = (wide(a) * wide(b)).astype(half)
        quotient = (wide(product) / wide(b)).astype(half)
        largest = np.maximum(wide(quotient), wide(b)).astype(half)
        picked = np.where(wide(a) < wide(b), np.sqrt(wide(largest)).astype(half), wide(i).astype(half))
        expected = [quotient, largest, picked, wide(i).astype(half), -a, wide(product).astype(np.int32), _rounded(d, half)]
    for result, value in zip(got, expected):
        np.testing.assert_array_equal(wide(np.asarray(result)), wide(value))


def _rounded(values: np.ndarray, half: type) -> np.ndarray:
    """Each f64 to the nearest half, once: of the halves next to its double rounding, the nearest."""
    near = values.astype(np.float32).astype(half)
    bits = near.view(np.uint16)
    best = near.copy()
    for step in (-1, 1):
        other = (bits + np.uint16(step % 65536)).view(half)
        closer = np.abs(other.astype(np.float64) - values) < np.abs(best.astype(np.float64) - values)
        best = np.where(closer & np.isfinite(near), other, best)
    return best


@pytest.mark.parametrize("mixed", [False, True])
@pytest.mark.parametrize("target", RUNNABLE)
def test_any_f32_is_rounded_to_the_nearest_bf16(target, mixed):
    """Every upper half with lower ones around a tie; `mixed`: NaNs and what is below the normal numbers among others."""
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)
    bits = (np.arange(1 << 16, dtype=np.uint32) << 16 | lower[:, None]).ravel()
    if mixed:
        bits = np.random.default_rng(1).permutation(bits)
    x = bits.view(np.float32)
    v, w = (f"tensor<{len(bits)}x{element}>" for element in ("f32", "bf16"))
    convert = f"func.func @main(%x: {v}) -> {w} {{ %0 = stablehlo.convert %x : ({v}) -> {w} return %0 : {w} }}"
    nearest = (bits + (0x7FFF + (bits >> 16 & 1)).astype(np.uint32)) >> 16
    expected = np.where(np.isnan(x), 0x7FC0, nearest)
    np.testing.assert_array_equal(np.asarray(hloom.compile(convert, target=target)(x)).view(np.uint16), expected)


@pytest.mark.parametrize("target", RUNNABLE)
@pytest.mark.parametrize("name", TYPES)
def test_extremes_of_what_is_rounded(name, target):
    """Rounding after them gives what rounding before them does."""
    v = f"tensor<{SIZE}x{name}>"
    text = f"""
      func.func @main(%a: {v}, %b: {v}) -> {v} {{
        %product = stablehlo.multiply %a, %b : {v}
        %sum = stablehlo.add %a, %b : {v}
        %larger = stablehlo.maximum %product, %sum : {v}
        %smaller = stablehlo.minimum %larger, %b : {v}
        return %smaller : {v}
      }}"""
    rng = np.random.default_rng(5)
    a, b = (np.where(rng.random(SIZE) < 0.1, special, rng.standard_normal(SIZE)).astype(TYPES[name]) for special in (np.nan, -0.0))
    wide = [x.astype(np.float32) for x in (a, b)]
    product, sum_ = ((wide[0] * wide[1]).astype(TYPES[name]), (wide[0] + wide[1]).astype(TYPES[name]))
    expected = np.minimum(np.maximum(product.astype(np.float32), sum_.astype(np.float32)), wide[1])
    got = np.asarray(hloom.compile(text, target=target)(a, b)).astype(np.float32)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("name", TYPES)
def test_f64_is_not_rounded_twice(name):
    """Just above the middle of two halves by less than f32 can tell: rounding to f32 first would give a tie, and the even neighbour."""
    half = TYPES[name]
    bits = 8 if name == "bf16" else 11
    d = np.full(SIZE, 1 + 2.0**-bits + 2.0**-40)
    d[1::2] *= -1
    zeros = np.ones(SIZE, half)
    got = hloom.compile(program(name))(zeros, zeros, np.zeros(SIZE, np.int32), d)[-1]
    expected = np.where(np.arange(SIZE) % 2, -1, 1) * (1 + 2.0 ** (1 - bits))
    np.testing.assert_array_equal(np.asarray(got).astype(np.float64), expected)


@pytest.mark.parametrize("target", RUNNABLE)
@pytest.mark.parametrize("name", TYPES)
def test_a_maximum_along_rows(name, target):
    numbers = "across dimensions = [1]"
    text = f"""
      func.func @main(%x: tensor<40x77x{name}>) -> tensor<40x{name}> {{
        %low = stablehlo.constant dense<-1.0> : tensor<{name}>
        %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum {numbers}
          : (tensor<40x77x{name}>, tensor<{name}>) -> tensor<40x{name}>
        return %0 : tensor<40x{name}>
      }}"""
    x = np.random.default_rng(3).standard_normal((40, 77)).astype(TYPES[name])
    result = hloom.compile(text, target=target)(x)
    np.testing.assert_array_equal(np.asarray(result).astype(np.float32), x.astype(np.float32).max(axis=1))


@pytest.mark.parametrize("half", [torch.bfloat16, torch.float16])
def test_activations_of_torch_are_rounded_once(half):
    """Within a rounding of what they are of the same numbers in f64, as in eager mode."""

    class Activations(torch.nn.Module):
        def forward(self, x):
            f = torch.nn.functional
            return f.gelu(x), f.gelu(x, approximate="tanh"), f.elu(x, 0.7), f.selu(x), torch.sigmoid(x), x.amax(-1), x.amin(-1)

    x = (2 * torch.randn(40, 25, generator=torch.Generator().manual_seed(0))).to(half)
    for found, exact in zip(hloom.compile(Activations(), x)(x), Activations()(x.double()), strict=True):
        torch.testing.assert_close(found.double(), exact, rtol=1.01 * torch.finfo(half).eps / 2, atol=1e-6)
