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
    """Euclid's algorithm on all elements until the last one is done. As in eager, the least integer has no absolute value, and the divisor
    may take its sign."""
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

    numbers = [op.operand(y), op.operand(x)]
    if not ir.IntegerType(op.element).is_unsigned:
        numbers = [build.elementwise("abs", number) for number in numbers]
    return build.while_loop(numbers, goes_on, step)[0]


@torch_decomposition("aten.lcm")
def lcm(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    divisor = x.gcd(y)
    wide = torch.promote_types(divisor.dtype, torch.int32)  # a product of C's, whose sign is taken before it is narrowed
    multiple = x.to(wide).div((divisor + (divisor == 0)).to(wide), rounding_mode="trunc") * y.to(wide)
    return (multiple.abs() if wide.is_signed else multiple).to(divisor.dtype)
