"""The element types of the StableHLO specification, and values of them: wild (any bits), tame (small floats), whole (small integers)."""

from __future__ import annotations

from dataclasses import dataclass

import ml_dtypes
import numpy as np

FLOATS = ("f64", "f32", "f16", "bf16")
SMALL_FLOATS = (
    "f8E3M4",
    "f8E4M3",
    "f8E4M3FN",
    "f8E4M3FNUZ",
    "f8E4M3B11FNUZ",
    "f8E5M2",
    "f8E5M2FNUZ",
    "f8E8M0FNU",
    "f6E2M3FN",
    "f6E3M2FN",
    "f4E2M1FN",
)
SIGNED = ("i2", "i4", "i8", "i16", "i32", "i64")
UNSIGNED = ("ui2", "ui4", "ui8", "ui16", "ui32", "ui64")
COMPLEX = ("complex<f32>", "complex<f64>")
QUANTIZED = ("!quant.uniform<i8:f32, 5.000000e-01:3>",)
ALL = ("i1", *SIGNED, *UNSIGNED, *FLOATS, *SMALL_FLOATS, *COMPLEX, *QUANTIZED)
COMMON = ("i1", "i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64", *FLOATS)
"""Types that every target computes with."""

_ML = {name: getattr(ml_dtypes, f"float{name[1]}_{name[2:].lower()}") for name in SMALL_FLOATS} | {"bf16": ml_dtypes.bfloat16}
_ML |= {name: getattr(ml_dtypes, name.replace("ui", "uint") if name[0] == "u" else f"int{name[1:]}") for name in ("i2", "i4", "ui2", "ui4")}
_NUMPY = {"i1": "bool", "complex<f32>": "complex64", "complex<f64>": "complex128"} | {f"f{w}": f"float{w}" for w in (64, 32, 16)}
_NUMPY |= {f"{sign}i{w}": f"{sign}int{w}" for sign in ("", "u") for w in (8, 16, 32, 64)}


def dtype(element: str) -> np.dtype:
    """NumPy's type, with one byte or more an element; that of the storage for a quantized type."""
    if element in QUANTIZED:
        return np.dtype("int8")
    return np.dtype(_ML.get(element) or _NUMPY[element])


def is_float(element: str) -> bool:
    return element in FLOATS or element in SMALL_FLOATS


def is_integer(element: str) -> bool:
    return element in SIGNED or element in UNSIGNED


def width(element: str) -> int:
    """In bits."""
    if element.startswith("complex"):
        return 2 * width(element[8:-1])
    digits = "".join(c if c.isdigit() else " " for c in element).split()
    return int(digits[0])


def part(element: str) -> str:
    """The element type of a complex number's parts."""
    return element[8:-1] if element in COMPLEX else element


def eps(element: str) -> float:
    """The distance of 1 from the next float; 0 for what is no float."""
    element = part(element)
    return float(ml_dtypes.finfo(dtype(element)).eps) if is_float(element) else 0.0


def largest(element: str) -> float:
    element = part(element)
    if element.startswith(("tuple", "!")):
        return float("inf")
    if is_float(element):
        return float(ml_dtypes.finfo(dtype(element)).max)
    return 1.0 if element == "i1" else float(2 ** (width(element) - (element in SIGNED)) - 1)


@dataclass(frozen=True)
class Data:
    """How an argument's values are drawn. `kind`: wild, tame, whole, or within, which draws integers between `low` and `high`."""

    kind: str
    low: int = 0
    high: int = 0


def bound(element: str, data: Data) -> float:
    """No value is larger in magnitude; infinite where a NaN may be."""
    if data.kind == "within":
        return float(max(abs(data.low), abs(data.high)))
    if element == "i1":
        return 1.0
    if is_integer(element) or element in QUANTIZED or data.kind == "wild":
        return float("inf")
    return min(4.0 if data.kind == "tame" else 3.0, largest(element)) * (1.5 if element in COMPLEX else 1)


def values(element: str, shape: tuple[int, ...], data: Data, seed: list[int]) -> np.ndarray:
    rng, kind = np.random.default_rng(seed), dtype(element)
    if data.kind == "within":
        return rng.integers(data.low, data.high + 1, shape).astype(kind)
    if element == "i1":
        return rng.integers(0, 2, shape).astype(bool)
    if element in COMPLEX:
        real, imag = (values(part(element), shape, data, [*seed, i]) for i in range(2))
        return (real + 1j * imag).astype(kind) if data.kind != "wild" else np.stack([real, imag], -1).view(kind).reshape(shape)
    if data.kind == "wild":
        return _wild(element, int(np.prod(shape, dtype=np.int64)), rng).reshape(shape)
    if not is_float(element):
        low, high = int(ml_dtypes.iinfo(kind).min), int(ml_dtypes.iinfo(kind).max)
        return rng.integers(max(low, -7), min(high, 7) + 1, shape).astype(kind)
    if element == "f8E8M0FNU":  # it has no zero and no sign
        return np.exp2(rng.integers(-2 if data.kind == "tame" else 0, 2, shape).astype(np.float32)).astype(kind)
    if data.kind == "whole":
        return rng.integers(-3, 4, shape).astype(np.float32).astype(kind)
    return np.clip(rng.standard_normal(shape), -4, 4).astype(np.float32).astype(kind)


def _wild(element: str, count: int, rng: np.random.Generator) -> np.ndarray:
    """Any bits; for floats half of them edge values."""
    kind, bits = dtype(element), min(width(element), 8 * dtype(element).itemsize)
    raw = rng.integers(0, 1 << 16, (count, -(-kind.itemsize // 2)), dtype=np.uint16)
    raw = raw.view(f"u{max(kind.itemsize, 2)}")[:, 0].astype(f"u{kind.itemsize}")
    if bits < 8 * kind.itemsize:
        raw = raw & ((1 << bits) - 1)
        return raw.astype(kind) if not is_float(element) else raw.view(kind)
    array = np.ascontiguousarray(raw).view(kind)
    if element in FLOATS:
        from values import edges

        array = np.where(rng.random(count) < 0.5, rng.choice(edges(element), count), array)
    return array
