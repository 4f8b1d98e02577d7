"""Resizes, a dimension at a time: each element is a weighted sum of few elements of the operand, whose places are constants.

So is a resize's gradient: what an element was read for comes back to it, with the same weights. Nothing is scattered.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from torch._decomp import decomposition_table
from torch._decomp.decompositions import upsample_compute_output_size
from torch_mlir import ir

from hloom.passes.stablehlo.support import build
from hloom.passes.stablehlo.support.weighted_places import Places, along_dimension

from ..torch_registry import TorchOp, overloads, torch_decomposition, torch_lowering


@dataclass(frozen=True)
class Along:
    """What is asked of one dimension: `extent` elements become `count`."""

    extent: int
    count: int
    scale: float | None
    align_corners: bool
    real: type[np.floating]
    """What eager computes places and weights in."""

    @property
    def ratio(self) -> np.floating:
        return self.real(1 / self.scale) if self.scale else self.real(self.extent) / self.real(self.count)

    @property
    def step(self) -> np.floating:
        """How far apart the elements of the result lie in the operand."""
        if not self.align_corners:
            return self.ratio
        return self.real(self.extent - 1) / self.real(self.count - 1) if self.count > 1 else self.real(0)

    @property
    def positions(self) -> np.ndarray:
        """Where each element of the result lies in the operand."""
        at = np.arange(self.count, dtype=self.real)
        return at * self.step if self.align_corners else (at + self.real(0.5)) * self.step - self.real(0.5)


Kernel = Callable[[Along], Places]


def _by_sizes(name: str, x: torch.Tensor, sizes: Sequence[int] | None, *rest: Any) -> torch.Tensor:
    """A resize with a list of factors, as one with a factor for each dimension. torch's own code for it takes no sizes that are open."""
    *corners, factors = rest
    sizes = upsample_compute_output_size(x.size(), sizes, factors)
    (op,) = overloads(f"{name}.default")
    resized: Callable[..., Any] = op
    if torch.is_grad_enabled() and x.requires_grad and any(isinstance(size, torch.SymInt) for size in (*sizes, *x.shape)):
        resized = decomposition_table.get(op, op)  # nor does its code for some of the gradients
    return resized(x, sizes, *corners, *(factors or [None] * len(sizes)))


def _resized(kernel: Kernel, of_integers: bool, op: TorchOp, x: ir.Value, size: Sequence[int] | None, *rest: Any) -> ir.Value:
    if not of_integers and not isinstance(build.element_of(x), ir.FloatType):
        raise op.refused("of integers eager rounds the weights to 16 bits", "resize a float image")
    asked = _asked(x, build.shape_of(x), list(op.result.shape), rest)
    return _along_each(op, x, [kernel(along) for along in asked])


def _gradient(kernel: Kernel, op: TorchOp, gradient: ir.Value, size: Sequence[int], input_size: Sequence[int], *rest: Any) -> ir.Value:
    asked = _asked(gradient, list(op.result.shape), build.shape_of(gradient), rest)
    return _along_each(op, gradient, [kernel(along).transposed(along.extent) for along in asked])


def _asked(x: ir.Value, extents: Sequence[int], counts: Sequence[int], rest: Sequence[Any]) -> list[Along]:
    """`rest` ends with a factor for each dimension; the aligned corners may come before."""
    real = np.float64 if isinstance(build.element_of(x), ir.F64Type) else np.float32
    scales = rest[len(rest) - len(counts) + 2 :]
    corners = len(rest) > len(scales) and rest[0]
    return [Along(extent, count, scale, corners, real) for extent, count, scale in zip(extents[2:], counts[2:], scales)]


def _along_each(op: TorchOp, x: ir.Value, places: Sequence[Places]) -> ir.Value:
    """Dimensions that shrink first, then the last: what comes after has the less to read."""
    shape, counts = build.shape_of(x), list(op.result.shape)
    narrow = build.element_of(x)
    for d in sorted(range(2, len(shape)), key=lambda d: (counts[d] >= shape[d], -d)):
        x = along_dimension(x, d, places[d - 2])
    return build.convert(x, narrow)


def resize(*names: str, of_integers: bool = True) -> Callable[[Kernel], Kernel]:
    """Registers a kernel for the op of each name and its gradient."""

    def decorate(kernel: Kernel) -> Kernel:
        for name in names:
            torch_decomposition(f"{name}.vec", before_lowering=True)(partial(_by_sizes, name))
            torch_lowering(name)(partial(_resized, kernel, of_integers))
            torch_lowering(f"{name}_backward")(partial(_gradient, kernel))
        return kernel

    return decorate


CUBIC = -0.75
"""The slope of the cubic kernel at its ends."""


@resize("aten.upsample_linear1d", "aten.upsample_bilinear2d", "aten.upsample_trilinear3d")
def linear(along: Along) -> Places:
    if along.extent == along.count:
        return Places(np.arange(along.count)[None])  # as in eager, whatever the factor
    at = np.maximum(along.positions, 0)
    low = np.minimum(at.astype(np.int64), along.extent - 1)
    above = np.clip(at - low.astype(along.real), 0, 1)
    return Places(np.stack([low, np.minimum(low + 1, along.extent - 1)]), np.stack([1 - above, above]))


@resize("aten.upsample_bicubic2d")
def bicubic(along: Along) -> Places:
    at = along.positions
    low = np.floor(at).astype(np.int64)
    above = np.clip(at - low.astype(along.real), 0, 1)
    rows = [np.clip(low + tap, 0, along.extent - 1) for tap in (-1, 0, 1, 2)]
    weights = [cubic(np.abs(along.real(tap) - above), CUBIC) for tap in (-1, 0, 1, 2)]
    return Places(np.stack(rows), np.stack(weights))


@resize("aten.upsample_nearest1d", "aten.upsample_nearest2d", "aten.upsample_nearest3d")
def nearest(along: Along) -> Places:
    return _nearest(along, np.float32(0))


@resize("aten._upsample_nearest_exact1d", "aten._upsample_nearest_exact2d", "aten._upsample_nearest_exact3d")
def nearest_exact(along: Along) -> Places:
    return _nearest(along, np.float32(0.5))


def _nearest(along: Along, offset: np.float32) -> Places:
    at = (np.arange(along.count, dtype=np.float32) + offset) * np.float32(along.ratio)
    return Places(np.minimum(np.floor(at).astype(np.int64), along.extent - 1)[None])


def cubic(distance: np.ndarray, slope: float) -> np.ndarray:
    """The cubic kernel with that slope at a distance of 1: 0 at 2 and beyond."""
    return np.where(distance <= 1, cubic_near(distance, slope), np.where(distance < 2, cubic_far(distance, slope), 0))


def cubic_near(distance: Any, slope: float) -> Any:
    """Up to a distance of 1; of arrays or tensors."""
    return ((slope + 2) * distance - (slope + 3)) * distance * distance + 1


def cubic_far(distance: Any, slope: float) -> Any:
    """From a distance of 1 to 2; of arrays or tensors."""
    return ((slope * distance - 5 * slope) * distance + 8 * slope) * distance - 4 * slope
