"""Views by strides: the places that are read are known when compiling, so they are gathers."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import torch
from torch import Tensor
from torch._prims_common import compute_elementwise_output_logical_to_physical_perm
from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering


def laid_like(x: Tensor, other: Tensor) -> Tensor:
    """The same values in memory as torch.empty_like(other) lies. Of another order, views that eager PyTorch takes of a result fail."""
    return laid_in(x, order_of(other))


def order_of(x: Tensor) -> list[int]:
    """The order of the dimensions of torch.empty_like(x) in memory."""
    return compute_elementwise_output_logical_to_physical_perm(x)[0]


def laid_in(x: Tensor, order: list[int]) -> Tensor:
    return x.permute(order).contiguous().permute([order.index(d) for d in range(x.dim())])


@torch_decomposition("aten.as_strided", "aten.as_strided_copy")
def as_strided(x: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    if not storage_offset and x.is_contiguous() and _is_row_major(x.numel(), size, stride):
        return x.reshape(size)
    stored = _as_stored(x)
    if stored is None:
        return NotImplemented  # elements of the operand's memory that are not its own
    places = torch.full([1] * len(size), storage_offset or 0, dtype=torch.int64)
    for dimension, (extent, step) in enumerate(zip(size, stride)):
        shape = [extent if d == dimension else 1 for d in range(len(size))]
        places = places + torch.arange(extent).reshape(shape) * step
    return stored.index_select(0, places.reshape(-1)).reshape(size)


@torch_decomposition("aten.as_strided_scatter")
def as_strided_scatter(x: Tensor, source: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None) -> Tensor:
    """Each place of x finds the element of the source that is written there, from the largest stride to the smallest."""
    if 0 in size:
        return x.clone()
    if not x.is_contiguous():
        return NotImplemented
    order = sorted((d for d in range(len(size)) if size[d] > 1), key=lambda d: stride[d])
    reach = 0
    for dimension in order:
        if stride[dimension] <= reach:
            return NotImplemented  # several elements may lie at one place
        reach += (size[dimension] - 1) * stride[dimension]
    rest = torch.arange(x.numel()) - (storage_offset or 0)
    number, written = torch.zeros_like(rest), rest >= 0
    for dimension in reversed(order):
        at = rest.clamp_min(0).div(stride[dimension], rounding_mode="trunc").clamp_max(size[dimension] - 1)
        rest = rest - at * stride[dimension]
        number = number + at * prod(size[dimension + 1 :])
    written = written & (rest == 0)
    made = torch.where(written, source.reshape(-1).index_select(0, number), x.reshape(-1))
    return made.reshape(x.shape)


def _is_row_major(count: int, size: Sequence[int], stride: Sequence[int]) -> bool:
    steps = [prod(size[d + 1 :]) for d in range(len(size))]
    return prod(size) == count and all(n == 1 or step == wanted for n, step, wanted in zip(size, stride, steps))


def _as_stored(x: Tensor) -> Tensor | None:
    """The elements in the order in which they lie in memory; None of a view that skips some."""
    order = sorted(range(x.dim()), key=x.stride, reverse=True)
    dense = x.permute(order)
    if x.storage_offset() or not dense.is_contiguous():
        return None
    return dense.reshape(-1)


@torch_lowering("aten.view_copy.default")
def view_copy(op: TorchOp, x: ir.Value, size: Sequence[int]) -> ir.Value:
    return build.reshape(x, op.result.shape)


@torch_lowering("aten.view.dtype", "aten.view_copy.dtype")
def view_as_type(op: TorchOp, x: ir.Value, dtype: torch.dtype) -> ir.Value:
    """The bits of the elements as those of another type; the last extent shrinks or grows as it is wider or narrower."""
    old, new = (getattr(element, "width", 1) for element in (build.element_of(x), op.element))  # a complex type has none
    if 1 in (old, new):
        raise op.refused("bits of bool and complex numbers are not read as another type")
    shape = build.shape_of(x)
    if new > old:
        shape = [*shape[:-1], shape[-1] * old // new]
        x = build.reshape(x, [*shape, new // old])
    narrower = [old // new] if old > new else []
    return build.reshape(build.bitcast(x, build.tensor([*shape, *narrower], op.element)), op.result.shape)
