"""Extremes, and their places, as two reductions: the extreme, then the first place where it stands. A NaN is more extreme than a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor
from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering


@torch_lowering("aten.amax")
def amax(op: TorchOp, x: ir.Value, dim: Sequence[int], keepdim: bool) -> ir.Value:
    return _extreme(op, x, dim, "maximum", -1)


@torch_lowering("aten.amin")
def amin(op: TorchOp, x: ir.Value, dim: Sequence[int], keepdim: bool) -> ir.Value:
    return _extreme(op, x, dim, "minimum", 1)


@torch_lowering("aten.max.default")
def whole_max(op: TorchOp, x: ir.Value) -> ir.Value:
    """torch-mlir starts from -1, which is true of i1."""
    return _extreme(op, x, (), "maximum", -1)


@torch_lowering("aten.min.default")
def whole_min(op: TorchOp, x: ir.Value) -> ir.Value:
    return _extreme(op, x, (), "minimum", 1)


def _extreme(op: TorchOp, x: ir.Value, dim: Sequence[int], name: str, sign: int) -> ir.Value:
    rank, element = len(build.shape_of(x)), build.element_of(x)
    dims = [d % rank for d in dim] if rank and dim else list(range(rank))
    start = build.full(build.tensor([], element), build.extreme(element, sign))
    (found,) = build.reduce([x], [start], dims, lambda a, b: [build.elementwise(name, a, b)])
    return build.reshape(found, list(op.result.shape))


@torch_decomposition("aten.argmax")
def argmax(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return _place(x, dim, keepdim, torch.amax)


@torch_decomposition("aten.argmin")
def argmin(x: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    return _place(x, dim, keepdim, torch.amin)


@torch_decomposition("aten.max.dim")
def max_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return torch.amax(x, dim, keepdim), _place(x, dim, keepdim, torch.amax)


@torch_decomposition("aten.min.dim")
def min_along(x: Tensor, dim: int, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    return torch.amin(x, dim, keepdim), _place(x, dim, keepdim, torch.amin)


def _place(x: Tensor, dim: int | None, keepdim: bool, extreme: Callable[..., Tensor]) -> Tensor:
    """The first place along `dim` (None: of all elements in order) where the extreme stands."""
    if dim is None:
        first = _place(x.reshape(-1), 0, False, extreme)
        return first.reshape([1] * x.dim()) if keepdim else first
    if not x.dim():
        return torch.zeros((), dtype=torch.int64, device=x.device)
    extent, shape = x.shape[dim], [1] * x.dim()
    shape[dim] = extent
    stands = x == extreme(x, dim, True)
    if x.is_floating_point():
        stands = stands | x.isnan()
    places = torch.arange(extent, dtype=torch.int32 if extent < 1 << 31 else torch.int64, device=x.device).reshape(shape)
    return torch.where(stands, places, extent).amin(dim, keepdim).to(torch.int64)
