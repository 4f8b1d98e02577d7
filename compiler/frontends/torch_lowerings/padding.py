"""Pads with elements of the operand itself: a read at constant places along each dimension."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir

from hloom.passes.stablehlo.support import build
from hloom.passes.stablehlo.support.weighted_places import taken

from ..torch_registry import TorchOp, torch_lowering


@torch_lowering("aten.reflection_pad1d", "aten.reflection_pad2d", "aten.reflection_pad3d")
def reflected(op: TorchOp, x: ir.Value, padding: Sequence[int]) -> ir.Value:
    def places(at: np.ndarray, extent: int) -> np.ndarray:
        return extent - 1 - np.abs(extent - 1 - np.abs(at))

    return _padded(x, padding, places)


@torch_lowering("aten.replication_pad1d", "aten.replication_pad2d", "aten.replication_pad3d")
def replicated(op: TorchOp, x: ir.Value, padding: Sequence[int]) -> ir.Value:
    return _padded(x, padding, lambda at, extent: np.clip(at, 0, extent - 1))


def _padded(x: ir.Value, padding: Sequence[int], places: Callable[[np.ndarray, int], np.ndarray]) -> ir.Value:
    """`padding` has what stands before and after the last dimension, then the one before it; where it is negative elements are left out."""
    rank = len(build.shape_of(x))
    for number, (low, high) in enumerate(zip(padding[::2], padding[1::2])):
        d = rank - 1 - number
        extent = build.shape_of(x)[d]
        x = taken(x, d, places(np.arange(-low, extent + high), extent))
    return x
