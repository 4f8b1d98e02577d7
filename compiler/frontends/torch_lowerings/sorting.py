"""Sorts in torch's order: NaN is greater than anything, zeros are alike, and what is alike stays in order."""

from __future__ import annotations

from typing import Any

import torch
from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering

_FEW = 8
"""So many of the greatest cost less one by one than a sort that stops."""
_STEPS = 1 << 14
"""Elements that are read again, at most: of longer rows a selection reads most but once."""


@torch_lowering("aten.sort.default")
def sort(op: TorchOp, x: ir.Value, dim: int, descending: bool) -> list[ir.Value]:
    return _sorted(op, x, dim, descending)


@torch_lowering("aten.sort.stable")
def stable_sort(op: TorchOp, x: ir.Value, *, stable: bool | None, dim: int, descending: bool) -> list[ir.Value]:
    return _sorted(op, x, dim, descending)


@torch_lowering("aten.topk")
def topk(op: TorchOp, x: ir.Value, k: int, dim: int, largest: bool, sorted: bool) -> list[ir.Value]:
    found = _sorted(op, x, dim, largest)
    return [build.slice_dim(each, dim % len(build.shape_of(x)), 0, k) if build.shape_of(x) else each for each in found]


@torch_decomposition("aten.topk", before_lowering=True)
def few(x: torch.Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> tuple[torch.Tensor, torch.Tensor]:
    """A few of floats are found one by one: the extreme of what was not taken, and its first place."""
    if not 0 < k <= _FEW or not x.dim() or (k - 2) * x.shape[dim] > _STEPS or x.dtype not in (torch.float32, torch.bfloat16, torch.float16):
        return NotImplemented
    extent, shape = x.shape[dim], [1] * x.dim()
    shape[dim] = extent
    places = torch.arange(extent, dtype=torch.int32, device=x.device).reshape(shape)
    keys, taken = _keys(x) if largest else ~_keys(x), []
    for _ in range(k):
        stands = keys == keys.amax(dim, keepdim=True)
        taken.append(torch.where(stands, places, extent).amin(dim, keepdim=True))
        keys = torch.where(places == taken[-1], -(2**31), keys)
    found = torch.cat(taken, dim).to(torch.int64)
    return x.gather(dim, found), found


def _keys(x: torch.Tensor) -> torch.Tensor:
    """Integers in torch's order of floats of up to 32 bits; none, nor its complement, is the least integer."""
    bits = x.float().view(torch.int32)
    ordered = torch.where(x == 0, 0, bits ^ (bits >> 31 & 0x7FFFFFFF))
    return torch.where(x.isnan(), 0x7FFFFFFE, ordered)


@torch_decomposition("aten.kthvalue")
def kthvalue(x: torch.Tensor, k: Any, dim: int = -1, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    values, places = torch.sort(x, dim=dim, stable=True)
    if x.dim() == 0:
        return values, places
    if not isinstance(k, int):  # a size, which may depend on data
        place = torch.full([1], k - 1, dtype=torch.int64, device=x.device)
        found = values.index_select(dim, place), places.index_select(dim, place)
    else:
        found = values.narrow(dim, k - 1, 1), places.narrow(dim, k - 1, 1)
    return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))


@torch_decomposition("aten.median.dim")
def median_along(x: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """The lower of the two in the middle; NaN where there is one."""
    extent = x.shape[dim] if x.dim() else 1
    values, places = kthvalue(x, (extent + 1) // 2, dim, keepdim)
    if not x.is_floating_point():
        return values, places
    last, where = kthvalue(x, extent, dim, keepdim)
    broken = last.isnan()
    return torch.where(broken, last, values), torch.where(broken, where, places)


@torch_decomposition("aten.median.default")
def median(x: torch.Tensor) -> torch.Tensor:
    return median_along(x.reshape(-1), 0)[0]


@torch_decomposition("aten.nanmedian.dim")
def nanmedian_along(x: torch.Tensor, dim: int, keepdim: bool = False) -> tuple[torch.Tensor, torch.Tensor]:
    """The lower of the two in the middle of what is no NaN."""
    if not x.dim() or not x.is_floating_point():
        return median_along(x, dim, keepdim)
    values, places = torch.sort(x, dim=dim, stable=True)
    middle = (((~x.isnan()).sum(dim, keepdim=True) - 1) // 2).clamp(min=0)
    found = values.gather(dim, middle), places.gather(dim, middle)
    return found if keepdim else (found[0].squeeze(dim), found[1].squeeze(dim))


@torch_decomposition("aten.nanmedian.default")
def nanmedian(x: torch.Tensor) -> torch.Tensor:
    return nanmedian_along(x.reshape(-1), 0)[0]


def _sorted(op: TorchOp, x: ir.Value, dim: int, descending: bool) -> list[ir.Value]:
    """The elements in order, and where each came from."""
    shape, rank = build.shape_of(x), len(build.shape_of(x))
    if not rank:
        return [x, build.zero([], op.results[1].element_type)]
    dim %= rank
    direction = "GT" if descending else "LT"
    places = build.iota(shape, op.results[1].element_type, dim)
    return build.sort([x, places], dim, lambda a, b, *_: build.compare(direction, _ordered(a), _ordered(b), total=True))


def _ordered(x: ir.Value) -> ir.Value:
    """A value whose total order is torch's order."""
    element = build.element_of(x)
    if not isinstance(element, ir.FloatType):
        return x
    zero, nan = build.zero([], element), build.splat(x.type, build.scalar(element, float("nan")))
    return build.select(build.compare("NE", x, x), nan, build.select(build.compare("EQ", x, zero), zero, x))
