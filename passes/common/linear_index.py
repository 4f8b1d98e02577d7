"""Index arithmetic while code is emitted: sums of multiples of SSA values, a constant, and a multiple of the lane number."""

from __future__ import annotations

from collections.abc import Mapping

from torch_mlir import ir

from .rewriting import index_constant, value_of


class LinearIndex:
    """`constant + sum(coefficient * value) + lanes * lane`, over SSA values of type index; immutable."""

    __slots__ = ("constant", "lanes", "terms")

    def __init__(self, terms: Mapping[ir.Value, int] | None = None, constant: int = 0, lanes: int = 0):
        self.terms = {v: c for v, c in (terms or {}).items() if c}
        self.constant = constant
        self.lanes = lanes

    @staticmethod
    def of(value: int | ir.Value | LinearIndex) -> LinearIndex:
        if isinstance(value, LinearIndex):
            return value
        return LinearIndex(constant=value) if isinstance(value, int) else LinearIndex({value: 1})

    def __add__(self, other: int | ir.Value | LinearIndex) -> LinearIndex:
        other = LinearIndex.of(other)
        terms = dict(self.terms)
        for value, coefficient in other.terms.items():
            terms[value] = terms.get(value, 0) + coefficient
        return LinearIndex(terms, self.constant + other.constant, self.lanes + other.lanes)

    def __mul__(self, factor: int) -> LinearIndex:
        return LinearIndex({v: c * factor for v, c in self.terms.items()}, self.constant * factor, self.lanes * factor)

    def __sub__(self, other: int | ir.Value | LinearIndex) -> LinearIndex:
        return self + LinearIndex.of(other) * -1

    @property
    def is_constant(self) -> bool:
        return not self.terms and not self.lanes

    def uniform(self) -> LinearIndex:
        """This index at lane 0."""
        return LinearIndex(self.terms, self.constant)

    def value(self) -> ir.Value:
        """Emits the index at lane 0. The constant comes last, so that neighbours share the sum before it."""
        total = None
        for value, coefficient in self.terms.items():
            term = value if coefficient == 1 else value_of("arith.muli", value.type, [value, index_constant(coefficient)])
            total = term if total is None else value_of("arith.addi", term.type, [total, term])
        if total is None:
            return index_constant(self.constant)
        return total if not self.constant else value_of("arith.addi", total.type, [total, index_constant(self.constant)])
