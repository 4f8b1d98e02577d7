"""Elementwise ops."""

from __future__ import annotations

from .. import errors
from ..elements import COMPLEX, QUANTIZED, SIGNED, is_float, is_integer, part, width
from ..errors import INFINITE, Facts, Unsuitable
from ..grow import Grower
from ..program import Type, Value
from . import recipe

DIRECTIONS = ("EQ", "NE", "LT", "LE", "GT", "GE")
CHLO = "acos acosh asin asinh atan atanh bessel_i1e cosh digamma erf erf_inv erfc lgamma sinh square tan"


@recipe("abs negate", through=True)
def keeping_size(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, exact=element in COMPLEX)
    if element in COMPLEX and name == "abs":
        return g.emit(name, [x], Type(x.shape, part(element)), facts=Facts(g.facts[x].bound, False, 4))
    return g.emit(name, [x], facts=g.facts[x])


@recipe("ceil floor round_nearest_afz round_nearest_even sign not popcnt count_leading_zeros")
def exact_unary(g: Grower, name: str, element: str) -> Value:
    """The oracles divide complex subnormals by a magnitude that has few bits: not those."""
    x = g.any(element, finite=element in COMPLEX)
    if element in COMPLEX:
        return g.emit(name, [x], facts=Facts(1.0, False, 4))
    bound = 1.0 if name == "sign" else g.facts[x].bound + 1
    return g.emit(name, [x], facts=Facts(bound if is_float(element) and g.facts[x].bound < INFINITE else INFINITE, True))


@recipe("sqrt", through=False)
def sqrt(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, finite=element in COMPLEX)
    return g.emit(name, [x], facts=Facts(INFINITE, False, 32) if element in COMPLEX else Facts())


