"""What is known to divide an index: of `8 * i + 12` that is 4."""

from __future__ import annotations

from math import gcd

from torch_mlir import ir

from .affine import fold
from .rewriting import DYNAMIC, is_block_argument


def divisor_of(index: ir.Value) -> int:
    """The largest number known to divide an index; 0 of zero, which each divides."""
    if is_block_argument(index):
        return _of_argument(ir.BlockArgument(index))
    op = index.owner.operation
    if op.name == "arith.constant":
        return abs(ir.IntegerAttr(op.attributes["value"]).value)
    operands = list(map(divisor_of, op.operands))
    if op.name in ("affine.apply", "affine.min", "affine.max"):
        results = ir.AffineMapAttr(op.attributes["map"]).value.results
        return gcd(*(fold(e, operands.__getitem__, abs, _combined) for e in results))
    return _combined(op.name.removeprefix("arith."), *operands) if len(operands) == 2 else 1


def _combined(name: str, a: int, b: int) -> int:
    """A number that divides the op of that name in arith, of multiples of a and b."""
    return gcd(a, b) if name in ("addi", "subi") else a * b if name == "muli" else 1


def _of_argument(argument: ir.BlockArgument) -> int:
    """Loops count from their lower bound in steps."""
    loop, number = argument.owner.owner, argument.arg_number
    if loop.name == "scf.forall" and number < len(list(ir.DenseI64ArrayAttr(loop.attributes["staticStep"]))):
        bounds = [list(ir.DenseI64ArrayAttr(loop.attributes[name]))[number] for name in ("staticLowerBound", "staticStep")]
        return 1 if DYNAMIC in bounds else gcd(*bounds)
    if loop.name == "scf.for" and number == 0:
        return gcd(divisor_of(loop.operands[0]), divisor_of(loop.operands[2]))
    return 1
