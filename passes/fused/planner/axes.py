"""Index expressions over the axes of a group, and the axes themselves.

An expression is a sum of integer multiples of atoms plus a constant. Atoms are axis variables (`d3`), uniform run-time scalars (`u7`,
a dynamic_slice's start), values known only per element (`g7(…)`, a gather's index), and floor divisions and remainders of expressions.
Every expression knows the interval it lies in; the constructors simplify with it, so that indices that reshapes made equal have equal
text, and text decides equality:

    (a·k + b) // k → a and (a·k + b) % k → b if 0 ≤ b < k      x % n → x if 0 ≤ x < n
    (x // a) // b → x // (a·b)                                  (x // a)·a + x % a → x
    (a·g + b) // (g·k) → a // k and (a·g + b) % (g·k) → (a % k)·g + b if 0 ≤ b < g
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import gcd

UNBOUNDED = 1 << 62


class Atom:
    """A term that cannot be taken apart further, with its bounds. Compared by text."""

    text: str
    __slots__ = ("axes", "hi", "kind", "lo", "parts", "scale", "text")

    def __init__(self, kind: str, scale: int, parts: tuple[Expr, ...], lo: int, hi: int):
        self.kind, self.scale, self.parts, self.lo, self.hi = kind, scale, parts, lo, hi
        inner = ", ".join(part.text for part in parts)
        if kind == "d":
            self.text = f"d{scale}:{hi + 1}"
            self.axes: frozenset[int] = frozenset((scale,))
            return
        self.text = f"({inner} {kind} {scale})" if kind in ("//", "%") else f"{kind}{scale}({inner})"
        self.axes = frozenset().union(*(part.axes for part in parts))

    def substitute(self, mapping: Mapping[int, Expr]) -> Expr:
        if self.kind == "d":
            return mapping.get(self.scale) or Expr(0, ((self, 1),))
        if not any(axis in mapping for axis in self.axes):
            return Expr(0, ((self, 1),))
        parts = tuple(part.substitute(mapping) for part in self.parts)
        if self.kind == "//":
            return parts[0].floordiv(self.scale)
        if self.kind == "%":
            return parts[0].mod(self.scale)
        return Expr(0, ((Atom(self.kind, self.scale, parts, self.lo, self.hi), 1),))


class Expr:
    """constant + Σ coefficient · atom, the atoms in order of their text."""

    text: str
    __slots__ = ("axes", "const", "hi", "lo", "terms", "text")

    def __init__(self, const: int, terms: tuple[tuple[Atom, int], ...] = ()):
        self.const, self.terms = const, terms
        self.lo = const + sum(k * (atom.lo if k > 0 else atom.hi) for atom, k in terms)
        self.hi = const + sum(k * (atom.hi if k > 0 else atom.lo) for atom, k in terms)
        self.text = " + ".join([f"{k}*{atom.text}" for atom, k in terms] + [str(const)])
        self.axes: frozenset[int] = terms[0][0].axes if len(terms) == 1 else frozenset().union(*(atom.axes for atom, _ in terms))

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Expr) and self.text == other.text)

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return self.text

    def __add__(self, other: Expr | int) -> Expr:
        if isinstance(other, int):
            return Expr(self.const + other, self.terms) if other else self
        return _sum(self.const + other.const, [*self.terms, *other.terms])

    def __mul__(self, k: int) -> Expr:
        if k == 1:
            return self
        return Expr(self.const * k, tuple((atom, c * k) for atom, c in self.terms)) if k else Expr(0)

    def floordiv(self, k: int) -> Expr:
        if k == 1:
            return self
        whole, rest = self._split(k)
        if 0 <= rest.lo and rest.hi < k:
            return whole
        if digits := rest._digits(k):
            return whole + digits[1].floordiv(k // digits[0])
        if len(rest.terms) == 1 and rest.const == 0 and rest.terms[0][1] == 1 and rest.terms[0][0].kind == "//":
            atom = rest.terms[0][0]
            return whole + atom.parts[0].floordiv(atom.scale * k)
        return whole + Expr(0, ((Atom("//", k, (rest,), rest.lo // k, rest.hi // k), 1),))

    def mod(self, k: int) -> Expr:
        _, rest = self._split(k)
        if 0 <= rest.lo and rest.hi < k:
            return rest
        if digits := rest._digits(k):
            g, multiple, small = digits
            return multiple.mod(k // g) * g + small
        return Expr(0, ((Atom("%", k, (rest,), 0, k - 1), 1),))

    def _split(self, k: int) -> tuple[Expr, Expr]:
        """(a, b) with self == a·k + b, where a takes every term that k divides."""
        whole = tuple((atom, c // k) for atom, c in self.terms if c % k == 0)
        rest = tuple((atom, c) for atom, c in self.terms if c % k)
        return Expr(self.const // k, whole), Expr(self.const % k, rest)

    def _digits(self, k: int) -> tuple[int, Expr, Expr] | None:
        """(g, a, b) with self == a·g + b, 0 ≤ b < g, and g > 1 a divisor of k: division by k cuts at a digit, so b keeps out of it."""
        for g in sorted({gcd(c, k) for _, c in self.terms} - {1}, reverse=True):
            multiple, small = self._split(g)
            if 0 <= small.lo and small.hi < g:
                return g, multiple, small
        return None

    def substitute(self, mapping: Mapping[int, Expr]) -> Expr:
        if self.axes.isdisjoint(mapping):
            return self
        if len(self.terms) == 1 and self.const == 0 and self.terms[0][1] == 1:
            return self.terms[0][0].substitute(mapping)
        terms: list[tuple[Atom, int]] = []
        const = self.const
        for atom, k in self.terms:
            image = atom.substitute(mapping) * k
            const += image.const
            terms.extend(image.terms)
        return _sum(const, terms)

    @property
    def atom(self) -> str:
        """The text of the atom, if the expression is that atom alone, else nothing."""
        alone = self.const == 0 and len(self.terms) == 1 and self.terms[0][1] == 1
        return self.terms[0][0].text if alone else ""

    @property
    def axis(self) -> int | None:
        """The axis, if the expression is that axis's variable alone."""
        if self.const or len(self.terms) != 1:
            return None
        atom, k = self.terms[0]
        return atom.scale if k == 1 and atom.kind == "d" else None


