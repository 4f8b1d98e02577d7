"""How values of a kernel lie in numpy arrays, and the arithmetic that numpy spells differently.

A scalar is anything that broadcasts to (blocks, threads): an index that all threads share is a Python int, another constant a numpy
scalar, a thread number an array (threads,), a block number (blocks, 1). So uniform arithmetic costs nothing. A vector<AxB> is an array
(A, B, b, t) where (b, t) broadcasts to (blocks, threads): a structure of arrays.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from . import floats

DTYPES: dict[str, Any] = {
    "f64": np.float64, "f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "i1": np.bool_,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64, "index": np.int64,
}  # fmt: skip
_UNSIGNED = {np.dtype(signed): np.dtype(f"u{np.dtype(signed)}") for signed in (np.int8, np.int16, np.int32, np.int64)}
_WORD = 1 << 64


def planes(value: Any) -> np.ndarray:
    """A scalar with its (blocks, threads) dimensions spelled out."""
    array = np.asarray(value)
    return array.reshape((1,) * (2 - array.ndim) + array.shape)


def broadcast(value: Any, shape: list[int]) -> np.ndarray:
    """vector.broadcast: to a vector of that shape."""
    array = planes(value)
    missing = len(shape) + 2 - array.ndim
    return np.broadcast_to(array.reshape((1,) * missing + array.shape), (*shape, *array.shape[-2:]))


def stack(values: list[Any], shape: list[int]) -> np.ndarray:
    """vector.from_elements."""
    parts = np.broadcast_arrays(*map(planes, values))
    return np.stack(parts).reshape(*shape, *parts[0].shape)


def select(condition: Any, a: Any, b: Any) -> Any:
    """a where the condition holds, else b; None is a value that no thread has."""
    if a is None or b is None:
        return b if a is None else a
    if isinstance(condition, bool | np.bool_):
        return a if condition else b
    return np.where(condition, a, b)


# Integers.


def unsigned(x: Any) -> Any:
    """The same bits as an unsigned integer; a Python int is an index."""
    if isinstance(x, int):
        return x % _WORD
    array = x if isinstance(x, np.generic) else np.asarray(x)
    return array if array.dtype == np.bool_ else array.view(_UNSIGNED.get(array.dtype, array.dtype))


def signed(x: Any, dtype: Any) -> Any:
    """The same bits as `dtype`."""
    if isinstance(x, int):
        return x - _WORD if x >= _WORD // 2 else x
    return x.astype(dtype) if np.dtype(dtype) == np.bool_ else x.view(dtype)


def maximumf(a: Any, b: Any) -> Any:
    """The greater, NaN if either is; +0 is greater than -0, which numpy takes for equal."""
    return np.where((a == 0) & (b == 0), np.add(a, b), np.maximum(a, b))


def minimumf(a: Any, b: Any) -> Any:
    """The less, NaN if either is; -0 is less than +0."""
    return np.where((a == 0) & (b == 0), -np.add(-a, -b), np.minimum(a, b))


def flipped(x: Any) -> Any:
    """An i1 such that the signed order (1 is -1) becomes numpy's."""
    return np.logical_not(x)


def divide(a: Any, b: Any) -> Any:
    """Signed division that rounds towards zero."""
    quotient = a // b
    inexact = (quotient * b != a) & ((a < 0) != (b < 0))
    return quotient + (int(inexact) if isinstance(inexact, bool) else np.asarray(inexact).astype(np.asarray(quotient).dtype))


def divide_up(a: Any, b: Any) -> Any:
    return a // b + (a % b != 0)


def remainder(a: Any, b: Any) -> Any:
    return int(math.fmod(a, b)) if isinstance(a, int) and isinstance(b, int) else np.fmod(a, b)


def minimum(a: Any, b: Any) -> Any:
    return min(a, b) if isinstance(a, int) and isinstance(b, int) else np.minimum(a, b)


def maximum(a: Any, b: Any) -> Any:
    return max(a, b) if isinstance(a, int) and isinstance(b, int) else np.maximum(a, b)


def multiply_extended(a: Any, b: Any) -> tuple[Any, Any]:
    """The low and the high half of a product of integers of at most 64 bits, in their own signedness."""
    x, y = np.asarray(a), np.asarray(b)
    kind = x.dtype
    low = x * y
    if kind.itemsize < 8:
        wide = np.int64 if kind.kind == "i" else np.uint64
        return low, ((x.astype(wide) * y.astype(wide)) >> wide(8 * kind.itemsize)).astype(kind)
    half, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    ux, uy = x.view(np.uint64), y.view(np.uint64)
    x0, x1, y0, y1 = ux & mask, ux >> half, uy & mask, uy >> half
    middle = x1 * y0 + (x0 * y0 >> half)
    other = x0 * y1 + (middle & mask)
    high = x1 * y1 + (middle >> half) + (other >> half)
    if kind.kind == "i":
        high = high - np.where(x < 0, uy, np.uint64(0)) - np.where(y < 0, ux, np.uint64(0))
    return low, high.view(kind)


def leading_zeros(x: Any) -> np.ndarray:
    bits = unsigned(np.asarray(x))
    width = 8 * bits.dtype.itemsize
    for step in (1, 2, 4, 8, 16, 32):
        if step < width:
            bits = bits | bits >> bits.dtype.type(step)
    return (width - np.bitwise_count(bits).astype(np.int64)).astype(np.asarray(x).dtype)


