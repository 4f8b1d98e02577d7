"""Arrays of the frameworks as addresses, and results as arrays of the framework that asked.

Nothing is copied where memory is dense, row-major and the CPU's. torch and jax are looked up among the modules already imported: a value of
theirs cannot exist before.
"""

from __future__ import annotations

import ctypes
import functools
import operator
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .dtypes import NARROW, WIDER, dtype_name, numpy_dtype, stored_dtype
from .errors import DtypeError, InputError, ShapeError
from .signature import TensorSpec

TORCH_NAMES = {
    "float64": "f64", "float32": "f32", "float16": "f16", "bfloat16": "bf16", "bool": "i1", "int8": "i8", "int16": "i16", "int32": "i32",
    "int64": "i64", "uint8": "ui8", "uint16": "ui16", "uint32": "ui32", "uint64": "ui64",
    "float8_e4m3fn": "f8E4M3FN", "float8_e4m3fnuz": "f8E4M3FNUZ", "float8_e5m2": "f8E5M2", "float8_e5m2fnuz": "f8E5M2FNUZ",
    "float8_e8m0fnu": "f8E8M0FNU",
    "complex64": "complex<f32>", "complex128": "complex<f64>",
}  # fmt: skip
_DLPACK_CPU = 1
_SMALL_RESULT = 2 << 20
JAX_64 = frozenset(map(numpy_dtype, WIDER.values()))
"""What JAX narrows unless it is told to keep 64 bits."""


class HostView(NamedTuple):
    """Memory of a value: `owner` must live as long as `address` is used; `kind` is numpy, torch or jax."""

    address: int
    owner: Any
    kind: str


def view(spec: TensorSpec, value: Any, *, writable: bool = False) -> HostView:
    """The memory of `value`, which must be of that shape and type; a copy where it is not dense (never for writing), or narrows.

    Raises ShapeError, DtypeError, or InputError for a value that is no array in the CPU's memory.
    """
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(value, torch.Tensor):
        return _view_torch(spec, value, writable)
    kind = "jax" if _is_jax(value) else "numpy"
    if writable and kind == "jax":
        raise InputError(f"{spec.name}: jax arrays cannot be written to", remedy="give numpy or torch arrays as outputs")
    array = _as_numpy(spec, value)
    if spec.narrows and kind == "numpy" and spec.takes(dtype_name(array.dtype)):
        array = array.astype(spec.numpy_dtype, copy=False)
    check(spec, dtype_name(array.dtype), array.shape)
    if not array.flags.c_contiguous:
        if writable:
            raise InputError(f"{spec.name}: an output must be dense and row-major")
        array = np.ascontiguousarray(array)
    if writable and not array.flags.writeable:
        raise InputError(f"{spec.name}: the output array is read-only")
    return HostView(address_of(array), array, kind)


def address_of(array: np.ndarray) -> int:
    """Where the elements of a dense array lie. A writable one tells it as a buffer, in a quarter of the time of `array.ctypes`."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    except (TypeError, ValueError, BufferError):  # read-only, empty, or of a type that buffers lack
        return array.ctypes.data


def check(spec: TensorSpec, dtype: str, shape: tuple[int, ...]) -> None:
    """Raises ShapeError or DtypeError where they are not the spec's."""
    if shape != spec.shape:
        raise ShapeError(f"{spec.name} should have shape {spec.shape}, got {tuple(shape)}")
    if dtype != spec.dtype:
        raise DtypeError(f"{spec.name} should have element type {spec.dtype}, got {dtype}", remedy="convert it before the call")


@functools.cache
def torch_name(dtype: Any) -> str:
    """MLIR's name for a torch type; torch's own where MLIR has none."""
    name = str(dtype).removeprefix("torch.")
    return TORCH_NAMES.get(name, name)


def _view_torch(spec: TensorSpec, tensor: Any, writable: bool) -> HostView:
    if tensor.is_nested:
        raise InputError(f"{spec.name}: a nested tensor has no dense memory", remedy="give torch.nested.to_padded_tensor(…)")
    if tensor.shape != spec.shape or torch_name(tensor.dtype) != spec.dtype:
        check(spec, torch_name(tensor.dtype), tensor.shape)
    if not tensor.is_cpu:
        raise InputError(f"{spec.name} lies on {tensor.device}; this program runs on the CPU", remedy="move it with .cpu()")
    try:
        dense = tensor.is_contiguous() and not tensor.is_neg() and not is_conjugate(spec, tensor)
        if writable and not dense:
            raise InputError(f"{spec.name}: an output must be dense and row-major")
        dense_tensor = tensor if dense else resolved(spec, tensor)
        address = dense_tensor.data_ptr()
        if not address and dense_tensor.numel():
            raise InputError(f"{spec.name}: a {type(tensor).__name__} has no memory", remedy="call the program outside of what traces")
        return HostView(address, dense_tensor, "torch")
    except (RuntimeError, NotImplementedError) as error:
        raise InputError(f"{spec.name}: this torch tensor has no dense memory: {error}") from None


