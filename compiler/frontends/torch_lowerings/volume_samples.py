"""Samples of a volume at computed places, and the grids of such places that affine maps make."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from itertools import product

import torch
from torch import Tensor

from ..torch_registry import torch_decomposition, torch_differentiated

_LINEAR, _NEAREST = 0, 1
_BORDER, _REFLECTION = 1, 2


@torch_differentiated("aten.grid_sampler_3d")
@torch_decomposition("aten.grid_sampler_3d")
def grid_sampler_3d(x: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool) -> Tensor:
    """Of the eight corners around each place, weighted by the volume that lies opposite; outside of the volume is nothing."""
    extents = x.shape[2:]
    at = [_place(grid[..., 2 - dim], extent, padding, align_corners) for dim, extent in enumerate(extents)]
    volume = x.reshape(*x.shape[:2], -1)

    def taken(corner: Sequence[Tensor]) -> Tensor:
        inside, place = torch.full([], 1) != 0, torch.full([], 0, dtype=torch.int64)
        for part, extent in zip(corner, extents):
            inside = inside & (part >= 0) & (part < extent)
            place = place * extent + part.clamp(0, extent - 1).nan_to_num().to(torch.int64)
        flat = place.reshape(len(x), 1, -1).expand(-1, x.shape[1], -1)
        return torch.where(inside.unsqueeze(1), volume.gather(2, flat).reshape(*x.shape[:2], *grid.shape[1:4]), 0)

    if interpolation == _NEAREST:
        return taken([part.round() for part in at])
    low = [part.floor() for part in at]
    corners = []
    for sides in product((0, 1), repeat=3):
        shares = [part - below if side else below + 1 - part for side, part, below in zip(sides, at, low)]
        weight = reduce(torch.mul, shares).unsqueeze(1)
        corners.append(taken([below + side for below, side in zip(low, sides)]) * weight)
    return reduce(torch.add, corners)


def _place(at: Tensor, extent: int, padding: int, align_corners: bool) -> Tensor:
    """A place from -1 to 1 as one among the elements, by the padding."""
    at = (at + 1) / 2 * (extent - 1) if align_corners else ((at + 1) * extent - 1) / 2
    if padding == _REFLECTION:
        least, span = (0.0, extent - 1) if align_corners else (-0.5, extent)
        if span == 0:
            return torch.zeros_like(at)
        beyond = (at - least).abs()
        rest, turns = beyond.fmod(span), (beyond / span).floor()
        at = torch.where(turns % 2 == 0, rest + least, span - rest + least)
    if padding in (_BORDER, _REFLECTION):
        at = at.clamp(0, extent - 1)
    return at


@torch_differentiated("aten.affine_grid_generator")
@torch_decomposition("aten.affine_grid_generator")
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool) -> Tensor:
    """The places of a plane or a volume, from -1 to 1 along each dimension and 1 behind them, times each map."""
    extents = size[2:]
    columns = []
    for dim, extent in reversed(list(enumerate(extents))):
        row = _row(extent, align_corners, theta.dtype)
        columns.append(row.reshape([-1 if d == dim else 1 for d in range(len(extents))]).expand(extents))
    columns.append(torch.full(extents, 1.0, dtype=theta.dtype))
    places = torch.stack(columns, -1).reshape(1, -1, len(columns)).expand(size[0], -1, -1)
    return (places @ theta.mT).reshape(size[0], *extents, len(extents))


def _row(extent: int, align_corners: bool, dtype: torch.dtype) -> Tensor:
    if extent <= 1:
        return torch.full([extent], 0.0, dtype=dtype)
    row = torch.linspace(-1, 1, extent, dtype=dtype)
    return row if align_corners else row * (extent - 1) / extent
