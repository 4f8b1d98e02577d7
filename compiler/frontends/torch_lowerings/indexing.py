"""Reads at indices, and writes at places that are known when compiling: a write is a choice between old elements and new ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce

import numpy as np
import torch
from torch import Tensor
from torch.utils._python_dispatch import _disable_current_modes
from torch_mlir import ir

from hloom.passes.stablehlo.support import build, constants

from ..torch_registry import TorchOp, torch_decomposition, torch_differentiated, torch_lowering
from .strided import laid_in, laid_like, order_of


@torch_decomposition("aten.index.Tensor")
def index(x: Tensor, indices: Sequence[Tensor | None]) -> Tensor:
    """x[…, i, j, …] as one selection from the indexed dimensions, merged. Where they lie apart, those of the indices come first.

    torch-mlir takes negative indices as they are, and a gather then clamps them to 0.
    """
    dims = [dim for dim, places in enumerate(indices) if places is not None]
    found = [places for places in indices if places is not None]
    if not dims or any(places.dtype in (torch.bool, torch.uint8) for places in found):
        return NotImplemented
    whole, first, last = x, dims[0], dims[-1] + 1
    if last - first != len(dims):
        rest = [dim for dim in range(x.dim()) if dim not in dims]
        x, first, last = x.permute(*dims, *rest), 0, len(dims)
    sizes = x.shape[first:last]
    places = torch.broadcast_tensors(*(counted_from_0(each, size) for each, size in zip(found, sizes)))
    merged = reduce(lambda sum, each: sum * each[1] + each[0], zip(places[1:], sizes[1:]), places[0])
    flat = x.reshape(*x.shape[:first], math.prod(sizes), *x.shape[last:])
    made = flat.index_select(first, merged.reshape(-1)).reshape((*x.shape[:first], *merged.shape, *x.shape[last:]))
    return made if whole.is_contiguous() else laid_in(made, _order_of_result(whole, indices))


def _order_of_result(x: Tensor, indices: Sequence[Tensor | None]) -> list[int]:
    """How eager PyTorch's result lies: it keeps the order of the dimensions that are not indexed. The trace that goes on does not know open
    sizes of what is made beside it."""
    with _disable_current_modes():
        values = torch.empty_strided(x.shape, x.stride(), device="meta")
        places = [None if each is None else torch.empty(each.shape, dtype=each.dtype, device="meta") for each in indices]
        return order_of(torch.ops.aten.index.Tensor(values, places))


def counted_from_0(places: Tensor, size: int) -> Tensor:
    places = places.to(torch.int64)
    return torch.where(places < 0, places + size, places)


def segments_of(rows: int, ends: Tensor) -> Tensor:
    """The number of each row's segment: of how many it lies behind. Each row is compared with all ends, so they should be few."""
    return (torch.arange(rows).unsqueeze(1) >= ends).sum(1)


@torch_decomposition("aten.take")
def take(x: Tensor, places: Tensor) -> Tensor:
    return index(x.reshape(-1), [places])


@torch_differentiated("aten.index_fill.int_Tensor")  # autograd asks which places differ, as many as there are
@torch_decomposition("aten.index_fill")
def index_fill(x: Tensor, dim: int, places: Tensor, value: Tensor | float) -> Tensor:
    if x.dim() == 0:
        return index_fill(x.reshape(1), 0, places, value).reshape(())
    chosen = (counted_from_0(places.reshape(-1, 1), x.shape[dim]) == torch.arange(x.shape[dim])).any(0)
    return torch.where(_along(chosen, x, dim), value, x).to(x.dtype)


@torch_differentiated("aten.index_fill_.int_Tensor")
def index_fill_in_place(x: Tensor, dim: int, places: Tensor, value: Tensor) -> Tensor:
    return x.copy_(index_fill(x, dim, places, value))


