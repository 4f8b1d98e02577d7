"""How far results are from what was expected, and inputs to compare on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import ml_dtypes
import numpy as np

from .dtypes import NARROW, dtype_name, numpy_dtype
from .signature import TensorSpec

CONDITIONING = 4
"""How many times further from the reference than the reference on neighbouring inputs a right result may be."""

# Relative to the value, and to the largest value of the array: sums cancel.
_TOLERANCES = {"f64": (1e-10, 1e-12), "f32": (2e-4, 1e-5), "f16": (1e-2, 4e-3), "bf16": (5e-2, 3e-2)}
_TOLERANCES |= {name: (float(2 * ml_dtypes.finfo(numpy_dtype(name)).eps), 0.0) for name in NARROW if name.startswith("f")}


@dataclass(frozen=True)
class Difference:
    """How far an array is from what was expected."""

    ok: bool
    max_ulp: int
    max_absolute: float
    max_relative: float
    wrong: int
    size: int
    first_wrong: tuple[int, ...] | None

    def __str__(self) -> str:
        text = f"max error {self.max_ulp} ulp, absolute {self.max_absolute:.3g}, relative {self.max_relative:.3g}"
        if not self.ok:
            text += f"; {self.wrong} of {self.size} elements differ, the first at {list(self.first_wrong or ())}"
        return text


def difference(found: np.ndarray, expected: np.ndarray, rtol: float | None = None, atol: float | None = None) -> Difference:
    """Compares element by element. Integers and booleans must be equal; NaN equals NaN.

    Of complex numbers the parts are the elements (a last dimension of two), and errors are relative to the magnitude of the number.
    """
    assert found.shape == expected.shape and found.dtype == expected.dtype
    name = dtype_name(found.dtype)
    if name in NARROW and name.startswith(("i", "ui")):
        found, expected = found.astype(np.int64), expected.astype(np.int64)
    if found.size == 0:
        return Difference(True, 0, 0.0, 0.0, 0, 0, None)
    if found.dtype.kind == "c":
        sizes = np.abs(expected.astype(np.complex128))
        return _of_floats(_pairs(found), _pairs(expected), np.stack([sizes, sizes], -1), rtol, atol)
    if dtype_name(found.dtype) in _TOLERANCES:
        return _of_floats(found, expected, np.abs(expected.astype(np.float64)), rtol, atol)
    wrong = found != expected
    apart = np.abs(found.astype(object) - expected.astype(object)).max() if wrong.any() else 0
    return _difference(wrong, int(apart), float(apart), 0.0)


def _of_floats(found: np.ndarray, expected: np.ndarray, sizes: np.ndarray, rtol: float | None, atol: float | None) -> Difference:
    """`sizes`: what errors are relative to."""
    a, b = found.astype(np.float64), expected.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    finite = np.isfinite(a) & np.isfinite(b)
    with np.errstate(invalid="ignore", over="ignore"):
        apart = np.where(same, 0.0, np.abs(a - b))
        sizes = np.where(np.isfinite(sizes), sizes, np.abs(b))
    relative_tolerance, scale_tolerance = _TOLERANCES[dtype_name(found.dtype)]
    largest = np.abs(b[np.isfinite(b)]).max(initial=0.0)
    allowed = sizes * (relative_tolerance if rtol is None else rtol) + (largest * scale_tolerance if atol is None else atol)
    wrong = ~same & (~finite | ~(apart <= allowed))
    ulps = np.where(same | ~finite, 0, np.abs(_ordinal(found) - _ordinal(expected)))
    ratio = np.divide(apart, sizes, out=np.zeros_like(apart), where=finite & (sizes != 0))
    absolute = float(np.where(finite, apart, 0.0).max())
    return _difference(wrong, int(ulps.max()), absolute, float(ratio.max()))


def _pairs(array: np.ndarray) -> np.ndarray:
    """Complex numbers as real and imaginary parts along a last dimension."""
    return np.stack([array.real, array.imag], -1)


def conditioned(found: np.ndarray, expected: np.ndarray, moved: np.ndarray) -> tuple[bool, float, float]:
    """Whether `found` is as near to the reference as the reference is to itself on neighbouring inputs (`moved`), times `CONDITIONING`.

    An ill-conditioned program (a softmax of large logits, say) amplifies rounding: no order of evaluation comes nearer than that. Also
    returns the largest absolute difference and what is allowed of it.
    """
    limit = CONDITIONING * difference(moved, expected).max_absolute
    apart = difference(found, expected).max_absolute
    inexact = dtype_name(found.dtype) in _TOLERANCES
    return inexact and np.array_equal(np.isnan(found), np.isnan(expected)) and apart <= limit, apart, limit


def _difference(wrong: np.ndarray, ulp: int, absolute: float, relative: float) -> Difference:
    count = int(wrong.sum())
    first = tuple(int(i) for i in np.unravel_index(int(wrong.argmax()), wrong.shape)) if count else None
    return Difference(count == 0, ulp, absolute, relative, count, wrong.size, first)


def _ordinal(array: np.ndarray) -> np.ndarray:
    """Floats as integers in the same order, neighbours one apart."""
    bits = array.view(f"i{array.itemsize}").astype(np.int64)
    lowest = np.int64(-(1 << (8 * array.itemsize - 1)) if array.itemsize < 8 else np.iinfo(np.int64).min)
    return np.where(bits < 0, lowest - bits, bits)


def random_array(spec: TensorSpec, rng: np.random.Generator) -> np.ndarray:
    """Normal floats; small integers, which are more often indices than numbers."""
    kind = spec.numpy_dtype.kind
    if spec.dtype == "i1":
        return rng.integers(0, 2, spec.shape).astype(bool)
    if kind in "iu" or spec.dtype in ("i2", "i4", "ui2", "ui4"):
        return rng.integers(0, 8, spec.shape).astype(spec.numpy_dtype)
    if kind == "c":
        parts = rng.standard_normal((2, *spec.shape), np.float32)
        return (parts[0] + 1j * parts[1]).astype(spec.numpy_dtype)
    return rng.standard_normal(spec.shape, np.float32).astype(spec.numpy_dtype)


def neighbours(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The arrays with about half of all floats moved to a neighbouring float, up or down; other types as they are."""
    rng = np.random.default_rng(1)
    moved = []
    for array in arrays:
        if array.dtype.kind in "iub" or dtype_name(array.dtype) in NARROW:
            moved.append(array)
            continue
        if array.dtype.kind == "c":
            parts = neighbours([array.real.copy(), array.imag.copy()])
            moved.append((parts[0] + 1j * parts[1]).astype(array.dtype))
            continue
        bits = array.view(f"i{array.itemsize}")
        step = rng.integers(-1, 2, array.shape).astype(bits.dtype)
        usual = np.isfinite(array) & (np.abs(array.astype(np.float64)) > np.finfo(np.float32).tiny)
        moved.append(np.where(usual, bits + step, bits).view(array.dtype))
    return moved
