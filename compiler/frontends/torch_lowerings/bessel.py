"""Bessel functions and Airy's, as Cephes approximates them; half precision in f32, as in torch."""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from . import cephes
from .approximations import chebyshev, of_floats, polynomial, ratio


@of_floats("aten.special_i0e")
def i0e(x: Tensor) -> Tensor:
    x = x.abs()
    return torch.where(x <= 8, chebyshev(x / 2 - 2, cephes.I0_NEAR), chebyshev(32 / x - 2, cephes.I0_FAR) / x.sqrt())


@of_floats("aten.i0", "aten.special_i0", "aten.special_modified_bessel_i0")
def i0(x: Tensor) -> Tensor:
    return x.abs().exp() * i0e(x)


@of_floats("aten.special_i1e")
def i1e(x: Tensor) -> Tensor:
    size = x.abs()
    near, far = size * chebyshev(size / 2 - 2, cephes.I1_NEAR), chebyshev(32 / size - 2, cephes.I1_FAR) / size.sqrt()
    made = torch.where(size <= 8, near, far)
    return torch.where(x < 0, -made, made)


@of_floats("aten.special_i1", "aten.special_modified_bessel_i1")
def i1(x: Tensor) -> Tensor:
    return x.abs().exp() * i1e(x)


@of_floats("aten.special_modified_bessel_k0")
def k0(x: Tensor) -> Tensor:
    return _of_positive(x, torch.where(x <= 2, _k0_near(x), (-x).exp() * _far(x, cephes.K0_FAR)), math.inf)


@of_floats("aten.special_scaled_modified_bessel_k0")
def scaled_k0(x: Tensor) -> Tensor:
    return _of_positive(x, torch.where(x <= 2, _k0_near(x) * x.exp(), _far(x, cephes.K0_FAR)), math.inf)


@of_floats("aten.special_modified_bessel_k1")
def k1(x: Tensor) -> Tensor:
    return _of_positive(x, torch.where(x <= 2, _k1_near(x), (-x).exp() * _far(x, cephes.K1_FAR)), math.inf)


@of_floats("aten.special_scaled_modified_bessel_k1")
def scaled_k1(x: Tensor) -> Tensor:
    return _of_positive(x, torch.where(x <= 2, _k1_near(x) * x.exp(), _far(x, cephes.K1_FAR)), math.inf)


def _k0_near(x: Tensor) -> Tensor:
    return chebyshev(x * x - 2, cephes.K0_NEAR) - (x / 2).log() * i0(x)


def _k1_near(x: Tensor) -> Tensor:
    return (x / 2).log() * i1(x) + chebyshev(x * x - 2, cephes.K1_NEAR) / x