@torch_decomposition("aten.masked_scatter_backward")
def masked_scatter_backward(gradient: Tensor, mask: Tensor, sizes: Sequence[int]) -> Tensor:
    """Of the source: its elements went in order where the mask is set, those behind them nowhere."""
    count = math.prod(sizes)
    mask = mask.expand(gradient.shape).reshape(-1)
    places = torch.where(mask, mask.cumsum(0) - 1, count)
    return torch.zeros([count + 1], dtype=gradient.dtype).scatter(0, places, gradient.reshape(-1))[:count].reshape(sizes)


@torch_decomposition("aten.roll")
def roll(x: Tensor, shifts: Sequence[int], dims: Sequence[int] = ()) -> Tensor:
    """Without dimensions, of the elements in a row."""
    if not dims:
        return roll(x.reshape(-1), shifts, [0]).reshape(x.shape)
    for shift, dim in zip(shifts, dims):
        if x.dim() and (by := shift % max(x.shape[dim], 1)):
            kept = x.shape[dim] - by
            x = torch.cat([x.narrow(dim, kept, by), x.narrow(dim, 0, kept)], dim)
    return x.clone()


@torch_lowering("aten.unfold", "aten.unfold_copy")
def unfold(op: TorchOp, x: ir.Value, dim: int, size: int, step: int) -> ir.Value:
    """Windows along `dim`, whose own elements are a last dimension. One place is looked up for each window, none where they tile."""
    shape = build.shape_of(x)
    if not shape or 0 in op.result.shape:
        return build.reshape(x, list(op.result.shape)) if math.prod(op.result.shape) else build.zero(list(op.result.shape), op.element)
    dim %= len(shape)
    count = op.result.shape[dim]
    if size == step:
        windows = build.reshape(build.slice_dim(x, dim, 0, count * size), [*shape[:dim], count, size, *shape[dim + 1 :]])
    else:
        starts = constants.write(np.arange(count, dtype=np.int32) * step, build.tensor([count], ir.IntegerType.get_signless(32)))
        windows = build.windows(x, dim, starts, size)
    rest = [d for d in range(len(shape) + 1) if d != dim + 1]
    return build.transpose(windows, [*rest, dim + 1])


@torch_decomposition("aten.diagonal", "aten.diagonal_copy")
def diagonal(x: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The elements whose place in dim2 is that in dim1 and `offset`: a last dimension."""
    x = x.movedim((dim1, dim2), (-2, -1))
    rows, columns = x.shape[-2:]
    first = max(-offset, 0)
    count = max(min(rows - first, columns - max(offset, 0)), 0)
    places = (torch.arange(count) + first) * (columns + 1) + offset
    return x.reshape(*x.shape[:-2], rows * columns).index_select(-1, places)


@torch_decomposition("aten.trace")
def trace(x: Tensor) -> Tensor:
    return diagonal(x).sum()


@torch_decomposition("aten.diagonal_scatter")
def diagonal_scatter(x: Tensor, source: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    turned = x.movedim((dim1, dim2), (-2, -1))
    rows, columns = (torch.arange(size) for size in turned.shape[-2:])
    if source.numel() == 0:
        return x.clone()
    spread = source.index_select(-1, (rows - max(-offset, 0)).clamp(0, source.shape[-1] - 1)).unsqueeze(-1)
    made = torch.where(rows.unsqueeze(-1) + offset == columns, spread, turned)
    return laid_like(made.movedim((-2, -1), (dim1, dim2)), x)


@torch_decomposition("aten.block_diag")
def block_diag(blocks: Sequence[Tensor]) -> Tensor:
    blocks = [torch.atleast_2d(block) for block in blocks]
    dtype = reduce(torch.promote_types, (block.dtype for block in blocks))
    width, before, rows = sum(block.shape[1] for block in blocks), 0, []
    for block in blocks:
        after = width - before - block.shape[1]
        rows.append(torch.nn.functional.pad(block.to(dtype), (before, after)))
        before += block.shape[1]
    return torch.cat(rows)


def _along(mask: Tensor, x: Tensor, dim: int) -> Tensor:
    shape = [1] * x.dim()
    shape[dim] = -1
    return mask.reshape(shape)
