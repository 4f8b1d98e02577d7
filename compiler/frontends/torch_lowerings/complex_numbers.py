"""Ops of torch on complex numbers, which torch-mlir lacks, or computes from the real parts alone (abs)."""

from __future__ import annotations

import math
from typing import TypeAlias

from torch_mlir import ir

from hloom.passes.common.rewriting import element_of, value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering_of_complex

Number: TypeAlias = "ir.Value | complex | float | int | bool"

_UNARY = {
    "abs": "abs", "cos": "cosine", "exp": "exponential", "expm1": "exponential_minus_one", "log": "log", "log1p": "log_plus_one",
    "neg": "negate", "rsqrt": "rsqrt", "sgn": "sign", "sigmoid": "logistic", "sin": "sine", "sqrt": "sqrt", "tan": "tan", "tanh": "tanh",
}  # fmt: skip


def _unary(name: str) -> None:
    @torch_lowering_of_complex(f"aten.{name}")
    def lowering(op: TorchOp, x: ir.Value) -> ir.Value:
        return build.elementwise(_UNARY[name], x, result=op.result)


for _name in _UNARY:
    _unary(_name)


@torch_lowering_of_complex("aten.add", "aten.sub")
def add(op: TorchOp, x: Number, y: Number, alpha: Number = 1) -> ir.Value:
    y = _operand(op, y) if alpha == 1 else build.elementwise("multiply", _operand(op, y), _operand(op, alpha))
    return build.elementwise("add" if ".add." in op.name else "subtract", _operand(op, x), y)


@torch_lowering_of_complex("aten.rsub")
def rsub(op: TorchOp, x: Number, y: Number, alpha: Number = 1) -> ir.Value:
    return add(op, y, x, alpha)


@torch_lowering_of_complex("aten.mul")
def multiply(op: TorchOp, x: Number, y: Number) -> ir.Value:
    return build.elementwise("multiply", _operand(op, x), _operand(op, y))


@torch_lowering_of_complex("aten.div.Tensor", "aten.div.Scalar")
def divide(op: TorchOp, x: Number, y: Number) -> ir.Value:
    return build.elementwise("divide", _operand(op, x), _operand(op, y))


@torch_lowering_of_complex("aten.reciprocal")
def reciprocal(op: TorchOp, x: ir.Value) -> ir.Value:
    return build.elementwise("divide", _operand(op, 1), _operand(op, x))


@torch_lowering_of_complex("aten.pow")
def power(op: TorchOp, x: Number, y: Number) -> ir.Value:
    return build.elementwise("power", _operand(op, x), _operand(op, y))


@torch_lowering_of_complex("aten.complex")
def complex_(op: TorchOp, real: ir.Value, imaginary: ir.Value) -> ir.Value:
    shape, element = list(op.result.shape), op.element.element_type
    parts = []
    for part in (real, imaginary):
        offset = len(shape) - len(build.shape_of(part))
        parts.append(build.broadcast(build.convert(part, element), shape, range(offset, len(shape))))
    return value_of("stablehlo.complex", op.result, parts)


@torch_lowering_of_complex("aten._conj", "aten.conj_physical", "aten._conj_physical")
def conjugate(op: TorchOp, x: Number) -> ir.Value:
    """Gradients ask for that of a number."""
    real, imaginary = _parts(_operand(op, x))
    return value_of("stablehlo.complex", op.result, [real, build.elementwise("negate", imaginary)])


@torch_lowering_of_complex("aten.sinh")
def sinh(op: TorchOp, x: ir.Value) -> ir.Value:
    real, imaginary = _parts(build.elementwise("sine", _turned(x)))
    return value_of("stablehlo.complex", op.result, [imaginary, build.elementwise("negate", real)])


@torch_lowering_of_complex("aten.cosh")
def cosh(op: TorchOp, x: ir.Value) -> ir.Value:
    return build.elementwise("cosine", _turned(x))


def _turned(x: ir.Value) -> ir.Value:
    """i times x."""
    real, imaginary = _parts(x)
    return value_of("stablehlo.complex", x.type, [build.elementwise("negate", imaginary), real])


@torch_lowering_of_complex("aten.acos", "aten.acosh", "aten.asin", "aten.asinh", "aten.atan")
def inverse(op: TorchOp, x: ir.Value) -> ir.Value:
    return value_of(f"chlo.{op.name.split('.')[1]}", x.type, [x])


@torch_lowering_of_complex("aten.atanh")
def atanh(op: TorchOp, x: ir.Value) -> ir.Value:
    up, down = (build.elementwise("log_plus_one", each) for each in (x, build.elementwise("negate", x)))
    return build.multiply(build.subtract(up, down), build.full_like(x, 0.5))


@torch_lowering_of_complex("aten.exp2")
def exp2(op: TorchOp, x: ir.Value) -> ir.Value:
    return build.elementwise("exponential", build.multiply(x, build.full_like(x, math.log(2))))


@torch_lowering_of_complex("aten.ldexp")
def ldexp(op: TorchOp, x: ir.Value, power: ir.Value) -> ir.Value:
    return build.multiply(_operand(op, x), exp2(op, _operand(op, power)))


@torch_lowering_of_complex("aten.angle")
def angle(op: TorchOp, x: ir.Value) -> ir.Value:
    real, imaginary = _parts(x)
    return build.elementwise("atan2", imaginary, real)


@torch_lowering_of_complex("aten.view_as_real", "aten.view_as_real_copy")
def view_as_real(op: TorchOp, x: ir.Value) -> ir.Value:
    shape = build.shape_of(x)
    return build.concatenate([build.reshape(part, [*shape, 1]) for part in _parts(x)], len(shape))


@torch_lowering_of_complex("aten.view_as_complex", "aten.view_as_complex_copy")
def view_as_complex(op: TorchOp, x: ir.Value) -> ir.Value:
    shape = build.shape_of(x)[:-1]
    return value_of("stablehlo.complex", op.result, [build.reshape(build.slice_dim(x, len(shape), n, n + 1), shape) for n in range(2)])


def _parts(x: ir.Value) -> list[ir.Value]:
    kind = build.tensor(build.shape_of(x), element_of(x).element_type)
    return [value_of(f"stablehlo.{name}", kind, [x]) for name in ("real", "imag")]


def _operand(op: TorchOp, value: Number) -> ir.Value:
    """A tensor or a number as a value of the result's type."""
    if isinstance(value, ir.Value):
        return op.operand(value)
    return build.full(op.result, value)
