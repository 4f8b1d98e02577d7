"""The exponential of a matrix: that of a part of it by a Taylor polynomial, squared as often as the matrix was halved.

The polynomial, of degree 18 in five products, and how large the part may be: Bader, Blanes, Casas, "Computing the matrix exponential with
an optimized Taylor polynomial approximation", 2019. PyTorch takes polynomials of lower degrees where the matrix is small.
"""

from __future__ import annotations

import math

from torch_mlir import ir

from hloom.passes.common.rewriting import element_of, value_of
from hloom.passes.stablehlo.support import build

from ..torch_registry import TorchOp, torch_lowering
from .factorizations import ones, places, zeros

_LARGEST = {32: 3.010066362817634, 64: 1.090863719290036}
"""The norm up to which the polynomial is exact to the last bits, by a number's width."""
_TERMS = (
    (0.0, -1.00365581030144618291e-01, -8.02924648241156932449e-03, -8.92138498045729985177e-04, 0.0),
    (0.0, 3.97849749499645077844e-01, 1.36783778460411720168e00, 4.98289622525382669416e-01, -6.37898194594723280150e-04),
    (-1.09676396052962061844e01, 1.68015813878906206114e00, 5.71779846478865511061e-02, -6.98210122488052056106e-03,
     3.34975017086070470649e-05),
    (-9.04316832390810593223e-02, -6.76404519071381882256e-02, 6.75961301770459654925e-02, 2.95552570429315521194e-02,
     -1.39180257516060693404e-05),
    (0.0, 0.0, -9.23364619367118555360e-02, -1.69364939002081722752e-02, -1.40086798182036094347e-05),
)  # fmt: skip


@torch_lowering("aten.linalg_matrix_exp")
def matrix_exp(op: TorchOp, a: ir.Value) -> ir.Value:
    if not build.count_of(a):
        return a
    *batch, _, _ = shape = build.shape_of(a)
    real = _real(element_of(a))
    if real.width < 32:
        return build.convert(matrix_exp(op, build.convert(a, ir.F32Type.get())), real)
    size = build.elementwise("abs", a, result=build.tensor(shape, real))
    columns = build.sum_along(size, [len(batch)])
    lowest = build.zero([], real)
    (norm,) = build.reduce([columns], [lowest], [len(batch)], lambda x, y: [build.elementwise("maximum", x, y)])
    halvings = build.divide(
        build.elementwise("log", build.divide(norm, build.full_like(norm, _LARGEST[real.width]))), build.full_like(norm, math.log(2))
    )
    halvings = build.elementwise("maximum", build.elementwise("ceil", halvings), build.full_like(norm, 0))
    part = build.elementwise("power", build.full_like(norm, 0.5), halvings)
    power = _polynomial(build.multiply(a, _number(build.broadcast(part, shape, list(range(len(batch)))), a.type)))
    return _squared(power, halvings)


def _polynomial(a: ir.Value) -> ir.Value:
    row, column = places(a)
    one = build.select(build.compare("EQ", row, column), ones(a.type), zeros(a.type))
    square = _product(a, a)
    cube = _product(square, a)
    powers = [one, a, square, cube, _product(cube, cube)]
    first, second, third, fourth, last = (_sum(powers, factors) for factors in _TERMS)
    ninth = build.add(_product(first, last), fourth)
    return build.add(second, _product(build.add(third, ninth), ninth))


def _sum(powers: list[ir.Value], factors: tuple[float, ...]) -> ir.Value:
    real = build.tensor(powers[0].type.shape, _real(element_of(powers[0])))
    terms = [build.multiply(power, _number(build.full(real, factor), power.type)) for power, factor in zip(powers, factors) if factor]
    total = terms[0]
    for term in terms[1:]:
        total = build.add(total, term)
    return total


def _squared(power: ir.Value, times: ir.Value) -> ir.Value:
    """Each matrix squared so many times; as many steps as the most of them."""
    shape, kind = build.shape_of(power), element_of(times)
    scalar = build.tensor([], kind)
    batch = list(range(len(shape) - 2))
    start = build.zero([], kind)
    (most,) = build.reduce([times], [start], batch, lambda x, y: [build.elementwise("maximum", x, y)])

    def step(number: ir.Value, before: ir.Value) -> list[ir.Value]:
        more = build.compare("LT", build.broadcast(number, shape[:-2], []), times)
        after = build.select(build.broadcast(more, shape, batch), _product(before, before), before)
        return [build.add(number, build.full(scalar, 1)), after]

    return build.while_loop([start, power], lambda number, _: build.compare("LT", number, most), step)[1]


def _product(x: ir.Value, y: ir.Value) -> ir.Value:
    rank = len(build.shape_of(x))
    batch = list(range(rank - 2))
    numbers = build.dot_dimensions(batch, batch, [rank - 1], [rank - 2])
    return value_of("stablehlo.dot_general", x.type, [x, y], dot_dimension_numbers=numbers)


def _number(real: ir.Value, kind: ir.RankedTensorType) -> ir.Value:
    """Real numbers as elements of that type."""
    return real if real.type == kind else build.elementwise("complex", real, build.full_like(real, 0), result=kind)


def _real(element: ir.Type) -> ir.FloatType:
    return element.element_type if isinstance(element, ir.ComplexType) else element