class TorchAddresses:
    """Where plain torch tensors lie that are what the specs say and dense; None of any other value, at which `view` must look (on a GPU
    `locate`). They are to lie on the CPU, or on the GPU of that index.

    A program may take a thousand of them, so what a spec asks for is looked up once; and those that do not differ from what once was right,
    by what torch itself compares before it runs compiled code (types, sizes, strides, devices and marks), are not looked at one by one.
    """

    def __init__(self, specs: Sequence[TensorSpec], gpu: int | None = None):
        torch, self._gpu = sys.modules["torch"], gpu
        self._plain = torch.Tensor, torch.nn.Parameter
        self._address = torch.Tensor.data_ptr  # by its class: each tensor's own takes three times as long to find
        self._guards = _inner(torch, "_C", "_dynamo", "guards", "TensorGuards")  # what dynamo compares tensors by
        types = {name: getattr(torch, own, None) for own, name in TORCH_NAMES.items()}
        self._wanted = [(spec.shape, types.get(spec.dtype), spec.dtype.startswith("complex")) for spec in specs]
        self._right: Any = None
        self._kinds = _MOST_KINDS if self._guards is not None and specs else 0
        """How many other kinds of calls may be learnt."""

    def of(self, values: Sequence[Any]) -> list[int | None]:
        if self._right is not None and len(values) == len(self._wanted) and not _any_nested(values) and self._right.check(*values):
            return list(map(self._address, values))
        found = self._looked_at(values)
        if self._kinds and None not in found and len(found) == len(self._wanted):
            self._kinds -= 1
            self._right = self._guards(*values, dynamic_dims_sizes=None, dynamic_dims_strides=None)
        return found

    def _looked_at(self, values: Sequence[Any]) -> list[int | None]:
        tensor, parameter = self._plain
        gpu = self._gpu
        found: list[int | None] = []
        for value, (shape, dtype, may_be_conjugate) in zip(values, self._wanted):
            address = None
            if (
                (type(value) is tensor or type(value) is parameter)
                and value.dtype is dtype
                and not value.is_nested
                and value.shape == shape
            ):
                try:
                    there = value.is_cpu if gpu is None else value.is_cuda and value.get_device() == gpu
                    plain = there and value.is_contiguous() and not value.is_neg()
                    address = value.data_ptr() if plain and not (may_be_conjugate and value.is_conj()) else None
                except (RuntimeError, NotImplementedError):
                    pass
            found.append(address)
        return found


def _any_nested(values: Sequence[Any]) -> bool:
    """Whether one is a nested tensor, which torch's comparison does not survive: it asks for strides, and that ends the process."""
    try:
        return True in map(_IS_NESTED, values)
    except AttributeError:  # no tensor
        return False


_IS_NESTED = operator.attrgetter("is_nested")
_MOST_KINDS = 8
"""A program that is called with tensors of ever other kinds, of inference and not, learns so many; the last one stays."""


def _inner(module: Any, *names: str) -> Any:
    """What no version of torch promises; None where this one lacks it."""
    for name in names:
        module = getattr(module, name, None)
    return module


def is_conjugate(spec: TensorSpec, tensor: Any) -> bool:
    """Whether a torch tensor is marked as the conjugate of what its memory holds."""
    return spec.dtype.startswith("complex") and tensor.is_conj()


def resolved(spec: TensorSpec, tensor: Any) -> Any:
    """A dense copy of a torch tensor, marks applied."""
    tensor = tensor.detach()
    return (tensor.resolve_conj() if is_conjugate(spec, tensor) else tensor).resolve_neg().contiguous()


def refuse_overlap(address: int, spec: TensorSpec, others: Iterable[tuple[int, TensorSpec]]) -> None:
    """Raises InputError where an output shares memory with one of the others."""
    for start, other in others:
        if address < start + other.nbytes and start < address + spec.nbytes:
            raise InputError(f"the output {spec.name} overlaps {other.name}", remedy="give each output memory of its own")


def share_memory(spans: Iterable[tuple[int, int, bool]]) -> bool:
    """Whether any of the spans (address, bytes, whether it is written) overlaps one that is written."""
    end = written_end = 0
    for start, nbytes, written in sorted(spans):
        if nbytes and (start < written_end or (written and start < end)):
            return True
        end = max(end, start + nbytes)
        written_end = max(written_end, start + nbytes) if written else written_end
    return False


def _is_jax(value: Any) -> bool:
    jax = sys.modules.get("jax")
    return jax is not None and isinstance(value, getattr(jax, "Array", ()))


def is_key(array: Any) -> bool:
    """Whether it holds what `jax.random.key` makes."""
    dtypes = sys.modules["jax"].dtypes
    return dtypes.issubdtype(array.dtype, dtypes.prng_key)


def bits_of_keys(value: Any) -> Any:
    """The numbers of an array of keys of JAX's; any other value as it is."""
    return sys.modules["jax"].random.key_data(value) if _is_jax(value) and is_key(value) else value


