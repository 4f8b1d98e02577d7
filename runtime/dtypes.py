"""Element types: MLIR's names, and NumPy's types for them, of which ml_dtypes has bf16 and the narrow ones. `i1` is a byte in memory.

Where a program is only run, ml_dtypes may be absent: arrays of its types are then bits, which can be made, viewed and handed on.
"""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np

ml_dtypes: ModuleType | None
try:
    import ml_dtypes
except ImportError:
    ml_dtypes = None


def _further(name: str, bits: type = np.uint8) -> Any:
    """A type of ml_dtypes, or a stand-in of as many bytes: a field of that name."""
    return getattr(ml_dtypes, name) if ml_dtypes else np.dtype([(name, bits)])


_COMPUTED = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": _further("bfloat16", np.uint16), "i1": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
    "complex<f32>": np.complex64, "complex<f64>": np.complex128,
}  # fmt: skip
_NARROW = {
    "i2": _further("int2"), "i4": _further("int4"), "ui2": _further("uint2"), "ui4": _further("uint4"),
    "f4E2M1FN": _further("float4_e2m1fn"), "f6E2M3FN": _further("float6_e2m3fn"), "f6E3M2FN": _further("float6_e3m2fn"),
    "f8E3M4": _further("float8_e3m4"), "f8E4M3": _further("float8_e4m3"), "f8E4M3FN": _further("float8_e4m3fn"),
    "f8E4M3FNUZ": _further("float8_e4m3fnuz"), "f8E4M3B11FNUZ": _further("float8_e4m3b11fnuz"), "f8E5M2": _further("float8_e5m2"),
    "f8E5M2FNUZ": _further("float8_e5m2fnuz"), "f8E8M0FNU": _further("float8_e8m0fnu"),
}  # fmt: skip
_BY_NAME = {name: np.dtype(kind) for name, kind in (_COMPUTED | _NARROW).items()}
_BY_DTYPE = {dtype: name for name, dtype in _BY_NAME.items()}

COMPUTED = tuple(_COMPUTED)
"""The types that kernels compute with."""
NARROW = frozenset(_NARROW)
"""Those of one byte an element that the compiler widens before it plans anything."""
NAMES = tuple(_BY_NAME)
WIDER = {"i32": "i64", "ui32": "ui64", "f32": "f64", "complex<f32>": "complex<f64>"}
"""What JAX makes the former of, unless it is told to keep 64 bits."""


def is_taken(given: str, wanted: str, narrows: bool) -> bool:
    """Whether an argument of the type `wanted`, which perhaps narrows wider ones, may be given as NumPy's array of that type."""
    return given == wanted or (narrows and given == WIDER.get(wanted))


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
