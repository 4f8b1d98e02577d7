"""DLPack with ctypes: reads the tensors of other frameworks, on any device and of types that NumPy does not have, and hands out ours.

A capsule named `dltensor` holds a DLManagedTensor; who takes it renames it and calls its deleter when done.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from typing import Any

from .errors import InputError

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13

_CODES = {"i": 0, "ui": 1, "f": 2, "bf": 4}
_COMPLEX, _BOOL = 5, 6
_NAMES = {code: prefix for prefix, code in _CODES.items()}
_FLOATS_OF_8_BITS = {
    7: "f8E3M4", 8: "f8E4M3", 9: "f8E4M3B11FNUZ", 10: "f8E4M3FN", 11: "f8E4M3FNUZ", 12: "f8E5M2", 13: "f8E5M2FNUZ", 14: "f8E8M0FNU"
}  # fmt: skip
_KINDS = {
    **{name: (code, 8) for code, name in _FLOATS_OF_8_BITS.items()},
    **{f"{prefix}{bits}": (_CODES[prefix], bits) for prefix in _CODES for bits in (8, 16, 32, 64)},
    "complex<f32>": (_COMPLEX, 64),
    "complex<f64>": (_COMPLEX, 128),
    "i1": (_BOOL, 8),
}
"""Code and bits of the element types that have them. DLPack packs elements of less than a byte, hloom does not."""


class _Tensor(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]


class _Managed(ctypes.Structure):
    _fields_ = [("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)]


_DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(_Managed))
_DESTRUCTOR = ctypes.CFUNCTYPE(None, ctypes.c_void_p)

_api = ctypes.pythonapi
# by prototypes of our own: what is set of _api's functions is set, and changed, by everybody in the process
_new_capsule = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, _DESTRUCTOR)(("PyCapsule_New", _api))
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))
_set_name = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_SetName", _api))
# A destructor is handed an object that is going away: it must not be counted as another reference.
_raw_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_IsValid", _api))
_raw_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)(("PyCapsule_GetPointer", _api))

_FRESH, _USED = b"dltensor", b"used_dltensor"


@dataclass
class TakenTensor:
    """A tensor that was taken: valid as long as this object is."""

    address: int
    device: tuple[int, int]
    dtype: str
    shape: tuple[int, ...]
    dense: bool
    _managed: Any

    def __del__(self) -> None:
        managed, self._managed = self._managed, None
        if managed is not None and managed.contents.deleter:
            _DELETER(managed.contents.deleter)(managed)


def take(name: str, value: Any, stream: int | None = None) -> TakenTensor:
    """Takes `value`'s memory by DLPack, ready for use on that stream. Raises InputError that calls it `name`."""
    try:
        capsule = value.__dlpack__() if stream is None else value.__dlpack__(stream=stream)
        pointer = _get_pointer(capsule, _FRESH)
    except Exception as error:
        raise InputError(f"{name}: a {type(value).__name__} cannot be taken by DLPack: {error}") from None
    managed = ctypes.cast(pointer, ctypes.POINTER(_Managed))
    _set_name(capsule, _USED)
    tensor = managed.contents.tensor
    shape = tuple(tensor.shape[: tensor.ndim])
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides else None
    address = (tensor.data or 0) + tensor.byte_offset
    device = (tensor.device_type, tensor.device_id)
    return TakenTensor(address, device, _dtype(tensor), shape, _dense(shape, strides), managed)


def _dtype(tensor: _Tensor) -> str:
    if tensor.code == _BOOL:
        return "i1"
    if tensor.code in _FLOATS_OF_8_BITS and (tensor.bits, tensor.lanes) == (8, 1):
        return _FLOATS_OF_8_BITS[tensor.code]
    if tensor.code == _COMPLEX and tensor.lanes == 1:
        return f"complex<f{tensor.bits // 2}>"
    if tensor.bits < 8:
        return f"{_NAMES.get(tensor.code, 'f')}{tensor.bits}, packed"
    return f"{_NAMES.get(tensor.code, f'code {tensor.code} ')}{tensor.bits}" + (f"x{tensor.lanes}" if tensor.lanes != 1 else "")


def _dense(shape: tuple[int, ...], strides: tuple[int, ...] | None) -> bool:
    if strides is None or 0 in shape:
        return True
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


_alive: dict[int, tuple[Any, ...]] = {}


def give(owner: Any, address: int, device: tuple[int, int], dtype: str, shape: tuple[int, ...]) -> Any:
    """A capsule over dense memory that `owner` keeps; `owner` lives until the one who takes the capsule is done."""
    dims = (ctypes.c_int64 * max(1, len(shape)))(*shape)
    strides = (ctypes.c_int64 * max(1, len(shape)))(*(math.prod(shape[axis + 1 :]) for axis in range(len(shape))))
    managed = _Managed()
    tensor = managed.tensor
    tensor.data, (tensor.device_type, tensor.device_id), tensor.ndim = address or None, device, len(shape)
    if dtype not in _KINDS:
        raise BufferError(f"DLPack has no {dtype} of one byte an element; hloom.DeviceArray.numpy() copies it")
    tensor.code, tensor.bits = _KINDS[dtype]
    tensor.lanes, tensor.shape, tensor.strides, tensor.byte_offset = 1, dims, strides, 0
    managed.deleter = ctypes.cast(_release, ctypes.c_void_p)
    key = ctypes.addressof(managed)
    _alive[key] = (owner, managed, dims, strides)
    return _new_capsule(key, _FRESH, _drop)


@_DELETER
def _release(managed: Any) -> None:
    _alive.pop(ctypes.addressof(managed.contents), None)


@_DESTRUCTOR
def _drop(capsule: int) -> None:
    """A capsule that nobody took goes away: so does the tensor."""
    if _raw_is_valid(capsule, _FRESH):
        _alive.pop(_raw_get_pointer(capsule, _FRESH), None)
