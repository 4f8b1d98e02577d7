"""Forward transforms of complex numbers along one dimension, of any length.

Short ones, and those for which a target has a kernel, are left to the engine: matrices (matrices.py) or kernels (kernels.py). A length that
has factors is four steps (Bailey): with n = n1 · n2 and the signal as an n1 × n2 matrix, transform the columns, multiply by roots of unity,
transpose, transform the columns. Any other, prime or with a large prime factor, is a convolution (Bluestein) by transforms of a length of
the engine's choice.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...common.roots_of_unity import roots_of_unity
from .planar import Planar

_TABLE = 1 << 16
"""Roots of unity up to this number are one constant; more are products of two of two smaller ones."""


class Engine(Protocol):
    """What transforms short lengths."""

    def takes(self, z: Planar) -> bool:
        """Whether it transforms z, of dimensions (outer, length, inner), along the second."""

    def short(self, z: Planar) -> Planar:
        """The transform of what it takes."""

    def split(self, length: int) -> tuple[int, int] | None:
        """Two factors of the length, near each other; None where the length is better a convolution."""

    def longer(self, least: int) -> int:
        """The length from `least` on that it transforms best."""


def transform(engine: Engine, z: Planar, dim: int) -> Planar:
    """The forward transform along `dim`, unscaled."""
    shape = z.shape
    length = shape[dim]
    if length < 2:
        return z
    outer, inner = int(np.prod(shape[:dim])), int(np.prod(shape[dim + 1 :]))
    return _columns(engine, z.reshaped([outer, length, inner])).reshaped(shape)


def _columns(engine: Engine, z: Planar) -> Planar:
    if engine.takes(z):
        return engine.short(z)
    factors = engine.split(z.shape[1])
    return _convolved(engine, z) if factors is None else _four_steps(engine, z, *factors)


def _four_steps(engine: Engine, z: Planar, n1: int, n2: int) -> Planar:
    outer, length, inner = z.shape
    z = _columns(engine, z.reshaped([outer, n1, n2 * inner])).reshaped([outer, n1, n2, inner])
    z = _twisted(z).transposed([0, 2, 1, 3]).reshaped([outer, n2, n1 * inner])
    return _columns(engine, z).reshaped([outer, length, inner])


def _twisted(z: Planar) -> Planar:
    """Element (k, j) of dimensions 1 and 2, n1 and n2 long, times the root of unity of order n1 · n2 to the power k · j."""
    outer, n1, n2, inner = z.shape
    k = np.arange(n1)[:, None]
    step = 1
    while n1 * n2 // step + n1 * step > _TABLE and n2 % (2 * step) == 0 and step < 64:
        step *= 2
    if n1 * n2 <= _TABLE or step == 1:
        return z.times(roots_of_unity(n1 * n2, k * np.arange(n2)), [1, 2])
    fine = z.reshaped([outer, n1, n2 // step, step, inner]).times(roots_of_unity(n1 * n2, k * np.arange(step)), [1, 3])
    return fine.times(roots_of_unity(n1 * n2 // step, k * np.arange(n2 // step)), [1, 2]).reshaped([outer, n1, n2, inner])


def _convolved(engine: Engine, z: Planar) -> Planar:
    """jk = (j² + k² - (k - j)²) / 2 makes the transform a convolution with a chirp, whose own transform is a constant."""
    outer, length, inner = z.shape
    padded = engine.longer(2 * length - 1)
    powers = np.array([k * k % (2 * length) for k in range(length)])
    chirp = roots_of_unity(2 * length, powers)
    kernel = np.zeros(padded, chirp.dtype)
    kernel[:length] = chirp.conj()
    kernel[padded - length + 1 :] = chirp.conj()[:0:-1]
    spectrum = np.fft.fft(kernel) / padded
    product = _columns(engine, z.times(chirp, [1]).padded(1, padded)).times(spectrum, [1])
    return _columns(engine, product.swapped).swapped.part(1, 0, length).times(chirp, [1])
