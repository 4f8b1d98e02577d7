"""Conversions between narrow types and others, bit by bit: every code of every type, every f16 and bf16, and what lies next to ties.

What is wanted is computed by ml_dtypes, from f32, to which wider values are rounded first so that no rounding is lost (to odd).
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from programs import NARROW_FLOATS, NARROW_INTEGERS, Program
from values import codes, edges

from hloom.runtime.dtypes import NAMES, NARROW, numpy_dtype

SATURATING = [name for name in NARROW_FLOATS if name.startswith(("f4", "f6"))]
"""They have no NaN."""


def converted(values: np.ndarray, element: str) -> np.ndarray:
    """Floats as that type by ml_dtypes. E8M0's smallest numbers are subnormal in f32, where ml_dtypes takes the larger neighbour."""
    with np.errstate(all="ignore"):
        result = to_odd(values).astype(numpy_dtype(element))
        if element == "f8E8M0FNU":
            wide = values.astype(np.float64)
            result = np.where((wide > 0) & (wide < 1.5 * 2.0**-127), np.uint8(0), result.view(np.uint8)).view(result.dtype)
    return result


def to_odd(values: np.ndarray) -> np.ndarray:
    """As f32; where that is not exact, the neighbour with an odd last bit, which rounds on as the value itself would."""
    if values.dtype != np.float64:
        return values.astype(np.float32)
    nearest = values.astype(np.float32)
    inexact = (nearest.astype(np.float64) != values) & np.isfinite(values)
    bits = nearest.view(np.uint32) - (np.abs(nearest.astype(np.float64)) > np.abs(values)).astype(np.uint32)
    return np.where(inexact, bits | 1, nearest.view(np.uint32)).astype(np.uint32).view(np.float32)


def interesting() -> np.ndarray:
    """f32 values: random bits, and all that is a number of a narrow type, lies between two of them or beyond the largest, each with its
    neighbours."""
    found = [np.random.default_rng(0).integers(0, 1 << 32, 20000, dtype=np.uint32).view(np.float32), edges("f32")]
    for element in NARROW_FLOATS:
        values = np.unique(codes(element).astype(np.float64))
        values = values[np.isfinite(values)]
        middles = (values[1:] + values[:-1]) / 2
        beyond = values[-1] * (1 + np.arange(0, 2, 1 / 32))
        with np.errstate(over="ignore"):
            singles = np.concatenate([values, middles, beyond]).astype(np.float32)
            found += [np.nextafter(singles, np.float32(np.inf)), np.nextafter(singles, np.float32(-np.inf)), singles, -singles]
    return np.concatenate(found)


def neighbours() -> np.ndarray:
    """f64 values next to f32 ones, which a rounding to f32 would move onto a tie."""
    with np.errstate(invalid="ignore"):
        wide = interesting()[20000:].astype(np.float64)
        return np.concatenate([wide, np.nextafter(wide, np.inf), np.nextafter(wide, -np.inf)])


HALVES = np.arange(1 << 16, dtype=np.uint16)
SOURCES = {
    "f32": np.concatenate([interesting(), HALVES.view(np.float16).astype(np.float32), HALVES.view(ml_dtypes.bfloat16).astype(np.float32)]),
    "f64": neighbours(),
    "f16": HALVES.view(np.float16),
    "bf16": HALVES.view(ml_dtypes.bfloat16),
}


