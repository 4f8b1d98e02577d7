"""cvt: between integers and floats of all widths, in each rounding mode."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from ..floats import finish, flush, narrow

Array = Any
_INTEGRAL = {"rni": np.rint, "rzi": np.trunc, "rmi": np.floor, "rpi": np.ceil}
_LARGEST = {np.dtype(ml_dtypes.float8_e4m3fn): 448.0, np.dtype(ml_dtypes.float8_e5m2): 57344.0}


def convert(x: Array, kind: Any, modes: list[str]) -> Array:
    """`x` has the source's type."""
    kind, source = np.dtype(kind), x.dtype
    ftz = "ftz" in modes
    if kind.kind in "iu":
        return _integer(x, kind, modes) if source.kind in "iu" else _from_float(flush(x, ftz), kind, modes)
    if source.kind in "iu":
        return _from_integer(x, kind, _rounding(modes))
    return _float(flush(x, ftz) if source != np.float64 else x, kind, modes, ftz)


def _rounding(modes: list[str]) -> str:
    return next((mode for mode in modes if mode in ("rn", "rz", "rm", "rp")), "rn")


def _integer(x: Array, kind: np.dtype, modes: list[str]) -> Array:
    if "sat" not in modes:
        return x.astype(kind)
    limits, own = np.iinfo(kind), np.iinfo(x.dtype)
    low, high = max(limits.min, own.min), min(limits.max, own.max)
    return np.clip(x, x.dtype.type(low), x.dtype.type(high)).astype(kind)


def _from_float(x: Array, kind: np.dtype, modes: list[str]) -> Array:
    """Saturates; NaN is 0."""
    mode = next((mode for mode in modes if mode in _INTEGRAL), "rzi")
    limits, wide = np.iinfo(kind), _INTEGRAL[mode](np.asarray(x).astype(np.float64))
    low, high = float(limits.min), float(limits.max)
    inside = np.where((wide >= low) & (wide < high), wide, 0.0).astype(kind)
    return np.where(wide >= high, kind.type(limits.max), np.where(wide < low, kind.type(limits.min), inside))


def _from_integer(x: Array, kind: np.dtype, mode: str) -> Array:
    if x.dtype.itemsize < 8:
        return narrow(np.asarray(x).astype(np.float64), kind, mode)
    if kind == np.float64 and mode == "rn":
        return x.astype(np.float64)
    # An integer of 64 bits, rounded to odd: what is below the last bits only says whether it is inexact
    negative = x < 0
    size = np.where(negative, np.negative(x.view(np.uint64)), x.view(np.uint64))
    sticky = (size & np.uint64(0x7FF)) != 0
    kept = np.where(size >> np.uint64(53) != 0, size & ~np.uint64(0x7FF) | sticky.astype(np.uint64) << np.uint64(11), size)
    wide = kept.astype(np.float64)
    if kind == np.float64:
        raise NotImplementedError("an integer of 64 bits to f64, not to the nearest")
    return narrow(np.where(negative, -wide, wide), kind, mode)


def _float(x: Array, kind: np.dtype, modes: list[str], ftz: bool) -> Array:
    integral = next((mode for mode in modes if mode in _INTEGRAL), None)
    if integral is not None:
        x = _INTEGRAL[integral](x)
    if kind == np.float32 and "tf32" in modes:
        return _tf32(x)
    if kind in _LARGEST:
        # wider than the largest saturates; NaN stays
        x = np.clip(x, x.dtype.type(-_LARGEST[kind]), x.dtype.type(_LARGEST[kind]))
        return x.astype(np.float32).astype(kind)
    found = x if kind == x.dtype else narrow(np.asarray(x).astype(np.float64), kind, _rounding(modes))
    if "relu" in modes:
        found = np.where(found > 0, found, np.where(np.isnan(found), found, kind.type(0)))
    return finish(found, ftz and kind == np.float32, "sat" in modes)


def _tf32(x: Array) -> Array:
    """To the nearest with 10 bits, away from zero from half-way."""
    bits = np.asarray(x).view(np.uint32)
    rounded = (bits + np.uint32(0x1000)) & np.uint32(0xFFFFE000)
    return np.where(np.isfinite(x), rounded, bits).view(np.float32)
