"""The regularized incomplete gamma functions, in f64: a series of powers below the order, a continued fraction above it.

P(a, x) = x^a e^-x / Γ(a) · (1/a + x/(a(a+1)) + …), Q = 1 - P; where x is small and a too, Q by a series that does not cancel (DLMF 8.7.3,
8.9.2, 8.11.4, as SciPy and torch have them). Each is a loop until all elements are exact; those that another one is for are so at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from torch_mlir import ir

from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering
from .gamma import LANCZOS_G, Real, lanczos, log_gamma, select

_STEPS, _EXACT, _BIG = 5000, 2.0**-53, 2.0**52


def _and(x: ir.Value, y: ir.Value) -> ir.Value:
    return build.elementwise("and", x, y)


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
    plain = _and(_and(order.is_("GT", 0), place.is_("GT", 0)), _and(order.is_("LT", math.inf), place.is_("LT", math.inf)))
    a, x = (select(plain, each, 1.0) for each in (order, place))
    by_fraction = _and(x.is_("GT", 1.1), x.is_("GE", a))
    near = x.is_("LE", 0.5)
    small = select(near, -0.4 / select(near, x, 0.5).by("log"), x * 1.1).is_("GE", a)
    by_tail = _and(small, x.is_("LE", 1.1))
    by_series = build.elementwise("not", build.elementwise("or", by_fraction, by_tail))
    if not upper:  # the series has no less of the lower part where the order is small
        by_series = build.elementwise("or", by_series, _and(by_tail, x.is_("LE", 1)))
        by_tail = _and(by_tail, x.is_("GT", 1))
    factor = _factor(a, x)
    low = _series(select(by_series, a, 1.0), select(by_series, x, 0.0)) * factor / a
    high = select(by_fraction, _fraction(select(by_fraction, a, 1.0), select(by_fraction, x, 1e9)) * factor, _tail(a, x, by_tail))
    made = select(by_series, 1 - low if upper else low, high if upper else 1 - high)
    return build.convert(_at_ends(order, place, plain, made, upper).value, op.element)


def _at_ends(a: Real, x: Real, plain: ir.Value, made: Real, upper: bool) -> Real:
    none, all_ = (1.0, 0.0) if upper else (0.0, 1.0)
    end = select(x.is_("EQ", math.inf), x.of(all_), a.of(math.nan))
    end = select(a.is_("EQ", math.inf), select(x.is_("EQ", math.inf), a.of(math.nan), none), end)
    end = select(x.is_("EQ", 0), x.of(none), end)
    end = select(a.is_("EQ", 0), select(x.is_("GT", 0), a.of(all_), math.nan), end)
    outside = build.elementwise("or", a.is_("LT", 0), x.is_("LT", 0))
    return select(plain, made, select(outside, a.of(math.nan), end))


def _factor(a: Real, x: Real) -> Real:
    """x^a e^-x / Γ(a); near the order by Lanczos' sum, as the logarithms cancel there."""
    logarithm = a * x.by("log") - x - log_gamma(a)
    base = a + (LANCZOS_G - 0.5)
    root = (base / math.e).by("sqrt") / lanczos(a)
    share = (x - a - (LANCZOS_G - 0.5)) / base
    exponent = a * (share.by("log_plus_one") - share) + x * (0.5 - LANCZOS_G) / base
    close = (a - x).by("abs").is_("LE", a * 0.4)
    share = select(close, share, 0.0)
    direct = (a - x).by("exponential") * Real(build.elementwise("power", (x / base).value, a.value))
    small = _and(a.is_("LT", 200), x.is_("LT", 200))
    return select(close, root * select(small, direct, exponent.by("exponential")), logarithm.by("exponential"))


def _series(a: Real, x: Real) -> Real:
    def step(number: Real, state: list[Real]) -> tuple[list[Real], ir.Value]:
        total, term, at = state
        at = at + 1
        term = term * x / at
        return [total + term, term, at], term.is_("LE", (total + term) * _EXACT)

    return _repeated([a.of(1.0), a.of(1.0), a], step)[0]


def _tail(a: Real, x: Real, chosen: ir.Value) -> Real:
    """The upper part where x and the order are small, without the difference from 1."""
    a, x = select(chosen, a, 1.0), select(chosen, x, 0.0)

    def step(number: Real, state: list[Real]) -> tuple[list[Real], ir.Value]:
        total, factor = state
        factor = factor * (x.of(0.0) - x) / number
        term = factor / (a + number)
        return [total + term, factor], term.by("abs").is_("LE", (total + term).by("abs") * _EXACT)

    total, _ = _repeated([a.of(0.0), a.of(1.0)], step)
    power = a * select(chosen, x, 1.0).by("log")
    first = (power - log_gamma(a + 1)).by("exponential_minus_one")
    return 0.0 - first - (power - log_gamma(a)).by("exponential") * total


def _fraction(a: Real, x: Real) -> Real:
    def step(number: Real, state: list[Real]) -> tuple[list[Real], ir.Value]:
        answer, p, p_before, q, q_before = state
        y = 1 - a + number
        z = x + y + 1 + number
        across = y * number
        p, p_before = p * z - p_before * across, p
        q, q_before = q * z - q_before * across, q
        is_number = q.is_("NE", 0)
        ratio = select(is_number, p / q, answer)
        done = _and(is_number, (answer - ratio).by("abs").is_("LE", ratio.by("abs") * _EXACT))
        scale = select(p.by("abs").is_("GT", _BIG), p.of(1 / _BIG), 1.0)
        return [ratio, *(each * scale for each in (p, p_before, q, q_before))], done

    p, q = x + 1, (x - a + 2) * x
    return _repeated([p / q, p, x.of(1.0), q, x], step)[0]


def _repeated(state: list[Real], step: Callable[[Real, list[Real]], tuple[list[Real], ir.Value]]) -> list[Real]:
    """The state after as many steps, from 1 on, as each element needs."""
    like = state[0]
    shape, index = build.shape_of(like.value), build.tensor([], build.element_of(like.value))
    flag = ir.IntegerType.get_signless(1)
    start, done = build.full(index, 1), build.full(build.tensor(shape, flag), False)

    def goes_on(number: ir.Value, done: ir.Value, *_: ir.Value) -> ir.Value:
        true = build.full(build.tensor([], flag), True)
        (all_,) = build.reduce([done], [true], range(len(shape)), lambda x, y: [_and(x, y)])
        few = build.compare("LT", number, build.full(index, _STEPS))
        return _and(few, build.elementwise("not", all_))

    def stepped(number: ir.Value, done: ir.Value, *before: ir.Value) -> list[ir.Value]:
        after, exact = step(Real(build.broadcast(number, shape, [])), [Real(each) for each in before])
        kept = [build.select(done, old, new.value) for old, new in zip(before, after)]
        return [build.add(number, build.full(index, 1)), build.elementwise("or", done, exact), *kept]

    return [Real(value) for value in build.while_loop([start, done, *(each.value for each in state)], goes_on, stepped)[2:]]
