"""Forward transforms of complex numbers along one dimension, of any length.

Short ones, and those for which a target has a kernel, are left to the engine: matrices (matrices.py) or kernels (kernels.py). A length that
has factors is four steps (Bailey): with n = n1 · n2 and the signal as an n1 × n2 matrix, transform the columns, multiply by roots of unity,
transpose, transform the columns. Any other, prime or with a large prime factor, is a convolution (Bluestein) by transforms of a length of
the engine's choice.
"""

from __future__ import annotations

from math import prod
from typing import Protocol

import numpy as np

from ...common.roots_of_unity import divisors
from .planar import Planar

_TABLE = 1 << 16
"""Roots of unity up to this number are one constant; more are products of two of two smaller ones."""


class Engine(Protocol):
    """What transforms short lengths. `library`: whether a library does all that are longer than `longest`."""

    library: bool
    longest: int

    def takes(self, z: Planar) -> bool:
        """Whether it transforms z, of dimensions (outer, length, inner), along the second."""

    def short(self, z: Planar, factor: float, extended: bool) -> Planar:
        """The transform of what it takes; for the rest see `transform`."""

    def split(self, length: int) -> tuple[int, int] | None:
        """Two factors of the length, near each other; None where the length is better a convolution."""

    def longer(self, least: int) -> int:
        """The length from `least` on that it transforms best."""


def transform(engine: Engine, z: Planar, dim: int, factor: float = 1.0, extended: bool = False) -> Planar:
    """The forward transform along `dim`, times `factor`; extended, its first element stands at the end again."""
    shape = z.shape
    length = shape[dim]
    outer, inner = prod(shape[:dim]), prod(shape[dim + 1 :])
    made = _columns(engine, z.reshaped([outer, length, inner]), factor, extended)
    return made.reshaped([*shape[:dim], length + extended, *shape[dim + 1 :]])


def _columns(engine: Engine, z: Planar, factor: float = 1.0, extended: bool = False) -> Planar:
    """The same along the second of three dimensions."""
    length = z.shape[1]
    if length > 1 and engine.takes(z):
        return engine.short(z, factor, extended)
    if length == 1:
        made = z.scaled(factor)
    elif (factors := engine.split(length)) is not None:
        made = _four_steps(engine, z, *factors, factor)
    else:
        made = _convolved(engine, z, factor)
    return made.joined(made.part(1, 0, 1), 1) if extended else made


def _four_steps(engine: Engine, z: Planar, n1: int, n2: int, factor: float) -> Planar:
    outer, length, inner = z.shape
    z = _columns(engine, z.reshaped([outer, n1, n2 * inner])).reshaped([outer, n1, n2, inner])
    z = _twisted(z, factor).transposed([0, 2, 1, 3]).reshaped([outer, n2, n1 * inner])
    return _columns(engine, z).reshaped([outer, length, inner])


def _twisted(z: Planar, factor: float) -> Planar:
    """Element (k, j) of dimensions 1 and 2, n1 and n2 long, times `factor` and the root of unity of order n1 · n2 to the power k · j."""
    outer, n1, n2, inner = z.shape
    order, k = n1 * n2, np.arange(n1)[:, None]
    if order <= _TABLE:
        return z.times(z.roots(order, k * np.arange(n2)) * factor, [1, 2])
    step = min(divisors(n2), key=lambda d: d + n2 // d)
    z = z.reshaped([outer, n1, n2 // step, step, inner]).times(z.roots(order, k * np.arange(step)) * factor, [1, 3])
    return z.times(z.roots(order, k * (np.arange(n2 // step) * step)), [1, 2]).reshaped([outer, n1, n2, inner])


def _convolved(engine: Engine, z: Planar, factor: float) -> Planar:
    """jk = (j² + k² - (k - j)²) / 2 makes the transform a convolution with a chirp, whose own transform is a constant."""
    length = z.shape[1]
    padded = engine.longer(2 * length - 1)
    numbers = np.arange(length, dtype=np.int64)
    chirp = z.roots(2 * length, numbers * numbers)
    kernel = np.zeros(padded, chirp.dtype)
    kernel[:length] = chirp.conj()
    kernel[padded - length + 1 :] = chirp.conj()[:0:-1]
    spectrum = np.fft.fft(kernel) * (factor / padded)
    product = _columns(engine, z.times(chirp, [1]).padded(1, padded)).times(spectrum, [1])
    return _columns(engine, product.swapped).swapped.part(1, 0, length).times(chirp, [1])
