"""Places in sorted rows: few bounds are all compared, many are searched by halves, all values at once."""

from __future__ import annotations

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition

_COMPARED = 16
"""So many bounds are compared one by one: as many comparisons as the steps of a search, and no reads at computed places."""


@torch_decomposition("aten.bucketize.Tensor")
def bucketize(x: Tensor, bounds: Tensor, *, out_int32: bool = False, right: bool = False) -> Tensor:
    return _searched(bounds, x, right, torch.int32 if out_int32 else torch.int64)


@torch_decomposition("aten.searchsorted.Tensor")
def searchsorted(
    bounds: Tensor, x: Tensor, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Tensor | None = None
) -> Tensor:
    if sorter is not None:
        bounds = bounds.gather(-1, sorter)
    return _searched(bounds, x, right or side == "right", torch.int32 if out_int32 else torch.int64)


@torch_decomposition("aten.searchsorted.Scalar")
def searchsorted_scalar(
    bounds: Tensor, x: float, *, out_int32: bool = False, right: bool = False, side: str | None = None, sorter: Tensor | None = None
) -> Tensor:
    value = torch.full([], x, dtype=bounds.dtype)
    return searchsorted(bounds, value, out_int32=out_int32, right=right, side=side, sorter=sorter)


def _searched(bounds: Tensor, x: Tensor, right: bool, dtype: torch.dtype) -> Tensor:
    """How many bounds stand before each value; behind all of them stands what compares with none, a NaN."""
    count = bounds.shape[-1]
    kind = torch.promote_types(bounds.dtype, x.dtype)
    bounds, x = bounds.to(kind), x.to(kind)
    if not count or not x.numel():
        return torch.full(x.shape, 0, dtype=dtype)
    flat = bounds.dim() == 1
    values = x.reshape(-1) if flat else x

    def behind(bound: Tensor) -> Tensor:
        return ~(bound > values if right else bound >= values)

    if count <= _COMPARED:
        each = bounds.unbind(-1)
        found = torch.stack([behind(b if flat else b.unsqueeze(-1)).to(torch.int32) for b in each]).sum(0)
        return found.reshape(x.shape).to(dtype)
    found = torch.full(values.shape, 0, dtype=torch.int32)
    for step in (1 << bit for bit in reversed(range(count.bit_length()))):
        last = (found + (step - 1)).clamp(max=count - 1).to(torch.int64)
        bound = bounds.index_select(0, last) if flat else bounds.gather(-1, last)
        found = torch.where(behind(bound) & (found + step <= count), found + step, found)
    return found.reshape(x.shape).to(dtype)
