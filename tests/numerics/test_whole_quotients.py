"""Quotients and remainders of whole numbers by arrays, as StableHLO has them: the least number by -1, and by zero, too."""

from __future__ import annotations

import numpy as np
import pytest

import hloom
from hloom.compiler.target import host, load_target

TARGETS = ["auto", "cpu-avx2"] + (["cpu-avx512"] if host().vector_bits >= load_target("cpu-avx512").vector_bits else [])
TYPES = {
    "i8": np.int8,
    "i16": np.int16,
    "i32": np.int32,
    "i64": np.int64,
    "ui8": np.uint8,
    "ui16": np.uint16,
    "ui32": np.uint32,
    "ui64": np.uint64,
}
SIZE = 10_007


def text(element: str) -> str:
    kind = f"tensor<{SIZE}x{element}>"
    return f"""func.func public @main(%x: {kind}, %y: {kind}) -> ({kind}, {kind}) {{
      %0 = stablehlo.divide %x, %y : {kind}
      %1 = stablehlo.remainder %x, %y : {kind}
      return %0, %1 : {kind}, {kind}
    }}"""


def cases(dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of all sizes, about powers of two, the least and the greatest; beside divisors and their multiples."""
    rng, ends = np.random.default_rng(0), np.iinfo(dtype)
    x, y = (rng.integers(ends.min, ends.max, SIZE, dtype, endpoint=True) >> rng.integers(0, ends.bits, SIZE, dtype) for _ in range(2))
    powers = np.array([2**k + more for k in range(ends.bits) for more in (-513, -1, 0, 1, 1025)], object)
    powers = (powers % 2**64).astype(np.uint64).astype(dtype)
    x[:5000], y[::2] = rng.choice(powers, 5000), rng.choice(powers, len(y[::2]))
    x[::5], x[1::5], y[::7], y[1::7], y[2::7] = ends.min, ends.max, ends.max, ends.min, -1 if ends.min else 1
    x[2::5] = y[2::5] + rng.integers(0, 100, len(y[2::5]), dtype)
    with np.errstate(over="ignore"):
        near = (x[3::5] // np.where(y[3::5] == 0, 1, y[3::5])) * y[3::5]
    x[3::5] = near + rng.integers(0, 2, len(near), dtype)
    return x, y


def quotients(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Towards zero; by zero -1 and x, of the least number by -1 itself and 0."""
    wide, by = x.astype(object), y.astype(object)
    safe = np.where(y == 0, 1, by)
    towards_zero = np.where((x < 0) == (y < 0), 1, -1) * (abs(wide) // abs(safe))
    results = np.where(y == 0, -1, towards_zero), np.where(y == 0, wide, wide - towards_zero * safe)
    return tuple((result % 2**64).astype(np.uint64).astype(x.dtype) for result in results)  # type: ignore[return-value]


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("element", TYPES)
def test_bits(target: str, element: str) -> None:
    x, y = cases(TYPES[element])
    for got, want in zip(hloom.compile(text(element), target=target).flat([x, y]), quotients(x, y)):
        np.testing.assert_array_equal(got, want)
