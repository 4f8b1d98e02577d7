"""Emits index arithmetic at the insertion point: sums of multiples of values, and index expressions."""

from __future__ import annotations

from collections.abc import Iterable

from torch_mlir import ir

from .index_expression import Atom, Expr
from .rewriting import index_constant, value_of


class IndexEmitter:
    """Sums of multiples of SSA values. `subtracts`: a multiple by -1 behind another term is a subtraction, else a product."""

    subtracts = False

    def constant(self, number: int) -> ir.Value:
        return index_constant(number)

    def emit(self, name: str, x: ir.Value, y: ir.Value) -> ir.Value:
        return value_of(f"arith.{name}", x.type, [x, y])

    def scaled(self, value: ir.Value, k: int) -> ir.Value:
        return value if k == 1 else self.emit("muli", value, self.constant(k))

    def sum(self, terms: Iterable[tuple[ir.Value, int]], constant: int = 0) -> ir.Value:
        """The sum of value * coefficient, term by term, and the constant last, so that neighbours share the sum before it."""
        total = None
        for value, k in terms:
            if total is None:
                total = self.scaled(value, k)
            elif self.subtracts and k == -1:
                total = self.emit("subi", total, value)
            else:
                total = self.emit("addi", total, self.scaled(value, k))
        if total is None:
            return self.constant(constant)
        return self.emit("addi", total, self.constant(constant)) if constant else total


class ExpressionEmitter(IndexEmitter):
    """Index expressions, each of them and each atom once."""

    subtracts = True

    def __init__(self) -> None:
        self._emitted: dict[Expr | Atom, ir.Value] = {}

    def plain(self, atom: Atom) -> ir.Value:
        """A dim, or an index known at run time."""
        raise NotImplementedError

    def expression(self, x: Expr) -> ir.Value:
        if x not in self._emitted:
            self._emitted[x] = self.sum(((self._atom(atom), k) for atom, k in x.terms), x.constant)
        return self._emitted[x]

    def _atom(self, atom: Atom) -> ir.Value:
        if atom not in self._emitted:
            self._emitted[atom] = self.plain(atom) if atom.is_plain else self._division(atom)
        return self._emitted[atom]

    def _division(self, atom: Atom) -> ir.Value:
        """The part of a quotient is never negative, so unsigned division rounds down."""
        return self.emit("divui" if atom.kind == "div" else "remui", self.expression(atom.parts[0]), self.constant(atom.number))
