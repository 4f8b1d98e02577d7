"""Slices and stacks of no elements, which torch-mlir gives other shapes or leaves."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor
from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering


@torch_lowering("aten.slice.Tensor")
def slice_(op: TorchOp, x: ir.Value, dim: int, start: int | None, end: int | None, step: int) -> ir.Value:
    if 0 in op.result.shape:
        return build.zero(list(op.result.shape), op.element)
    return NotImplemented


@torch_decomposition("aten.stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Tensor:
    return torch.cat([tensor.unsqueeze(dim) for tensor in tensors], dim)
