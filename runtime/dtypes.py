"""Element types: MLIR's names, and NumPy's types for them, of which ml_dtypes has bf16 and the narrow ones. `i1` is a byte in memory."""

from __future__ import annotations

import ml_dtypes
import numpy as np

_COMPUTED = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
    "complex<f32>": np.complex64, "complex<f64>": np.complex128,
}  # fmt: skip
_NARROW = {
    "i2": ml_dtypes.int2, "i4": ml_dtypes.int4, "ui2": ml_dtypes.uint2, "ui4": ml_dtypes.uint4,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn, "f6E2M3FN": ml_dtypes.float6_e2m3fn, "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f8E3M4": ml_dtypes.float8_e3m4, "f8E4M3": ml_dtypes.float8_e4m3, "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz, "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
}  # fmt: skip
_BY_NAME = {name: np.dtype(kind) for name, kind in (_COMPUTED | _NARROW).items()}
_BY_DTYPE = {dtype: name for name, dtype in _BY_NAME.items()}

COMPUTED = tuple(_COMPUTED)
"""The types that kernels compute with."""
NARROW = frozenset(_NARROW)
"""Those of one byte an element that the compiler widens before it plans anything."""
NAMES = tuple(_BY_NAME)


def numpy_dtype(name: str) -> np.dtype:
    """NumPy's type for an MLIR element type. Raises KeyError for a type that no program of hloom has at its edge."""
    return _BY_NAME[name]


def stored_dtype(name: str) -> np.dtype:
    """NumPy's type for the elements that a compiled program takes: bytes of narrow ones."""
    return np.dtype(np.int8 if name in ("i2", "i4") else np.uint8) if name in NARROW else _BY_NAME[name]


def dtype_name(dtype: np.dtype) -> str:
    """MLIR's name for a NumPy type; NumPy's own where MLIR has none."""
    found = _BY_DTYPE.get(np.dtype(dtype))
    return str(dtype) if found is None else found