def _far(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    return chebyshev(8 / x - 2, coefficients) / x.sqrt()


def _of_positive(x: Tensor, value: Tensor, at_zero: float) -> Tensor:
    return torch.where(x == 0, at_zero, torch.where(x < 0, math.nan, value))


@of_floats("aten.special_bessel_j0")
def j0(x: Tensor) -> Tensor:
    x = x.abs()
    square = x * x
    near = (square - 5.78318596294678452118e00) * (square - 3.04712623436620863991e01) * ratio(square, cephes.J0_RP, cephes.J0_RQ)
    near = torch.where(x < 1e-5, 1 - square / 4, near)
    slow, fast = _waves_of_0(x)
    angle = x - math.pi / 4
    return torch.where(x <= 5, near, (slow * angle.cos() - fast * angle.sin()) * math.sqrt(2 / math.pi) / x.sqrt())


@of_floats("aten.special_bessel_y0")
def y0(x: Tensor) -> Tensor:
    near = ratio(x * x, cephes.Y0_YP, cephes.Y0_YQ) + 2 / math.pi * x.log() * j0(x)
    slow, fast = _waves_of_0(x)
    angle = x - math.pi / 4
    far = (slow * angle.sin() + fast * angle.cos()) * math.sqrt(2 / math.pi) / x.sqrt()
    return _of_positive(x, torch.where(x <= 5, near, far), -math.inf)


def _waves_of_0(x: Tensor) -> tuple[Tensor, Tensor]:
    z = 25 / (x * x)
    return ratio(z, cephes.J0_PP, cephes.J0_PQ), 5 / x * ratio(z, cephes.J0_QP, cephes.J0_QQ)


@of_floats("aten.special_bessel_j1")
def j1(x: Tensor) -> Tensor:
    size = x.abs()
    square = size * size
    near = ratio(square, cephes.J1_RP, cephes.J1_RQ) * size * (square - 1.46819706421238932572e01) * (square - 4.92184563216946036703e01)
    slow, fast = _waves_of_1(size)
    angle = size - 3 * math.pi / 4
    far = (slow * angle.cos() - fast * angle.sin()) * math.sqrt(2 / math.pi) / size.sqrt()
    made = torch.where(size <= 5, near, far)
    return torch.where(x < 0, -made, made)


@of_floats("aten.special_bessel_y1")
def y1(x: Tensor) -> Tensor:
    near = x * ratio(x * x, cephes.Y1_YP, cephes.Y1_YQ) + 2 / math.pi * (j1(x) * x.log() - 1 / x)
    slow, fast = _waves_of_1(x)
    angle = x - 3 * math.pi / 4
    far = (slow * angle.sin() + fast * angle.cos()) * math.sqrt(2 / math.pi) / x.sqrt()
    return _of_positive(x, torch.where(x <= 5, near, far), -math.inf)


def _waves_of_1(x: Tensor) -> tuple[Tensor, Tensor]:
    z = 5 / x * (5 / x)
    return ratio(z, cephes.J1_PP, cephes.J1_PQ), 5 / x * ratio(z, cephes.J1_QP, cephes.J1_QQ)


@of_floats("aten.special_spherical_bessel_j0")
def spherical_j0(x: Tensor) -> Tensor:
    near = polynomial(x * x, [(-1) ** n / math.factorial(2 * n + 1) for n in range(6, -1, -1)])
    return torch.where(x.isinf(), 0.0, torch.where(x.abs() < 0.5, near, x.sin() / x))


@of_floats("aten.special_airy_ai")
def airy_ai(x: Tensor) -> Tensor:
    """Waves below -2.09, an exponential above 2.09, between them a series of powers."""
    below, above = (x < -2.09), (x >= 2.09)
    negative = torch.where(below, -x, 1)
    reach = 2 * negative * negative.sqrt() / 3
    z = 1 / reach
    square, angle = z * z, reach + math.pi / 4
    slow = 1 + square * ratio(square, cephes.AIRY_AFN, cephes.AIRY_AFD)
    fast = z * ratio(square, cephes.AIRY_AGN, cephes.AIRY_AGD)
    waves = (angle.sin() * slow - angle.cos() * fast) / math.sqrt(math.pi) / negative.sqrt().sqrt()
    positive = torch.where(above, x, 4)
    reach = 2 * positive * positive.sqrt() / 3
    falls = ratio(1 / reach, cephes.AIRY_AN, cephes.AIRY_AD) / math.sqrt(math.pi) / (2 * positive.sqrt().sqrt() * reach.exp())
    near = torch.where(below | above, 0, x)
    f, g, term, other, cube = torch.ones_like(near), near, torch.ones_like(near), near, near * near * near
    for k in range(2, 48, 3):
        term, other = term * cube / (k * (k + 1)), other * cube / ((k + 1) * (k + 2))
        f, g = f + term, g + other
    series = 0.355028053887817239260 * f - 0.258819403792806798405 * g
    made = torch.where(below, waves, torch.where(above, falls, series))
    return torch.where(x.isinf(), math.nan, torch.where(x > 103.892, 0.0, made))
