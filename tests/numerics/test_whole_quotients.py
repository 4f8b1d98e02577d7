"""Quotients and remainders of whole numbers of up to 32 bits by arrays, as StableHLO has them: the least number by -1, and by zero, too."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["auto", "cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])
TYPES = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32}
SIZE = 20_011


def text(element: str) -> str:
    kind = f"tensor<{SIZE}x{element}>"
    return f"""func.func public @main(%x: {kind}, %y: {kind}) -> ({kind}, {kind}) {{
      %0 = stablehlo.divide %x, %y : {kind}
      %1 = stablehlo.remainder %x, %y : {kind}
      return %0, %1 : {kind}, {kind}
    }}"""


def cases(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all sizes, among which are the least and the greatest, and numbers beside the divisors' multiples."""
    rng, ends = np.random.default_rng(0), np.iinfo(dtype)
    x, y = (rng.integers(ends.min, ends.max, SIZE, dtype, endpoint=True) >> rng.integers(0, ends.bits, SIZE, dtype) for _ in range(2))
    x[::5], x[1::5], y[::7], y[1::7], y[2::7] = ends.min, ends.max, ends.max, ends.min, -1 if ends.min else 1
    near = (x[3::5] // np.where(y[3::5] == 0, 1, y[3::5])) * y[3::5]
    x[3::5] = near + rng.integers(0, 2, len(near), dtype)
    return x, y


def quotients(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Towards zero; by zero -1 and x, of the least number by -1 itself and 0."""
    wide, by = x.astype(np.int64), y.astype(np.int64)
    safe = np.where(by == 0, 1, by)
    towards_zero = np.sign(wide) * np.sign(safe) * (np.abs(wide) // np.abs(safe))
    return np.where(by == 0, -1, towards_zero).astype(x.dtype), np.where(by == 0, wide, wide - towards_zero * safe).astype(x.dtype)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", TYPES)
def test_bits(target: str, element: str) -> None:
    x, y = cases(TYPES[element])
    for got, want in zip(hloom.compile(text(element), target=target).flat([x, y]), quotients(x, y)):
        np.testing.assert_array_equal(got, want)
