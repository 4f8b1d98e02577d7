"""Sums, products, dots and comparisons of complex numbers, and tensors full of one. torch-mlir crashes on the running sums."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import torch
from torch_mlir import ir

from hloom.passes.common.rewriting import element_of, value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering_of_complex
from .complex_numbers import Number, conjugate


@torch_lowering_of_complex("aten.sum.default", "aten.sum.dim_IntList", "aten.mean.default", "aten.mean.dim")
def sum_(op: TorchOp, x: ir.Value, dims: Sequence[int] | None = None, keep: bool = False, *, dtype: torch.dtype | None = None) -> ir.Value:
    shape = build.shape_of(x)
    summed = [d % len(shape) for d in dims] if dims and shape else list(range(len(shape)))
    total = build.reshape(build.sum_along(_converted(op, x), summed), list(op.result.shape))
    return total if ".sum." in op.name else build.divide(total, build.full(op.result, math.prod(shape[d] for d in summed)))


@torch_lowering_of_complex("aten.prod.default", "aten.prod.dim_int")
def product(op: TorchOp, x: ir.Value, dim: int | None = None, keep: bool = False, *, dtype: torch.dtype | None = None) -> ir.Value:
    rank = len(build.shape_of(x))
    dims = list(range(rank)) if dim is None or not rank else [dim % rank]
    one = build.full(build.tensor([], op.element), 1)
    (made,) = build.reduce([_converted(op, x)], [one], dims, lambda a, b: [build.elementwise("multiply", a, b)])
    return build.reshape(made, list(op.result.shape))


@torch_lowering_of_complex("aten.cumsum", "aten.cumprod")
def running(op: TorchOp, x: ir.Value, dim: int, *, dtype: torch.dtype | None = None) -> ir.Value:
    shape, x = build.shape_of(x), _converted(op, x)
    if 0 in shape or not shape:
        return x
    window, ones = [1] * len(shape), [1] * len(shape)
    window[dim] = shape[dim]
    padding = [(size - 1, 0) for size in window]
    name, start = ("add", 0) if ".cumsum." in op.name else ("multiply", 1)
    first = build.full(build.tensor([], op.element), start)
    return build.reduce_window([x], [first], window, ones, ones, padding, lambda a, b: [build.elementwise(name, a, b)])[0]


@torch_lowering_of_complex("aten.mv", "aten.dot", "aten.vdot")
def dot(op: TorchOp, x: ir.Value, y: ir.Value) -> ir.Value:
    if ".vdot." in op.name:
        x = conjugate(replace(op, results=(x.type,)), x)
    numbers = build.dot_dimensions([], [], [len(build.shape_of(x)) - 1], [0])
    return value_of("stablehlo.dot_general", op.result, [x, y], dot_dimension_numbers=numbers)


@torch_lowering_of_complex("aten.eq", "aten.ne")
def equal(op: TorchOp, x: ir.Value, y: Number) -> ir.Value:
    element = next(element_of(value) for value in (x, y) if isinstance(value, ir.Value) and isinstance(element_of(value), ir.ComplexType))
    kind = build.tensor(op.result.shape, element)
    same = replace(op, results=(kind,))
    operands = [_converted(same, value) if isinstance(value, ir.Value) else build.full(kind, value) for value in (x, y)]
    return build.compare("EQ" if ".eq." in op.name else "NE", *(same.operand(value) for value in operands))


@torch_lowering_of_complex("aten.isnan")
def is_nan(op: TorchOp, x: ir.Value) -> ir.Value:
    return build.compare("NE", x, x)


@torch_lowering_of_complex("aten.isinf")
def is_infinite(op: TorchOp, x: ir.Value) -> ir.Value:
    size = build.elementwise("abs", x, result=build.tensor(build.shape_of(x), element_of(x).element_type))
    return build.compare("EQ", size, build.full_like(size, math.inf))


@torch_lowering_of_complex("aten.index_select")
def index_select(op: TorchOp, x: ir.Value, dim: int, places: ir.Value) -> ir.Value:
    """Of nothing: torch-mlir dies of it."""
    shape = list(op.result.shape)
    return build.zero(shape, op.element) if 0 in shape else NotImplemented


@torch_lowering_of_complex("aten.full.default", "aten.full_like.default")
def full(op: TorchOp, size_or_like: Any, value: Number, **_: Any) -> ir.Value:
    return build.full(op.result, value)


@torch_lowering_of_complex("aten.scalar_tensor.default")
def scalar(op: TorchOp, value: Number, **_: Any) -> ir.Value:
    return build.full(op.result, value)


@torch_lowering_of_complex("aten.zeros.default", "aten.empty_strided.default")
def zeros(op: TorchOp, size: Sequence[int], *_: Any, **__: Any) -> ir.Value:
    return build.full(op.result, 0)


@torch_lowering_of_complex("aten.ones.default")
def ones(op: TorchOp, size: Sequence[int], **_: Any) -> ir.Value:
    return build.full(op.result, 1)


@torch_lowering_of_complex("prims.convert_element_type")
def convert(op: TorchOp, x: ir.Value, dtype: torch.dtype) -> ir.Value:
    if isinstance(op.element, ir.ComplexType):
        return _converted(op, x)
    real = value_of("stablehlo.real", build.tensor(build.shape_of(x), element_of(x).element_type), [x])
    return build.convert(real, op.element)


def _converted(op: TorchOp, x: ir.Value) -> ir.Value:
    """x in the result's complex numbers."""
    if isinstance(element_of(x), ir.ComplexType):
        return build.convert(x, op.element)
    real = build.convert(x, op.element.element_type)
    return value_of(
        "stablehlo.complex", build.tensor(build.shape_of(x), op.element), [real, build.zero(build.shape_of(x), element_of(real))]
    )
