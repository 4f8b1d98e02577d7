"""Arrays of the frameworks at the edge of a program on a GPU: inputs where they lie, results as arrays of the framework that called.

What lies on the GPU is used there, on the caller's stream, without a copy and without waiting. What lies on the host is copied, and a call
all of whose inputs do gives host arrays, which means waiting for them.
"""

from __future__ import annotations

import ctypes
import functools
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dlpack
from ..dtypes import NARROW, stored_dtype
from ..errors import InputError
from ..signature import TensorSpec
from ..tensors import TORCH_NAMES, check, is_conjugate, resolved, torch_name, view
from .order import follow

ALIGNMENT = 16
"""What kernels may expect of an address; other memory is copied first."""


@dataclass(slots=True)
class Located:
    """A value's memory: at `address` of the GPU, or else in `host`. `owner` keeps it alive.

    `is_lent`: whoever made it gives the memory out again as soon as `owner` goes, whatever the GPU does.
    """

    kind: str
    owner: Any
    address: int = 0
    host: np.ndarray | None = None
    is_lent: bool = False


def caller_streams(values: Iterable[Any], index: int) -> list[int]:
    """The streams on which the frameworks of these values work at present, in the order of the values. Some frameworks do not say."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    if torch is None and cupy is None:
        return []
    found: list[int] = []
    of_torch = of_cupy = False
    for value in values:
        if not of_torch and torch is not None and isinstance(value, torch.Tensor) and value.is_cuda:
            of_torch = True
            found.append(torch._C._cuda_getCurrentRawStream(index))
        elif not of_cupy and cupy is not None and isinstance(value, cupy.ndarray):
            of_cupy = True
            with cupy.cuda.Device(index):
                found.append(cupy.cuda.get_current_stream().ptr)
    return found if len(found) < 2 or found[0] != found[1] else found[:1]


def locate(spec: TensorSpec, value: Any, driver: Any, stream: int, *, writable: bool = False) -> Located:
    """The memory of a value of that shape and type, ready on `stream`. Raises ShapeError, DtypeError or InputError."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor) and value.is_cuda:
        return _locate_torch(spec, value, driver, stream, writable)
    if _on_gpu(value):
        return _locate_dlpack(spec, value, driver.index, stream, writable)
    found = view(spec, value, writable=writable)
    host = _host(found.address, found.owner, spec)
    return Located(found.kind, found.owner, host=host)


def _on_gpu(value: Any) -> bool:
    if isinstance(value, (np.ndarray, bool, int, float)) or not hasattr(value, "__dlpack_device__"):
        return False
    try:
        return int(value.__dlpack_device__()[0]) in (dlpack.CUDA, dlpack.CUDA_MANAGED)
    except Exception:
        return False  # the host's road says what is wrong with it


def _locate_torch(spec: TensorSpec, tensor: Any, driver: Any, stream: int, writable: bool) -> Located:
    if tensor.shape != spec.shape or torch_name(tensor.dtype) != spec.dtype:
        check(spec, torch_name(tensor.dtype), tuple(tensor.shape))
    index = driver.index
    if tensor.get_device() != index:
        remedy = f"move it with .to('cuda:{index}')"
        raise InputError(f"{spec.name} lies on {tensor.device}; this program runs on cuda:{index}", remedy=remedy)
    dense = tensor.is_contiguous() and not tensor.is_neg() and not is_conjugate(spec, tensor)
    if writable and not dense:
        raise InputError(f"{spec.name}: an output must be dense and row-major")
    if not dense:
        tensor = resolved(spec, tensor)
        (theirs,) = caller_streams([tensor], index)
        if theirs != stream:
            follow(driver, stream, theirs)
    return Located("torch", tensor, tensor.data_ptr())


def _locate_dlpack(spec: TensorSpec, value: Any, index: int, stream: int, writable: bool) -> Located:
    found = dlpack.take(spec.name, value, _protocol_stream(stream))
    check(spec, found.dtype, found.shape)
    if found.device[1] != index:
        raise InputError(f"{spec.name} lies on GPU {found.device[1]}; this program runs on GPU {index}")
    if not found.dense:
        raise InputError(f"{spec.name}: the array is not dense and row-major", remedy="make it contiguous")
    kind = type(value).__module__.partition(".")[0].removesuffix("lib")
    if writable and kind == "jax":
        raise InputError(f"{spec.name}: jax arrays cannot be written to", remedy="give torch or cupy arrays as outputs")
    return Located(kind if kind in ("jax", "cupy") else "dlpack", (value, found), found.address, is_lent=True)


