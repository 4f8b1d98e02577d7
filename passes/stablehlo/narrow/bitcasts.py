"""bitcast_convert where an element is less than a byte: elements are packed into bytes or taken out of them, the lowest bits first.

Before:
    %0 = stablehlo.bitcast_convert %x : (tensor<3x4xi4>) -> tensor<3xi16>
After:                                                                          // %b: the elements as bytes of ui8
    %1 = %b & 15, of shape 3x2x2
    %2 = stablehlo.reduce(%1 << [0, 4]) applies stablehlo.or over the last dimension : tensor<3x2xui8>
    %0 = stablehlo.bitcast_convert %2 : (tensor<3x2xui8>) -> tensor<3xi16>
"""

from __future__ import annotations

from torch_mlir import ir

from ..support import build
from .types import bytes_of, from_bytes, lowest_bits, narrow_type


def bitcast(value: ir.Value, source: ir.Type, target: ir.Type, shape: list[int]) -> ir.Value:
    """A value of type `source`, stored, as one of type `target` and that shape, stored."""
    before, after = _bits(source), _bits(target)
    if before == after:
        return _stored(_raw(value, source), target)
    if before > after:
        return _stored(_unpacked(_raw(value, source), min(before, 8), after, shape), target)
    packed = _packed(_raw(value, source), before, min(after, 8))
    return build.reshape(_stored(packed, target), shape) if after <= 8 else _bitcast(packed, build.tensor(shape, target))


def _bits(element: ir.Type) -> int:
    return element.width


def _raw(value: ir.Value, source: ir.Type) -> ir.Value:
    """The bits of each element: bytes of ui8, of wider elements in a dimension more."""
    unsigned = ir.IntegerType.get_unsigned(8)
    if _bits(source) == 1:
        return build.convert(value, unsigned)
    if _bits(source) > 8:
        return _bitcast(value, build.tensor([*build.shape_of(value), _bits(source) // 8], unsigned))
    return lowest_bits(bytes_of(value), _bits(source))


def _stored(value: ir.Value, target: ir.Type) -> ir.Value:
    """Bytes of ui8, one an element, as elements of the type are stored."""
    narrow = narrow_type(target)
    if narrow is not None:
        return from_bytes(value, narrow)
    if _bits(target) == 1:
        return build.convert(value, target)
    return _bitcast(value, build.tensor(build.shape_of(value), target))


def _packed(value: ir.Value, bits: int, wide: int) -> ir.Value:
    """Along the last dimension, as many elements as fit into `wide` bits as one."""
    *outer, last = build.shape_of(value)
    count = wide // bits
    groups = build.reshape(value, [*outer, last // count, count])
    shifted = build.elementwise("shift_left", groups, _shifts(build.shape_of(groups), bits))
    zero = build.zero([], ir.IntegerType.get_unsigned(8))
    return build.reduce([shifted], [zero], [len(outer) + 1], lambda x, y: [build.elementwise("or", x, y)])[0]


def _unpacked(value: ir.Value, wide: int, bits: int, shape: list[int]) -> ir.Value:
    """Each element of `wide` bits as several, in a dimension more, reshaped."""
    outer = build.shape_of(value)
    copies = build.broadcast(value, [*outer, wide // bits], list(range(len(outer))))
    shifted = build.elementwise("shift_right_logical", copies, _shifts(build.shape_of(copies), bits))
    return build.reshape(lowest_bits(shifted, bits), shape)


def _shifts(shape: list[int], bits: int) -> ir.Value:
    element = ir.IntegerType.get_unsigned(8)
    places = build.iota(shape, element, len(shape) - 1)
    return build.multiply(places, build.full_like(places, bits))


def _bitcast(value: ir.Value, kind: ir.Type) -> ir.Value:
    return build.bitcast(value, kind)