def _as_numpy(spec: TensorSpec, value: Any) -> np.ndarray:
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (bool, int, float, complex)):
        return _scalar(spec, value)
    try:
        if _is_jax(value):
            return np.asarray(bits_of_keys(value))
        if hasattr(value, "__array_interface__"):
            return np.asarray(value)
        if hasattr(value, "__dlpack__"):
            device = value.__dlpack_device__()[0]
            if device != _DLPACK_CPU:
                raise InputError(f"{spec.name} lies on a device (DLPack type {int(device)}); this program runs on the CPU")
            return np.from_dlpack(value)
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        remedy = "what goes into jax.jit, grad or vmap: hloom.jit" if "Tracer" in type(value).__name__ else None
        raise InputError(f"{spec.name}: a {type(value).__name__} cannot be read as an array: {error}", remedy=remedy) from None
    raise InputError(
        f"{spec.name} should be an array, got {type(value).__name__}", remedy="give numpy, torch or jax arrays, or any with DLPack"
    )


def _scalar(spec: TensorSpec, value: bool | int | float | complex) -> np.ndarray:
    """A Python number for a rank-0 argument, where its kind fits the element type."""
    dtype = spec.numpy_dtype
    integral = dtype.kind in "iu"
    whole = isinstance(value, complex) and dtype.kind != "c"
    if whole or (isinstance(value, bool) != (spec.dtype == "i1")) or (integral and not isinstance(value, int)):
        raise DtypeError(f"{spec.name} should have element type {spec.dtype}, got a Python {type(value).__name__}")
    try:
        return np.array(value, dtype)
    except OverflowError:
        raise DtypeError(f"{spec.name}: {value} does not fit {spec.dtype}") from None


def _to_torch(array: np.ndarray) -> Any:
    """Types that torch lacks come as bytes."""
    torch = sys.modules["torch"]
    if array.dtype.isbuiltin == 1:
        return torch.from_numpy(array)
    name = dtype_name(array.dtype)
    if name == "bf16":
        return torch.from_numpy(array.view(np.uint16)).view(torch.bfloat16)
    if name in NARROW:
        stored = torch.from_numpy(array.view(stored_dtype(name)))
        return stored.view(getattr(torch, array.dtype.name)) if array.dtype.name in TORCH_NAMES else stored
    return torch.from_numpy(array)


def torch_factory(
    spec: TensorSpec, large: Callable[[], tuple[np.ndarray, int]], small: int = _SMALL_RESULT
) -> Callable[[], tuple[Any, int]]:
    """A function that makes a fresh uninitialised torch tensor of that shape and type, and tells its address.

    Up to `small` bytes are torch's own memory, which takes half the time; more is made by `large`, whose pages stay the process's.
    """
    if not 0 < spec.nbytes <= small:

        def converted() -> tuple[Any, int]:
            array, address = large()
            return _to_torch(array), address

        return converted
    empty = _empty_like(_to_torch(np.empty(spec.shape, spec.numpy_dtype)))

    def made() -> tuple[Any, int]:
        tensor = empty()
        return tensor, tensor.data_ptr()

    return made


def _empty_like(pattern: Any) -> Callable[[], Any]:
    """By what inductor's code asks for memory, if this torch has it: half the time, for no dispatcher is asked."""
    torch = sys.modules["torch"]
    strided = _inner(torch, "_C", "_dynamo", "guards", "_empty_strided_cpu")
    if strided is None:
        return functools.partial(torch.empty_like, pattern)
    return functools.partial(strided, tuple(pattern.shape), pattern.stride(), pattern.dtype)


def _to_jax(array: np.ndarray) -> Any:
    # It takes aligned memory as it is. jax.dlpack.from_dlpack leaks 100 bytes a call (0.10.2), and has no bf16 from NumPy.
    jax = sys.modules["jax"]
    if (put := _short_jax_put()) is None or (array.dtype in JAX_64 and not jax.config.jax_enable_x64):
        return jax.device_put(array, jax.local_devices(backend="cpu")[0])
    return put(array)


@functools.cache
def _short_jax_put() -> Callable[[np.ndarray], Any] | None:
    """What jax.device_put ends in, without the 40 µs before; None where this version of JAX has it elsewhere."""
    jax = sys.modules["jax"]
    try:
        from jax._src.lib import xla_client

        put, abstract = xla_client.batched_device_put, functools.lru_cache(4096)(jax.core.ShapedArray)
        device = jax.local_devices(backend="cpu")[0]
        sharding = jax.sharding.SingleDeviceSharding(device)

        def short(array: np.ndarray) -> Any:
            return put(abstract(array.shape, array.dtype), sharding, [array], [device], True)

        return short if short(np.zeros(1, np.float32)).shape == (1,) else None
    except (ImportError, AttributeError, TypeError):
        return None


TO_KIND: dict[str, Callable[[np.ndarray], Any]] = {"torch": _to_torch, "jax": _to_jax}
"""How a result, fresh memory that nobody else holds, becomes an array of that kind."""
