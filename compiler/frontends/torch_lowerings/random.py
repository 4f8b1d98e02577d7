"""Dropouts and Bernoulli's numbers, from one word of random bits an element. torch-mlir's way draws numbers of f64."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.passes.common.rewriting import value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering


@torch_lowering("aten.native_dropout")
def native_dropout(op: TorchOp, x: ir.Value, rate: float, train: bool | None) -> tuple[ir.Value, ir.Value]:
    """`x` divided by what is kept of it, 0 where the mask is; outside of training `x` itself."""
    kind, mask = op.results
    if train is False or rate == 0:
        return x, build.full(mask, 1)
    if rate == 1:
        return build.full(kind, 0), build.full(mask, 0)
    chosen = _chosen(mask, build.full(_f32(mask), 1 - rate))
    kept = build.multiply(x, build.convert(chosen, kind.element_type))
    return build.multiply(kept, build.full(kind, 1 / (1 - rate))), chosen


@torch_lowering("aten.bernoulli.p")
def bernoulli(op: TorchOp, x: ir.Value, rate: float = 0.5, *, generator: Any = None) -> ir.Value:
    return build.convert(_chosen(op.result, build.full(_f32(op.result), rate)), op.element)


@torch_lowering("aten.bernoulli.default", "aten.bernoulli.Tensor")
def bernoulli_of_rates(op: TorchOp, x: ir.Value, rates: ir.Value | None = None, *, generator: Any = None) -> ir.Value:
    rates = x if rates is None else build.broadcast_to(rates, list(op.result.shape))
    return build.convert(_chosen(op.result, build.convert(rates, ir.F32Type.get())), op.element)


def _chosen(kind: ir.RankedTensorType, rates: ir.Value) -> ir.Value:
    """True as often as `rates` say, which are f32: uniform numbers are multiples of 2^-24."""
    ends = (build.full(build.tensor([], ir.F32Type.get()), end) for end in (0.0, 1.0))
    sizes = build.constant(ir.DenseElementsAttr.get(np.array(kind.shape, np.int64)))
    uniform = ir.Attribute.parse("#stablehlo<rng_distribution UNIFORM>")
    numbers = value_of("stablehlo.rng", _f32(kind), [*ends, sizes], rng_distribution=uniform)
    return build.compare("LT", numbers, rates)


def _f32(kind: ir.RankedTensorType) -> ir.RankedTensorType:
    return build.tensor(list(kind.shape), ir.F32Type.get())
