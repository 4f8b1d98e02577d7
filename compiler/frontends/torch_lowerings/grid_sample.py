"""Samples of a plane at computed places: places and weights of their neighbours once, not for every channel.

Bilinear samples in f32 are lowered (`grid_sampler`). Of the other modes and types a place is a line of all channels, which is read and
weighted as a whole. Few channels are read one by one, but for the 16 neighbours of a bicubic sample; where the plane has a gradient, lines
are added to it at a third of what elements take.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_differentiated, torch_lowering
from .compositions import nothing_of
from .resize import CUBIC, cubic_far, cubic_near

_BILINEAR, _NEAREST, _BICUBIC = 0, 1, 2
_ZEROS, _BORDER = 0, 1
_MANY_CHANNELS = 8

_Taps = list[tuple[Tensor, Tensor]]
"""Of each place its neighbours along an axis, and their weights."""


@torch_decomposition("aten.grid_sampler_2d", before_lowering=True)
def other_modes(x: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool) -> Tensor:
    """What is not lowered here: lines, or torch's own decomposition."""
    if interpolation == _BILINEAR and padding in (_ZEROS, _BORDER) and x.dtype == torch.float32 and x.numel():
        return NotImplemented
    few = x.shape[1] < _MANY_CHANNELS and interpolation != _BICUBIC
    return (_of_elements if few else _of_lines)(x, grid, interpolation, padding, align_corners)


@torch_differentiated("aten.grid_sampler_2d")
def in_every_mode(x: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool) -> Tensor:
    """The gradient of lines adds lines, too."""
    few = x.shape[1] < _MANY_CHANNELS and not x.requires_grad
    made = (_of_elements if few else _of_lines)(x, grid, interpolation, padding, align_corners)
    return made + nothing_of(grid).sum() if interpolation == _NEAREST else made


def _of_elements(x: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool) -> Tensor:
    """torch's own decomposition."""
    return decomposition_table[torch.ops.aten.grid_sampler_2d.default](x, grid, interpolation, padding, align_corners)


def _wide(x: Tensor) -> torch.dtype:
    return torch.float32 if x.dtype in (torch.bfloat16, torch.float16) else x.dtype


def _of_lines(x: Tensor, grid: Tensor, interpolation: int, padding: int, align_corners: bool) -> Tensor:
    """The sums of halves are of f32."""
    if not x.numel() or not grid.numel():
        return _of_elements(x, grid, interpolation, padding, align_corners)
    batch, channels, height, width = x.shape
    rows, columns = grid.shape[1:3]
    at = grid.to(_wide(x)).reshape(-1, 2)
    taps = _TAPS[interpolation]
    across, down = (taps(at[:, axis], extent, padding, align_corners) for axis, extent in enumerate((width, height)))
    lines = x.permute(0, 2, 3, 1).reshape(-1, channels)
    plane = torch.arange(batch * rows * columns, dtype=torch.int32) // (rows * columns) * (height * width)
    total = None
    for below, weight in down:
        row = plane + below * width
        parts = [lines.index_select(0, row + right).to(at.dtype) * share.unsqueeze(1) for right, share in across]
        part = sum(parts[1:], parts[0]) * weight.unsqueeze(1)
        total = part if total is None else total + part
    assert total is not None
    return total.reshape(batch, rows, columns, channels).permute(0, 3, 1, 2).to(x.dtype).contiguous()


def _nearest(at: Tensor, extent: int, padding: int, align_corners: bool) -> _Taps:
    at = _padded(_unscaled(at, extent, align_corners), extent, padding, align_corners).round()
    return [_tap(at, at - at + 1, extent)]


def _linear(at: Tensor, extent: int, padding: int, align_corners: bool) -> _Taps:
    at = _padded(_unscaled(at, extent, align_corners), extent, padding, align_corners)
    low = at.floor()
    return [_tap(low, low + 1 - at, extent), _tap(low + 1, at - low, extent)]


def _cubic(at: Tensor, extent: int, padding: int, align_corners: bool) -> _Taps:
    at = _unscaled(at, extent, align_corners)
    low = at.floor()
    t = at - low
    weights = (cubic_far(t + 1, CUBIC), cubic_near(t, CUBIC), cubic_near(1 - t, CUBIC), cubic_far(2 - t, CUBIC))
    places = (_padded(low + step, extent, padding, align_corners) for step in (-1, 0, 1, 2))
    return [_tap(place, weight, extent) for place, weight in zip(places, weights)]


_TAPS: tuple[Callable[[Tensor, int, int, bool], _Taps], ...] = (_linear, _nearest, _cubic)


def _tap(at: Tensor, weight: Tensor, extent: int) -> tuple[Tensor, Tensor]:
    """The weight is 0 where there is no neighbour, NaN where there is no place."""
    inside = (at >= 0) & (at <= extent - 1)
    return at.clamp(0, extent - 1).nan_to_num(0).to(torch.int32), torch.where(inside, weight, weight - weight)


def _unscaled(at: Tensor, extent: int, align_corners: bool) -> Tensor:
    return (at + 1) * ((extent - 1) / 2) if align_corners else ((at + 1) * extent - 1) * 0.5


def _padded(at: Tensor, extent: int, padding: int, align_corners: bool) -> Tensor:
    if padding == _ZEROS:
        return at
    if padding != _BORDER:
        at = _reflected(at, 0, extent - 1) if align_corners else _reflected(at, -0.5, extent - 0.5)
    return at.clamp(0, extent - 1)


def _reflected(at: Tensor, low: float, high: float) -> Tensor:
    if low == high:
        return torch.zeros_like(at)
    beyond = (at - low).abs()
    turns = (beyond / (high - low)).floor()
    extra = beyond.fmod(high - low)
    return torch.where(turns.fmod(2) == 0, extra + low, high - extra)


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
