"""Shifts and common divisors of integers."""

from __future__ import annotations

import torch
from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_decomposition, torch_lowering


@torch_lowering("aten.bitwise_left_shift", "aten.__lshift__")
def left_shift(op: TorchOp, x: ir.Value | int, count: ir.Value | int) -> ir.Value:
    """Counts that are negative or not below the width leave 0."""
    return build.elementwise("shift_left", op.operand(x), op.operand(count))


@torch_lowering("aten.bitwise_right_shift", "aten.__rshift__")
def right_shift(op: TorchOp, x: ir.Value | int, count: ir.Value | int) -> ir.Value:
    """Counts that are negative or not below the width leave the sign."""
    unsigned = ir.IntegerType(op.element).is_unsigned
    return build.elementwise("shift_right_logical" if unsigned else "shift_right_arithmetic", op.operand(x), op.operand(count))


@torch_lowering("aten.gcd")
def gcd(op: TorchOp, x: ir.Value, y: ir.Value) -> ir.Value:
    """Euclid's algorithm on all elements until the last one is done."""
    kind = op.result
    zero = build.zero(list(kind.shape), op.element)

    def goes_on(_: ir.Value, b: ir.Value) -> ir.Value:
        none = build.zero([], ir.IntegerType.get_signless(1))
        left = build.compare("NE", b, zero)
        return build.reduce([left], [none], range(len(kind.shape)), lambda a, b: [build.elementwise("or", a, b)])[0]

    def step(a: ir.Value, b: ir.Value) -> list[ir.Value]:
        done = build.compare("EQ", b, zero)
        rest = build.elementwise("remainder", a, build.select(done, build.splat(kind, build.scalar(op.element, 1)), b))
        return [build.select(done, a, b), build.select(done, zero, rest)]

    found, _ = build.while_loop([op.operand(x), op.operand(y)], goes_on, step)
    return found if ir.IntegerType(op.element).is_unsigned else build.elementwise("abs", found)


@torch_decomposition("aten.lcm")
def lcm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    divisor = x.gcd(y)
    multiple = x.div(divisor + (divisor == 0), rounding_mode="trunc") * y
    return multiple.abs() if multiple.dtype.is_signed else multiple
