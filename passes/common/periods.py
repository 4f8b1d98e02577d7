"""By what a loop's index is divided, where several of its steps have the same quotient: how often its quotients begin alike."""

from __future__ import annotations

from collections.abc import Sequence
from math import lcm

from torch_mlir import ir

from .affine import used_dims
from .rewriting import integer, ops_in
from .scalars import constant_integer


def period(block: ir.Block | None, maps: Sequence[ir.AffineMap], loop: int, below: int) -> int:
    """What the index has to be a multiple of, so that all divisors of it that are `below` a number divide it."""
    found = {divisor for m in maps for expression in m.results for divisor in _divisors(expression, loop)}
    periods: dict[ir.Value, int] = {}
    for op in () if block is None else ops_in(block):
        if op.name == "linalg.index" and integer(op, "dim") == loop:
            periods[op.results[0]] = 1
            continue
        moved = [periods[value] for value in op.operands if value in periods]
        if moved and isinstance(op.results[0].type, ir.IndexType):
            divides = op.name in ("arith.divui", "arith.remui")
            periods[op.results[0]] = lcm(*moved) * ((constant_integer(op.operands[1]) if divides else None) or 1)
            found.add(periods[op.results[0]])
    return lcm(*(divisor for divisor in found if divisor < below))


def _divisors(expression: ir.AffineExpr, loop: int) -> set[int]:
    """The divisors of what the loop is part of."""
    if not isinstance(expression, ir.AffineBinaryExpr) or loop not in used_dims(expression):
        return set()
    inside = _divisors(expression.lhs, loop) | _divisors(expression.rhs, loop)
    divides = isinstance(expression, (ir.AffineFloorDivExpr, ir.AffineModExpr)) and isinstance(expression.rhs, ir.AffineConstantExpr)
    return {each * expression.rhs.value for each in inside or {1}} if divides else inside
