"""Orthogonal polynomials, whose degree is a tensor too: by the recurrence of each, as many steps as the highest degree asks for.

Chebyshev's of a degree that is not small are sines and cosines where they are such, as in torch: of -1 < x < 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from torch_mlir import ir

from hloom.passes.common.rewriting import value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering

Number: TypeAlias = ir.Value | float | int | bool
Step = Callable[[ir.Value, ir.Value, ir.Value, ir.Value], ir.Value]
"""The next polynomial, from its number k, x and the last two, the last one first; k is such that the next one is of degree k + 1."""
Wave = Callable[[ir.Value, ir.Value], ir.Value]
"""The polynomial at the cosine of an angle, from the degree and the angle."""


def _times(x: ir.Value, factor: float) -> ir.Value:
    return build.multiply(x, build.full_like(x, factor))


def _plus(x: ir.Value, number: float) -> ir.Value:
    return build.add(x, build.full_like(x, number))


def _register(name: str, factor: float, offset: float, step: Step, wave: Wave | None = None, small: int = 0, most: int = 0) -> None:
    """The polynomial of degree 1 is factor·x + offset. Above the degree `small` it is a wave; above `most`, twice squared in f64, NaN."""

    def lowered(op: TorchOp, x: ir.Value, degree: ir.Value) -> ir.Value:
        return _polynomial(x, degree, _plus(_times(x, factor), offset), step, wave, small, most)

    @torch_lowering(f"aten.special_{name}")
    def lowering(op: TorchOp, x: Number, n: Number) -> ir.Value:
        return lowered(op, op.operand(x), op.operand(n))

    if wave is not None:

        @torch_lowering(f"aten.special_shifted_{name}")
        def shifted(op: TorchOp, x: Number, n: Number) -> ir.Value:
            return lowered(op, _plus(_times(op.operand(x), 2), -1), op.operand(n))


def _polynomial(x: ir.Value, degree: ir.Value, first: ir.Value, step: Step, wave: Wave | None, small: int, most: int) -> ir.Value:
    one, nothing = build.full_like(x, 1), build.full_like(x, 0)
    degree = build.elementwise("floor", degree)
    is_degree = build.elementwise("and", build.compare("GE", degree, nothing), build.compare("LT", degree, build.full_like(x, 2.0**63)))
    steps, others = degree, []
    if wave is not None:
        within = build.compare("LT", build.elementwise("abs", x), one)
        waves = build.elementwise("and", within, build.compare("GT", degree, build.full_like(x, small)))
        others.append((waves, wave(degree, value_of("chlo.acos", x.type, [x]))))
    if most:
        limit = most if build.element_of(x).width < 64 else 4 * most
        others.append((build.compare("GT", degree, build.full_like(x, limit)), build.full_like(x, float("nan"))))
    others.append((build.elementwise("not", is_degree), nothing))
    for chosen, _ in others:
        steps = build.select(chosen, nothing, steps)
    found = build.select(build.compare("EQ", degree, nothing), one, _run(x, steps, one, first, step))
    for chosen, value in others:
        found = build.select(chosen, value, found)
    return found


def _run(x: ir.Value, steps: ir.Value, before: ir.Value, last: ir.Value, step: Step) -> ir.Value:
    """The polynomial of the degree `steps` of each element."""
    element = build.element_of(x)
    scalar = build.tensor([], element)
    one, nothing = build.full(scalar, 1), build.zero([], element)
    (most,) = build.reduce([steps], [nothing], range(len(build.shape_of(x))), lambda a, b: [build.elementwise("maximum", a, b)])

    def next_degree(k: ir.Value, p: ir.Value, q: ir.Value) -> list[ir.Value]:
        number = build.broadcast(k, build.shape_of(x), [])
        more = build.compare("LT", number, steps)
        after = build.select(more, step(number, x, q, p), q)
        return [build.add(k, one), build.select(more, q, p), after]

    return build.while_loop([one, before, last], lambda k, *_: build.compare("LT", k, most), next_degree)[2]


def _chebyshev(k: ir.Value, x: ir.Value, q: ir.Value, p: ir.Value) -> ir.Value:
    return build.subtract(build.multiply(_times(x, 2), q), p)


def _hermite_h(k: ir.Value, x: ir.Value, q: ir.Value, p: ir.Value) -> ir.Value:
    return build.subtract(build.multiply(_times(x, 2), q), build.multiply(_times(k, 2), p))


def _hermite_he(k: ir.Value, x: ir.Value, q: ir.Value, p: ir.Value) -> ir.Value:
    return build.subtract(build.multiply(x, q), build.multiply(k, p))


def _laguerre(k: ir.Value, x: ir.Value, q: ir.Value, p: ir.Value) -> ir.Value:
    factor = build.add(_times(k, 2), build.subtract(build.full_like(x, 1), x))
    return build.divide(build.subtract(build.multiply(factor, q), build.multiply(k, p)), _plus(k, 1))


def _legendre(k: ir.Value, x: ir.Value, q: ir.Value, p: ir.Value) -> ir.Value:
    factor = build.multiply(_plus(_times(k, 2), 1), x)
    return build.divide(build.subtract(build.multiply(factor, q), build.multiply(k, p)), _plus(k, 1))


def _sine(x: ir.Value) -> ir.Value:
    return build.elementwise("sine", x)


def _cosine(x: ir.Value) -> ir.Value:
    return build.elementwise("cosine", x)


def _wave_u(n: ir.Value, angle: ir.Value) -> ir.Value:
    return build.divide(_sine(build.multiply(_plus(n, 1), angle)), _sine(angle))


def _wave_v(n: ir.Value, angle: ir.Value) -> ir.Value:
    return build.divide(_cosine(build.multiply(_plus(n, 0.5), angle)), _cosine(_times(angle, 0.5)))


def _wave_w(n: ir.Value, angle: ir.Value) -> ir.Value:
    return build.divide(_sine(build.multiply(_plus(n, 0.5), angle)), _sine(_times(angle, 0.5)))


_register("chebyshev_polynomial_t", 1, 0, _chebyshev, lambda n, angle: _cosine(build.multiply(n, angle)), 6)
_register("chebyshev_polynomial_u", 2, 0, _chebyshev, _wave_u, 8)
_register("chebyshev_polynomial_v", 2, -1, _chebyshev, _wave_v, 8)
_register("chebyshev_polynomial_w", 2, 1, _chebyshev, _wave_w, 8)
_register("hermite_polynomial_h", 2, 0, _hermite_h, most=128)
_register("hermite_polynomial_he", 1, 0, _hermite_he, most=128)
_register("laguerre_polynomial_l", -1, 1, _laguerre)
_register("legendre_polynomial_p", 1, 0, _legendre)
