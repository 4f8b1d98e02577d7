"""What is known of a value before the program runs: how large it is, and how far a right result may be from the reference's.

A value is exact if StableHLO leaves no choice at any op on the way to it: it is compared bit by bit (any NaN for a NaN). Functions are off
by some ulps, sums of floats by their order; what arithmetic makes of such values is bounded here, from the largest magnitudes that its
operands can have, as in a forward error analysis. An op without a rule (a comparison, a sort, a floor) turns a small error into a large
one: it gets exact operands. A bound above a sixteenth of the value's largest magnitude says nothing: such a value is not made.
Sums of whole numbers below 2^p, p the bits of a significand, are exact in any order.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from .elements import eps, is_float, largest, part

INFINITE = float("inf")


class Unsuitable(Exception):
    """These operands say too little of the result: take others."""


@dataclass(frozen=True)
class Facts:
    bound: float = INFINITE
    """No element is larger in magnitude; infinite where there may be NaN."""
    whole: bool = False
    """Every element is an integer."""
    ulps: float = 0
    absolute: float = 0

    @property
    def exact(self) -> bool:
        return self.ulps == self.absolute == 0

    def error(self, element: str) -> float:
        """Absolute."""
        return self.absolute + (self.ulps * eps(element) * self.bound if self.ulps else 0)


WILD = Facts()
ULPS = {"tanh": 5, "cbrt": 4, "power": 2, "atan2": 2} | dict.fromkeys(
    "exponential exponential_minus_one log log_plus_one logistic sine cosine tan rsqrt".split(), 2
)
"""Of functions, against the reference. Half precision is computed in f32 and rounded once: 1, a value near a tie."""
LIPSCHITZ = {"tanh": 1.0, "logistic": 1.0, "sine": 1.0, "cosine": 1.0}
"""Functions that make an error no larger, and the largest magnitude of their results."""

BESIDE_ZERO = {"lgamma": 16.0, "digamma": 16.0}
"""Units of the type that is computed in, beside a zero elsewhere than at 0: there terms cancel, as in the reference."""


def composed(name: str, element: str) -> Facts:
    """Of CHLO's functions of exact operands. They are off by more than others are, as their parts are."""
    computing = "f64" if "f64" in element else "f32"
    return Facts(INFINITE, False, 64, BESIDE_ZERO.get(name, 0) * eps(computing))


def ulps(name: str, element: str) -> float:
    if element.startswith("complex"):
        return 16 * ULPS[name]
    return 1 if element in ("f16", "bf16") else ULPS[name]


def checked(facts: Facts, element: str) -> Facts:
    """The facts of a value of that type. Raises Unsuitable where an error bound says nothing."""
    if facts.bound > largest(element) / 2:
        facts = Facts(INFINITE, False, facts.ulps, facts.absolute)
    if facts.absolute == INFINITE or (facts.absolute and facts.bound < INFINITE and facts.error(element) > facts.bound / 16):
        raise Unsuitable
    if facts.whole and facts.bound * eps(element) > 1:
        facts = Facts(facts.bound, False, facts.ulps, facts.absolute)
    return facts


def through(*operands: Facts) -> Facts:
    """Of elements that are copied from any of the operands."""
    bound = max((f.bound for f in operands), default=INFINITE)
    return Facts(
        bound, all(f.whole for f in operands), max((f.ulps for f in operands), default=0), max((f.absolute for f in operands), default=0)
    )


def rounded(bound: float, error: float, element: str, exact: bool, whole: bool) -> Facts:
    """Of a sum or product that is rounded once, or not at all between whole numbers."""
    if exact:
        return Facts(bound, whole)
    if bound == INFINITE:
        raise Unsuitable
    return Facts(bound, False, 0, error + eps(element) * bound)


def add(element: str, x: Facts, y: Facts) -> Facts:
    return rounded(x.bound + y.bound, x.error(element) + y.error(element), element, x.exact and y.exact, x.whole and y.whole)


def multiply(element: str, x: Facts, y: Facts) -> Facts:
    if element.startswith("complex") and not (x.whole and y.whole):
        return Facts(
            _product(x, y), False, 0, (_cross(element, x, y) if not (x.exact and y.exact) else 0) + 4 * eps(element) * _product(x, y)
        )
    return rounded(_product(x, y), _cross(element, x, y), element, x.exact and y.exact, x.whole and y.whole)


def _product(x: Facts, y: Facts) -> float:
    return x.bound * y.bound if min(x.bound, y.bound) else 0.0


def _cross(element: str, x: Facts, y: Facts) -> float:
    if x.exact and y.exact:
        return 0
    a, b = x.error(element), y.error(element)
    return x.bound * b + y.bound * a + a * b


def exponential(element: str, x: Facts) -> Facts:
    if x.exact:
        return Facts(math.exp(min(x.bound, 700)) if x.bound < INFINITE else INFINITE, False, ulps("exponential", element))
    if x.bound > 8:
        raise Unsuitable
    bound = math.exp(x.bound)
    return Facts(bound, False, 0, bound * (math.expm1(x.error(element)) + 2 * eps(element)))


def function(name: str, element: str, *operands: Facts) -> Facts:
    """Of a function of exact operands, or one of `LIPSCHITZ` of any."""
    if name == "exponential":
        return exponential(element, *operands)
    most = LIPSCHITZ.get(name, INFINITE)
    if all(f.exact for f in operands):
        return Facts(most, False, ulps(name, element))
    if name not in LIPSCHITZ:
        raise Unsuitable
    return Facts(most, False, 0, operands[0].error(element) + ulps(name, element) * eps(element))


def total(element: str, count: int, each: Facts) -> Facts:
    """Of a sum of `count` elements, in any order."""
    if not is_float(part(element)):
        return WILD
    bound = max(count, 1) * each.bound
    if each.exact and (count <= 1 or (each.whole and bound * eps(element) <= 1)):
        return Facts(bound, each.whole)
    if bound == INFINITE:
        raise Unsuitable
    return Facts(bound, False, 0, count * each.error(element) + count * eps(element) * bound)


def contracted(element: str, count: int, x: Facts, y: Facts) -> Facts:
    """Of a contraction: f16 and bf16 accumulate in f32, and round once."""
    if not is_float(part(element)):
        return WILD
    if x.whole and y.whole and x.exact and y.exact and max(count, 1) * _product(x, y) < 2**22:
        return Facts(max(count, 1) * _product(x, y), True)
    wide = "f32" if element in ("f16", "bf16") else element
    bound = max(count, 1) * _product(x, y) * (2 if wide.startswith("complex") else 1)
    if bound == INFINITE:
        raise Unsuitable
    return Facts(bound, False, 0, count * _cross(element, x, y) + 2 * (count + 1) * eps(wide) * bound + eps(element) * bound)


def converted(source: str, to: str, x: Facts) -> Facts:
    if not is_float(part(to)):
        return Facts(x.bound, True)
    if x.exact:
        return Facts(x.bound, x.whole or not is_float(part(source)))
    return Facts(x.bound, False, 0, x.error(source) + eps(to) * x.bound)


def folded(combine: str, element: str, count: int, each: Facts) -> Facts:
    """Of a reduction of `count` elements by that op."""
    if combine == "add":
        return total(element, count, each)
    if combine in ("maximum", "minimum", "and", "or", "xor") or not is_float(part(element)):
        return through(each)
    if count > 6:
        raise Unsuitable
    facts = Facts(1.0, True)
    for _ in range(count):
        facts = multiply(element, Facts(facts.bound, facts.whole, 0, facts.error(element) or eps(element)), each)
    return facts
