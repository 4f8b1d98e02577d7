"""Remainders and rounding divisions, with Python's signs: torch-mlir's remainder of integers is C's."""

from __future__ import annotations

from typing import TypeAlias

from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering

Number: TypeAlias = ir.Value | float | int | bool


@torch_lowering("aten.remainder")
def remainder(op: TorchOp, x: Number, divisor: Number) -> ir.Value:
    """x - divisor · floor(x / divisor): of the divisor's sign."""
    x, divisor = _operands(op, x, divisor)
    rest, opposed = _rest(x, divisor)
    return build.convert(build.select(opposed, build.elementwise("add", rest, divisor), rest), op.element)


@torch_lowering("aten.fmod")
def fmod(op: TorchOp, x: Number, divisor: Number) -> ir.Value:
    """x - divisor · trunc(x / divisor): of the sign of x."""
    return build.convert(build.elementwise("remainder", *_operands(op, x, divisor)), op.element)


@torch_lowering("aten.floor_divide")
def floor_divide(op: TorchOp, x: Number, divisor: Number) -> ir.Value:
    """The quotient rounded towards minus infinity. Of floats it is the quotient of x - remainder, as in Python and torch."""
    x, divisor = _operands(op, x, divisor)
    rest, opposed = _rest(x, divisor)
    if isinstance(op.element, ir.IntegerType):
        quotient = build.elementwise("divide", x, divisor)
        one = build.splat(quotient.type, build.scalar(op.element, 1))
        return build.select(opposed, build.elementwise("subtract", quotient, one), quotient)
    zero, one, half = (build.splat(x.type, build.scalar(build.element_of(x), value)) for value in (0, 1, 0.5))
    exact = build.elementwise("divide", x, divisor)
    quotient = build.elementwise("divide", build.elementwise("subtract", x, rest), divisor)
    quotient = build.select(opposed, build.elementwise("subtract", quotient, one), quotient)
    floor = build.elementwise("floor", quotient)
    far = build.compare("GT", build.elementwise("subtract", quotient, floor), half)
    rounded = build.select(far, build.elementwise("add", floor, one), floor)
    signed_zero = build.elementwise("multiply", zero, exact)
    rounded = build.select(build.compare("EQ", quotient, zero), signed_zero, rounded)
    return build.convert(build.select(build.compare("EQ", divisor, zero), exact, rounded), op.element)


@torch_lowering("aten.div.Tensor_mode", "aten.div.Scalar_mode")
def divide(op: TorchOp, x: Number, divisor: Number, *, rounding_mode: str | None) -> ir.Value:
    if rounding_mode == "floor":
        return floor_divide(op, x, divisor)
    x, divisor = _operands(op, x, divisor)
    quotient = build.elementwise("divide", x, divisor)
    if rounding_mode is None or isinstance(op.element, ir.IntegerType):  # integers' own division cuts
        return build.convert(quotient, op.element)
    zero = build.zero(build.shape_of(x), build.element_of(x))
    down, up = build.elementwise("floor", quotient), build.elementwise("ceil", quotient)
    return build.convert(build.select(build.compare("LT", quotient, zero), up, down), op.element)


def _operands(op: TorchOp, x: Number, divisor: Number) -> tuple[ir.Value, ir.Value]:
    """Both of the result's shape and type; half-precision floats as f32, in which torch computes."""
    values = op.operand(x), op.operand(divisor)
    if isinstance(op.element, ir.FloatType) and op.element.width < 32:
        return build.convert(values[0], ir.F32Type.get()), build.convert(values[1], ir.F32Type.get())
    return values


def _rest(x: ir.Value, divisor: ir.Value) -> tuple[ir.Value, ir.Value]:
    """The remainder with the sign of x; and where it is not zero, and of another sign than the divisor."""
    rest = build.elementwise("remainder", x, divisor)
    zero = build.zero(build.shape_of(x), build.element_of(x))
    signs_differ = build.compare("NE", build.compare("LT", rest, zero), build.compare("LT", divisor, zero))
    return rest, build.elementwise("and", build.compare("NE", rest, zero), signs_differ)
