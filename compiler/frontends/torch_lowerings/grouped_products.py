"""Products of rows with the matrix of their group, as mixtures of experts have them: the rows lie group by group.

The groups' sizes are data. Few rows take their matrices from the others by number; more are multiplied by all of them, and each keeps
its own.
"""

from __future__ import annotations

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition

_GATHERED = 1
"""Up to so many rows for each group, their matrices are gathered."""


@torch_decomposition("transformers.grouped_mm_fallback")
def grouped_mm(x: Tensor, weights: Tensor, ends: Tensor) -> Tensor:
    """`x`: rows x depth; `weights`: groups x depth x columns; `ends`: where each group of rows ends. Rows behind the last are zeros."""
    group, groups = _groups(x, ends), len(weights)
    if len(x) <= _GATHERED * groups:
        own = torch.where(group < groups, group, 0)
        return torch.where(group[:, None] < groups, (x[:, None] @ weights[own])[:, 0], 0)
    result = torch.zeros(len(x), weights.shape[2], dtype=x.dtype)
    for number in range(groups):
        result = torch.where(group[:, None] == number, x @ weights[number], result)
    return result


@torch_decomposition("transformers.grouped_mm_fallback_backward")
def grouped_mm_backward(x: Tensor, weights: Tensor, ends: Tensor, gradient: Tensor) -> tuple[Tensor, Tensor]:
    group = _groups(x, ends)
    parts = [torch.where(group[:, None] == number, gradient, 0) for number in range(len(weights))]
    of_weights = torch.stack([x.t() @ part for part in parts])
    return grouped_mm(gradient, weights.transpose(1, 2), ends), of_weights


@torch_decomposition("aten._grouped_mm")
def grouped_mm_of_torch(
    x: Tensor, weights: Tensor, offs: Tensor | None = None, bias: Tensor | None = None, out_dtype: torch.dtype | None = None
) -> Tensor:
    """Groups are rows of the one, columns of the other, or parts of the sums; without offsets they are matrices of both."""
    if offs is None:
        result = x @ weights
    elif weights.dim() == 3:
        result = grouped_mm(x, weights, offs)
    elif x.dim() == 3:
        result = grouped_mm(weights.t(), x.transpose(1, 2), offs).t()
    else:
        group = _groups(weights, offs)
        result = torch.stack([x @ torch.where(group[:, None] == number, weights, 0) for number in range(len(offs))])
    return (result if bias is None else result + bias).to(out_dtype or x.dtype)


def _groups(x: Tensor, ends: Tensor) -> Tensor:
    """The number of each row's group."""
    return (torch.arange(len(x))[:, None] >= ends).sum(1)
