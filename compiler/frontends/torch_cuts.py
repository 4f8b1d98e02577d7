"""The first rows of an array of all places, of which so many count (torch_sized_results.py)."""

from __future__ import annotations

from collections.abc import Sequence

import torch


def cut(x: torch.Tensor, dims: Sequence[int], counts: Sequence[int], order: Sequence[int], shares: bool) -> torch.Tensor:
    """So many rows along each of the dimensions, dense, which lie in memory in that order; in their own where it is empty.

    A view of x where they lie so there, and it `shares` its memory.
    """
    for dim, count in zip(dims, counts):
        x = x.narrow(dim, 0, count)
    lies = x.permute(*order) if order else x
    if shares and lies.is_contiguous() and x.numel():  # of nothing a program's strides are 0, eager's are not
        return x
    lies = lies.clone(memory_format=torch.contiguous_format)
    return lies.permute(inverse(order)) if order else lies


def inverse(order: Sequence[int]) -> list[int]:
    """The permutation that takes one back."""
    return sorted(range(len(order)), key=order.__getitem__)
