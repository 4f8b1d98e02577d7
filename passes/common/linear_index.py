"""Linear indices: sums of multiples of variables, a constant, and a multiple of the lane number.

The variables are SSA values where code is emitted, and loop numbers where an op is read.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import gcd
from typing import Any

from torch_mlir import ir
from torch_mlir.dialects import arith

from .affine import evaluate
from .index_emitter import AddressEmitter

_EMITTER = AddressEmitter()


class Loop(int):
    """The number of a loop as a variable, of which it is known how many values it takes."""

    extent: int

    def __new__(cls, number: int, extent: int) -> Loop:
        made = super().__new__(cls, number)
        made.extent = extent
        return made


class NotLinear(Exception):
    """A quotient or remainder of an index that varies, which is no linear index.

    Where one loop stands in the way, it would be one if the `loop` were two, the inner one of extent `inner`.
    """

    def __init__(self, loop: Loop | None = None, inner: int = 0):
        super().__init__(loop, inner)
        self.loop, self.inner = loop, inner


class LinearIndex:
    """`constant + sum(coefficient * variable) + lanes * lane`; immutable. `terms` holds no zero and keeps the order of addition."""

    __slots__ = ("constant", "lanes", "terms")

    def __init__(self, terms: Mapping[Any, int] | None = None, constant: int = 0, lanes: int = 0):
        self.terms: dict[Any, int] = {v: c for v, c in terms.items() if c} if terms else {}
        self.constant = constant
        self.lanes = lanes

    @classmethod
    def _made(cls, terms: dict[Any, int], constant: int, lanes: int) -> LinearIndex:
        """Of terms without a zero, which indices may share."""
        made = object.__new__(cls)
        made.terms, made.constant, made.lanes = terms, constant, lanes
        return made

    @staticmethod
    def of(value: int | ir.Value | LinearIndex) -> LinearIndex:
        """A constant or an SSA value as an index."""
        if isinstance(value, LinearIndex):
            return value
        return LinearIndex(constant=value) if isinstance(value, int) else LinearIndex({value: 1})

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LinearIndex) and (self.terms, self.constant, self.lanes) == (other.terms, other.constant, other.lanes)

    def __hash__(self) -> int:
        return hash((frozenset(self.terms.items()), self.constant, self.lanes))

    def __add__(self, other: int | ir.Value | LinearIndex) -> LinearIndex:
        other = LinearIndex.of(other)
        if not other.terms or not self.terms:
            return self._made(self.terms or other.terms, self.constant + other.constant, self.lanes + other.lanes)
        terms = dict(self.terms)
        for variable, coefficient in other.terms.items():
            terms[variable] = terms.get(variable, 0) + coefficient
        return type(self)(terms, self.constant + other.constant, self.lanes + other.lanes)

    def __mul__(self, factor: int) -> LinearIndex:
        terms = self.terms if factor == 1 else {v: c * factor for v, c in self.terms.items()} if factor else {}
        return self._made(terms, self.constant * factor, self.lanes * factor)

    def __sub__(self, other: int | ir.Value | LinearIndex) -> LinearIndex:
        return self + LinearIndex.of(other) * -1

    def __floordiv__(self, divisor: int) -> LinearIndex:
        if self.is_constant:
            return LinearIndex(constant=self.constant // divisor)
        rest = [(v, c) for v, c in self.terms.items() if c % divisor]
        if self.lanes or not all(isinstance(v, Loop) and c > 0 for v, c in rest):
            raise NotLinear
        if self.constant % divisor + sum(c * (v.extent - 1) for v, c in rest) >= divisor:
            crossing = [(v, divisor // c) for v, c in rest if divisor % c == 0 and v.extent % (divisor // c) == 0]
            raise NotLinear(*max(crossing, key=lambda each: each[0].extent // each[1], default=(None, 0)))
        return type(self)({v: c // divisor for v, c in self.terms.items() if c % divisor == 0}, self.constant // divisor)

    def __mod__(self, divisor: int) -> LinearIndex:
        return self - self // divisor * divisor

    @property
    def is_constant(self) -> bool:
        return not self.terms and not self.lanes

    def uniform(self) -> LinearIndex:
        """This index at lane 0."""
        return self.at_lane(0)

    def at_lane(self, lane: int) -> LinearIndex:
        """This index at one lane, the same in all lanes."""
        return LinearIndex._made(self.terms, self.constant + lane * self.lanes, 0)

    def along_lanes(self) -> LinearIndex:
        """This index at lane 0, its successors in the next lanes."""
        return LinearIndex._made(self.terms, self.constant, 1)

    def coefficient(self, variable: Any) -> int:
        return self.terms.get(variable, 0)

    def without(self, variable: Any) -> LinearIndex:
        return LinearIndex({v: c for v, c in self.terms.items() if v != variable}, self.constant)

    def alignment(self, limit: int) -> int:
        """The largest divisor of `limit` that divides this index, whatever the variables are."""
        return gcd(limit, self.constant, *self.terms.values())

    def at(self, point: Mapping[Any, LinearIndex] | Sequence[LinearIndex]) -> LinearIndex:
        """The index where the variables are what `point` says."""
        terms: dict[Any, int] = {}
        constant, lanes = self.constant, 0
        for variable, coefficient in self.terms.items():
            index = point[variable]
            for each, k in index.terms.items():
                terms[each] = terms.get(each, 0) + k * coefficient
            constant += index.constant * coefficient
            lanes += index.lanes * coefficient
        return LinearIndex(terms, constant, lanes)

    def value(self) -> ir.Value:
        """Emits the index at lane 0. The constant comes last, so that neighbours share the sum before it."""
        return _EMITTER.sum(self.terms.items(), self.constant)

    def address_in(self, operand: ir.Value) -> ir.Value:
        """The same, as an address in the buffer `operand`: what addresses there have in common is emitted once."""
        return _EMITTER.address(operand, self.terms.items(), self.constant)


def total(start: LinearIndex, multiples: Iterable[tuple[LinearIndex, int]]) -> LinearIndex:
    """`start` and the multiples (index, factor), added one after the other."""
    terms, constant, lanes = dict(start.terms), start.constant, start.lanes
    for index, factor in multiples:
        constant += index.constant * factor
        lanes += index.lanes * factor
        for variable, coefficient in index.terms.items() if factor else ():
            if added := terms.get(variable, 0) + coefficient * factor:
                terms[variable] = added
            else:
                del terms[variable]
    return LinearIndex._made(terms, constant, lanes)


def linear_at(expression: ir.AffineExpr, point: Sequence[LinearIndex]) -> LinearIndex | None:
    """The affine expression where its dims have the values `point`, or None where it is not linear."""
    try:
        return LinearIndex.of(evaluate(expression, point))
    except NotLinear:
        return None


class _Seen(threading.local):
    forms: dict[ir.AffineMap, tuple[LinearIndex, ...] | None] | None = None


_seen = _Seen()


@contextmanager
def forms_remembered() -> Iterator[None]:
    """Reads each map once: a pass that emits code asks for the same few maps at every element."""
    before, _seen.forms = _seen.forms, {}
    try:
        yield
    finally:
        _seen.forms = before


def linear_form(affine_map: ir.AffineMap) -> tuple[LinearIndex, ...] | None:
    """The results of the map as indices whose variables are the numbers of its dims, or None where one is not linear everywhere."""
    forms = _seen.forms
    if forms is None:
        return _form(affine_map)
    if affine_map not in forms:
        forms[affine_map] = _form(affine_map)
    return forms[affine_map]


def _form(affine_map: ir.AffineMap) -> tuple[LinearIndex, ...] | None:
    dims = [LinearIndex({dim: 1}) for dim in range(affine_map.n_dims)]
    found = [linear_at(e, dims) for e in affine_map.results]
    return None if None in found else tuple(index for index in found if index is not None)


def linear_results(affine_map: ir.AffineMap, point: Sequence[LinearIndex]) -> list[LinearIndex] | None:
    """The results of the map where its dims have the values `point`, or None where one is not linear."""
    form = linear_form(affine_map)
    if form is not None:
        return [index.at(point) for index in form]
    found = [linear_at(e, point) for e in affine_map.results]
    return None if None in found else [index for index in found if index is not None]


def least(index: LinearIndex, last: LinearIndex) -> LinearIndex:
    """The lesser of two, by an instruction where one of them is not known."""
    if index.is_constant and last.is_constant:
        return min(index, last, key=lambda i: i.constant)
    return LinearIndex.of(arith.minsi(index.value(), last.value()))
