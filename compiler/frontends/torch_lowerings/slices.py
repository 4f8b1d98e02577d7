"""Slices and stacks: those of no elements, which torch-mlir gives other shapes or leaves, and slices that are written to."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering


@torch_lowering("aten.slice.Tensor")
def slice_(op: TorchOp, x: ir.Value, dim: int, start: int | None, end: int | None, step: int) -> ir.Value:
    if 0 in op.result.shape:
        return build.zero(list(op.result.shape), op.element)
    return NotImplemented


@torch_lowering("aten.alias_copy")
def alias_copy(op: TorchOp, x: ir.Value) -> ir.Value:
    """Torch-mlir's decomposition is an alias, which no graph of a scan may give: it stays an op."""
    return x


@torch_decomposition("aten.stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    return torch.cat([tensor.unsqueeze(dim) for tensor in tensors], dim)


@torch_decomposition("aten.slice_scatter")
def slice_scatter(x: Tensor, source: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1) -> Tensor:
    """What stands before, the source, what stands behind, in x's order in memory: what is written to may be a transposed view. Torch-mlir's
    scatter of indices takes all memory where there are many."""
    dims = range(x.ndim)
    order = sorted(dims, key=lambda each: -x.stride()[each])
    if order != list(dims):
        back = sorted(dims, key=order.__getitem__)
        return slice_scatter(x.permute(order), source.permute(order), order.index(dim % x.ndim), start, end, step).permute(back)
    first = slice(start, end).indices(x.shape[dim])[0]
    behind = first + source.shape[dim]
    if step != 1:
        return decomposition_table[torch.ops.aten.slice_scatter.default](x, source, dim, start, end, step)
    if not source.numel():
        return x.clone()
    return torch.cat([x.narrow(dim, 0, first), source.to(x.dtype), x.narrow(dim, behind, x.shape[dim] - behind)], dim)


@torch_decomposition("aten.select_scatter")
def select_scatter(x: Tensor, source: Tensor, dim: int, index: int) -> Tensor:
    """A slice of one; torch's decomposition asks of each element whether it is there."""
    start = index % x.shape[dim]
    return slice_scatter(x, source.unsqueeze(dim), dim, start, start + 1)
