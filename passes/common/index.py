"""Index arithmetic while code is emitted: sums of multiples of SSA values, a constant, and a multiple of the lane number."""

from __future__ import annotations

from collections.abc import Mapping

from torch_mlir import ir

from .rewriting import index_constant, value_of


class Lin:
    """`constant + sum(coefficient * value) + lanes * lane`, over SSA values of type index; immutable."""

    __slots__ = ("constant", "lanes", "terms")

    def __init__(self, terms: Mapping[ir.Value, int] | None = None, constant: int = 0, lanes: int = 0):
        self.terms = {v: c for v, c in (terms or {}).items() if c}
        self.constant = constant
        self.lanes = lanes

    @staticmethod
    def of(value: int | ir.Value | Lin) -> Lin:
        if isinstance(value, Lin):
            return value
        return Lin(constant=value) if isinstance(value, int) else Lin({value: 1})

    def __add__(self, other: int | ir.Value | Lin) -> Lin:
        other = Lin.of(other)
        terms = dict(self.terms)
        for value, coefficient in other.terms.items():
            terms[value] = terms.get(value, 0) + coefficient
        return Lin(terms, self.constant + other.constant, self.lanes + other.lanes)

    def __mul__(self, factor: int) -> Lin:
        return Lin({v: c * factor for v, c in self.terms.items()}, self.constant * factor, self.lanes * factor)

    def __sub__(self, other: int | ir.Value | Lin) -> Lin:
        return self + Lin.of(other) * -1

    @property
    def is_constant(self) -> bool:
        return not self.terms and not self.lanes

    def uniform(self) -> Lin:
        """This index at lane 0."""
        return Lin(self.terms, self.constant)

    def value(self) -> ir.Value:
        """Emits the index at lane 0. The constant comes last, so that neighbours share the sum before it."""
        total = None
        for value, coefficient in self.terms.items():
            term = value if coefficient == 1 else value_of("arith.muli", value.type, [value, index_constant(coefficient)])
            total = term if total is None else value_of("arith.addi", term.type, [total, term])
        if total is None:
            return index_constant(self.constant)
        return total if not self.constant else value_of("arith.addi", total.type, [total, index_constant(self.constant)])
