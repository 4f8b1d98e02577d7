"""Batch norms by tracked moments, which StableHLO has as one op: torch makes fifteen of it, which take time to trace and to fuse."""

from __future__ import annotations

import torch
from torch import Tensor
from torch_mlir import ir

from hloom.passes.common.rewriting import value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering

_ELEMENTS = (torch.float32, torch.float64)
"""Half-precision floats are normalised in f32."""


@torch_decomposition("aten.batch_norm", before_lowering=True)
def other_batch_norms(
    x: Tensor,
    weight: Tensor | None,
    bias: Tensor | None,
    mean: Tensor | None,
    variance: Tensor | None,
    training: bool,
    momentum: float,
    eps: float,
    *rest: bool,
) -> Tensor:
    """Torch's own decomposition of what is not lowered here."""
    given = [each for each in (weight, bias, mean, variance) if each is not None]
    if not training and x.dtype in _ELEMENTS and mean is not None and all(each.dtype == x.dtype for each in given):
        return NotImplemented
    return torch.ops.aten.batch_norm.default.decompose(x, weight, bias, mean, variance, training, momentum, eps, *rest)


@torch_lowering("aten.batch_norm")
def batch_norm(
    op: TorchOp,
    x: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    mean: ir.Value,
    variance: ir.Value,
    training: bool,
    momentum: float,
    eps: float,
    cudnn: bool,
) -> ir.Value:
    weight = build.full_like(mean, 1) if weight is None else weight
    bias = build.full_like(mean, 0) if bias is None else bias
    settings = {"epsilon": ir.FloatAttr.get_f32(eps), "feature_index": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)}
    return value_of("stablehlo.batch_norm_inference", op.result, [x, weight, bias, mean, variance], **settings)
