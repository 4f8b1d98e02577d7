"""Samples that are proposed until one is accepted: of gamma, Dirichlet, Poisson and binomial distributions.

Gamma by Marsaglia and Tsang (2000). Counts of a mean below 10 by sums of their probabilities; others by Hörmann's transformed rejection
(1993: PTRS for Poisson's, BTRS for binomial ones). All is computed in f64, as PyTorch has it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from torch_mlir import ir

from hloom.passes.stablehlo.complex.numbers import Mask, Real, larger, smaller
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering
from .random import drawn, wide
from .repetitions import repeated

_FEW = 10.0
"""A mean below which counts are found from 0 up."""
_MOST = 64
"""A count that no draw of such a mean reaches."""


@torch_lowering("aten._standard_gamma")
def standard_gamma(op: TorchOp, shapes: ir.Value, generator: Any = None) -> ir.Value:
    """At least the least normal number: whoever takes the logarithm gets none that is infinite."""
    made = _gammas(op, _in_f64(shapes))
    return build.convert(larger(made, made.like(_least(op))).value, op.element)


@torch_lowering("aten._sample_dirichlet")
def dirichlet(op: TorchOp, shapes: ir.Value, generator: Any = None) -> ir.Value:
    made = _gammas(op, _in_f64(shapes))
    rank = len(op.result.shape)
    total = build.broadcast(build.sum_along(made.value, [rank - 1]), list(op.result.shape), range(rank - 1))
    share = smaller(larger(made / Real(total), made.like(_least(op))), made.like(1 - 2.0**-24))
    return build.convert(share.value, op.element)


def _least(op: TorchOp) -> float:
    """The least normal number."""
    return 2.0**-1022 if op.element == ir.F64Type.get() else 2.0**-126


@torch_lowering("aten.poisson")
def poisson(op: TorchOp, rates: ir.Value, generator: Any = None) -> ir.Value:
    rate = _in_f64(rates)
    few, many = rate < _FEW, (rate >= _FEW) & rate.is_finite()
    small = few.pick(larger(rate, rate.like(0.0)), 0.0)
    found = _from_zero((-small).function("exponential"), lambda count: small / count, small > 0)
    rejected = _poisson_hull(many.pick(rate, _FEW)).drawn(many)
    return build.convert(few.pick(found, many.pick(rejected, rate)).value, op.element)


@torch_lowering("aten.binomial")
def binomial(op: TorchOp, counts: ir.Value, chances: ir.Value, generator: Any = None) -> ir.Value:
    """Of the rarer outcome, and what is left of the count where that is the other one."""
    shape = list(op.result.shape)
    count, chance = (_in_f64(build.broadcast_to(each, shape)) for each in (counts, chances))
    plain = (count > 0) & (chance > 0) & (chance < 1) & count.is_finite()
    n, p = plain.pick(count, 1.0), plain.pick(smaller(chance, 1 - chance), 0.0)
    many = n * p >= _FEW
    made = many.pick(_binomial_hull(n, many.pick(p, 0.5)).drawn(many), _few_of(n, many.pick(0.0, p)))
    made = (chance > 0.5).pick(n - made, made)
    ends = ((count > 0) & (chance > 0)).pick(count, 0.0)
    return build.convert(plain.pick(made, chance.is_nan().pick(chance, ends)).value, op.element)


def _few_of(count: Real, chance: Real) -> Real:
    odds = chance / (1 - chance)
    none = (count * (-chance).function("log_plus_one")).function("exponential")
    return _from_zero(none, lambda found: (count + 1 - found) * odds / found, chance > 0)


def _from_zero(none: Real, ratio: Callable[[Real], Real], wanted: Mask) -> Real:
    """The count at which the sum of the probabilities, the first of which is `none`, is above a uniform number."""
    point = _uniform(none)

    def step(count: Real, state: list[Real]) -> tuple[list[Real], Mask]:
        _, chance, total = state
        chance = chance * ratio(count)
        return [count, chance, total + chance], (total + chance > point) | (count >= _MOST)

    return repeated([none.like(0.0), none, none], step, wanted & (none < point))[0]


@dataclass(frozen=True)
class _Hull:
    """What a scaled and shifted quotient of uniform numbers is under: `floor((2 a / (1/2 - |u|) + b) u + center)`, of which a part `sure`
    of the proposals needs no test.
    """

    a: Real
    b: Real
    center: Real
    scale: Real
    sure: Real
    score: Callable[[Real], Real]
    """The logarithm of a count's probability, up to a constant that `scale` knows."""
    most: Real | float = math.inf

    def drawn(self, wanted: Mask) -> Real:
        def step(number: Real, state: list[Real]) -> tuple[list[Real], Mask]:
            u, v = _uniform(number) - 0.5, _uniform(number)
            rim = 0.5 - abs(u)
            slope = self.a / rim
            count = ((2 * slope + self.b) * u + self.center).function("floor")
            possible = (count >= 0) & count.compare("LE", self.most)
            count = possible.pick(count, 0.0)
            height = (v * self.scale * rim / (slope + self.b * rim)).function("log")
            accepted = ((rim >= 0.07) & v.compare("LE", self.sure)) | height.compare("LE", self.score(count))
            return [count], possible & accepted

        return repeated([self.b.like(0.0)], step, wanted)[0]


