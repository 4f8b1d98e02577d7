"""Elementwise ops on the types and forms that torch-mlir leaves out: integers that become floats, numbers as operands; and those of
optimisers, which would else be traced as several ops for every parameter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering

Number: TypeAlias = ir.Value | float | int | bool


@torch_lowering("aten.full.default")
def full(op: TorchOp, size: Sequence[int], value: Number, **options: Any) -> ir.Value:
    """Of no elements too, which torch decomposes into ops that torch-mlir leaves."""
    return NotImplemented if isinstance(op.element, ir.ComplexType) else op.operand(value)


@torch_lowering("aten.bitwise_and", "aten.__and__")
def bitwise_and(op: TorchOp, x: Number, y: Number) -> ir.Value:
    return build.elementwise("and", op.operand(x), op.operand(y))


@torch_lowering("aten.bitwise_or", "aten.__or__")
def bitwise_or(op: TorchOp, x: Number, y: Number) -> ir.Value:
    return build.elementwise("or", op.operand(x), op.operand(y))


@torch_lowering("aten.bitwise_xor", "aten.__xor__")
def bitwise_xor(op: TorchOp, x: Number, y: Number) -> ir.Value:
    return build.elementwise("xor", op.operand(x), op.operand(y))


@torch_lowering("aten.angle")
def angle(op: TorchOp, x: ir.Value) -> ir.Value:
    """Of real numbers: torch's own composition has pi in f32."""
    x = op.operand(x)
    flat = build.select(build.compare("LT", x, build.full_like(x, 0)), build.full_like(x, math.pi), build.full_like(x, 0))
    return build.select(build.compare("NE", x, x), x, flat)


@torch_lowering("aten.reciprocal")
def reciprocal(op: TorchOp, x: ir.Value) -> ir.Value:
    return build.elementwise("divide", op.operand(1), op.operand(x))


@torch_lowering("aten.lerp")
def lerp(op: TorchOp, start: ir.Value, end: ir.Value, weight: Number) -> ir.Value:
    """From the nearer of the two, as eager's."""
    start, end = _exact(op, start), _exact(op, end)
    way = build.subtract(end, start)
    from_start, from_end = (
        lambda: build.add(start, build.multiply(_exact(op, weight), way)),
        lambda: build.subtract(end, build.multiply(way, build.subtract(_exact(op, 1), _exact(op, weight)))),
    )
    if not isinstance(weight, ir.Value):
        return op.operand(from_start() if abs(weight) < 0.5 else from_end())
    size = build.elementwise("abs", _exact(op, weight), result=_real(start.type))
    return op.operand(build.select(build.compare("LT", size, build.full_like(size, 0.5)), from_start(), from_end()))


@torch_lowering("aten.addcmul")
def addcmul(op: TorchOp, x: ir.Value, y: ir.Value, z: ir.Value, value: Number = 1) -> ir.Value:
    return op.operand(build.add(_exact(op, x), build.multiply(_scaled(op, y, value), _exact(op, z))))


@torch_lowering("aten.addcdiv")
def addcdiv(op: TorchOp, x: ir.Value, y: ir.Value, z: ir.Value, value: Number = 1) -> ir.Value:
    return op.operand(build.add(_exact(op, x), build.divide(_scaled(op, y, value), _exact(op, z))))


@torch_lowering("prims.fma")
def fma(op: TorchOp, x: ir.Value, y: ir.Value, z: ir.Value) -> ir.Value:
    """Rounded twice, where the target does not fuse them."""
    return op.operand(build.add(build.multiply(_exact(op, x), _exact(op, y)), _exact(op, z)))


def _scaled(op: TorchOp, x: ir.Value, factor: Number) -> ir.Value:
    x = _exact(op, x)
    return x if isinstance(factor, int) and factor == 1 else build.multiply(_exact(op, factor), x)


def _exact(op: TorchOp, x: Number) -> ir.Value:
    """An operand as eager computes with it: of the result's shape and type, f32 for narrower floats."""
    narrow = isinstance(op.element, (ir.BF16Type, ir.F16Type))
    kind = build.tensor(op.result.shape, ir.F32Type.get() if narrow else op.element)
    if not isinstance(x, ir.Value):
        return build.full(kind, x)
    return build.broadcast_to(build.convert(x, kind.element_type), kind.shape)


def _real(kind: ir.Type) -> ir.Type:
    kind = ir.RankedTensorType(kind)
    return build.tensor(kind.shape, kind.element_type.element_type) if isinstance(kind.element_type, ir.ComplexType) else kind


@torch_lowering("aten.isfinite")
def isfinite(op: TorchOp, x: ir.Value) -> ir.Value:
    if isinstance(build.element_of(x), ir.FloatType):
        return build.elementwise("is_finite", x, result=op.result)
    return op.operand(True)


@torch_lowering("aten.fmax")
def fmax(op: TorchOp, x: ir.Value, y: ir.Value) -> ir.Value:
    return _of_numbers("maximum", op.operand(x), op.operand(y))


@torch_lowering("aten.fmin")
def fmin(op: TorchOp, x: ir.Value, y: ir.Value) -> ir.Value:
    return _of_numbers("minimum", op.operand(x), op.operand(y))


def _of_numbers(name: str, x: ir.Value, y: ir.Value) -> ir.Value:
    """The greater or the smaller; where one is NaN, the other."""
    made = build.elementwise(name, x, y)
    if not isinstance(build.element_of(x), ir.FloatType):
        return made
    made = build.select(build.compare("NE", y, y), x, made)
    return build.select(build.compare("NE", x, x), y, made)
