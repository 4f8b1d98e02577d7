"""Emits index arithmetic at the insertion point: sums of multiples of values, and index expressions.

A tile reads an operand at addresses that differ by a constant: without more, most of a kernel's ops would be the same sums again. So where
a block is entered by `emitting`, the sums of the addresses of an operand are emitted once in it, and not again in the loops inside of it.
What addresses of two operands have in common is emitted for each: kernels that are equal but for numbers have the same ops, though numbers
of one of them may happen to be equal (share-kernels).
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

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


@dataclass(frozen=True)
class _Scope:
    """What was emitted at the end of a block so far."""

    block: ir.Block
    outer: _Scope | None
    """Of the block around it."""
    made: dict[object, ir.Value] = field(default_factory=dict)

    def once(self, key: object, make: Callable[[], ir.Value]) -> ir.Value:
        """What was made for that key here or around here, or else is now."""
        scope: _Scope | None = self
        while scope is not None:
            if key in scope.made:
                return scope.made[key]
            scope = scope.outer
        self.made[key] = make()
        return self.made[key]


class _Here(threading.local):
    scope: _Scope | None = None


_here = _Here()


@contextmanager
def emitting(block: ir.Block) -> Iterator[None]:
    """Emits what follows at the end of the block, from which nothing is erased meanwhile."""
    outer = _here.scope
    is_inside = outer is not None and outer.block == ir.InsertionPoint.current.block
    _here.scope = _Scope(block, outer if is_inside else None)
    try:
        with ir.InsertionPoint(block):
            yield
    finally:
        _here.scope = outer


class AddressEmitter(IndexEmitter):
    """Emits the products and sums of an address once where `emitting` tells of the block; `operand` is whose address it is."""

    def address(self, operand: ir.Value, terms: Iterable[tuple[ir.Value, int]], constant: int) -> ir.Value:
        """What `sum` emits."""
        scope, point = _here.scope, ir.InsertionPoint.current
        if scope is None or point.ref_operation is not None or point.block != scope.block:
            return self.sum(terms, constant)
        total = None
        for value, k in terms:
            term = value if k == 1 else scope.once((operand, value, k, "muli"), partial(self.scaled, value, k))
            total = term if total is None else scope.once((operand, total, term), partial(self.emit, "addi", total, term))
        if total is None:
            return scope.once((operand, constant), lambda: self.constant(constant))
        if not constant:
            return total
        return scope.once((operand, total, constant, "addi"), lambda: self.emit("addi", total, self.constant(constant)))


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
