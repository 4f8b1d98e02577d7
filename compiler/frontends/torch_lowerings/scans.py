"""Running products, extremes and logarithms of sums: windows that reach back to the first element, which the compiler knows to be scans."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch_mlir import ir

from hloom.passes.common.scans import ASSOCIATIVE
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, depends_on_data, torch_differentiated, torch_lowering


@torch_lowering("aten.cumprod")
def cumprod(op: TorchOp, x: ir.Value, dim: int, *, dtype: torch.dtype | None = None) -> ir.Value:
    return _scan("multiply", build.convert(x, op.element), dim, 1)


@torch_lowering("aten.cumsum")
def cumsum(op: TorchOp, x: ir.Value, dim: int, *, dtype: torch.dtype | None = None) -> ir.Value:
    """torch-mlir's, but of nothing."""
    return NotImplemented if build.count_of(x) else build.zero(list(op.result.shape), op.element)


@torch_differentiated("aten.cumsum")
def cumsum_of_data(x: Tensor, dim: int, *, dtype: torch.dtype | None = None) -> Tensor:
    """Torch's formula for the gradient asks how many elements there are, which may depend on data."""
    if not depends_on_data(x):
        return NotImplemented
    return _Sums.apply(x if dtype is None else x.to(dtype), dim)


class _Sums(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, dim: int) -> Tensor:
        ctx.dim = dim
        return x.cumsum(dim)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (gradient,) = gradients
        return gradient.flip(ctx.dim).cumsum(ctx.dim).flip(ctx.dim), None


@torch_lowering("aten.cummax")
def cummax(op: TorchOp, x: ir.Value, dim: int) -> list[ir.Value]:
    return _extremes(op, x, dim, "maximum", -1)


@torch_lowering("aten.cummin")
def cummin(op: TorchOp, x: ir.Value, dim: int) -> list[ir.Value]:
    return _extremes(op, x, dim, "minimum", 1)


@torch_lowering("aten.logcumsumexp")
def logcumsumexp(op: TorchOp, x: ir.Value, dim: int) -> ir.Value:
    """log(e^a + e^b) is the larger of a and b and log1p(e^-|a - b|); of equal infinities, it is they."""
    if not isinstance(op.element, ir.FloatType):
        return NotImplemented

    def combine(a: ir.Value, b: ir.Value) -> ir.Value:
        most, apart = build.elementwise("maximum", a, b), build.elementwise("abs", build.subtract(a, b))
        rest = build.elementwise("log_plus_one", build.elementwise("exponential", build.elementwise("negate", apart)))
        infinite = build.compare("EQ", build.elementwise("abs", most), build.full_like(most, math.inf))
        return build.select(infinite, most, build.add(most, rest))

    wide = build.convert(x, ir.F32Type.get()) if op.element.width == 16 else x
    scanned = _scan_with(combine, wide, dim, -math.inf)
    if scanned != wide:
        scanned.owner.attributes[ASSOCIATIVE] = ir.UnitAttr.get()
    return build.convert(scanned, op.element)


def _extremes(op: TorchOp, x: ir.Value, dim: int, name: str, sign: int) -> list[ir.Value]:
    """The best element so far and its index. Of equal elements the last is the best; a NaN is better than all before it.

    An element's index counts where it equals the best so far: the index is the greatest that has counted.
    """
    places, shape = op.results[1].element_type, build.shape_of(x)
    if not shape:
        return [x, build.zero([], places)]
    best = _scan(name, x, dim, build.extreme(build.element_of(x), sign))
    counts = build.compare("EQ", x, best)
    if isinstance(build.element_of(x), ir.FloatType):
        counts = build.elementwise("or", counts, build.compare("NE", x, x))
    place = build.iota(shape, places, dim % len(shape))
    counted = build.select(counts, place, build.zero(shape, places))
    return [best, _scan("maximum", counted, dim, build.extreme(places, -1))]


def _scan(name: str, x: ir.Value, dim: int, start: float) -> ir.Value:
    """All elements up to each place along `dim`, combined by the op `name`, to which `start` is neutral."""
    return _scan_with(lambda a, b: build.elementwise(name, a, b), x, dim, start)


def _scan_with(combine: Callable[[ir.Value, ir.Value], ir.Value], x: ir.Value, dim: int, start: float) -> ir.Value:
    shape = build.shape_of(x)
    rank = len(shape)
    if not rank or 0 in shape:
        return x
    dim %= rank
    window = [shape[d] if d == dim else 1 for d in range(rank)]
    padding = [(shape[d] - 1, 0) if d == dim else (0, 0) for d in range(rank)]
    first = build.full(build.tensor([], build.element_of(x)), start)
    ones = [1] * rank
    return build.reduce_window([x], [first], window, ones, ones, padding, lambda a, b: [combine(a, b)])[0]
