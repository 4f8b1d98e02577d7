"""Running products, maxima and minima, in log2(n) steps: each combines an element with the one 1, 2, 4, … places before."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition


@torch_decomposition("aten.cumprod")
def cumprod(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    if dtype is None:
        dtype = x.dtype if x.dtype.is_floating_point or x.dtype.is_complex else torch.int64
    wide = torch.float32 if dtype in (torch.bfloat16, torch.float16) else dtype
    (made,) = _scan((x.to(dtype).to(wide),), dim, lambda before, now: (before[0] * now[0],))
    return made.to(dtype)


@torch_decomposition("aten.cummax")
def cummax(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    return _running(x, dim, torch.ge)


@torch_decomposition("aten.cummin")
def cummin(x: Tensor, dim: int) -> tuple[Tensor, Tensor]:
    return _running(x, dim, torch.le)


def _running(x: Tensor, dim: int, better: Callable[[Tensor, Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """The best element so far and its index. Of equal elements the last is the best; a NaN is better than all before it."""
    if x.dim() == 0:
        return x.clone(), torch.zeros_like(x, dtype=torch.int64)
    shape = [1] * x.dim()
    shape[dim] = -1
    places = torch.arange(x.shape[dim], device=x.device).reshape(shape).expand(x.shape)

    def combine(before: tuple[Tensor, ...], now: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        takes = better(now[0], before[0])
        if x.dtype.is_floating_point:
            takes = takes & ~before[0].isnan() | now[0].isnan()
        return torch.where(takes, now[0], before[0]), torch.where(takes, now[1], before[1])

    values, indices = _scan((x, places), dim, combine)
    return values, indices


def _scan(
    values: tuple[Tensor, ...], dim: int, combine: Callable[[tuple[Tensor, ...], tuple[Tensor, ...]], tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    if values[0].dim() == 0:
        return values
    length, step = values[0].shape[dim], 1
    while step < length:
        before = tuple(value.narrow(dim, 0, length - step) for value in values)
        now = tuple(value.narrow(dim, step, length - step) for value in values)
        first = (value.narrow(dim, 0, step) for value in values)
        values = tuple(torch.cat(pair, dim) for pair in zip(first, combine(before, now)))
        step *= 2
    return values
