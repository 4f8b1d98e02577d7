"""How samples of gamma and Dirichlet distributions change with the parameters, the uniform numbers behind them being what they are.

-(dF/dα) / f of a distribution's F and f, by PyTorch's own approximations (ATen/native/Distributions.h), in f64.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition

_GAMMA = (
    (0.16009398, -0.094634809, 0.025146376, -0.0030648343, 1, 0.32668115, 0.10406089, 0.0014179084),
    (0.53487893, 0.1298071, 0.065735949, -0.0015649758, 0.16639465, 0.020070113, -0.0035938915, -0.00058392623),
    (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777, 0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07),
)
"""By the power of log(x/α), and of log α: the first four above the line, the others below."""
_BETA = (
    (((1.003668233, -0.01061107488, -0.0657888334, 0.01201642863),
      (0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033),
      (-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013)),
     ((0.221950385, -0.3187676331, 0.01799915743, 0.01074823814),
      (-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057),
      (0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05)),
     ((-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565),
      (0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181),
      (0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05))),
    (((1, -0.02924021934, -0.04438342661, 0.007285809825),
      (0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521),
      (-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149)),
     ((0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273),
      (0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956),
      (-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05)),
     ((0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05),
      (0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05),
      (-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06))),
)  # fmt: skip
"""Above and below the line, by the power of log x, of log(α/x), and of log(x · total/α)."""


@torch_decomposition("aten._standard_gamma_grad")
def standard_gamma_grad(shape: Tensor, sample: Tensor) -> Tensor:
    a, x = (each.to(torch.float64) for each in (shape, sample))
    by_rule = torch.where(a > 8, _of_large_gammas(a, x), _of_middle_gammas(a, x))
    return torch.where(x < 0.8, _of_small_gammas(a, x), by_rule).to(shape.dtype)


def _of_small_gammas(a: Tensor, x: Tensor) -> Tensor:
    """By Taylor's series."""
    term, below = torch.ones_like(x), a
    sums = [term / below, term / below.square()]
    for number in range(1, 6):
        term, below = term * -x / number, below + 1
        sums = [sums[0] + term / below, sums[1] + term / below.square()]
    made = x * x.exp() * (sums[1] - (x.log() - a.digamma()) * sums[0])
    return torch.where(made.isnan(), 0.0, made)


def _of_large_gammas(a: Tensor, x: Tensor) -> Tensor:
    """By Rice's saddle point expansion; near the mean by its limit."""
    above = (1 + 24 * a * (1 + 12 * a)) * (1440 * a**2 + 6 * x * (53 - 120 * x) - 65 * x**2 / a + a * (107 + 3600 * x))
    near = above / (1244160 * a**4)
    ratio, root = (x / a).log(), (8 * a).sqrt()
    power = (x - a - a * ratio) ** -1.5
    inner = root / (a - x) + torch.where(x < a, -power, power)
    outer = ratio * inner - (2 / a).sqrt() * (a + x) / (a - x) ** 2
    far = -(1 + 1 / (12 * a) * (1 + 1 / (24 * a))) * x * outer / root
    return torch.where((0.9 * a <= x) & (x <= 1.1 * a), near, far)


def _of_middle_gammas(a: Tensor, x: Tensor) -> Tensor:
    u, v = (x / a).log(), a.log()
    powers = [_powers(u, each) for each in zip(*_GAMMA)]
    return (_powers(v, powers[:4]) / _powers(v, powers[4:])).exp()


@torch_decomposition("aten._dirichlet_grad")
def dirichlet_grad(sample: Tensor, shape: Tensor, total: Tensor) -> Tensor:
    """Of a beta distribution of `shape` and what is left of the total, divided by 1 - x."""
    x, a, whole = (each.to(torch.float64) for each in (sample, shape, total))
    b, edge = whole - a, whole * x * (1 - x)
    made = torch.where((a > 6) & (b > 6), _of_large_betas(x, a, b), _of_middle_betas(x, a, b))
    made = torch.where((x >= 0.5) & (edge < 0.75), -_of_betas_near_1(1 - x, b, a), made)
    return torch.where((x <= 0.5) & (edge < 2.5), _of_betas_near_0(x, a, b), made).to(sample.dtype)


def _of_betas_near_0(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    factor = a.digamma() - (a + b).digamma() - x.log()
    term = torch.ones_like(x)
    total = term / a * (factor + 1 / a)
    for number in range(1, 11):
        term, below = term * (number - b) * x / number, a + number
        total = total + term / below * (factor + 1 / below)
    made = x * (1 - x) ** -b * total
    return torch.where(made.isnan(), 0.0, made)


def _of_betas_near_1(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """By the other parameter, of 1 - x."""
    factor = (a + b).digamma() - b.digamma()
    term, product, change, total = torch.ones_like(x), torch.ones_like(x), torch.zeros_like(x), factor / a
    for number in range(1, 9):
        term = term * -x / number
        change, product = change * (b - number) + product, product * (b - number)
        total = total + term / (a + number) * (change + factor * product)
    made = -((1 - x) ** (1 - b)) * total
    return torch.where(made.isnan(), 0.0, made)


def _of_large_betas(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    """By Rice's saddle point expansion; near the mean by its limit."""
    total = a + b
    mean, deviation = a / total, (a * b / (total + 1)).sqrt() / total
    near = (1 + 12 * a) * (1 + 12 * b) / total**2 / (1 - x) * _near_the_mean(x, a, b) / (12960 * a**3 * b**2 * (1 + 12 * total))
    stirling = _stirling(a) * _stirling(b) / _stirling(total)
    slope = a * (x - 1) + b * x
    first = (2 * a**2 * (x - 1) + a * b * (x - 1) - x * b**2) / ((2 * a / b).sqrt() * total**1.5 * slope**2)
    power = (b * (b / (total * (1 - x))).log() + a * (a / (total * x)).log()) ** -1.5
    inner = (8 * a * b / total).sqrt() / slope + torch.where(x < mean, power, -power)
    far = stirling * -x / (2 * a * b / total).sqrt() * (first + 0.5 * (a / (total * x)).log() * inner)
    return torch.where((mean - 0.1 * deviation <= x) & (x <= mean + 0.1 * deviation), near, far)


def _near_the_mean(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    coefficients = (
        47 * x * b**4, (43 + 20 * (16 + 27 * b) * x) * b**3, 3 * (59 + 180 * b - 90 * x) * b**2,
        (453 + 1620 * b * (1 - x) - 455 * x) * b, 8 * (1 - x) * (135 * b - 11),
    )  # fmt: skip
    return _powers(a, coefficients)


def _stirling(a: Tensor) -> Tensor:
    return 1 + 1 / (12 * a) + 1 / (288 * a**2)


def _of_middle_betas(x: Tensor, a: Tensor, b: Tensor) -> Tensor:
    total, u = a + b, x.log()
    v = a.log() - u
    w = total.log() - v
    above, below = (_powers(u, [_powers(v, [_powers(w, each) for each in row]) for row in table]) for table in _BETA)
    return above / below * x * (total.digamma() - a.digamma()) / b


def _powers(x: Tensor, coefficients: Sequence[Tensor | float]) -> Tensor:
    """The polynomial, of which the first coefficient is the constant."""
    *others, made = coefficients
    for coefficient in reversed(others):
        made = made * x + coefficient
    return torch.as_tensor(made)
