"""Nested tensors of torch.jagged: rows of sequences behind each other, and the same with each sequence filled up to one length.

Before: rows of sequences of 2 and 1            After, for 3 a sequence
    [a, b, c], offsets [0, 2, 3]                    [[a, b, 0], [c, 0, 0]]

Declined: several jagged dimensions, and rows whose number depends on the offsets' values.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition


@torch_decomposition("aten._jagged_to_padded_dense_forward")
def filled_up(values: Tensor, offsets: Sequence[Tensor], max_lengths: Sequence[int], padding_value: float = 0.0) -> Tensor:
    """What a sequence has beyond the length is left out."""
    if len(offsets) != 1:
        return NotImplemented
    begins, ends = offsets[0][:-1, None], offsets[0][1:, None]
    shape = [len(begins), max_lengths[0], *values.shape[1:]]
    if not len(values):
        return values.new_full(shape, padding_value)
    places = begins + torch.arange(max_lengths[0], device=values.device)
    rows = values.index_select(0, places.clamp(max=len(values) - 1).reshape(-1)).reshape(shape)
    held = (places < ends).reshape([*shape[:2], *[1] * (values.dim() - 1)])
    return torch.where(held, rows, padding_value)


@torch_decomposition("aten._padded_dense_to_jagged_forward")
def behind_each_other(dense: Tensor, offsets: Sequence[Tensor], total_L: int | None = None) -> Tensor:
    """What a sequence has beyond the length is 0."""
    if len(offsets) != 1 or total_L is None:
        return NotImplemented
    length, flat = dense.shape[1], dense.flatten(0, 1)
    if not len(flat):
        return dense.new_zeros([total_L, *dense.shape[2:]])
    rows = torch.arange(total_L, device=dense.device)
    sequences = torch.bucketize(rows, offsets[0], right=True) - 1
    within = rows - offsets[0].index_select(0, sequences)
    taken = flat.index_select(0, sequences * length + within.clamp(max=length - 1))
    return torch.where((within < length).reshape([-1, *[1] * (flat.dim() - 1)]), taken, 0)