@pytest.mark.parametrize("source", SOURCES)
def test_floats_to_narrow_floats(interpreter, source):
    """NaN, of which f4 and f6 have none, becomes their -0 (as XLA has it)."""
    p = Program()
    values = SOURCES[source]
    x = p.input(values)
    for element in NARROW_FLOATS if source in ("f32", "f64") else ["f4E2M1FN", "f8E4M3FN", "f8E8M0FNU"]:
        wanted = converted(values, element)
        if element in SATURATING:
            wanted = np.where(np.isnan(values.astype(np.float32)), np.uint8(codes(element).size // 2), wanted.view(np.uint8)).view(
                wanted.dtype
            )
        p.check(element, p.op("convert", [x], element=element), wanted)
    p.verify(interpreter, cpu_only=source != "bf16")


@pytest.mark.parametrize("source", ["f64", "bf16"])
def test_floats_to_narrow_integers(interpreter, source):
    """Towards zero; the ends of the range beyond it; 0 for NaN."""
    p = Program()
    values = np.concatenate([edges(source), np.arange(-20, 20, 0.25).astype(numpy_dtype(source))])
    x = p.input(values)
    for element in NARROW_INTEGERS:
        info = ml_dtypes.iinfo(numpy_dtype(element))
        wanted = np.nan_to_num(np.trunc(values.astype(np.float64)), nan=0, posinf=99, neginf=-99).clip(int(info.min), int(info.max))
        p.check(element, p.op("convert", [x], element=element), wanted.astype(np.int8).astype(numpy_dtype(element)))
    p.verify(interpreter)


@pytest.mark.parametrize("source", ["i1", "ui16", "i32", "i64"])
def test_integers_to_narrow_types(interpreter, source):
    """To integers by the lowest bits; to floats rounded once, from 64 bits, too."""
    p = Program()
    ties = (
        [0]
        if source == "i1"
        else [(1 << 56) + (1 << 55), (1 << 55) + (1 << 54) - 1, (1 << 55) + (1 << 54) + 1, 25, 27, 61440, 61439, 464, 465]
    )
    top = 2 if source == "i1" else 1 << (8 * numpy_dtype(source).itemsize - 1)
    values = np.concatenate([edges(source), np.array([t for t in ties if t < top], numpy_dtype(source))])
    x = p.input(values)
    for element in NARROW_INTEGERS:
        mask = (1 << int(element.lstrip("ui"))) - 1
        wanted = np.array([int(v) & mask for v in values.tolist()], np.uint8).view(numpy_dtype(element))
        p.check(element, p.op("convert", [x], element=element), wanted)
    for element in ["f4E2M1FN", "f8E4M3FN", "f8E5M2FNUZ", "f8E8M0FNU"]:
        exact = [single_to_odd(int(v)) for v in values.tolist()]
        p.check(element, p.op("convert", [x], element=element), converted(np.array(exact, np.float32), element))
    p.verify(interpreter, cpu_only=source != "i64")


def single_to_odd(value: int) -> np.float32:
    dropped = max(0, abs(value).bit_length() - 24)
    kept = abs(value) >> dropped
    kept |= (kept << dropped) != abs(value)
    return np.float32(kept) * np.float32(2.0**dropped) * (-1 if value < 0 else 1)


@pytest.mark.parametrize("source", ["i4", "f8E4M3FN", "f8E8M0FNU"])
def test_narrow_types_to_all(interpreter, source):
    """Every code, to every type: through f32, which is exact."""
    p = Program()
    values = codes(source)
    wide = values.astype(np.int8 if "i" in source[:2] else np.float32)
    x = p.input(values)
    for element in NAMES:
        p.check(element, p.op("convert", [x], element=element), wanted_of(wide, source, element))
    p.verify(interpreter, cpu_only=source != "f8E4M3FN")


def test_all_codes(interpreter):
    """Every code of every type as f32."""
    p = Program()
    for source in sorted(NARROW):
        p.check(source, p.op("convert", [p.input(codes(source))], element="f32"), codes(source).astype(np.float32))
    p.verify(interpreter, cpu_only=True)


def wanted_of(wide: np.ndarray, source: str, element: str) -> np.ndarray:
    dtype = numpy_dtype(element)
    if element == source:
        return codes(source)
    if element == "i1":
        return wide != 0
    if element in NARROW_FLOATS:
        wanted = converted(wide.astype(np.float32), element)
        nan = np.isnan(wide.astype(np.float32)) & (element in SATURATING)
        return np.where(nan, np.uint8(codes(element).size // 2), wanted.view(np.uint8)).view(dtype)
    if not element.startswith(("i", "ui")):
        with np.errstate(all="ignore"):
            return wide.astype(dtype)
    if wide.dtype == np.int8:
        return wide.astype(np.int64).astype(f"i{dtype.itemsize}").astype(dtype) if dtype.kind in "iu" else wide.astype(dtype)
    info = ml_dtypes.iinfo(dtype)
    limits = int(info.min), int(info.max)
    truncated = [
        0 if np.isnan(v) else min(max(int(np.trunc(v)) if np.isfinite(v) else int(np.sign(v)) << 70, limits[0]), limits[1]) for v in wide
    ]
    return np.array(truncated, object).astype(np.int64 if limits[0] else np.uint64).astype(dtype)
