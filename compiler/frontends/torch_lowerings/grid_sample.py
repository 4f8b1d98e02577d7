"""Bilinear samples of a plane at computed places: the places and weights of the four corners once, not for every channel."""

from __future__ import annotations

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_differentiated, torch_lowering
from .compositions import nothing_of

_BILINEAR, _NEAREST = 0, 1
_ZEROS, _BORDER = 0, 1


@torch_decomposition("aten.grid_sampler_2d", before_lowering=True)
def other_modes(x: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool) -> Tensor:
    """Torch's own decomposition of what is not lowered here."""
    if interpolation == _BILINEAR and padding in (_ZEROS, _BORDER) and x.dtype == torch.float32 and x.numel():
        return NotImplemented
    return in_every_mode(x, grid, interpolation, padding, align_corners)


@torch_differentiated("aten.grid_sampler_2d")
def in_every_mode(x: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool) -> Tensor:
    made = decomposition_table[torch.ops.aten.grid_sampler_2d.default](x, grid, interpolation, padding, align_corners)
    return made + nothing_of(grid).sum() if interpolation == _NEAREST else made


@torch_lowering("aten.grid_sampler_2d")
def grid_sampler(op: TorchOp, x: ir.Value, grid: ir.Value, interpolation: int, padding: int, align_corners: bool) -> ir.Value:
    batch, channels, height, width = build.shape_of(x)
    rows, columns = list(op.result.shape)[2:]
    points = [batch, rows * columns]
    corners = []
    for axis, extent in enumerate((width, height)):
        at = build.reshape(build.slice_dim(grid, 3, axis, axis + 1), points)
        corners.append(_corners(at, extent, padding == _BORDER, align_corners))
    plane = build.reshape(x, [batch, channels, height * width])
    total = None
    for y, above in corners[1]:
        for x_, right in corners[0]:
            place = build.add(build.multiply(y, build.full_like(y, width)), x_)
            taken = build.take(plane, 2, place, batch=1)
            part = build.multiply(taken, build.broadcast(build.multiply(above, right), build.shape_of(taken), [0, 2]))
            total = part if total is None else build.add(total, part)
    assert total is not None
    return build.reshape(total, list(op.result.shape))


def _corners(at: ir.Value, extent: int, border: bool, align_corners: bool) -> list[tuple[ir.Value, ir.Value]]:
    """Along one axis the two neighbours of each place, and their weights: 0 where there is none, NaN where there is no place."""
    whole = build.add(at, build.full_like(at, 1))
    if align_corners:
        at = build.multiply(whole, build.full_like(at, (extent - 1) / 2))
    else:
        at = build.multiply(
            build.subtract(build.multiply(whole, build.full_like(at, extent)), build.full_like(at, 1)), build.full_like(at, 0.5)
        )
    first, last = build.full_like(at, 0), build.full_like(at, extent - 1)
    if border:
        at = build.elementwise("minimum", build.select(build.compare("GE", at, first), at, first), last)  # a NaN is 0
    low = build.elementwise("floor", at)
    high = build.add(low, build.full_like(at, 1))
    index = ir.IntegerType.get_signless(32)
    found = []
    for corner, weight in ((low, build.subtract(high, at)), (high, build.subtract(at, low))):
        inside = build.elementwise("and", build.compare("GE", corner, first), build.compare("LE", corner, last))
        found.append((build.convert(_bounded(corner, first, last), index), build.select(inside, weight, build.subtract(weight, weight))))
    return found


def _bounded(x: ir.Value, first: ir.Value, last: ir.Value) -> ir.Value:
    return build.elementwise("minimum", build.elementwise("maximum", x, first), last)
