"""Linear forms over loops: `constant + sum(coefficient * loop)`, by which a contraction's operands and results are addressed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import gcd

from torch_mlir import ir

from ...common.linear_index import LinearIndex


@dataclass(frozen=True)
class Form:
    """An index that is linear in the loops of an op; `terms` maps a loop's number to its coefficient and holds no zeros."""

    terms: Mapping[int, int] = field(default_factory=dict)
    constant: int = 0

    @staticmethod
    def loop(number: int) -> Form:
        return Form({number: 1})

    def __add__(self, other: Form) -> Form:
        terms = dict(self.terms)
        for loop, coefficient in other.terms.items():
            terms[loop] = terms.get(loop, 0) + coefficient
        return Form({k: c for k, c in terms.items() if c}, self.constant + other.constant)

    def __mul__(self, factor: int) -> Form:
        return Form({k: c * factor for k, c in self.terms.items() if c * factor}, self.constant * factor)

    def coefficient(self, loop: int) -> int:
        return self.terms.get(loop, 0)

    def without(self, loop: int) -> Form:
        return Form({k: c for k, c in self.terms.items() if k != loop}, self.constant)

    def alignment(self, limit: int) -> int:
        """The largest power of two up to `limit` that divides this index, whatever the loops are."""
        divisor = limit
        for number in (self.constant, *self.terms.values()):
            divisor = gcd(divisor, number)
        return divisor

    def at(self, loops: Mapping[int, LinearIndex]) -> LinearIndex:
        """The index in the kernel, where `loops` says what each loop is."""
        total = LinearIndex(constant=self.constant)
        for loop, coefficient in self.terms.items():
            total = total + loops[loop] * coefficient
        return total


def form_of(expr: ir.AffineExpr, loops: Sequence[Form]) -> Form | None:
    """`expr` with its dimensions replaced by `loops`, or None where it is not linear."""
    if isinstance(expr, ir.AffineDimExpr):
        return loops[ir.AffineDimExpr(expr).position]
    if isinstance(expr, ir.AffineConstantExpr):
        return Form(constant=ir.AffineConstantExpr(expr).value)
    if isinstance(expr, ir.AffineAddExpr):
        left, right = (form_of(e, loops) for e in (ir.AffineAddExpr(expr).lhs, ir.AffineAddExpr(expr).rhs))
        return None if left is None or right is None else left + right
    if isinstance(expr, ir.AffineMulExpr):
        left, right = (form_of(e, loops) for e in (ir.AffineMulExpr(expr).lhs, ir.AffineMulExpr(expr).rhs))
        if left is None or right is None or (left.terms and right.terms):
            return None
        return left * right.constant if not right.terms else right * left.constant
    return None


def forms_of(affine_map: ir.AffineMap, loops: Sequence[Form]) -> list[Form] | None:
    """What each result of `affine_map` is, or None where one of them is not linear."""
    forms = [form_of(e, loops) for e in affine_map.results]
    return None if any(f is None for f in forms) else [f for f in forms if f is not None]


def row_major(shape: Sequence[int], indices: Sequence[Form]) -> Form:
    """The linear index of an element of a row-major array."""
    total, stride = Form(), 1
    for size, index in reversed(list(zip(shape, indices))):
        total = total + index * stride
        stride *= size
    return total
