"""Products of 8-bit floats with a scale for each operand, or for each row of the one and column of the other.

The dot reads the narrow floats as they are and sums in f32; scales and bias follow, then the type that is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch.nn.functional import ScalingType
from torch_mlir import ir

from hloom.passes.common.rewriting import value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering

_WHOLE = {ScalingType.TensorWise.value, ScalingType.RowWise.value}


@torch_lowering("aten._scaled_mm")
def scaled_mm(
    op: TorchOp,
    x: ir.Value,
    y: ir.Value,
    scale_x: ir.Value,
    scale_y: ir.Value,
    bias: ir.Value | None = None,
    scale_result: ir.Value | None = None,
    out_dtype: torch.dtype | None = None,
    use_fast_accum: bool = False,
) -> ir.Value:
    if scale_result is not None:
        raise op.refused("a scale of the result, which is not the same on all of PyTorch's devices", "multiply what it gives by the scale")
    (rows, _), (_, columns) = build.shape_of(x), build.shape_of(y)
    if not (_scales(scale_x, [rows, 1]) and _scales(scale_y, [1, columns])):
        raise op.refused("scales of blocks", "scale by tensors, or by rows and columns")
    f32 = ir.F32Type.get()
    dimensions = build.dot_dimensions([], [], [1], [0])
    product = value_of("stablehlo.dot_general", build.tensor([rows, columns], f32), [x, y], dot_dimension_numbers=dimensions)
    for scale in (scale_x, scale_y):
        shape = [] if build.count_of(scale) == 1 else build.shape_of(scale)
        product = build.multiply(product, build.broadcast_to(build.reshape(scale, shape), [rows, columns]))
    if bias is not None:
        product = build.add(product, build.broadcast_to(build.convert(bias, f32), [rows, columns]))
    return build.convert(product, op.element)


@torch_lowering("aten._scaled_mm_v2")
def scaled_mm_by_recipe(
    op: TorchOp,
    x: ir.Value,
    y: ir.Value,
    scale_x: Sequence[ir.Value],
    recipe_x: Sequence[int],
    swizzle_x: Sequence[int],
    scale_y: Sequence[ir.Value],
    recipe_y: Sequence[int],
    swizzle_y: Sequence[int],
    bias: ir.Value | None = None,
    out_dtype: torch.dtype | None = None,
    contraction_dim: Sequence[int] = (),
    use_fast_accum: bool = False,
) -> ir.Value:
    """torch.nn.functional.scaled_mm."""
    if not {*recipe_x, *recipe_y} <= _WHOLE or any((*swizzle_x, *swizzle_y)) or contraction_dim:
        raise op.refused("scales of blocks", "scale by tensors, or by rows and columns")
    (rows, _), (_, columns) = build.shape_of(x), build.shape_of(y)
    return scaled_mm(op, x, y, _shaped(scale_x[0], [rows, 1]), _shaped(scale_y[0], [1, columns]), bias, None, out_dtype)


def _shaped(scale: ir.Value, shape: list[int]) -> ir.Value:
    return scale if build.count_of(scale) == 1 else build.reshape(scale, shape)


def _scales(scale: ir.Value, shape: list[int]) -> bool:
    return build.count_of(scale) == 1 or build.shape_of(scale) == shape
