"""Distinct elements: what differs from the one before it, in order. How many these are depends on data (torch_selections.py)."""

from __future__ import annotations

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition

_Found = tuple[Tensor, Tensor, Tensor]


@torch_decomposition("aten._unique2")
def unique(x: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> _Found:
    if not x.numel() or x.is_complex():
        return NotImplemented
    values, order = torch.sort(x.reshape(-1), stable=True)
    found, inverse, counts = _distinct(values)
    return found, torch.empty_like(inverse).scatter(0, order, inverse).reshape(x.shape), counts


@torch_decomposition("aten.unique_consecutive")
def unique_consecutive(x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> _Found:
    if not x.numel() or (dim is not None and x.dim() != 1):
        return NotImplemented
    found, inverse, counts = _distinct(x.reshape(-1))
    return found, inverse.reshape(x.shape), counts


def _distinct(values: Tensor) -> _Found:
    """Elements that differ from the one before, of each the number of its own, and how many are the same."""
    is_first = torch.cat([torch.ones_like(values[:1], dtype=torch.bool), values[1:] != values[:-1]])
    numbers = is_first.to(torch.int64).cumsum(0) - 1
    counts = torch.zeros_like(numbers).index_add(0, numbers, torch.ones_like(numbers))
    return values[is_first], numbers, counts[numbers][is_first]
