"""Distinct elements and rows: what differs from the one before it, in order. How many these are depends on data (torch_selections.py)."""

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
    found, inverse, counts = _distinct(values, _differs(values))
    return found, torch.empty_like(inverse).scatter(0, order, inverse).reshape(x.shape), counts


@torch_decomposition("aten.unique_dim")
def unique_dim(x: Tensor, dim: int, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> _Found:
    if not x.numel() or x.is_complex():
        return NotImplemented
    ranks = _ranks(x.movedim(dim, 0).flatten(1))
    ordered, order = torch.sort(ranks, stable=True)
    found, inverse, counts = _distinct(x.index_select(dim, order), _differs(ordered), dim)
    return found, torch.empty_like(inverse).scatter(0, order, inverse), counts


@torch_decomposition("aten.unique_consecutive")
def unique_consecutive(x: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None) -> _Found:
    if not x.numel():
        return NotImplemented
    if dim is None:
        found, inverse, counts = _distinct(x.reshape(-1), _differs(x.reshape(-1)))
        return found, inverse.reshape(x.shape), counts
    return _distinct(x, _differs(x.movedim(dim, 0)), dim)


def _ranks(rows: Tensor) -> Tensor:
    """Of each row how many distinct ones stand before it in the order of their first unlike elements: i64[rows].

    The ranks of columns, and of those of two neighbours the rank of the pair, until one is left: log2 of the columns sorts, each of half
    as many lines as the one before.
    """
    ranks = _dense(rows.T)
    while len(ranks) > 1:
        if len(ranks) % 2:
            ranks = torch.cat([ranks, torch.zeros_like(ranks[:1])])
        ranks = _dense(ranks[::2] * len(rows) + ranks[1::2])
    return ranks[0]


def _dense(columns: Tensor) -> Tensor:
    """Of each element how many distinct ones of its line are smaller: i64."""
    values, order = torch.sort(columns, stable=True)
    differs = torch.nn.functional.pad(values[:, 1:] != values[:, :-1], (1, 0))
    numbers = differs.to(torch.int64).cumsum(1)
    return torch.empty_like(numbers).scatter(1, order, numbers)


def _differs(rows: Tensor) -> Tensor:
    """Which rows are not as the one before: bool[rows]."""
    differs = rows[1:] != rows[:-1]
    differs = differs.flatten(1).any(1) if rows.dim() > 1 else differs
    return torch.cat([differs.new_ones(1), differs])


def _distinct(x: Tensor, is_first: Tensor, dim: int = 0) -> _Found:
    """Rows that differ from the one before, of each row the number of its own, and how many are the same."""
    numbers = is_first.to(torch.int64).cumsum(0) - 1
    counts = torch.zeros_like(numbers).index_add(0, numbers, torch.ones_like(numbers))
    return x.movedim(dim, 0)[is_first].movedim(0, dim), numbers, counts[numbers][is_first]
