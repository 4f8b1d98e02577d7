"""When two arrays are equal: element types, shapes, bits (any NaN for a NaN), or a distance in units of the last place."""

from __future__ import annotations

from collections.abc import Sequence

import ml_dtypes
import numpy as np


def difference(got: np.ndarray, wanted: np.ndarray, inputs: Sequence[np.ndarray] = (), *, ulps: float = 0, absolute: float = 0) -> str:
    """What is wrong with `got`, or an empty string. `inputs` of the same shape are quoted where it differs."""
    if got.dtype != wanted.dtype or got.shape != wanted.shape:
        return f"{got.dtype}{list(got.shape)}, wanted {wanted.dtype}{list(wanted.shape)}"
    wrong = ~agree(got, wanted, ulps, absolute)
    if not wrong.any():
        return ""
    places = np.argwhere(wrong)
    quoted = []
    for place in map(tuple, places[:4]):
        given = ", ".join(repr(x[place].item()) for x in inputs if x.shape == got.shape)
        of = f" of ({given})" if given else ""
        quoted.append(f"{[int(i) for i in place]} is {got[place].item()!r}, wanted {wanted[place].item()!r}{of}")
    return f"{len(places)} of {got.size}: " + "; ".join(quoted)


def agree(got: np.ndarray, wanted: np.ndarray, ulps: float, absolute: float) -> np.ndarray:
    """Element by element. The sign of zero counts, unless a tolerance admits values on both sides of it."""
    if got.dtype.kind in "iub" or "int" in got.dtype.name:
        return got == wanted
    if got.itemsize == 1:
        return _near_narrow(got, wanted, ulps, absolute)
    if got.dtype.kind == "c":
        return agree_complex(got, wanted, ulps)
    with np.errstate(invalid="ignore"):  # ml_dtypes says so of NaN itself
        nans = np.isnan(got), np.isnan(wanted)
    distance = np.abs(ordered(got) - ordered(wanted))
    same = (distance <= ulps) & ((distance == 0) | (np.signbit(got) == np.signbit(wanted)))
    if absolute:
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(got.astype(np.float64) - wanted.astype(np.float64)) <= absolute + ulps * np.abs(spacing(wanted))
        same |= near
    return np.where(nans[0] | nans[1], nans[0] & nans[1], same)


def _near_narrow(got: np.ndarray, wanted: np.ndarray, ulps: float, absolute: float) -> np.ndarray:
    """Of floats of a byte or less: so many numbers of the type apart, or both NaN. Absolute errors exceed such numbers: they admit zeros of
    either sign alone."""
    a, b = got.astype(np.float32), wanted.astype(np.float32)
    finite = {"posinf": 3e38, "neginf": -3e38}
    numbers = np.unique(np.nan_to_num(np.arange(256, dtype=np.uint8).view(got.dtype).astype(np.float32), **finite))
    places = [np.searchsorted(numbers, np.nan_to_num(x, **finite)) for x in (a, b)]
    apart = np.abs(places[0] - places[1])
    same = (apart <= ulps) & ((apart > 0) | (absolute > 0) | (np.signbit(a) == np.signbit(b)))
    return np.where(np.isnan(a) | np.isnan(b), np.isnan(a) & np.isnan(b), same)


def agree_complex(got: np.ndarray, wanted: np.ndarray, ulps: float) -> np.ndarray:
    """Each part within `ulps`, or the numbers apart by at most as many units in the last place of the magnitude."""
    same = agree(got.real, wanted.real, ulps, 0) & agree(got.imag, wanted.imag, ulps, 0)
    with np.errstate(invalid="ignore", over="ignore"):
        return same | (np.abs(got.astype(complex) - wanted) <= ulps * spacing(np.abs(wanted)))


def ordered(x: np.ndarray) -> np.ndarray:
    """Integers (as exact floats or objects) in the order of the floats, neighbours one apart; -0 is half a step below +0."""
    bits = x.view(f"u{x.itemsize}").astype(object if x.itemsize == 8 else np.int64)
    sign = 1 << (8 * x.itemsize - 1)
    return np.where(bits >= sign, sign - bits - 1, bits)


def spacing(x: np.ndarray) -> np.ndarray:
    info = ml_dtypes.finfo(x.dtype)
    wide = np.abs(x.astype(np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):
        exponent = np.floor(np.log2(np.maximum(wide, float(info.smallest_normal))))
    return np.where(np.isfinite(wide), 2.0 ** (np.where(np.isfinite(exponent), exponent, 0)) * float(info.eps), 0)
