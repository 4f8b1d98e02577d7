"""Index expressions over loops: sums of integer multiples of atoms, simplified by the known bounds of every atom.

An atom is a loop (`dim`), an index computed at run time (`value`, clamped into its extent), or the quotient or remainder of an expression
by a positive constant. Affine maps are composed here rather than by MLIR, because MLIR does not know the loops' extents: only with them
is `(d0 * 64 + d1) floordiv 64` equal to `d0`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from math import gcd

from torch_mlir import ir


@dataclass(frozen=True, order=True)
class Atom:
    """A non-negative unknown below `extent`. `number` is the loop's or value's number, or the divisor of `inner`."""

    kind: str
    number: int
    extent: int
    inner: Index | None = None

    @property
    def is_plain(self) -> bool:
        """Is no quotient and no remainder."""
        return self.inner is None


@dataclass(frozen=True, order=True)
class Index:
    """`offset` + the sum of coefficient * atom over `terms`, which are sorted and have no zero coefficient."""

    terms: tuple[tuple[Atom, int], ...]
    offset: int

    @cached_property
    def low(self) -> int:
        return self.offset + sum(c * (a.extent - 1) for a, c in self.terms if c < 0)

    @cached_property
    def high(self) -> int:
        return self.offset + sum(c * (a.extent - 1) for a, c in self.terms if c > 0)

    @property
    def is_constant(self) -> bool:
        return not self.terms

    @property
    def loop(self) -> int | None:
        """The loop's number if the expression is that loop alone, else None."""
        if len(self.terms) != 1 or self.offset:
            return None
        ((atom, coefficient),) = self.terms
        return atom.number if atom.kind == "dim" and coefficient == 1 else None

    @property
    def is_linear(self) -> bool:
        """Holds no quotient and no remainder."""
        return all(a.is_plain for a, _ in self.terms)

    @property
    def has_value(self) -> bool:
        """Depends on an index computed at run time."""
        return any(a.kind == "value" or (a.inner is not None and a.inner.has_value) for a, _ in self.terms)


def constant(value: int) -> Index:
    return Index((), value)


def loop(number: int, extent: int) -> Index:
    return Index(((Atom("dim", number, extent), 1),), 0)


def loops(extents: Sequence[int]) -> tuple[Index, ...]:
    """The identity: one expression a loop."""
    return tuple(loop(i, extent) for i, extent in enumerate(extents))


def value(number: int, extent: int) -> Index:
    """An index computed at run time, known to lie in [0, extent)."""
    return constant(0) if extent <= 1 else Index(((Atom("value", number, extent), 1),), 0)


def add(x: Index, y: Index) -> Index:
    if x.is_constant and y.is_constant:
        return constant(x.offset + y.offset)
    terms = dict(x.terms)
    for atom, coefficient in y.terms:
        terms[atom] = terms.get(atom, 0) + coefficient
    return _rejoin(terms, x.offset + y.offset)


def scale(x: Index, factor: int) -> Index:
    if factor == 0:
        return constant(0)
    return Index(tuple((a, c * factor) for a, c in x.terms), x.offset * factor)


