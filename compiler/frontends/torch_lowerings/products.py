"""Products of tensors of which it depends on data how many elements they have."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..torch_registry import depends_on_data, torch_differentiated


@torch_differentiated("aten.prod.default", "aten.prod.dim_int")
def prod_of_data(x: Tensor, dim: int | None = None, keepdim: bool = False, *, dtype: torch.dtype | None = None) -> Tensor:
    """Torch's formula for the gradient asks whether there are any elements."""
    if not depends_on_data(x):
        return NotImplemented
    typed = x if dtype is None else x.to(dtype)
    if dim is None:
        return _Product.apply(typed, None)
    whole = _Product.apply(typed, dim)
    return whole if keepdim else whole.squeeze(dim)


class _Product(torch.autograd.Function):
    """Of all elements, or along a dimension, which stays."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int | None) -> Tensor:
        ctx.dim = dim
        ctx.save_for_backward(x)
        return x.prod() if dim is None else x.prod(dim, keepdim=True)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        """By the product of the others: of one zero among them it is zero, and of the only zero the product of all others."""
        ((x,), dim), (gradient,) = (ctx.saved_tensors, ctx.dim), gradients
        is_zero = x == 0
        others = torch.where(is_zero, 1, x)
        zeros, whole = (is_zero.sum(), others.prod()) if dim is None else (is_zero.sum(dim, keepdim=True), others.prod(dim, keepdim=True))
        slope = torch.where(is_zero, torch.where(zeros == 1, whole, 0), torch.where(zeros == 0, whole / others, 0))
        return gradient * slope.conj(), None