@recipe("is_finite")
def is_finite(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return g.emit(name, [x], Type(x.shape, "i1"))


@recipe("exponential exponential_minus_one log log_plus_one logistic sine cosine tan tanh cbrt rsqrt", through=True)
def function(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, finite=element in COMPLEX)
    if element in COMPLEX and name in ("tan", "exponential_minus_one", "logistic", "log_plus_one", "sine", "cosine", "tanh"):
        return g.emit(name, [x], facts=Facts(INFINITE, False, 512))
    return g.emit(name, [x], facts=errors.function(name, element, g.facts[x]))


@recipe("add subtract multiply", through=True)
def arithmetic(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, finite=element in COMPLEX)
    y = g.value(x.shape, element, finite=element in COMPLEX)
    rule = errors.multiply if name == "multiply" else errors.add
    facts = rule(element, g.facts[x], g.facts[y]) if is_float(part(element)) else Facts()
    return g.emit(name, [x, y], facts=facts)


def ordered(g: Grower, element: str) -> None:
    """Raises Unsuitable for complex numbers where XLA is asked, which compares real parts alone."""
    if g.by_xla and element in COMPLEX:
        raise Unsuitable


@recipe("maximum minimum", through=True)
def extremum(g: Grower, name: str, element: str) -> Value:
    """Of complex numbers without NaN: with one the specification's lexicographic order says nothing."""
    ordered(g, element)
    x = g.any(element, exact=element in COMPLEX, finite=element in COMPLEX)
    y = g.value(x.shape, element, exact=element in COMPLEX, finite=element in COMPLEX)
    return g.emit(name, [x, y], facts=errors.through(g.facts[x], g.facts[y]))


@recipe("and or xor")
def bitwise(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return g.emit(name, [x, g.value(x.shape, element)])


@recipe("divide remainder")
def quotient(g: Grower, name: str, element: str) -> Value:
    """The reference aborts where an integer is divided by 0, and at the least by -1."""
    x = g.any(element, finite=element in COMPLEX)
    y = g.value(x.shape, element, finite=element in COMPLEX)
    if is_integer(element):
        y = g.emit("maximum", [y, g.constant(x.shape, element, 1)])
    return g.emit(name, [x, y], facts=Facts(INFINITE, False, 32) if element in COMPLEX else Facts())


@recipe("atan2 power")
def binary_function(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, finite=element in COMPLEX)
    if is_integer(element):
        return g.emit(name, [x, g.within(x.shape, element, 0, min(7, 2 ** (width(element) - (element in SIGNED)) - 1))])
    y = g.value(x.shape, element, finite=element in COMPLEX)
    if element in COMPLEX:
        return g.emit(name, [x, y], facts=Facts(INFINITE, False, 512))
    return g.emit(name, [x, y], facts=errors.function(name, element, g.facts[x], g.facts[y]))


@recipe("shift_left shift_right_arithmetic shift_right_logical")
def shift(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    most = min(width(element) - 1, 2 ** (width(element) - (element in SIGNED)) - 1) if is_integer(element) else 0
    return g.emit(name, [x, g.within(x.shape, element, 0, most)])


@recipe("compare")
def compare(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    among = DIRECTIONS[:2] if element in COMPLEX else DIRECTIONS
    direction = f"comparison_direction = #stablehlo<comparison_direction {g.rng.choice(among)}>"
    return g.emit(name, [x, g.value(x.shape, element)], Type(x.shape, "i1"), direction)


@recipe("select", through=True)
def select(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    y = g.value(x.shape, element)
    flag = g.value(x.shape if g.rng.random() < 0.8 else (), "i1")
    return g.emit(name, [flag, x, y], x.type, facts=errors.through(g.facts[x], g.facts[y]))


@recipe("clamp", through=True)
def clamp(g: Grower, name: str, element: str) -> Value:
    ordered(g, element)
    tame = {"exact": element in COMPLEX, "finite": element in COMPLEX}
    x = g.any(element, **tame)
    low, high = (g.value(x.shape if g.rng.random() < 0.6 else (), element, **tame) for _ in range(2))
    return g.emit(name, [low, x, high], x.type, facts=errors.through(*(g.facts[v] for v in (low, x, high))))


@recipe("convert", through=True)
def convert(g: Grower, name: str, element: str) -> Value:
    """To the type, from any: floats to integers only where the integer can hold them; StableHLO says no more."""
    source = g.element()
    if source in QUANTIZED or (source in COMPLEX and element not in COMPLEX):
        source = "f32"
    integers = is_float(source) and is_integer(element)
    x = g.any(source, exact=not is_float(element), finite=integers)
    if integers and g.facts[x].bound > 2 ** (width(element) - 1) - 1:
        raise Unsuitable
    if integers and element not in SIGNED:
        x = g.emit("abs", [x], facts=g.facts[x])
    return g.emit(name, [x], Type(x.shape, element), facts=errors.converted(source, element, g.facts[x]))


@recipe("bitcast_convert")
def bitcast(g: Grower, name: str, element: str) -> Value:
    """From a type of any width; bits of a NaN are open, so floats have none."""
    source = g.element(*(t for t in g.limits.types if t != "i1" and t not in COMPLEX))
    if element in COMPLEX or element == "i1":
        source = element
    if max(width(source), width(element)) % min(width(source), width(element)):  # of 6 bits
        raise Unsuitable
    x = g.any(source, finite=True)
    ratio = width(source) / width(element)
    if ratio < 1:
        x = g.value((*x.shape[:4], int(1 / ratio)), source, finite=True)
        return g.emit(name, [x], Type(x.shape[:-1], element))
    return g.emit(name, [x], Type((*x.shape, int(ratio)) if ratio > 1 else x.shape, element))


@recipe("reduce_precision")
def reduce_precision(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, finite=True)
    exponent, mantissa = g.rng.choice([(5, 10), (8, 7), (4, 3), (5, 2), (8, 23), (11, 52), (3, 4), (6, 9)])
    return g.emit(name, [x], None, f"exponent_bits = {exponent} : i32, mantissa_bits = {mantissa} : i32")


@recipe("complex")
def complex_(g: Grower, name: str, element: str) -> Value:
    x = g.any(part(element))
    y = g.value(x.shape, part(element))
    bound = g.facts[x].bound + g.facts[y].bound
    return g.emit(name, [x, y], Type(x.shape, element if element in COMPLEX else f"complex<{element}>"), facts=Facts(bound))


@recipe("real imag")
def real(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return g.emit(name, [x], Type(x.shape, part(element)), facts=g.facts[x])


@recipe(" ".join(f"chlo.{name}" for name in CHLO.split()))
def chlo_function(g: Grower, name: str, element: str) -> Value:
    x = g.any(element, finite=True)
    return g.emit(name, [x], facts=errors.composed(name.removeprefix("chlo."), element) if is_float(part(element)) else Facts())


@recipe("chlo.is_inf chlo.is_neg_inf chlo.is_pos_inf")
def chlo_predicate(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return g.emit(name, [x], Type(x.shape, "i1"))


@recipe("chlo.next_after")
def next_after(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return g.emit(name, [x, g.value(x.shape, element)])


@recipe("chlo.conj")
def conj(g: Grower, name: str, element: str) -> Value:
    x = g.any(element)
    return g.emit(name, [x], facts=g.facts[x])


@recipe("chlo.broadcast_add chlo.broadcast_multiply chlo.broadcast_maximum", through=True)
def broadcasting(g: Grower, name: str, element: str) -> Value:
    if name == "chlo.broadcast_maximum":
        ordered(g, element)
    x = g.any(element, finite=True, exact=element in COMPLEX)
    y = g.value(x.shape[g.rng.randrange(x.rank + 1) :], element, finite=True, exact=element in COMPLEX)
    rule = {"add": errors.add, "multiply": errors.multiply}.get(name.removeprefix("chlo.broadcast_"))
    floats = is_float(part(element))
    facts = rule(element, g.facts[x], g.facts[y]) if rule and floats else errors.through(g.facts[x], g.facts[y])
    return g.emit(name, [x, y], x.type, facts=facts)