def floordiv(x: Index, divisor: int) -> Index:
    quotient, rest = _split(x, divisor)
    if rest.high < divisor:
        return quotient
    if digits := _digits(rest, divisor):
        base, multiple, _ = digits
        return add(quotient, floordiv(multiple, divisor // base))
    nested = _sole_atom(rest)
    if nested is not None and nested.kind == "div":
        return add(quotient, floordiv(_inner(nested), nested.number * divisor))
    return add(quotient, Index(((Atom("div", divisor, rest.high // divisor + 1, rest), 1),), 0))


def mod(x: Index, divisor: int) -> Index:
    _, rest = _split(x, divisor)
    if rest.high < divisor:
        return rest
    if digits := _digits(rest, divisor):
        base, multiple, small = digits
        return add(scale(mod(multiple, divisor // base), base), small)
    nested = _sole_atom(rest)
    if nested is not None and nested.kind == "mod" and nested.number % divisor == 0:
        return mod(_inner(nested), divisor)
    return Index(((Atom("mod", divisor, divisor, rest), 1),), 0)


def _split(x: Index, divisor: int) -> tuple[Index, Index]:
    """`x` as quotient * divisor + rest, where the rest is not negative and holds what is no multiple of the divisor."""
    whole = tuple((a, c // divisor) for a, c in x.terms if c % divisor == 0)
    rest = Index(tuple((a, c) for a, c in x.terms if c % divisor), x.offset)
    carried = rest.low // divisor
    return Index(whole, carried), Index(rest.terms, rest.offset - carried * divisor)


def _digits(x: Index, divisor: int) -> tuple[int, Index, Index] | None:
    """(g, a, b) with `x` == a * g + b, 0 <= b < g, and g > 1 a divisor of `divisor`: its division cuts `a` alone."""
    for base in sorted({gcd(c, divisor) for _, c in x.terms} - {1}, reverse=True):
        multiple, small = _split(x, base)
        if small.high < base:
            return base, multiple, small
    return None


def _sole_atom(x: Index) -> Atom | None:
    return x.terms[0][0] if len(x.terms) == 1 and not x.offset and x.terms[0][1] == 1 else None


def _inner(atom: Atom) -> Index:
    assert atom.inner is not None
    return atom.inner


def cuts(atom: Atom) -> tuple[int | None, set[int]]:
    """The loop whose quotients and remainders, one of another, the quotient or remainder `atom` is, and the steps at which they cut it.

    `(d0 floordiv 4) mod 2` cuts `d0` at 4 and 8: it is a loop of its own where `d0` is split at both. No loop if there is more in it.
    """
    chain = [atom]
    while (nested := _sole_atom(_inner(chain[-1]))) is not None and not nested.is_plain:
        chain.append(nested)
    steps, below = set[int](), 1
    for each in reversed(chain):
        steps.add(below * each.number)
        below *= each.number if each.kind == "div" else 1
    return _inner(chain[-1]).loop, steps


def _rejoin(terms: dict[Atom, int], offset: int) -> Index:
    """Puts quotients and remainders together again: k * (x div k) + x mod k is x, and a * ((x div a) mod b) + x mod a is x mod ab."""
    for atom, coefficient in terms.items():
        if atom.kind != "mod" or not coefficient:
            continue
        x, k = _inner(atom), atom.number
        quotient = floordiv(x, k)
        partner = _sole_atom(quotient)
        if partner is None:
            continue
        if terms.get(partner) == coefficient * k:
            return _replace(terms, offset, (atom, partner), scale(x, coefficient))
        for other, factor in terms.items():
            if other.kind == "mod" and other.inner == quotient and factor == coefficient * k:
                return _replace(terms, offset, (atom, other), scale(mod(x, k * other.number), coefficient))
    return Index(tuple(sorted((a, c) for a, c in terms.items() if c)), offset)


def _replace(terms: dict[Atom, int], offset: int, gone: tuple[Atom, ...], by: Index) -> Index:
    kept = Index(tuple((a, c) for a, c in terms.items() if a not in gone), offset)
    return add(kept, by)


def at(expression: ir.AffineExpr, point: Sequence[Index]) -> Index:
    """The affine expression's value where its dims have the values `point`."""
    expression = expression.maybe_downcast()  # an operand of a sum comes back untyped
    if isinstance(expression, ir.AffineDimExpr):
        return point[expression.position]
    if isinstance(expression, ir.AffineConstantExpr):
        return constant(expression.value)
    if isinstance(expression, ir.AffineSymbolExpr):
        raise ValueError("an indexing map has no symbols")
    left, right = at(expression.lhs, point), at(expression.rhs, point)
    if isinstance(expression, ir.AffineAddExpr):
        return add(left, right)
    if isinstance(expression, ir.AffineMulExpr):
        return scale(left, right.offset) if right.is_constant else scale(right, left.offset)
    if isinstance(expression, ir.AffineModExpr):
        return mod(left, right.offset)
    if isinstance(expression, ir.AffineFloorDivExpr):
        return floordiv(left, right.offset)
    return scale(floordiv(scale(left, -1), right.offset), -1)  # ceildiv


def to_affine(x: Index) -> ir.AffineExpr:
    """The expression for an indexing map; it must not depend on run-time indices."""
    result = ir.AffineExpr.get_constant(x.offset)
    for atom, coefficient in x.terms:
        result = ir.AffineExpr.get_add(result, ir.AffineExpr.get_mul(_atom_to_affine(atom), ir.AffineExpr.get_constant(coefficient)))
    return result


def _atom_to_affine(atom: Atom) -> ir.AffineExpr:
    if atom.kind == "dim":
        return ir.AffineExpr.get_dim(atom.number)
    inner, divisor = to_affine(_inner(atom)), ir.AffineExpr.get_constant(atom.number)
    return ir.AffineExpr.get_floor_div(inner, divisor) if atom.kind == "div" else ir.AffineExpr.get_mod(inner, divisor)


def linearise(point: Sequence[Index], shape: Sequence[int]) -> Index:
    """The row-major address of `point` in a tensor of that shape."""
    address = constant(0)
    for index, extent in zip(point, shape):
        address = add(scale(address, extent), index)
    return address


def delinearise(address: Index, shape: Sequence[int]) -> tuple[Index, ...]:
    """The point of a tensor of that shape that lies at the row-major `address`."""
    point: list[Index] = []
    for extent in reversed(shape[1:]):
        point.append(mod(address, extent) if extent else constant(0))
        address = floordiv(address, extent) if extent else address
    return tuple([address, *reversed(point)]) if shape else ()


def reshape_point(point: Sequence[Index], shape: Sequence[int], source_shape: Sequence[int]) -> tuple[Index, ...]:
    """Where the element `point` of a tensor reshaped to `shape` lies in the tensor of `source_shape`."""
    return delinearise(linearise(point, shape), source_shape) if source_shape else ()
