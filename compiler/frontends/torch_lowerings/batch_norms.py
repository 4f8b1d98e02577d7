"""Batch norms by tracked moments, which StableHLO has as one op: torch makes fifteen of it, which take time to trace and to fuse.

torch.export hands over aten.batch_norm, AOTAutograd the op that torch makes of it where nothing is trained.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._decomp import decomposition_table
from torch._prims_common import suggest_memory_format
from torch_mlir import ir

from hloom.passes.common.rewriting import i64_attr, value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering

_NATIVE = decomposition_table[torch.ops.aten._native_batch_norm_legit_no_training.default]
_TRAINED = decomposition_table[torch.ops.aten._native_batch_norm_legit_functional.default]


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
    if not training and mean is not None and _is_lowered(x, weight, bias, mean, variance):
        return NotImplemented
    return torch.ops.aten.batch_norm.default.decompose(x, weight, bias, mean, variance, training, momentum, eps, *rest)


@torch_decomposition("aten._native_batch_norm_legit_no_training", before_lowering=True)
def other_native_batch_norms(
    x: Tensor, weight: Tensor | None, bias: Tensor | None, mean: Tensor, variance: Tensor, momentum: float, eps: float
) -> tuple[Tensor, ...]:
    """The same, and results that lie as eager's."""
    lies = _laid_out(x)
    if not _is_lowered(x, weight, bias, mean, variance):
        return _NATIVE(lies, weight, bias, mean, variance, momentum, eps)
    if lies is x:
        return NotImplemented
    return torch.ops.aten._native_batch_norm_legit_no_training(lies, weight, bias, mean, variance, momentum, eps)


@torch_decomposition("aten._native_batch_norm_legit_functional")
def trained_batch_norms(x: Tensor, *rest: Any) -> tuple[Tensor, ...]:
    """Torch's own, whose result lies as eager's."""
    return _TRAINED(_laid_out(x), *rest)


def _laid_out(x: Tensor) -> Tensor:
    """The operand in the memory format of eager's result: channels last where it is so, else row-major."""
    return x.contiguous(memory_format=suggest_memory_format(x))


def _is_lowered(*tensors: Tensor | None) -> bool:
    """Half-precision floats are normalised in f32, and StableHLO has the epsilon in f32, which f64 is not near enough to."""
    return all(each is None or each.dtype == torch.float32 for each in tensors)


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
    return _inference(op.results[0], x, weight, bias, mean, variance, eps)


@torch_lowering("aten._native_batch_norm_legit_no_training")
def native_batch_norm(
    op: TorchOp,
    x: ir.Value,
    weight: ir.Value | None,
    bias: ir.Value | None,
    mean: ir.Value,
    variance: ir.Value,
    momentum: float,
    eps: float,
) -> list[ir.Value]:
    """The moments of the batch, which torch gives too, have no elements: nobody computed any."""
    none = [build.splat(result, build.scalar(result.element_type, 0)) for result in op.results[1:]]
    return [_inference(op.results[0], x, weight, bias, mean, variance, eps), *none]


def _inference(
    result: ir.Type, x: ir.Value, weight: ir.Value | None, bias: ir.Value | None, mean: ir.Value, variance: ir.Value, eps: float
) -> ir.Value:
    weight = build.full_like(mean, 1) if weight is None else weight
    bias = build.full_like(mean, 0) if bias is None else bias
    settings = {"epsilon": ir.FloatAttr.get_f32(eps), "feature_index": i64_attr(1)}
    return value_of("stablehlo.batch_norm_inference", result, [x, weight, bias, mean, variance], **settings)
