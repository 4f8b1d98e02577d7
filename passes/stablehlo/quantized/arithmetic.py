"""Between integers and what they stand for, in the words of the specification."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import element_of
from ..support import build
from .types import QuantizedType, spread

_EXACT = 16
"""Bits of integers whose differences are exact in i32."""


def dequantize(value: ir.Value, kind: QuantizedType) -> ir.Value:
    """(q - zero point) * scale, in the expressed type."""
    shape = build.shape_of(value)
    if any(kind.zero_points):
        wide = ir.IntegerType.get_signless(32 if kind.storage.width <= _EXACT else 64)
        value = build.subtract(build.convert(value, wide), spread(kind.zero_points, kind.axis, shape, wide))
    return build.multiply(build.convert(value, kind.expressed), spread(kind.scales, kind.axis, shape, kind.expressed))


def quantize(value: ir.Value, kind: QuantizedType) -> ir.Value:
    """x / scale + zero point, clamped to the storage's range, rounded to the nearest integer, ties to even."""
    value = build.convert(value, kind.expressed)
    scaled = build.divide(value, spread(kind.scales, kind.axis, build.shape_of(value), kind.expressed))
    return to_storage(scaled, kind)


def to_storage(scaled: ir.Value, kind: QuantizedType) -> ir.Value:
    """What is scaled already: moved by the zero points, clamped and rounded."""
    element = element_of(scaled)
    if any(kind.zero_points):
        moved = spread(kind.zero_points, kind.axis, build.shape_of(scaled), element)
        scaled = build.add(scaled, moved)
    least, largest = (build.full(build.tensor([], element), v) for v in (kind.least, kind.largest))
    clamped = build.elementwise("clamp", least, scaled, largest, result=scaled.type)
    return build.convert(build.elementwise("round_nearest_even", clamped), kind.storage)
