"""Kin of the error function: its inverse, its complement times exp(x²), the normal distribution's logarithm and inverse."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition
from . import cephes
from .approximations import of_floats, polynomial, ratio

_NEAR = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164, 0.246640727, 1.50140941,
)  # fmt: skip
_FAR = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047, 1.00167406, 2.83297682,
)  # fmt: skip


@torch_decomposition("aten.erfinv", "aten.special_erfinv", before_lowering=True)
def erfinv(x: Tensor) -> Tensor:
    """Giles, Approximating the erfinv function (2010), in f32. chlo's logarithm of 1 - x², near 1, is that of a difference of roundings."""
    if x.dtype == torch.float64:
        return NotImplemented
    dtype = x.dtype if x.dtype.is_floating_point else torch.float32
    x = x.to(torch.float32)
    w = -((1 - x) * (1 + x)).log()
    made = torch.where(w < 5, polynomial(w - 2.5, _NEAR), polynomial(w.sqrt() - 3, _FAR)) * x
    return torch.where(x.abs() == 1, x * math.inf, made).to(dtype)


@of_floats("aten.special_erfcx")
def erfcx(x: Tensor) -> Tensor:
    """Cephes' complement beyond 1 is exp(-x²) times a ratio; below, the complement itself loses nothing. That of -x is 2 exp(x²) less."""
    far = x.abs()
    z = far.clamp(1, 1e9)
    tail = torch.where(far < 8, ratio(z, cephes.ERFC_P, cephes.ERFC_Q), _slow_tail(1 / z))
    tail = torch.where(far > 1e9, 1 / (far * math.sqrt(math.pi)), tail)
    grown = (x * x).exp()
    return torch.where(far <= 1, grown * torch.erfc(x), torch.where(x > 0, tail, 2 * grown - tail))


def _slow_tail(inverse: Tensor) -> Tensor:
    """Cephes' ratio far from the origin, of 1/x: numerator and denominator would overflow in f32."""
    return inverse * polynomial(inverse, cephes.ERFC_R[::-1]) / polynomial(inverse, cephes.ERFC_S[::-1])


@of_floats("aten.special_log_ndtr")
def log_ndtr(x: Tensor) -> Tensor:
    """Below -1 by what is left of the distribution when exp(-x²/2) is taken out of it."""
    below = (erfcx(-x * math.sqrt(0.5)) / 2).log() - x * x / 2
    return torch.where(x < -1, below, torch.log1p(-torch.erfc(x * math.sqrt(0.5)) / 2))


@of_floats("aten.special_ndtri")
def ndtri(y: Tensor) -> Tensor:
    """Near the middle by a ratio of the distance from it, near the ends of the logarithm of what is left."""
    edge = math.exp(-2)
    upper = y > 1 - edge
    rest = torch.where(upper, 1 - y, y)
    apart = rest - 0.5
    square = apart * apart
    middle = (apart + apart * (square * ratio(square, cephes.NDTRI_P0, cephes.NDTRI_Q0))) * math.sqrt(2 * math.pi)
    far = (-2 * rest.log()).sqrt()
    z = 1 / far
    tail = torch.where(far < 8, ratio(z, cephes.NDTRI_P1, cephes.NDTRI_Q1), ratio(z, cephes.NDTRI_P2, cephes.NDTRI_Q2))
    end = far - far.log() / far - z * tail
    made = torch.where(rest > edge, middle, torch.where(upper, end, -end))
    made = torch.where((y < 0) | (y > 1), math.nan, made)
    return torch.where(y == 0, -math.inf, torch.where(y == 1, math.inf, made))