def _sum(const: int, terms: Iterable[tuple[Atom, int]]) -> Expr:
    by_text: dict[str, tuple[Atom, int]] = {}
    for atom, k in terms:
        old = by_text.get(atom.text)
        by_text[atom.text] = (atom, k + old[1] if old else k)
    for text, (remainder, k) in by_text.items():
        if remainder.kind != "%":
            continue
        quotient = remainder.parts[0].floordiv(remainder.scale).atom
        if quotient in by_text and by_text[quotient][1] == k * remainder.scale:
            whole = remainder.parts[0] * k
            rest = [term for each, term in by_text.items() if each not in (text, quotient)]
            return _sum(const + whole.const, [*rest, *whole.terms])
    kept = sorted((text for text, (_, k) in by_text.items() if k))
    return Expr(const, tuple(by_text[text] for text in kept))


Signature = tuple[Expr, ...]
"""The index of a value in a group: one expression for each of its dimensions."""

ZERO = Expr(0)


def var(axis: int, extent: int) -> Expr:
    """The variable of an axis; an axis of extent 1 needs none."""
    return ZERO if extent == 1 else Expr(0, ((Atom("d", axis, (), 0, max(extent, 1) - 1), 1),))


def uniform(value: int, hi: int) -> Expr:
    """A run-time scalar, the same for all elements, clamped to 0 … hi."""
    return ZERO if hi == 0 else Expr(0, ((Atom("u", value, (), 0, hi), 1),))


def opaque(tag: int, parts: Sequence[Expr], hi: int) -> Expr:
    """An index in 0 … hi that is known only at run time, and depends on `parts`."""
    return ZERO if hi == 0 else Expr(0, ((Atom("g", tag, tuple(parts), 0, hi), 1),))


def axes_of(signature: Signature) -> frozenset[int]:
    if len(signature) == 1:
        return signature[0].axes
    return frozenset().union(*(expr.axes for expr in signature))


def substitute(signature: Signature, mapping: Mapping[int, Expr]) -> Signature:
    return tuple(expr.substitute(mapping) for expr in signature)


def linear(index: Sequence[Expr], extents: Sequence[int]) -> Expr:
    """The row-major position of an index."""
    position = ZERO
    for expr, extent in zip(index, extents, strict=True):
        position = position * extent + expr
    return position


def product(extents: Iterable[int]) -> int:
    total = 1
    for extent in extents:
        total *= extent
    return total


@dataclass(frozen=True, slots=True)
class Axis:
    """An axis of a group: parallel, or reduced by some reduction or contraction of the group.

    A reduced axis that a result of the group also has (softmax's row) is kept whole inside the tile.
    """

    extent: int
    reduced: bool = False
