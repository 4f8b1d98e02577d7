"""Arithmetic on real tensors with Python's operators, in which the functions of complex numbers are written.

A `Complex` is the pair of its real and its imaginary part. Every operator builds one StableHLO op at the insertion point; a number beside a
tensor is a splat of its type.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch_mlir import ir

from ...common.rewriting import element_of, value_of
from ..support import build


@dataclass(frozen=True)
class Real:
    """A tensor of f32 or f64."""

    value: ir.Value

    @property
    def is_double(self) -> bool:
        return str(element_of(self.value)) == "f64"

    def like(self, number: float) -> Real:
        return Real(build.full(self.value.type, number))

    def _with(self, name: str, *others: Real | float) -> Real:
        operands = (other if isinstance(other, Real) else self.like(other) for other in others)
        return Real(build.elementwise(name, self.value, *(operand.value for operand in operands)))

    def compare(self, direction: str, other: Real | float) -> Mask:
        other = other if isinstance(other, Real) else self.like(other)
        return Mask(build.compare(direction, self.value, other.value))

    def __add__(self, other: Real | float) -> Real:
        return self._with("add", other)

    def __sub__(self, other: Real | float) -> Real:
        return self._with("subtract", other)

    def __mul__(self, other: Real | float) -> Real:
        return self._with("multiply", other)

    def __truediv__(self, other: Real | float) -> Real:
        return self._with("divide", other)

    def __radd__(self, other: float) -> Real:
        return self.like(other) + self

    def __rsub__(self, other: float) -> Real:
        return self.like(other) - self

    def __rmul__(self, other: float) -> Real:
        return self.like(other) * self

    def __rtruediv__(self, other: float) -> Real:
        return self.like(other) / self

    def __neg__(self) -> Real:
        return self._with("negate")

    def __abs__(self) -> Real:
        return self._with("abs")

    def __lt__(self, other: Real | float) -> Mask:
        return self.compare("LT", other)

    def __gt__(self, other: Real | float) -> Mask:
        return self.compare("GT", other)

    def __ge__(self, other: Real | float) -> Mask:
        return self.compare("GE", other)

    def equals(self, other: Real | float) -> Mask:
        return self.compare("EQ", other)

    def differs(self, other: Real | float) -> Mask:
        return self.compare("NE", other)

    def is_nan(self) -> Mask:
        return self.differs(self)

    def is_infinite(self) -> Mask:
        return abs(self).equals(math.inf)

    def is_finite(self) -> Mask:
        return Mask(value_of("stablehlo.is_finite", _bools(self.value), [self.value]))

    def function(self, name: str, *others: Real | float) -> Real:
        """The StableHLO op of that name."""
        return self._with(name, *others)

    def sign_like(self, other: Real) -> Real:
        """The value with the sign bit of the other, of zeros and NaN too."""
        bits = ir.IntegerType.get_signless(64 if self.is_double else 32)
        kind = build.tensor(build.shape_of(self.value), bits)
        high = build.full(kind, 1 << (bits.width - 1))
        sign = build.elementwise("and", value_of("stablehlo.bitcast_convert", kind, [other.value]), high)
        magnitude = value_of("stablehlo.bitcast_convert", kind, [abs(self).value])
        return Real(value_of("stablehlo.bitcast_convert", self.value.type, [build.elementwise("or", magnitude, sign)]))


@dataclass(frozen=True)
class Mask:
    """A tensor of i1."""

    value: ir.Value

    def __and__(self, other: Mask) -> Mask:
        return Mask(build.elementwise("and", self.value, other.value))

    def __or__(self, other: Mask) -> Mask:
        return Mask(build.elementwise("or", self.value, other.value))

    def __invert__(self) -> Mask:
        return Mask(build.elementwise("not", self.value))

    def pick(self, yes: Real | float, no: Real | float) -> Real:
        """`yes` where the mask holds, else `no`, of which one at least is a tensor."""
        model = yes if isinstance(yes, Real) else no
        assert isinstance(model, Real)
        chosen = [each if isinstance(each, Real) else model.like(each) for each in (yes, no)]
        return Real(build.select(self.value, chosen[0].value, chosen[1].value))


Complex = tuple[Real, Real]


def _bools(value: ir.Value) -> ir.Type:
    return build.tensor(build.shape_of(value), ir.IntegerType.get_signless(1))


def larger(x: Real, y: Real) -> Real:
    return x.function("maximum", y)


def smaller(x: Real, y: Real) -> Real:
    return x.function("minimum", y)


def times(z: Complex, factor: Real | float) -> Complex:
    return z[0] * factor, z[1] * factor


def pick(mask: Mask, yes: Complex, no: Complex) -> Complex:
    return mask.pick(yes[0], no[0]), mask.pick(yes[1], no[1])
