"""Affine expressions of indexing maps: their value at a point, the loops in them, and index expressions as such."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from torch_mlir import ir

from .index_expression import ZERO, Atom, Expr

T = TypeVar("T")

_NAMES = {
    ir.AffineAddExpr: "addi",
    ir.AffineMulExpr: "muli",
    ir.AffineFloorDivExpr: "divui",
    ir.AffineModExpr: "remui",
    ir.AffineCeilDivExpr: "ceildivui",
}
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "addi": operator.add,
    "muli": operator.mul,
    "divui": operator.floordiv,
    "remui": operator.mod,
    "ceildivui": lambda x, k: x * -1 // k * -1,
}


def fold(expression: ir.AffineExpr, dim: Callable[[int], T], constant: Callable[[int], T], combine: Callable[[str, T, T], T]) -> T:
    """The expression with its dims, constants and operations replaced, from the leaves up and from left to right.

    `combine` is given an operation's name in arith, once for what occurs several times: `(x mod 7) - (x mod 7) floordiv 3 * 3` doubles in
    size with each turn of an array. Raises ValueError at a symbol, which no indexing map has.
    """
    return _folded(expression, dim, constant, combine, {})


def _folded(
    expression: ir.AffineExpr,
    dim: Callable[[int], T],
    constant: Callable[[int], T],
    combine: Callable[[str, T, T], T],
    known: dict[ir.AffineExpr, T],
) -> T:
    expression = expression.maybe_downcast()  # an operand of a sum comes back untyped
    if isinstance(expression, ir.AffineDimExpr):
        return dim(expression.position)
    if isinstance(expression, ir.AffineConstantExpr):
        return constant(expression.value)
    if isinstance(expression, ir.AffineSymbolExpr):
        raise ValueError("an indexing map has no symbols")
    if expression not in known:
        left, right = (_folded(operand, dim, constant, combine, known) for operand in (expression.lhs, expression.rhs))
        known[expression] = combine(_NAMES[type(expression)], left, right)
    return known[expression]


_FAR = 1 << 32
"""More than any index is below zero."""


def fold_unsigned(
    expression: ir.AffineExpr,
    dim: Callable[[int], T],
    constant: Callable[[int], T],
    combine: Callable[[str, T, T], T],
    is_natural: Callable[[T], bool] = lambda x: False,
) -> T:
    """`fold` for a `combine` whose `divui` and `remui` are those of numbers without signs: it is given none that is below zero.

    Such there are though no index is: `(18 - d) floordiv 3` is `(-d) floordiv 3 + 6` in a map. They are divided far above zero.
    `is_natural` tells of a value that it is at least zero for all that.
    """

    def signed(name: str, x: tuple[T, int | None, bool], y: tuple[T, int | None, bool]) -> tuple[T, int | None, bool]:
        """Of values, the numbers that they are if they are constants, and whether they may be below zero."""
        (a, _, below), (b, divisor, other) = x, y
        if name not in ("divui", "remui") or divisor is None:
            return combine(name, a, b), None, below or other
        if not below or is_natural(a):
            return combine(name, a, b), None, False
        rest = combine(name, combine("addi", a, constant(divisor * _FAR)), b)
        return (combine("addi", rest, constant(-_FAR)), None, True) if name == "divui" else (rest, None, False)

    return fold(expression, lambda d: (dim(d), None, False), lambda number: (constant(number), number, number < 0), signed)[0]


def evaluate(expression: ir.AffineExpr, point: Sequence[Any]) -> Any:
    """The expression's value where its dims have the values `point`, of any type with the arithmetic of ints; or an int."""
    return fold(expression, point.__getitem__, int, lambda name, x, y: _ARITHMETIC[name](x, y))


def read_maps(op: ir.Operation) -> list[ir.AffineMap]:
    """The indexing maps of a linalg.generic."""
    return [ir.AffineMapAttr(m).value for m in ir.ArrayAttr(op.attributes["indexing_maps"])]


def maps_attr(maps: Sequence[ir.AffineMap]) -> ir.ArrayAttr:
    """The attribute that `read_maps` reads."""
    return ir.ArrayAttr.get([ir.AffineMapAttr.get(m) for m in maps])


def dim_position(expression: ir.AffineExpr) -> int | None:
    """The loop that the expression is, or None if it is no plain loop index."""
    return expression.position if isinstance(expression, ir.AffineDimExpr) else None


def loop_of(expression: ir.AffineExpr) -> int:
    """The loop that the expression is, where it is known to be one: in a result's map."""
    return ir.AffineDimExpr(expression).position


def loops_where(affine_map: ir.AffineMap, index: Sequence[T], otherwise: T) -> list[T]:
    """The loops at which a result of that map has the element `index`; `otherwise` for loops that the map does not show."""
    found = [otherwise] * affine_map.n_dims
    for expression, each in zip(affine_map.results, index):
        position = dim_position(expression)
        if position is not None:
            found[position] = each
    return found


def used_dims(expression: ir.AffineExpr) -> set[int]:
    """The loops that occur in the expression."""
    return fold(expression, lambda d: {d}, lambda _: set[int](), lambda _, left, right: left | right)


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
