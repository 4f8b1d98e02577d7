"""By what indices can be divided in every turn of the loops around, and their quotients."""

from __future__ import annotations

from collections.abc import Mapping
from math import gcd

from torch_mlir import ir
from torch_mlir.dialects import arith

from ...common.linear_index import LinearIndex
from ...common.rewriting import defining_op, is_block_argument
from ...common.scalars import constant_integer

Multiples = Mapping[ir.Value, int]
"""What indices are multiples of, where that is told."""


def factor(index: LinearIndex, limit: int, told: Multiples | None = None) -> int:
    """The largest divisor of `limit` (of any number, where that is 0) that divides the index in every turn of the loops around."""
    return gcd(limit, index.constant, *(k * _step(variable, told or {}) for variable, k in index.terms.items()))


def _step(variable: ir.Value, told: Multiples) -> int:
    """What a value is a multiple of: that of a loop of its step, what is left without a remainder of the divisor."""
    if variable in told:
        return told[variable]
    if not is_block_argument(variable):
        divided = quotient_of(variable, told)
        return _left_over(variable) if divided is None else _step(divided[0], told) // divided[1]
    around = variable.owner.owner.operation
    if around.name != "scf.for" or ir.BlockArgument(variable).arg_number:
        return 1
    lower, step = constant_integer(around.operands[0]), constant_integer(around.operands[2])
    return 1 if lower is None or step is None else gcd(lower, step)


def _left_over(value: ir.Value) -> int:
    """The divisor where a value is what is left of another without the remainder; 1 of other values."""
    op = defining_op(value)
    rest = None if op is None or op.name != "arith.subi" else defining_op(op.operands[1])
    if op is None or rest is None or rest.name != "arith.remui" or rest.operands[0] != op.operands[0]:
        return 1
    return constant_integer(rest.operands[1]) or 1


def quotient_of(value: ir.Value, told: Multiples) -> tuple[ir.Value, int] | None:
    """What a value is the quotient of, and the divisor, where that divides it."""
    op = defining_op(value)
    divisor = constant_integer(op.operands[1]) if op is not None and op.name == "arith.divui" else None
    return (op.operands[0], divisor) if op is not None and divisor and _step(op.operands[0], told) % divisor == 0 else None


def quotient(index: LinearIndex, divisor: int, told: Multiples | None = None) -> LinearIndex:
    """The quotient of what is the same in all lanes; of a multiple of the divisor term by term, so that more is known of it."""
    if factor(index, divisor, told) != divisor:
        return LinearIndex.of(_divided(index.value(), divisor))
    total = LinearIndex(constant=index.constant // divisor)
    for variable, k in index.terms.items():
        common = gcd(k, divisor)
        total = total + LinearIndex.of(variable if common == divisor else _divided(variable, divisor // common)) * (k // common)
    return total


def _divided(value: ir.Value, divisor: int) -> ir.Value:
    return arith.divui(value, LinearIndex(constant=divisor).value())
