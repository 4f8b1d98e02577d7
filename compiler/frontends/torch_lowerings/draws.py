"""Draws of places by their weights (`torch.multinomial`), as a race of exponentials, or at points of the weights' sums."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition
from .searches import searchsorted


@torch_decomposition("aten.multinomial")
def multinomial(weights: Tensor, count: int, replacement: bool = False, *, generator: Any = None) -> Tensor:
    """One draw, and draws of which none comes twice: who comes first where each place arrives at its weight's rate."""
    if replacement and count > 1:
        return _at_points(weights.to(torch.float64), count)
    weights = weights.to(torch.promote_types(weights.dtype, torch.float32))
    early = weights / torch.ops.aten.exponential.default(weights)
    return early.argmax(-1, keepdim=True) if count == 1 else early.topk(count).indices


def _at_points(weights: Tensor, count: int) -> Tensor:
    """The place whose part of the sum a point lies in. A point that was rounded up to the sum is another one, in the first part."""
    ends = weights.cumsum(-1)
    points = torch.rand([*weights.shape[:-1], count], dtype=torch.float64) * ends[..., -1:]
    return searchsorted(ends, torch.where(points < ends[..., -1:], points, 0.0), right=True)