def _poisson_hull(rate: Real) -> _Hull:
    b = 0.931 + 2.53 * rate.function("sqrt")
    a = -0.059 + 0.02483 * b
    logarithm = rate.function("log")

    def score(count: Real) -> Real:
        return count * logarithm - rate - _log_factorial(count)

    return _Hull(a, b, rate + 0.43, 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2), score)


def _binomial_hull(count: Real, chance: Real) -> _Hull:
    deviation = (count * chance * (1 - chance)).function("sqrt")
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * chance
    logarithm = (chance / (1 - chance)).function("log")
    mode = ((count + 1) * chance).function("floor")
    at_mode = _log_factorial(mode) + _log_factorial(count - mode)

    def score(found: Real) -> Real:
        return at_mode - _log_factorial(found) - _log_factorial(count - found) + (found - mode) * logarithm

    return _Hull(a, b, count * chance + 0.5, (2.83 + 5.1 / b) * deviation, 0.92 - 4.2 / b, score, count)


def _log_factorial(count: Real) -> Real:
    """By Stirling's formula with four terms of Stieltjes' continued fraction: 2e-5 off at 0, which is seldom, 1e-9 from 3 on."""
    x = count + 1
    square = x * x
    rest = x * (square / 12 + 0.06483228511530398) / (square * square + square * 0.8113207547169812 + 0.01752021563342318)
    return (count + 0.5) * x.function("log") - x + rest + 0.5 * math.log(2 * math.pi)


def _gammas(op: TorchOp, shape: Real) -> Real:
    """Of a shape below 1, that of one more by a power of a uniform number."""
    small = shape < 1
    power = (_above_zero(op, shape).function("log") / small.pick(shape, 1.0)).function("exponential")
    d = small.pick(shape + 1, shape) - 1 / 3
    c = 1 / (9 * d).function("sqrt")

    def step(number: Real, state: list[Real]) -> tuple[list[Real], Mask]:
        x = _in_f64(drawn(wide(op.result), "NORMAL"))
        root, u = c * x + 1, _above_zero(op, number)
        v, square = root * root * root, x * x
        accepted = (u < 1 - 0.0331 * square * square) | (u.function("log") < 0.5 * square + d * (1 - v + v.function("log")))
        return [v], ~root.compare("LE", 0) & accepted

    (found,) = repeated([d.like(0.0)], step)
    return shape.equals(0).pick(0.0, d * found * small.pick(power, 1.0))


def _uniform(like: Real) -> Real:
    return Real(drawn(build.tensor(build.shape_of(like.value), ir.F64Type.get()), "UNIFORM"))


def _above_zero(op: TorchOp, like: Real) -> Real:
    """Up to 1."""
    return 1 - _in_f64(drawn(build.tensor(build.shape_of(like.value), wide(op.result).element_type), "UNIFORM"))


def _in_f64(value: ir.Value) -> Real:
    return Real(build.convert(value, ir.F64Type.get()))
