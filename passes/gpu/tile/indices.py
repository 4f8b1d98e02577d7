"""Emits index arithmetic, each value once, with known divisors and exact division; and the memo of values that are computed once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from math import gcd
from typing import Any

from torch_mlir import ir

from ...common.index_emitter import IndexEmitter
from ...common.linear_index import LinearIndex
from ...common.rewriting import index_constant

LARGE = 1 << 20
"""Divisor of 0, which every power of two divides."""


class Memo:
    """Values by key, visible in the scope that they were computed in and in those inside it."""

    def __init__(self) -> None:
        self.scopes: list[dict[Hashable, Any]] = [{}]

    def find(self, key: Hashable) -> Any:
        """The value of that key, or None."""
        return next((scope[key] for scope in reversed(self.scopes) if key in scope), None)

    def put(self, key: Hashable, value: Any) -> Any:
        self.scopes[-1][key] = value
        return value

    def once(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The value of that key; computed where it is not there yet."""
        found = self.find(key)
        return self.put(key, compute()) if found is None else found

    @contextmanager
    def scope(self) -> Iterator[None]:
        """What is computed inside is forgotten behind it."""
        self.scopes.append({})
        try:
            yield
        finally:
            self.scopes.pop()


class Indices(IndexEmitter):
    """Emits index arithmetic, each value once, and knows divisors of values (`multiple_of`)."""

    def __init__(self, memo: Memo):
        self.memo = memo
        self.multiple_of: dict[ir.Value, int] = {}

    def constant(self, number: int) -> ir.Value:
        return self.memo.once(("constant", number), lambda: index_constant(number))

    def value(self, index: LinearIndex) -> ir.Value:
        """`index` at lane 0. The constant comes last: neighbours share the sum before it and add theirs to the address."""
        if not index.terms:
            return self.constant(index.constant)
        return self.memo.once(("sum", index.uniform()), lambda: self._sum(index))

    def _sum(self, index: LinearIndex) -> ir.Value:
        if index.constant:
            return self.emit("addi", self.value(LinearIndex(index.terms)), self.constant(index.constant))
        return self.sum([(self.scaled(value, k), 1) for value, k in index.terms.items()])  # all products before the sums

    def divisor(self, index: LinearIndex) -> int:
        """A number that divides `index` at lane 0."""
        known = gcd(index.constant, *(c * self.multiple_of.get(v, 1) for v, c in index.terms.items()))
        return known or LARGE

    def op(self, name: str, a: LinearIndex, b: LinearIndex) -> LinearIndex:
        """A binary op on two indices at lane 0, computed once."""
        key = ("index", name, a.uniform(), b.uniform())
        return LinearIndex.of(self.memo.once(key, lambda: self.emit(name, self.value(a), self.value(b))))

    def clamp(self, index: LinearIndex, most: LinearIndex) -> LinearIndex:
        """The lesser of two indices; divides what divides both."""
        least = self.op("minsi", index, most)
        (value,) = least.terms
        self.multiple_of[value] = gcd(self.divisor(index.uniform()), self.divisor(most))
        return LinearIndex(least.terms, least.constant, index.lanes)

    def divide(self, index: LinearIndex, by: int, lanes: int) -> tuple[LinearIndex, LinearIndex] | None:
        """(quotient, remainder) of a non-negative index, where they are linear in the lane number: no carry occurs within a vector."""
        if all(c % by == 0 for c in index.terms.values()) and (not index.lanes or _stays(index.constant % by, index.lanes, lanes, by)):
            quotient = LinearIndex({v: c // by for v, c in index.terms.items()}, index.constant // by)
            return quotient, LinearIndex(constant=index.constant % by, lanes=index.lanes)
        if index.lanes and not (index.lanes == 1 and by % lanes == 0 and self.divisor(index.uniform()) % lanes == 0):
            return None
        rest = self.op("remui", index, LinearIndex(constant=by))
        (value,) = rest.terms
        self.multiple_of[value] = gcd(self.divisor(index.uniform()), by)
        return self.op("divui", index, LinearIndex(constant=by)), LinearIndex(rest.terms, 0, index.lanes)


def _stays(start: int, step: int, lanes: int, below: int) -> bool:
    return 0 <= start + step * (lanes - 1) < below
