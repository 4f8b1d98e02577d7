"""What is selected by place: elements that hold, as many as are asked for; elements together with others; writes at places of
a row, and where a mask is set."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor
from torch_mlir import ir

from hloom.passes.stablehlo.support import build, constants

from ..torch_registry import TorchOp, torch_decomposition, torch_differentiated, torch_lowering
from .indexing import counted_from_0
from .scatters import combined
from .strided import laid_like


@torch_decomposition("aten.nonzero_static")
def nonzero_static(x: Tensor, *, size: int, fill_value: int = -1) -> Tensor:
    """Each element that is not zero is written at its number among them; behind the last place lies what nobody asks for."""
    holds = (x != 0).reshape(-1)
    count = holds.numel()
    if not count or not x.dim():
        return torch.full([size, x.dim()], fill_value, dtype=torch.int64)
    number = torch.where(holds, holds.cumsum(0) - 1, size).clamp(max=size)
    places = torch.full([size + 1], 0, dtype=torch.int64).scatter(0, number, torch.arange(count))[:size]
    columns, stride = [], count
    for extent in x.shape:
        stride //= extent
        columns.append(places // stride % extent)
    found = (torch.arange(size) < holds.sum()).unsqueeze(1)
    return torch.where(found, torch.stack(columns, 1), fill_value)


@torch_decomposition("aten.combinations", for_shapes=True)
def combinations_by_constants(x: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """The places are known when tracing; torch decomposes into no constants, so that the lowering goes before."""
    places = torch.tensor(_places(len(x), r, with_replacement), dtype=torch.int64)
    return x.index_select(0, places.reshape(-1)).reshape(-1, r)


@torch_lowering("aten.combinations")
def combinations(op: TorchOp, x: ir.Value, r: int = 2, with_replacement: bool = False) -> ir.Value:
    if not all(op.result.shape):
        return build.zero(list(op.result.shape), op.element)
    chosen = np.array(_places(build.count_of(x), r, with_replacement), np.int32)
    return build.take(x, 0, constants.write(chosen, build.tensor(chosen.shape, ir.IntegerType.get_signless(32))))


def _places(count: int, r: int, with_replacement: bool) -> list[tuple[int, ...]]:
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    return list(choose(range(count), r))


@torch_decomposition("aten.put")
def put(x: Tensor, places: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Places count from the end where they are negative."""
    places = places.reshape(-1)
    places = torch.where(places < 0, places + x.numel(), places)
    return laid_like(x.reshape(-1).index_put((places,), source.reshape(-1), accumulate).reshape(x.shape), x)


@torch_decomposition("aten.index_put")
def index_put(x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """torch-mlir takes negative indices as they are, and a scatter then writes nothing."""
    if (made := put_where_set(x, indices, values, accumulate)) is not NotImplemented:
        return made
    if any(each is not None and each.dtype in (torch.bool, torch.uint8) for each in indices):
        return NotImplemented
    places = [each if each is None else counted_from_0(each, x.shape[dim]) for dim, each in enumerate(indices)]
    return torch.ops.aten._unsafe_index_put(x, places, values, accumulate)


@torch_lowering("aten._unsafe_index_put")
def unsafe_index_put(op: TorchOp, x: ir.Value, indices: Sequence[ir.Value | None], values: ir.Value, accumulate: bool = False) -> ir.Value:
    """No index is negative. What it moves over, if that lies together, stands in the values where it stood, else first."""
    moved = [dim for dim, each in enumerate(indices) if each is not None]
    found = [each for each in indices if each is not None]
    if any(not isinstance(build.element_of(each), ir.IntegerType) or build.element_of(each).width == 1 for each in found):
        return NotImplemented
    shape = build.shape_of(x)
    at = list(np.broadcast_shapes(*(tuple(build.shape_of(each)) for each in found)))
    kept = [dim for dim in range(len(shape)) if dim not in moved]
    first = moved[0] if moved[-1] - moved[0] < len(moved) else 0
    rest = [shape[dim] for dim in kept]
    values = build.broadcast_to(values, [*rest[:first], *at, *rest[first:]])
    places = [build.convert(build.broadcast_to(each, at), ir.IntegerType.get_signless(64)) for each in found]
    combine = "add" if accumulate else None
    return combined(combine, x, values, lambda x, values: build.put(x, moved, places, values, first, combine))


@torch_differentiated("aten.index_put")
def put_where_set(x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """x[mask] = value is a choice of elements. Values that are not one for all go in order where the mask is set."""
    mask, dim = _mask_of(x, indices)
    if mask is None:
        return NotImplemented
    behind = x.dim() - dim - mask.dim()
    if (at := values.dim() - behind - 1) >= 0:  # a dimension of the values lists what is chosen
        before, count, after = values.shape[:at], values.shape[at], values.shape[at + 1 :]
        if not isinstance(count, int):  # as many as another mask chooses
            return NotImplemented
        if not count:
            return x.clone()
        if count > 1:
            values = values.index_select(at, (mask.reshape(-1).cumsum(0) - 1).clamp(0, count - 1))
        values = values.reshape(*before, *(mask.shape if count > 1 else [1] * mask.dim()), *after)
    return laid_like(torch.where(mask.reshape(*mask.shape, *[1] * behind), x + values if accumulate else values, x), x)


@torch_differentiated("aten.index_put_")
def index_put_in_place(x: Tensor, indices: Sequence[Tensor | None], values: Tensor, accumulate: bool = False) -> Tensor:
    """The same. Autograd would read the values' gradients where the mask is set, as many as there are."""
    made = put_where_set(x, indices, values, accumulate)
    return made if made is NotImplemented else x.copy_(made)


def _mask_of(x: Tensor, indices: Sequence[Tensor | None]) -> tuple[Tensor | None, int]:
    """What the indices choose as a mask over dimensions that lie together, and the first of these. None where no index is a mask, or one
    is of several places."""
    chosen, first, dim = None, 0, 0
    for each in indices:
        if each is None:
            dim += 1
            continue
        is_mask = each.dtype == torch.bool
        if not is_mask and each.numel() != 1:
            return None, 0
        mask = each if is_mask else torch.arange(x.shape[dim]) == torch.remainder(each.reshape(1), x.shape[dim])
        if chosen is None:
            chosen, first = mask, dim
        elif dim != first + chosen.dim():
            return None, 0
        else:
            chosen = chosen.reshape(*chosen.shape, *[1] * mask.dim()) & mask
        dim += mask.dim()
    return (chosen if any(each is not None and each.dtype == torch.bool for each in indices) else None), first
