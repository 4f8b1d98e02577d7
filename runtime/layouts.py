"""Arrays whose dims lie in memory in another order than the caller's shape has them in, as torch's channels_last do.

A program takes and gives dense row-major arrays alone. Where a caller's array lies otherwise, its spec has an `order`: the caller's dims,
outermost first. An image of shape (n, c, h, w) in channels_last has the order (0, 2, 3, 1), and the program takes (n, h, w, c).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .errors import InputError, ShapeError
from .signature import TensorSpec


def order_of(shape: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """The order of a dense array of these strides, in elements; () where it is row-major, or not dense."""
    order = sorted(range(len(shape)), key=lambda d: -strides[d])
    step = 1
    for d in reversed(order):
        if shape[d] != 1 and strides[d] != step:
            return ()
        step *= shape[d]
    long = [d for d in order if shape[d] != 1]
    return () if long == sorted(long) or step == 0 else tuple(order)


def as_it_lies(spec: TensorSpec, value: Any) -> Any:
    """The caller's array as the program takes it: a view of the same memory. Raises ShapeError or InputError."""
    if not spec.order:
        return value
    seen, shape = spec.seen(), getattr(value, "shape", None)
    if shape is not None and tuple(shape) != seen.shape:
        raise ShapeError(f"{spec.name} should have shape {seen.shape}, got {tuple(shape)}")
    return _permuted(spec, value, spec.order)


def as_seen(spec: TensorSpec, value: Any) -> Any:
    """A result of the program as the caller sees it."""
    if not spec.order:
        return value
    return _permuted(spec, value, [spec.order.index(d) for d in range(len(spec.order))])


def _permuted(spec: TensorSpec, value: Any, order: Sequence[int]) -> Any:
    if hasattr(value, "permute"):  # torch
        return value.permute(*order)
    if hasattr(value, "transpose"):  # NumPy, JAX, CuPy
        return value.transpose(*order)
    try:
        return np.from_dlpack(value).transpose(*order)
    except (AttributeError, TypeError, ValueError, RuntimeError, BufferError) as error:
        raise InputError(
            f"{spec.name}: a {type(value).__name__} of which no dims can be permuted: {error}", remedy="give an array of torch or NumPy"
        ) from None
