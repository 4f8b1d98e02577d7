"""The regularized incomplete gamma functions, in f64: a series of powers below the order, a continued fraction above it.

P(a, x) = x^a e^-x / Γ(a) · (1/a + x/(a(a+1)) + …), Q = 1 - P; where x is small and a too, Q by a series that does not cancel (DLMF 8.7.3,
8.9.2, 8.11.4, as SciPy and torch have them). Each is a loop until all elements are exact; those that another one is for are so at once.
"""

from __future__ import annotations

import math

from torch_mlir import ir

from hloom.passes.stablehlo.complex.numbers import Mask, Real
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering
from .gamma import LANCZOS_G, lanczos, log_gamma
from .repetitions import repeated

_EXACT, _BIG = 2.0**-53, 2.0**52


@torch_lowering("aten.igamma", "aten.special_gammainc")
def igamma(op: TorchOp, a: ir.Value, x: ir.Value) -> ir.Value:
    return _incomplete(op, a, x, upper=False)


@torch_lowering("aten.igammac", "aten.special_gammaincc")
def igammac(op: TorchOp, a: ir.Value, x: ir.Value) -> ir.Value:
    return _incomplete(op, a, x, upper=True)


def _incomplete(op: TorchOp, order: ir.Value, place: ir.Value, upper: bool) -> ir.Value:
    """At the ends of the range by rule; elsewhere by what does not cancel, or 1 less that."""
    wide = ir.F64Type.get()
    order, place = (Real(build.convert(op.operand(each), wide)) for each in (order, place))
    plain = (order > 0) & (place > 0) & ((order < math.inf) & (place < math.inf))
    a, x = (plain.pick(each, 1.0) for each in (order, place))
    by_fraction = (x > 1.1) & (x >= a)
    near = x.compare("LE", 0.5)
    small = near.pick(-0.4 / near.pick(x, 0.5).function("log"), x * 1.1).compare("GE", a)
    by_tail = small & x.compare("LE", 1.1)
    by_series = ~(by_fraction | by_tail)
    if not upper:  # the series has no less of the lower part where the order is small
        by_series = by_series | (by_tail & x.compare("LE", 1))
        by_tail = by_tail & (x > 1)
    factor = _factor(a, x)
    low = _series(by_series.pick(a, 1.0), by_series.pick(x, 0.0)) * factor / a
    high = by_fraction.pick(_fraction(by_fraction.pick(a, 1.0), by_fraction.pick(x, 1e9)) * factor, _tail(a, x, by_tail))
    made = by_series.pick(1 - low if upper else low, high if upper else 1 - high)
    return build.convert(_at_ends(order, place, plain, made, upper).value, op.element)


def _at_ends(a: Real, x: Real, plain: Mask, made: Real, upper: bool) -> Real:
    none, all_ = (1.0, 0.0) if upper else (0.0, 1.0)
    end = x.equals(math.inf).pick(x.like(all_), a.like(math.nan))
    end = a.equals(math.inf).pick(x.equals(math.inf).pick(a.like(math.nan), none), end)
    end = x.equals(0).pick(x.like(none), end)
    end = a.equals(0).pick(x.compare("GT", 0).pick(a.like(all_), math.nan), end)
    outside = (a < 0) | (x < 0)
    return plain.pick(made, outside.pick(a.like(math.nan), end))


def _factor(a: Real, x: Real) -> Real:
    """x^a e^-x / Γ(a); near the order by Lanczos' sum, as the logarithms cancel there."""
    logarithm = a * x.function("log") - x - log_gamma(a)
    base = a + (LANCZOS_G - 0.5)
    root = (base / math.e).function("sqrt") / lanczos(a)
    share = (x - a - (LANCZOS_G - 0.5)) / base
    exponent = a * (share.function("log_plus_one") - share) + x * (0.5 - LANCZOS_G) / base
    close = (a - x).function("abs").compare("LE", a * 0.4)
    share = close.pick(share, 0.0)
    direct = (a - x).function("exponential") * (x / base).function("power", a)
    small = (a < 200) & (x < 200)
    return close.pick(root * small.pick(direct, exponent.function("exponential")), logarithm.function("exponential"))


def _series(a: Real, x: Real) -> Real:
    def step(number: Real, state: list[Real]) -> tuple[list[Real], Mask]:
        total, term, at = state
        at = at + 1
        term = term * x / at
        return [total + term, term, at], term.compare("LE", (total + term) * _EXACT)

    return repeated([a.like(1.0), a.like(1.0), a], step)[0]


def _tail(a: Real, x: Real, chosen: Mask) -> Real:
    """The upper part where x and the order are small, without the difference from 1."""
    a, x = chosen.pick(a, 1.0), chosen.pick(x, 0.0)

    def step(number: Real, state: list[Real]) -> tuple[list[Real], Mask]:
        total, factor = state
        factor = factor * (x.like(0.0) - x) / number
        term = factor / (a + number)
        return [total + term, factor], term.function("abs").compare("LE", (total + term).function("abs") * _EXACT)

    total, _ = repeated([a.like(0.0), a.like(1.0)], step)
    power = a * chosen.pick(x, 1.0).function("log")
    first = (power - log_gamma(a + 1)).function("exponential_minus_one")
    return 0.0 - first - (power - log_gamma(a)).function("exponential") * total


def _fraction(a: Real, x: Real) -> Real:
    def step(number: Real, state: list[Real]) -> tuple[list[Real], Mask]:
        answer, p, p_before, q, q_before = state
        y = 1 - a + number
        z = x + y + 1 + number
        across = y * number
        p, p_before = p * z - p_before * across, p
        q, q_before = q * z - q_before * across, q
        is_number = q.compare("NE", 0)
        ratio = is_number.pick(p / q, answer)
        done = is_number & (answer - ratio).function("abs").compare("LE", ratio.function("abs") * _EXACT)
        scale = p.function("abs").compare("GT", _BIG).pick(p.like(1 / _BIG), 1.0)
        return [ratio, *(each * scale for each in (p, p_before, q, q_before))], done

    p, q = x + 1, (x - a + 2) * x
    return repeated([p / q, p, x.like(1.0), q, x], step)[0]
