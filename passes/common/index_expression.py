"""Integer expressions over loops and run-time indices, simplified by the range that each of their terms lies in.

An expression is a constant plus a sum of integer multiples of atoms. An atom lies in [0, extent) and is one of

    dim      a loop or an axis, by its number
    value    an index known at run time, by its number
    opaque   an index known at run time that depends on its parts: what a gather reads
    div      its part // its number
    mod      its part % its number

Equal expressions are equal indices, and indices that only reshapes made different are equal expressions: the rules see to it, each of which
has its identity beside it. MLIR composes affine maps without the loops' extents; only with them is `(d0 * 64 + d1) floordiv 64` just `d0`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from math import gcd

Point = tuple["Expr", ...]
"""The index of an element: one expression a dimension."""


class Atom:
    """A term that cannot be taken apart further. Immutable; `key` says all of it, and orders atoms."""

    __slots__ = ("dims", "extent", "hash", "key", "kind", "number", "parts")

    def __init__(self, kind: str, number: int, extent: int, parts: Point = ()):
        self.kind, self.number, self.extent, self.parts = kind, number, extent, parts
        self.key: tuple = (kind, number, extent, tuple([part.key for part in parts]))
        self.hash: int = hash((kind, number, extent, *[part.hash for part in parts]))  # a part may occur in others, which occur in others
        self.dims: frozenset[int] = frozenset((number,)) if kind == "dim" else dims_of(parts)

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Atom) and self.key == other.key)

    def __hash__(self) -> int:
        return self.hash

    @property
    def is_plain(self) -> bool:
        """Is no quotient and no remainder."""
        return self.kind not in ("div", "mod")

    def substitute(self, mapping: Mapping[int, Expr], known: dict[Atom, Expr]) -> Expr:
        """The atom with dims replaced. `known`: what became of others."""
        if self.dims.isdisjoint(mapping):
            return _expr(self)
        if self.kind == "dim":
            return mapping[self.number]
        if self not in known:
            parts = tuple([part.substitute(mapping, known) for part in self.parts])
            if self.is_plain:
                known[self] = _expr(Atom(self.kind, self.number, self.extent, parts))
            else:
                known[self] = parts[0] // self.number if self.kind == "div" else parts[0] % self.number
        return known[self]


class Expr:
    """`constant` + the sum of coefficient * atom over `terms`, in [low, high]. The terms are in order, no coefficient is 0. Immutable.

    `atom` is the atom that the expression is, if it is one alone, and `dim` the dim's number, if that is one.
    """

    __slots__ = ("atom", "constant", "dim", "dims", "hash", "high", "key", "low", "terms")

    def __init__(self, constant: int, terms: tuple[tuple[Atom, int], ...] = ()):
        self.constant, self.terms = constant, terms
        self.atom = terms[0][0] if len(terms) == 1 and not constant and terms[0][1] == 1 else None
        self.dim = self.atom.number if self.atom is not None and self.atom.kind == "dim" else None
        self.low = constant + sum([c * (atom.extent - 1) for atom, c in terms if c < 0])
        self.high = constant + sum([c * (atom.extent - 1) for atom, c in terms if c > 0])
        self.key: tuple = (tuple([(atom.key, c) for atom, c in terms]), constant)
        self.hash: int = hash((constant, *[(atom.hash, c) for atom, c in terms]))
        self.dims: frozenset[int] = terms[0][0].dims if len(terms) == 1 else frozenset().union(*[atom.dims for atom, _ in terms])

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Expr) and self.key == other.key)

    def __hash__(self) -> int:
        return self.hash

    def __repr__(self) -> str:
        return repr(self.key)

    def __add__(self, other: Expr | int) -> Expr:
        if isinstance(other, int):
            return Expr(self.constant + other, self.terms) if other else self
        if not self.terms or not other.terms:
            return self + other.constant if self.terms else other + self.constant
        return _sum(self.constant + other.constant, (*self.terms, *other.terms))

    def __sub__(self, other: Expr | int) -> Expr:
        return self + other * -1

    def __mul__(self, k: int) -> Expr:
        if k == 1:
            return self
        return Expr(self.constant * k, tuple([(atom, c * k) for atom, c in self.terms])) if k else ZERO

    def __floordiv__(self, k: int) -> Expr:
        if k == 1:
            return self
        a, x = self._split(k)  # (a*k + x) // k = a + x // k
        if x.high < k:  # x // k = 0 if 0 <= x < k
            return a
        if digits := x._digits(k):  # (y*g + z) // k = y // (k/g) if 0 <= z < g and g divides k
            g, y, _ = digits
            return a + y // (k // g)
        if inner := x._only("div"):  # (y // n) // k = y // (n*k)
            return a + inner.parts[0] // (inner.number * k)
        return a + _expr(Atom("div", k, x.high // k + 1, (x,)))

    def __mod__(self, k: int) -> Expr:
        _, x = self._split(k)  # (a*k + x) % k = x % k
        if x.high < k:  # x % k = x if 0 <= x < k
            return x
        if digits := x._digits(k):  # (y*g + z) % k = (y % (k/g))*g + z if 0 <= z < g and g divides k
            g, y, z = digits
            return y % (k // g) * g + z
        inner = x._only("mod")
        if inner and inner.number % k == 0:  # (y % n) % k = y % k if k divides n
            return inner.parts[0] % k
        return _expr(Atom("mod", k, k, (x,)))

    def _split(self, k: int) -> tuple[Expr, Expr]:
        """(a, x) with self = a*k + x and 0 <= x.low < k, where a takes every term that k divides."""
        rest = Expr(self.constant, tuple([(atom, c) for atom, c in self.terms if c % k]))
        carried = rest.low // k
        return Expr(carried, tuple([(atom, c // k) for atom, c in self.terms if c % k == 0])), rest + -carried * k

    def _digits(self, k: int) -> tuple[int, Expr, Expr] | None:
        """(g, y, z) with self = y*g + z, 0 <= z < g, and g > 1 a divisor of k."""
        for g in sorted({gcd(c, k) for _, c in self.terms} - {1}, reverse=True):
            y, z = self._split(g)
            if z.high < g:
                return g, y, z
        return None

    def _only(self, kind: str) -> Atom | None:
        return self.atom if self.atom is not None and self.atom.kind == kind else None

    def substitute(self, mapping: Mapping[int, Expr], known: dict[Atom, Expr] | None = None) -> Expr:
        """The expression with dims replaced. `known`: what became of atoms."""
        if self.dims.isdisjoint(mapping):
            return self
        known = {} if known is None else known
        if self.atom is not None:
            return self.atom.substitute(mapping, known)
        images = [atom.substitute(mapping, known) * c for atom, c in self.terms]
        return _sum(self.constant + sum([image.constant for image in images]), [term for image in images for term in image.terms])

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def is_linear(self) -> bool:
        """Holds no quotient and no remainder."""
        return all(atom.is_plain for atom, _ in self.terms)

    def depends_on(self, kind: str) -> bool:
        """Whether an atom of that kind occurs in it, at any depth."""
        return any(atom.kind == kind or any(part.depends_on(kind) for part in atom.parts) for atom, _ in self.terms)


ZERO = Expr(0)


def _expr(atom: Atom) -> Expr:
    return Expr(0, ((atom, 1),))


def _sum(constant: int, terms: Iterable[tuple[Atom, int]]) -> Expr:
    """The sum of a constant and terms in any order. An atom of extent 1 is 0, and adds nothing."""
    total: dict[Atom, int] = {}
    for atom, c in terms:
        if atom.extent != 1:
            total[atom] = total.get(atom, 0) + c
    for atom, c in total.items():
        if atom.kind == "mod" and c and (joined := _join(atom, c, total)):
            other, whole = joined
            rest = [term for term in total.items() if term[0] not in (atom, other)]
            return _sum(constant + whole.constant * c, [*rest, *(whole * c).terms])
    return Expr(constant, tuple(sorted([term for term in total.items() if term[1]], key=lambda term: term[0].key)))


def _join(remainder: Atom, c: int, terms: Mapping[Atom, int]) -> tuple[Atom, Expr] | None:
    """Another atom of `terms`, and c times what is the sum of its term and that of `remainder`, x % k."""
    x, k = remainder.parts[0], remainder.number
    quotient = x // k
    if quotient.atom is None:
        return None
    if terms.get(quotient.atom) == c * k:  # (x // k)*k + x % k = x
        return quotient.atom, x
    for other, factor in terms.items():  # ((x // k) % n)*k + x % k = x % (k*n)
        if other.kind == "mod" and other.parts[0] == quotient and factor == c * k:
            return other, x % (k * other.number)
    return None


@lru_cache(4096)  # that equal signatures are of the same expressions makes them quick to compare
def loop(number: int, extent: int) -> Expr:
    """The dim of that number, in [0, extent)."""
    return _expr(Atom("dim", number, extent))


def loops_of(extents: Sequence[int]) -> Point:
    """The identity: one expression a loop."""
    return tuple([loop(i, extent) for i, extent in enumerate(extents)])


def run_time_index(number: int, extent: int) -> Expr:
    """An index known at run time to lie in [0, extent)."""
    return ZERO if extent <= 1 else _expr(Atom("value", number, extent))


def opaque(number: int, parts: Sequence[Expr], extent: int) -> Expr:
    """An index known at run time to lie in [0, extent), which depends on `parts`."""
    return ZERO if extent <= 1 else _expr(Atom("opaque", number, extent, tuple(parts)))


def run_time_numbers(point: Point) -> list[int]:
    """The numbers of the run-time indices that occur in a point, at any depth."""
    numbers: set[int] = set()
    for index in point:
        for atom, _ in index.terms:
            numbers.update([atom.number] if atom.kind == "value" else run_time_numbers(atom.parts))
    return sorted(numbers)


def dims_of(point: Point) -> frozenset[int]:
    return point[0].dims if len(point) == 1 else frozenset().union(*[expr.dims for expr in point])


def substitute(point: Point, mapping: Mapping[int, Expr]) -> Point:
    """The point with dims replaced."""
    known: dict[Atom, Expr] = {}
    return tuple([expr.substitute(mapping, known) if expr.dim is None else mapping.get(expr.dim, expr) for expr in point])


def linearise(point: Sequence[Expr], shape: Sequence[int]) -> Expr:
    """The row-major address of `point` in a tensor of that shape."""
    address = ZERO
    for index, extent in zip(point, shape, strict=True):
        address = address * extent + index
    return address


def delinearise(address: Expr, shape: Sequence[int]) -> Point:
    """The point of a tensor of that shape that lies at the row-major `address`."""
    point: list[Expr] = []
    for extent in reversed(shape[1:]):
        point.append(address % extent if extent else ZERO)
        address = address // extent if extent else address
    return (address, *reversed(point)) if shape else ()


def digits_of(index: Expr, extent: int) -> list[int]:
    """The loops of which an index is the row-major address, outermost first; none where it is another expression."""
    terms = sorted(index.terms, key=lambda term: -term[1])
    loops = [_expr(atom).dim for atom, _ in terms]
    span = 1
    for atom, coefficient in reversed(terms):
        if coefficient != span:
            return []
        span *= atom.extent
    return [] if None in loops or index.constant or span != extent else [d for d in loops if d is not None]


def reshape_point(point: Sequence[Expr], shape: Sequence[int], source_shape: Sequence[int]) -> Point:
    """Where the element `point` of a tensor reshaped to `shape` lies in the tensor of `source_shape`."""
    return delinearise(linearise(point, shape), source_shape) if source_shape else ()


def cuts(atom: Atom) -> tuple[int | None, set[int]]:
    """The loop whose quotients and remainders, one of another, the quotient or remainder `atom` is, and the steps at which they cut it.

    `(d0 floordiv 4) mod 2` cuts `d0` at 4 and 8: it is a loop of its own where `d0` is split at both. No loop if there is more in it.
    """
    chain = [atom]
    while (nested := chain[-1].parts[0].atom) is not None and not nested.is_plain:
        chain.append(nested)
    steps, below = set[int](), 1
    for each in reversed(chain):
        steps.add(below * each.number)
        below *= each.number if each.kind == "div" else 1
    return chain[-1].parts[0].dim, steps