def _protocol_stream(stream: int) -> int:
    """DLPack's number for a stream: 1 is the legacy default stream, which CUDA calls 0."""
    return stream or 1


def _host(address: int, owner: Any, spec: TensorSpec) -> np.ndarray:
    if spec.nbytes == 0:
        return np.empty(0, np.uint8)
    raw = (ctypes.c_uint8 * spec.nbytes).from_address(address)
    raw._owner = owner  # type: ignore[attr-defined]
    return np.frombuffer(memoryview(raw), np.uint8)


class DeviceArray:
    """A dense array on the GPU that no framework owns; any that speaks DLPack takes it as it is (`torch.from_dlpack(a)`)."""

    def __init__(self, driver: Any, spec: TensorSpec, stream: int):
        self._driver, self.spec, self._stream, self._is_shared = driver, spec, stream, False
        self.address = driver.allocate_on(stream, spec.nbytes)

    def leave_stream(self) -> None:
        """What wrote the array is enqueued. From now on it goes by the driver's own stream: the caller's may not last."""
        if self._stream != self._driver.stream:
            follow(self._driver, self._driver.stream, self._stream)
            self._stream = self._driver.stream

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape

    @property
    def dtype(self) -> np.dtype:
        return self.spec.numpy_dtype

    def __del__(self) -> None:
        address = getattr(self, "address", 0)
        if address and self._is_shared:
            self._driver.free_later(address)
        elif address:
            self._driver.free_on(self._stream, address)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self._driver.index

    def __dlpack__(self, *, stream: int | None = None, dl_device: Any = None, copy: bool | None = None, **_: Any) -> Any:
        """A capsule; the stream (DLPack's number, -1: none) waits for what wrote the array, the host does not. Raises BufferError."""
        if copy or dl_device not in (None, self.__dlpack_device__()):
            raise BufferError(f"{self!r} is handed on as it lies; numpy() copies it to the host")
        other = 0 if stream in (None, 1) else stream
        if other != self._stream:
            self._is_shared = True
            if other != -1:
                with self._driver.current():
                    follow(self._driver, other, self._stream)
        return dlpack.give(self, self.address, self.__dlpack_device__(), self.spec.dtype, self.spec.shape)

    def numpy(self) -> np.ndarray:
        """A copy on the host; waits for it."""
        array = np.empty(self.spec.shape, self.spec.numpy_dtype)
        with self._driver.current():
            self._driver.download(array, self.address, self._stream)
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False:
            raise ValueError(f"{self!r} has to be copied to become a NumPy array")
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __repr__(self) -> str:
        return f"<hloom.DeviceArray {self.spec} on GPU {self._driver.index}>"


def new_result(kind: str, spec: TensorSpec, driver: Any, stream: int) -> tuple[Any, int]:
    """A fresh array of the framework, and its address. The stream is the framework's own where it has allocators bound to streams."""
    if kind == "torch":
        tensor = sys.modules["torch"].empty(spec.shape, dtype=_torch_dtype(spec.dtype), device=f"cuda:{driver.index}")
        return tensor, tensor.data_ptr()
    if kind == "cupy" and spec.dtype != "bf16" and spec.dtype not in NARROW:
        cupy = sys.modules["cupy"]
        with cupy.cuda.Device(driver.index):
            array = cupy.empty(spec.shape, spec.numpy_dtype)
        return array, array.data.ptr
    ours = DeviceArray(driver, spec, stream)
    return ours, ours.address


@functools.cache
def _torch_dtype(dtype: str) -> Any:
    names = {name: theirs for theirs, name in TORCH_NAMES.items()}
    return getattr(sys.modules["torch"], names.get(dtype) or stored_dtype(dtype).name)


def finished(kind: str, result: Any) -> Any:
    """A result as the framework's own array, once what writes it is enqueued. Raises InputError."""
    if not isinstance(result, DeviceArray):
        return result
    result.leave_stream()
    if kind != "jax":
        return result
    try:
        return sys.modules["jax"].dlpack.from_dlpack(result)
    except Exception as error:
        raise InputError(f"jax does not take the result {result.spec}: {error}", remedy="give torch or cupy arrays") from None
