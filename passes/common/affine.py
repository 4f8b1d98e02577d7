"""Affine expressions of indexing maps: their value at a point, the loops in them, and index expressions as such."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

from torch_mlir import ir

from .index_expression import ZERO, Atom, Expr

_BINARY: dict[type[ir.AffineExpr], Callable[[Any, Any], Any]] = {
    ir.AffineAddExpr: operator.add,
    ir.AffineMulExpr: operator.mul,
    ir.AffineModExpr: operator.mod,
    ir.AffineFloorDivExpr: operator.floordiv,
    ir.AffineCeilDivExpr: lambda x, k: x * -1 // k * -1,
}


def evaluate(expression: ir.AffineExpr, point: Sequence[Any]) -> Any:
    """The affine expression's value where its dims have the values `point`, of any type with the arithmetic of ints; or an int."""
    expression = expression.maybe_downcast()  # an operand of a sum comes back untyped
    if isinstance(expression, ir.AffineDimExpr):
        return point[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return expression.value
    if isinstance(expression, ir.AffineSymbolExpr):
        raise ValueError("an indexing map has no symbols")
    return _BINARY[type(expression)](evaluate(expression.lhs, point), evaluate(expression.rhs, point))


def index_at(expression: ir.AffineExpr, point: Sequence[Expr]) -> Expr:
    """The affine expression at `point`, simplified by the loops' extents."""
    return ZERO + evaluate(expression, point)


def to_affine(x: Expr) -> ir.AffineExpr:
    """The expression for an indexing map; it must not depend on run-time indices."""
    result = ir.AffineExpr.get_constant(x.constant)
    for atom, k in x.terms:
        result = ir.AffineExpr.get_add(result, ir.AffineExpr.get_mul(_atom_to_affine(atom), ir.AffineExpr.get_constant(k)))
    return result


def _atom_to_affine(atom: Atom) -> ir.AffineExpr:
    if atom.kind == "dim":
        return ir.AffineExpr.get_dim(atom.number)
    part, divisor = to_affine(atom.parts[0]), ir.AffineExpr.get_constant(atom.number)
    return ir.AffineExpr.get_floor_div(part, divisor) if atom.kind == "div" else ir.AffineExpr.get_mod(part, divisor)
