"""Resizes, a dimension at a time: each element is a weighted sum of few elements of the operand, whose places are constants."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from hloom.passes.common.folding import dtype_of
from hloom.passes.stablehlo.support import build, constants

from ..torch_registry import TorchOp, torch_lowering
from .padding import taken

_CUBIC = -0.75
"""The slope of the cubic kernel at its ends."""


@dataclass(frozen=True)
class Places:
    """Along a dimension, for each element of the result the elements of the operand that it reads, and their weights, a row each."""

    places: np.ndarray
    weights: np.ndarray | None = None


@torch_lowering("aten.upsample_linear1d.vec", "aten.upsample_bilinear2d.vec", "aten.upsample_trilinear3d.vec")
def linear(op: TorchOp, x: ir.Value, size: Sequence[int] | None, align_corners: bool, scales: Sequence[float] | None = None) -> ir.Value:
    real = real_of(x)

    def places(extent: int, count: int, scale: float | None) -> Places:
        at = np.maximum(_positions(extent, count, scale, align_corners, real), 0)
        low = np.minimum(at.astype(np.int64), extent - 1)
        above = np.clip(at - low.astype(real), 0, 1)
        return Places(np.stack([low, np.minimum(low + 1, extent - 1)]), np.stack([1 - above, above]))

    return resized(op, x, scales, places)


@torch_lowering("aten.upsample_bicubic2d.vec")
def bicubic(op: TorchOp, x: ir.Value, size: Sequence[int] | None, align_corners: bool, scales: Sequence[float] | None = None) -> ir.Value:
    real = real_of(x)

    def places(extent: int, count: int, scale: float | None) -> Places:
        at = _positions(extent, count, scale, align_corners, real)
        low = np.floor(at).astype(np.int64)
        above = np.clip(at - low.astype(real), 0, 1)
        rows = [np.clip(low + tap, 0, extent - 1) for tap in (-1, 0, 1, 2)]
        weights = [cubic(np.abs(real(tap) - above), _CUBIC) for tap in (-1, 0, 1, 2)]
        return Places(np.stack(rows), np.stack(weights))

    return resized(op, x, scales, places)


@torch_lowering("aten.upsample_nearest1d.vec", "aten.upsample_nearest2d.vec", "aten.upsample_nearest3d.vec")
def nearest(op: TorchOp, x: ir.Value, size: Sequence[int] | None, scales: Sequence[float] | None = None) -> ir.Value:
    def places(extent: int, count: int, scale: float | None) -> Places:
        at = np.arange(count, dtype=np.float32) * ratio(extent, count, scale)
        return Places(np.minimum(np.floor(at).astype(np.int64), extent - 1)[None])

    return resized(op, x, scales, places)


@torch_lowering("aten._upsample_nearest_exact1d.vec", "aten._upsample_nearest_exact2d.vec", "aten._upsample_nearest_exact3d.vec")
def nearest_exact(op: TorchOp, x: ir.Value, size: Sequence[int] | None, scales: Sequence[float] | None = None) -> ir.Value:
    def places(extent: int, count: int, scale: float | None) -> Places:
        at = (np.arange(count, dtype=np.float32) + np.float32(0.5)) * ratio(extent, count, scale)
        return Places(np.minimum(np.floor(at).astype(np.int64), extent - 1)[None])

    return resized(op, x, scales, places)


def real_of(x: ir.Value) -> type[np.floating]:
    """What eager computes places and weights in."""
    return np.float64 if isinstance(build.element_of(x), ir.F64Type) else np.float32


def ratio(extent: int, count: int, scale: float | None, real: type[np.floating] = np.float32) -> np.floating:
    return real(1 / scale) if scale else real(extent) / real(count)


def _positions(extent: int, count: int, scale: float | None, align_corners: bool, real: type[np.floating]) -> np.ndarray:
    """Where each element of the result lies in the operand."""
    at = np.arange(count, dtype=real)
    if align_corners:
        return at * (real(extent - 1) / real(count - 1) if count > 1 else real(0))
    return (at + real(0.5)) * ratio(extent, count, scale, real) - real(0.5)


def cubic(distance: np.ndarray, slope: float) -> np.ndarray:
    """The cubic kernel with that slope at a distance of 1: 0 at 2 and beyond."""
    near = ((slope + 2) * distance - (slope + 3)) * distance * distance + 1
    far = ((slope * distance - 5 * slope) * distance + 8 * slope) * distance - 4 * slope
    return np.where(distance <= 1, near, np.where(distance < 2, far, 0))


def resized(op: TorchOp, x: ir.Value, scales: Sequence[float] | None, places_of: Callable[[int, int, float | None], Places]) -> ir.Value:
    """Dimensions that shrink first, then the last: what comes after has the less to read."""
    shape, counts = build.shape_of(x), list(op.result.shape)
    spatial = range(2, len(shape))
    order = sorted(spatial, key=lambda d: (counts[d] >= shape[d], -d))
    narrow = build.element_of(x)
    wide = ir.F32Type.get() if isinstance(narrow, ir.FloatType) and narrow.width < 32 else narrow
    scale_of = dict(zip(spatial, scales)) if scales else {}
    value = x
    for d in order:
        places = places_of(shape[d], counts[d], scale_of.get(d))
        if places.weights is not None:
            value = build.convert(value, wide)
        value = _along(value, d, places)
    return build.convert(value, narrow)


def _along(x: ir.Value, d: int, places: Places) -> ir.Value:
    if places.weights is None:
        return taken(x, d, places.places[0])
    total = None
    for row, weights in zip(places.places, places.weights):
        element = build.element_of(x)
        held = constants.write(weights.astype(dtype_of(element)), build.tensor([len(weights)], element))
        value = taken(x, d, row)
        part = build.multiply(value, build.broadcast(held, build.shape_of(value), [d]))
        total = part if total is None else build.add(total, part)
    assert total is not None
    return total
