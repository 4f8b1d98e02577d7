"""Arrays of the frameworks at the edge of a program on a GPU: inputs where they lie, results as arrays of the framework that called.

What lies on the GPU is used there, on the caller's stream, without a copy and without waiting. What lies on the host is copied, and a call
all of whose inputs do gives host arrays, which means waiting for them.
"""

from __future__ import annotations

import ctypes
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dlpack
from ..errors import InputError
from ..signature import TensorSpec
from ..tensors import TORCH_NAMES, check, torch_name, view

ALIGNMENT = 16
"""What kernels may expect of an address; other memory is copied first."""


@dataclass
class Located:
    """A value's memory: at `address` of the GPU, or else in `host`. `owner` keeps it alive."""

    kind: str
    owner: Any
    address: int = 0
    host: np.ndarray | None = None


def caller_stream(inputs: Any, index: int) -> int | None:
    """The stream on which the caller's framework works at present, None where it does not say."""
    torch, cupy = sys.modules.get("torch"), sys.modules.get("cupy")
    for value in inputs:
        if torch is not None and isinstance(value, torch.Tensor) and value.is_cuda:
            return torch.cuda.current_stream(index).cuda_stream
        if cupy is not None and isinstance(value, cupy.ndarray):
            return cupy.cuda.get_current_stream().ptr
    return None


def locate(spec: TensorSpec, value: Any, index: int, stream: int, *, writable: bool = False) -> Located:
    """The memory of a value of that shape and type, ready on `stream`. Raises ShapeError, DtypeError or InputError."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor) and value.is_cuda:
        return _locate_torch(spec, value, index, writable)
    if _on_gpu(value):
        return _locate_dlpack(spec, value, index, stream, writable)
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


def _locate_torch(spec: TensorSpec, tensor: Any, index: int, writable: bool) -> Located:
    check(spec, torch_name(tensor.dtype), tuple(tensor.shape))
    if tensor.device.index != index:
        remedy = f"move it with .to('cuda:{index}')"
        raise InputError(f"{spec.name} lies on {tensor.device}; this program runs on cuda:{index}", remedy=remedy)
    dense = tensor.is_contiguous() and not tensor.is_neg()
    if writable and not dense:
        raise InputError(f"{spec.name}: an output must be dense and row-major")
    tensor = tensor if dense else tensor.detach().resolve_neg().contiguous()
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
    return Located(kind if kind in ("jax", "cupy") else "dlpack", (value, found), found.address)


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
        self._driver, self.spec, self._stream = driver, spec, stream
        self.address = driver.allocate_on(stream, spec.nbytes)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.spec.shape

    @property
    def dtype(self) -> np.dtype:
        return self.spec.numpy_dtype

    def __del__(self) -> None:
        if address := getattr(self, "address", 0):
            self._driver.free_on(self._stream, address)

    def __dlpack_device__(self) -> tuple[int, int]:
        return dlpack.CUDA, self._driver.index

    def __dlpack__(self, *, stream: int | None = None, **_: Any) -> Any:
        """A capsule; the stream (DLPack's number, -1: none) waits for what wrote the array, the host does not."""
        other = 0 if stream in (None, 1) else stream
        if other not in (-1, self._stream):
            event = self._driver.new_event()
            self._driver.record(event, self._stream)
            self._driver.wait(other, event)
            self._driver.free_event(event)
        return dlpack.give(self, self.address, self.__dlpack_device__(), self.spec.dtype, self.spec.shape)

    def numpy(self) -> np.ndarray:
        """A copy on the host; waits for it."""
        array = np.empty(self.spec.shape, self.spec.numpy_dtype)
        self._driver.download(array, self.address, self._stream)
        return array

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return self.numpy() if dtype is None else self.numpy().astype(dtype)

    def __repr__(self) -> str:
        return f"<hloom.DeviceArray {self.spec} on GPU {self._driver.index}>"


def new_result(kind: str, spec: TensorSpec, driver: Any, stream: int) -> tuple[Any, int]:
    """A fresh array of the framework, and its address. The stream is the framework's own where it has allocators bound to streams."""
    if kind == "torch":
        torch = sys.modules["torch"]
        names = {name: dtype for dtype, name in TORCH_NAMES.items()}
        tensor = torch.empty(spec.shape, dtype=getattr(torch, names[spec.dtype]), device=f"cuda:{driver.index}")
        return tensor, tensor.data_ptr()
    if kind == "cupy" and spec.dtype != "bf16":
        array = sys.modules["cupy"].empty(spec.shape, spec.numpy_dtype)
        return array, array.data.ptr
    ours = DeviceArray(driver, spec, stream)
    return ours, ours.address


def finished(kind: str, result: Any) -> Any:
    """A result as the framework's own array, once what writes it is enqueued."""
    if kind == "jax" and isinstance(result, DeviceArray):
        return sys.modules["jax"].dlpack.from_dlpack(result)
    return result
