"""Quotients of a vector and a scalar, by its reciprocal where that takes less than a division."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, math
from torch_mlir.dialects.vector import CombiningKind

from hloom.dialects.target import TargetView

from .control_flow import if_else
from .vectors import broadcast, is_vector, part, reduced

_RANGES = {32: (2.0**-24, 2.0**-76, 2.0**100), 64: (2.0**-200, 2.0**-700, 2.0**700)}
"""By the bits of an element: the least divisor (the greatest is one by it), the least and the greatest quotient."""


def is_multiplied(element: ir.Type, target: TargetView) -> bool:
    """Whether the reciprocal takes less: f64's takes a GPU as many steps as a division."""
    if target.kind == "cuda":
        return isinstance(element, ir.F32Type)
    return isinstance(element, (ir.F32Type, ir.F64Type)) and element.width > target.divided_bits


def quotient(x: ir.Value, divisor: ir.Value, target: TargetView, divided: Callable[[], ir.Value]) -> ir.Value:
    """x / c for a scalar c, as a division rounds it. `divided` divides.

    q = x * (1 / c), then q - (q * c - x) / c, which is the quotient, or a zero of its sign, as long as no step leaves the normal numbers.
    Where it might (c negative, very large or small; any lane's quotient infinite, NaN, very large, or very small but not zero) the chunk is
    divided.
    """
    lanes = ir.VectorType(x.type).shape[0]
    least_divisor, least, most = _RANGES[divisor.type.width]
    reciprocal = broadcast(arith.divf(arith.constant(divisor.type, 1.0), divisor), lanes)
    first = arith.mulf(x, reciprocal)
    excess = math.fma(first, broadcast(divisor, lanes), arith.negf(x))
    corrected = math.fma(arith.negf(excess), reciprocal, first)
    quotients = _all_usual(arith.bitcast(_integers(x.type), math.absf(corrected)), least, most, target)
    usual = arith.andi(_within(arith.bitcast(_integers(divisor.type), divisor), least_divisor, 1 / least_divisor), quotients)
    return if_else(usual, [x.type], lambda: [corrected], lambda: [divided()], likely=target.kind == "cuda")[0]


def _all_usual(size: ir.Value, least: float, most: float, target: TargetView) -> ir.Value:
    """Whether all of `size`, the bits of floats without a sign, are those of a zero or of floats in [least, most].

    The bits of positive floats are in the order of the floats, those of NaN after all of them. One less than a zero is the greatest number.
    Registers are combined before they are compared: a mask takes longer than a minimum.
    """
    one = 1 if target.kind == "cuda" else target.vector_bits // _width(size)
    above = _combined(arith.subi(size, _constant(size, 1)), one, arith.minui)
    below = _combined(size, one, arith.maxui)
    high_enough = arith.cmpi(arith.CmpIPredicate.uge, above, _constant(above, _bits(above, least) - 1))
    low_enough = arith.cmpi(arith.CmpIPredicate.ule, below, _constant(below, _bits(below, most)))
    return reduced(arith.andi(high_enough, low_enough), CombiningKind.AND)


def _combined(value: ir.Value, one: int, combine: Callable[[ir.Value, ir.Value], ir.Value]) -> ir.Value:
    """The halves of a vector with each other until it is one register."""
    lanes = ir.VectorType(value.type).shape[0]
    while lanes > one and lanes % 2 == 0:
        lanes //= 2
        value = combine(part(value, 0, lanes), part(value, lanes, lanes))
    return value


def _within(size: ir.Value, low: float, high: float) -> ir.Value:
    """Whether the bits of a float are those of one in [low, high], which are positive: one comparison of the distance from `low` tells."""
    first, last = _bits(size, low), _bits(size, high)
    return arith.cmpi(arith.CmpIPredicate.ule, arith.subi(size, _constant(size, first)), _constant(size, last - first))


def _width(bits: ir.Value) -> int:
    kind = bits.type
    return ir.IntegerType(kind.element_type if isinstance(kind, ir.VectorType) else kind).width


def _integers(kind: ir.Type) -> ir.Type:
    """The type of the bits of floats, or of vectors of them."""
    if isinstance(kind, ir.VectorType):
        return ir.VectorType.get(kind.shape, _integers(kind.element_type))
    return ir.IntegerType.get_signless(kind.width)


def _bits(like: ir.Value, number: float) -> int:
    """Of a positive float as wide as the elements of `like`."""
    size = _width(like) // 8
    return int(np.array(number, f"f{size}").view(f"i{size}"))


def _constant(like: ir.Value, number: int) -> ir.Value:
    """`number` as wide as `like`, in all lanes if it has some."""
    made = arith.constant(ir.IntegerType.get_signless(_width(like)), number)
    return broadcast(made, ir.VectorType(like.type).shape[0]) if is_vector(like) else made
