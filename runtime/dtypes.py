"""Element types: MLIR's names, and NumPy's types for them. `i1` is one byte an element in memory; bf16 comes from ml_dtypes."""

from __future__ import annotations

import ml_dtypes
import numpy as np

_NUMPY = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
}  # fmt: skip
_BY_NAME = {name: np.dtype(kind) for name, kind in _NUMPY.items()}
_BY_DTYPE = {dtype: name for name, dtype in _BY_NAME.items()}

NAMES = tuple(_BY_NAME)


def numpy_dtype(name: str) -> np.dtype:
    """NumPy's type for an MLIR element type. Raises KeyError for a type that no program of hloom has at its edge."""
    return _BY_NAME[name]


def dtype_name(dtype: np.dtype) -> str:
    """MLIR's name for a NumPy type; NumPy's own where MLIR has none."""
    return _BY_DTYPE.get(np.dtype(dtype), str(dtype))
