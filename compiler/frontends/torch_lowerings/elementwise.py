"""Elementwise ops on the types and forms that torch-mlir leaves out: integers that become floats, numbers as operands; those of
optimisers, which would else be traced as several ops for every parameter; and arithmetic and comparisons.

torch-mlir folds the latter where a tensor is a constant, and reads a number of another kind than the tensor's wrongly: -1 beside floats
as 2^64 - 1, 1 == 1.0 as false; or it does not survive. It also rounds a number to the type of a narrow float before it computes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, promoted_type, torch_lowering

Number: TypeAlias = ir.Value | float | int | bool


@torch_lowering("aten.add", "aten.sub")
def add(op: TorchOp, x: Number, y: Number, alpha: Number = 1) -> ir.Value:
    return _sum("add" if ".add." in op.name else "subtract", op, x, y, alpha)


@torch_lowering("aten.rsub")
def rsub(op: TorchOp, x: Number, y: Number, alpha: Number = 1) -> ir.Value:
    return _sum("subtract", op, y, x, alpha)


def _sum(name: str, op: TorchOp, x: Number, y: Number, alpha: Number) -> ir.Value:
    """All three are rounded to the result's type; with a factor the sum is computed as eager's, rounded once."""
    x, y = op.operand(x), op.operand(y)
    if alpha == 1:
        return build.elementwise(name, x, y)
    return op.operand(build.elementwise(name, _exact(op, x), build.multiply(_exact(op, op.operand(alpha)), _exact(op, y))))


@torch_lowering("aten._neg_view")
def negated_view(op: TorchOp, x: ir.Value) -> ir.Value:
    """Of the imaginary part of a conjugate, which AOTAutograd takes as a view."""
    return build.elementwise("negate", x)


@torch_lowering("aten.abs")
def magnitude(op: TorchOp, x: ir.Value) -> ir.Value:
    """StableHLO has none of integers without signs."""
    element = build.element_of(x)
    return x if isinstance(element, ir.IntegerType) and element.is_unsigned else NotImplemented


@torch_lowering("aten.mul")
def multiply(op: TorchOp, x: Number, y: Number) -> ir.Value:
    return _product("multiply", op, x, y)


@torch_lowering("aten.div.Tensor", "aten.div.Scalar", "aten.true_divide")
def divide(op: TorchOp, x: Number, y: Number) -> ir.Value:
    return _product("divide", op, x, y)


def _product(name: str, op: TorchOp, x: Number, y: Number) -> ir.Value:
    """In the result's type where that has all operands; a number that it would round, a narrow float's, is one of f32."""
    if all(_is_of(op.element, each) for each in (x, y)):
        return build.elementwise(name, op.operand(x), op.operand(y))
    return op.operand(build.elementwise(name, _exact(op, x), _exact(op, y)))


def _is_of(element: ir.Type, x: Number) -> bool:
    """Whether the type has the operand's values; of types that are not narrow floats, whose results they have been promoted to, always."""
    if not isinstance(element, (ir.BF16Type, ir.F16Type)):
        return True
    if isinstance(x, ir.Value):
        kind = build.element_of(x)
        return kind == element or not isinstance(kind, ir.FloatType)
    return math.isnan(x) or ir.FloatAttr.get(element, float(x)).value == x


@torch_lowering("aten.where.self")
def where(op: TorchOp, chosen: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
    """torch-mlir folds it to `x` where `y` is the same value, of whatever shape the result is."""
    mask = build.convert(chosen, ir.IntegerType.get_signless(1))
    return build.select(build.broadcast_to(mask, list(op.result.shape)), op.operand(x), op.operand(y))


def _comparison(name: str, direction: str) -> None:
    @torch_lowering(f"aten.{name}")
    def lowering(op: TorchOp, x: Number, y: Number) -> ir.Value:
        kind = build.tensor(op.result.shape, promoted_type(x, y))
        return build.compare(direction, _of_type(kind, x), _of_type(kind, y))


def _of_type(kind: ir.RankedTensorType, x: Number) -> ir.Value:
    if not isinstance(x, ir.Value):
        return build.full(kind, x)
    return build.broadcast_to(build.convert(x, kind.element_type), kind.shape)


for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _comparison(_name, _name.upper())


@torch_lowering("aten.full.default")
def full(op: TorchOp, size: Sequence[int], value: Number, **options: Any) -> ir.Value:
    """Of no elements too, which torch decomposes into ops that torch-mlir leaves."""
    return NotImplemented if isinstance(op.element, ir.ComplexType) else op.operand(value)


@torch_lowering("aten.scalar_tensor")
def scalar_tensor(op: TorchOp, value: Number, **options: Any) -> ir.Value:
    return NotImplemented if isinstance(op.element, ir.ComplexType) else op.operand(value)


@torch_lowering("aten.zeros", "aten.zeros_like")
def zeros(op: TorchOp, of: Any, **options: Any) -> ir.Value:
    return NotImplemented if isinstance(op.element, ir.ComplexType) else op.operand(0)


@torch_lowering("aten.ones", "aten.ones_like")
def ones(op: TorchOp, of: Any, **options: Any) -> ir.Value:
    return NotImplemented if isinstance(op.element, ir.ComplexType) else op.operand(1)


@torch_lowering("aten.full_like")
def full_like(op: TorchOp, of: ir.Value, value: Number, **options: Any) -> ir.Value:
    return NotImplemented if isinstance(op.element, ir.ComplexType) else op.operand(value)


@torch_lowering("aten.clamp.default")
def clamp(op: TorchOp, x: ir.Value, low: Number | None = None, high: Number | None = None) -> ir.Value:
    """Of integers to bounds that are floats."""
    if build.element_of(x) == op.element:
        return NotImplemented
    made = op.operand(x)
    for name, bound in (("maximum", low), ("minimum", high)):
        made = made if bound is None else build.elementwise(name, made, op.operand(bound))
    return made


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
    return _of_type(build.tensor(op.result.shape, ir.F32Type.get() if narrow else op.element), x)


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
