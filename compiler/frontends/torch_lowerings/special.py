"""Special functions of one or two reals, which chlo has. Half precision is computed in f32, as in torch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from torch_mlir import ir

from hloom.passes.common.rewriting import value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering


def _in_chlo(op: TorchOp, name: str, *operands: ir.Value | float) -> ir.Value:
    values = [_widened(op.operand(operand)) for operand in operands]
    return build.convert(value_of(f"chlo.{name}", values[0].type, values), op.element)


def _widened(x: ir.Value) -> ir.Value:
    half = isinstance(build.element_of(x), ir.FloatType) and build.element_of(x).width < 32
    return build.convert(x, ir.F32Type.get()) if half else x


@torch_lowering("aten.erf", "aten.special_erf")
def erf(op: TorchOp, x: ir.Value) -> ir.Value:
    return _in_chlo(op, "erf", x)


@torch_lowering("aten.erfc", "aten.special_erfc")
def erfc(op: TorchOp, x: ir.Value) -> ir.Value:
    return _in_chlo(op, "erfc", x)


@torch_lowering("aten.erfinv", "aten.special_erfinv")
def erfinv(op: TorchOp, x: ir.Value) -> ir.Value:
    return _in_chlo(op, "erf_inv", x)


@torch_lowering("aten.digamma", "aten.special_digamma", "aten.special_psi")
def digamma(op: TorchOp, x: ir.Value) -> ir.Value:
    """chlo's, but at a zero the infinity of the other sign, as torch has it."""
    x = _widened(op.operand(x))
    minus_one = build.splat(x.type, build.scalar(build.element_of(x), -1))
    at_zero = build.compare("EQ", x, build.zero(build.shape_of(x), build.element_of(x)))
    made = build.select(at_zero, build.elementwise("divide", minus_one, x), value_of("chlo.digamma", x.type, [x]))
    return build.convert(made, op.element)


@torch_lowering("aten.polygamma")
def polygamma(op: TorchOp, order: int, x: ir.Value) -> ir.Value:
    if order == 0:
        return digamma(op, x)
    x = _widened(op.operand(x))
    reflected = build.compare("LT", x, build.full_like(x, 0.5))
    right = build.select(reflected, build.subtract(build.full_like(x, 1), x), x)
    found = value_of("chlo.polygamma", x.type, [build.full_like(x, order), right])
    at_infinity = build.compare("EQ", right, build.full_like(x, math.inf))  # chlo's has infinity times zero there
    found = build.select(at_infinity, build.full_like(x, 0), found)
    sign = build.full_like(x, (-1) ** order)
    other = build.subtract(build.multiply(sign, found), _derivative_of_cotangent(order, x))
    return build.convert(build.select(reflected, other, found), op.element)


def _derivative_of_cotangent(order: int, x: ir.Value) -> ir.Value:
    """That of pi cot(pi x), by which polygamma is reflected at a half: chlo's series is none for what is far below zero.

    The derivative of a polynomial P(c) in the cotangent is -pi (1 + c^2) P'(c).
    """
    factors: Any = np.polynomial.Polynomial([0, 1])
    for _ in range(order):
        factors = -factors.deriv() * np.polynomial.Polynomial([1, 0, 1])
    angle = build.multiply(build.subtract(x, build.elementwise("round_nearest_even", x)), build.full_like(x, math.pi))
    cotangent = build.divide(build.elementwise("cosine", angle), build.elementwise("sine", angle))
    *lower, first = factors.coef * math.pi ** (order + 1)
    value = build.full_like(x, first)  # not of zero times the infinity at a pole
    for factor in reversed(lower):
        value = build.add(build.multiply(value, cotangent), build.full_like(x, factor))
    return value


@torch_lowering("aten.special_zeta")
def zeta(op: TorchOp, x: ir.Value | float, q: ir.Value | float) -> ir.Value:
    return _in_chlo(op, "zeta", x, q)


@torch_lowering("aten.nextafter")
def nextafter(op: TorchOp, x: ir.Value, towards: ir.Value) -> ir.Value:
    return value_of("chlo.next_after", op.result, [op.operand(x), op.operand(towards)])


@torch_lowering("aten.cosh")
def cosh(op: TorchOp, x: ir.Value) -> ir.Value:
    x = _widened(op.operand(x))
    grows, falls = _half_exponentials(x)
    return build.convert(build.elementwise("add", grows, falls), op.element)


@torch_lowering("aten.sinh")
def sinh(op: TorchOp, x: ir.Value) -> ir.Value:
    """Below 1 by expm1, as the difference of the exponentials cancels there."""
    x = _widened(op.operand(x))
    grows, falls = _half_exponentials(x)
    less_one = build.elementwise("exponential_minus_one", x)
    one, half = (build.splat(x.type, build.scalar(build.element_of(x), value)) for value in (1, 0.5))
    ratio = build.elementwise("divide", less_one, build.elementwise("add", less_one, one))
    near = build.elementwise("multiply", half, build.elementwise("add", less_one, ratio))
    is_near = build.compare("LT", build.elementwise("abs", x), one)
    return build.convert(build.select(is_near, near, build.elementwise("subtract", grows, falls)), op.element)


def _half_exponentials(x: ir.Value) -> tuple[ir.Value, ir.Value]:
    """e^x / 2 and e^-x / 2, without overflow where the half does not, and without rounding x."""
    half = build.splat(x.type, build.scalar(build.element_of(x), 0.5))
    root = build.elementwise("exponential", build.elementwise("multiply", x, half))
    other = build.elementwise("exponential", build.elementwise("negate", build.elementwise("multiply", x, half)))
    grows, falls = (build.elementwise("multiply", build.elementwise("multiply", half, each), each) for each in (root, other))
    return grows, falls