def trailing_zeros(x: Any) -> np.ndarray:
    bits = unsigned(np.asarray(x))
    return ones((bits & -bits) - bits.dtype.type(1)).astype(np.asarray(x).dtype)


def ones(x: Any) -> np.ndarray:
    array = np.asarray(x)
    return np.bitwise_count(array.view(_UNSIGNED.get(array.dtype, array.dtype))).astype(array.dtype)


# Floating point. Functions are computed in f64 and rounded once, so that f32 and narrower types come out correctly rounded.


def in_f64(function: Callable[..., Any], *operands: Any) -> Any:
    first = np.asarray(operands[0])
    return np.asarray(function(*(np.asarray(x).astype(np.float64) for x in operands))).astype(first.dtype)


def rsqrt(x: np.ndarray) -> np.ndarray:
    return 1.0 / np.sqrt(x)


def fma(a: Any, b: Any, c: Any) -> np.ndarray:
    """a * b + c, rounded once: a sum in f64 is a rounding more, which shows where it is half-way between two f32."""
    return np.asarray(floats.fma(np.asarray(a), np.asarray(b), np.asarray(c)))


def round_half_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.floor(np.abs(x) + 0.5), x)


def integer_power(x: Any, n: Any) -> Any:
    return np.power(np.asarray(x), np.asarray(n).astype(np.asarray(x).dtype))


erf = np.vectorize(math.erf, otypes=[np.float64])
erfc = np.vectorize(math.erfc, otypes=[np.float64])


def to_integer(x: Any, dtype: Any) -> np.ndarray:
    """A float truncated to an integer of that type, as a GPU does it: values out of range saturate, NaN is 0."""
    limits = np.iinfo(dtype)
    wide = np.trunc(np.asarray(x).astype(np.float64))
    low, high = float(limits.min), float(limits.max)
    inside = np.where((wide >= low) & (wide < high), wide, 0.0).astype(dtype)
    result = np.where(wide >= high, dtype(limits.max), np.where(wide < low, dtype(limits.min), inside))
    return result


def reinterpret(x: Any, dtype: Any, shape: list[int]) -> np.ndarray:
    """vector.bitcast: the bits of a vector in elements of another width, along its last dimension."""
    rows = np.ascontiguousarray(np.moveaxis(x, -3, -1))
    return np.ascontiguousarray(np.moveaxis(rows.view(dtype), -1, -3)).reshape(*shape, *x.shape[-2:])


def signed_bits(x: Any) -> np.ndarray:
    """An integer to be extended with its sign: an i1 is -1 or 0."""
    array = np.asarray(x)
    return -array.astype(np.int8) if array.dtype == np.bool_ else array


def cast_index(x: Any, dtype: Any) -> np.ndarray:
    return np.asarray(x).astype(dtype)


def truncate(x: Any, dtype: Any) -> np.ndarray:
    array = np.asarray(x)
    return (array & 1).astype(np.bool_) if np.dtype(dtype) == np.bool_ else array.astype(dtype)


def to_unsigned(x: Any, dtype: Any) -> np.ndarray:
    return to_integer(x, _UNSIGNED[np.dtype(dtype)].type).view(dtype)


def pick(vector: np.ndarray, position: list[Any]) -> np.ndarray:
    """vector.extract at a position that threads may choose differently."""
    threads = np.broadcast_shapes(vector.shape[-2:], *(np.shape(p) for p in position))
    vector = np.broadcast_to(vector, (*vector.shape[:-2], *threads))
    for index in position:
        where = np.broadcast_to(np.asarray(index) % vector.shape[0], threads).reshape((1,) * (vector.ndim - 2) + threads)
        vector = np.take_along_axis(vector, where, axis=0)[0]
    return vector


def put(vector: np.ndarray, value: Any, position: list[Any], shape: list[int], whole: tuple[int, int]) -> np.ndarray:
    """vector.insert: a vector with another element or sub-vector there."""
    result = np.broadcast_to(vector, (*shape, *whole)).copy()
    if all(np.ndim(p) == 0 for p in position):
        result[tuple(int(p) for p in position)] = value
        return result
    here = np.indices(whole, sparse=True)
    rest = (slice(None),) * (len(shape) - len(position))
    if rest:
        raise NotImplementedError("a sub-vector at a position that differs between threads")
    result[(*(np.broadcast_to(p, whole) for p in position), *here)] = np.broadcast_to(value, whole)
    return result


def concatenate(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Two vectors one after the other along the first dimension."""
    threads = np.broadcast_shapes(a.shape[-2:], b.shape[-2:])
    return np.concatenate([np.broadcast_to(part, part.shape[:-2] + threads) for part in (a, b)])


def lanes(count: int, inner: int = 0) -> np.ndarray:
    """0, 1, … along one dimension of a vector that has `inner` dimensions within it."""
    return np.arange(count).reshape(-1, *(1,) * (inner + 2))


def inside(bounds: list[Any], shape: list[int]) -> np.ndarray:
    """vector.create_mask."""
    parts = [lanes(extent, len(shape) - 1 - axis) < bound for axis, (extent, bound) in enumerate(zip(shape, bounds))]
    mask = parts[0]
    for part in parts[1:]:
        mask = mask & part
    return np.broadcast_to(mask, (*shape, *mask.shape[-2:]))
