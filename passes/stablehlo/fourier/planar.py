"""Arrays of complex numbers as two arrays of reals, and what Fourier transforms do with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from ...common.folding import dtype_of
from ...common.rewriting import element_of
from ...common.roots_of_unity import roots_of_unity
from ..support import build, constants


@dataclass(frozen=True)
class Planar:
    """The real and the imaginary parts, of one shape."""

    re: ir.Value
    im: ir.Value

    @property
    def shape(self) -> list[int]:
        return build.shape_of(self.re)

    @property
    def element(self) -> ir.Type:
        return element_of(self.re)

    @property
    def swapped(self) -> Planar:
        """i times the conjugate. The inverse transform, unscaled, is swapped(transform(swapped(z)))."""
        return Planar(self.im, self.re)

    def each(self, move: Callable[[ir.Value], ir.Value]) -> Planar:
        """Both parts moved alike."""
        return Planar(move(self.re), move(self.im))

    def reshaped(self, shape: Sequence[int]) -> Planar:
        return self.each(lambda part: build.reshape(part, shape))

    def transposed(self, permutation: Sequence[int]) -> Planar:
        return self.each(lambda part: build.transpose(part, permutation))

    def part(self, dim: int, start: int, limit: int) -> Planar:
        return self.each(lambda part: build.slice_dim(part, dim, start, limit))

    def reversed(self, dim: int) -> Planar:
        return self.each(lambda part: build.reverse(part, [dim]))

    def joined(self, other: Planar, dim: int) -> Planar:
        """The other behind this along `dim`."""
        return Planar(build.concatenate([self.re, other.re], dim), build.concatenate([self.im, other.im], dim))

    def padded(self, dim: int, length: int) -> Planar:
        """Zeros behind, up to `length`."""
        shape = self.shape
        high = [length - n if d == dim else 0 for d, n in enumerate(shape)]
        return self.each(lambda part: build.pad_with_zeros(part, [0] * len(shape), high))

    def roots(self, length: int, powers: np.ndarray) -> np.ndarray:
        """Roots of unity more exact than the elements."""
        return roots_of_unity(length, powers, self.element.width)

    def times(self, table: np.ndarray, dims: Sequence[int]) -> Planar:
        """Each element times one of `table`, an array of complex numbers whose dimensions are those `dims`."""
        re, im = (real_table(part, self.element, self.shape, dims) for part in (table.real, table.imag))
        return Planar(
            build.subtract(build.multiply(self.re, re), build.multiply(self.im, im)),
            build.add(build.multiply(self.re, im), build.multiply(self.im, re)),
        )

    def scaled(self, factor: float) -> Planar:
        return self.each(lambda part: scaled(part, factor))


def real_table(table: np.ndarray, element: ir.Type, shape: Sequence[int], dims: Sequence[int]) -> ir.Value:
    """The reals of `table` as a constant, broadcast to `shape`."""
    values = np.ascontiguousarray(table).astype(dtype_of(element))
    return build.broadcast(constants.write(values, build.tensor(values.shape, element)), shape, dims)


def scaled(value: ir.Value, factor: float) -> ir.Value:
    return value if factor == 1 else build.multiply(value, build.full_like(value, factor))
