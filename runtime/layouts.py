"""Arrays whose dims lie in memory in another order than the caller's shape has them in, as torch's channels_last do.

A program takes and gives dense row-major arrays alone. Where a caller's array lies otherwise, its spec has an `order`: the caller's dims,
outermost first. An image of shape (n, c, h, w) in channels_last has the order (0, 2, 3, 1), and the program takes (n, h, w, c).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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


class Layout:
    """How an array of a program lies for its caller. Calls ask for it each time, so what follows from the spec is worked out once."""

    def __init__(self, spec: TensorSpec):
        self._spec, self._seen, self._order = spec, spec.seen().shape, spec.order
        self._back = tuple(spec.order.index(d) for d in range(len(spec.order)))

    def as_it_lies(self, value: Any) -> Any:
        """The caller's array as the program takes it: a view of the same memory. Raises ShapeError or InputError."""
        shape = getattr(value, "shape", self._seen)
        if shape != self._seen and tuple(shape) != self._seen:
            raise ShapeError(f"{self._spec.name} should have shape {self._seen}, got {tuple(shape)}")
        return _permuted(self._spec, value, self._order)

    def as_seen(self, value: Any) -> Any:
        """A result of the program as the caller sees it."""
        return _permuted(self._spec, value, self._back)


def layouts_of(specs: Iterable[TensorSpec]) -> dict[int, Layout]:
    """The layouts of those arrays that are not row-major for the caller, by number."""
    return {number: Layout(spec) for number, spec in enumerate(specs) if spec.order}


def as_it_lies(spec: TensorSpec, value: Any) -> Any:
    """The caller's array as the program takes it: a view of the same memory. Raises ShapeError or InputError."""
    return Layout(spec).as_it_lies(value) if spec.order else value


def _permuted(spec: TensorSpec, value: Any, order: tuple[int, ...]) -> Any:
    if hasattr(value, "permute"):  # torch
        return value.permute(order)
    if hasattr(value, "transpose"):  # NumPy, JAX, CuPy
        return value.transpose(*order)
    try:
        return np.from_dlpack(value).transpose(*order)
    except (AttributeError, TypeError, ValueError, RuntimeError, BufferError) as error:
        raise InputError(
            f"{spec.name}: a {type(value).__name__} of which no dims can be permuted: {error}", remedy="give an array of torch or NumPy"
        ) from None
