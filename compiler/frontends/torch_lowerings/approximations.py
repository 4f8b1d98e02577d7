"""How functions of floats are registered that Cephes approximates (cephes.py), and the sums and ratios that it approximates them by."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition


def of_floats(*names: str) -> Callable[[Callable[[Tensor], Tensor]], Callable[[Tensor], Tensor]]:
    """Of functions of floats, to which integers and numbers of 16 bits are converted."""

    def decorate(function: Callable[[Tensor], Tensor]) -> Callable[[Tensor], Tensor]:
        @torch_decomposition(*names)
        def converted(x: Tensor) -> Tensor:
            dtype = x.dtype if x.dtype.is_floating_point else torch.get_default_dtype()
            return function(x.to(torch.float64 if dtype == torch.float64 else torch.float32)).to(dtype)

        return function

    return decorate


def chebyshev(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    before, last, older = torch.zeros_like(x), torch.zeros_like(x), torch.zeros_like(x)
    for coefficient in coefficients:
        before, last, older = last, x * last - before + coefficient, before
    return (last - older) / 2


def polynomial(x: Tensor, coefficients: Sequence[float]) -> Tensor:
    value = torch.full_like(x, coefficients[0])
    for coefficient in coefficients[1:]:
        value = value * x + coefficient
    return value


def ratio(x: Tensor, above: Sequence[float], below: Sequence[float]) -> Tensor:
    return polynomial(x, above) / polynomial(x, below)
