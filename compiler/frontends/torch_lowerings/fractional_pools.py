"""Max pools over windows that begin at places drawn at random; the draws are operands."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition


@torch_decomposition("aten.fractional_max_pool2d")
def fractional_max_pool2d(x: Tensor, kernel: Sequence[int], output: Sequence[int], samples: Tensor) -> tuple[Tensor, Tensor]:
    """The first draw is that of the last dimension."""
    return _pooled(x, kernel, output, samples.flip(-1), x.dim() - 2)


@torch_decomposition("aten.fractional_max_pool3d")
def fractional_max_pool3d(x: Tensor, kernel: Sequence[int], output: Sequence[int], samples: Tensor) -> tuple[Tensor, Tensor]:
    return _pooled(x, kernel, output, samples, x.dim() - 3)


def _pooled(x: Tensor, kernel: Sequence[int], output: Sequence[int], samples: Tensor, outer: int) -> tuple[Tensor, Tensor]:
    """The largest element of each window and its place in the plane. A window's elements are taken by their places."""
    planes, extents = x.shape[:outer], x.shape[outer:]
    rank = len(extents)
    samples = samples[0] if outer == 1 else samples
    place = torch.full([1] * (outer + 2 * rank), 0, dtype=torch.int64)
    for dim, (size, made, extent) in enumerate(zip(kernel, output, extents)):
        starts = _starts(samples[..., dim], extent, made, size).to(torch.int64)
        within = starts.unsqueeze(-1) + torch.arange(size)
        shape = [1] * (2 * rank)
        shape[dim], shape[rank + dim] = made, size
        place = place * extent + within.reshape(*planes, *shape)
    count = reduce(int.__mul__, kernel)
    place = place.expand(*planes, *output, *kernel).reshape(*planes, -1)
    windows = x.reshape(*planes, -1).gather(-1, place).reshape(*planes, *output, count)
    best = windows.argmax(-1, keepdim=True)
    return windows.amax(-1), place.reshape(windows.shape).gather(-1, best).squeeze(-1)


def _starts(sample: Tensor, extent: int, made: int, size: int) -> Tensor:
    """Where the windows begin: at equal steps from a random start, rounded down; the last one at the end."""
    last = torch.full([*sample.shape, 1], extent - size, dtype=torch.int32)
    if made == 1:
        return last
    step = (extent - size) / (made - 1)
    first = (sample * step).to(torch.int32).unsqueeze(-1)
    steps = ((torch.arange(made - 1) + sample.unsqueeze(-1)) * step).to(torch.int32) - first
    return torch.cat([steps, last], -1)
