"""multiply-in-integers: contractions of what was converted from small integers multiply those integers, and sum them in i32.

Before (a dequantized product, as torch's and ONNX's quantized programs are written; %s: one number, %t: one a channel):
    %0 = stablehlo.convert %q : (tensor<8x64xui8>) -> tensor<8x64xf32>
    %1 = stablehlo.subtract %0, 3.0
    %2 = stablehlo.multiply %1, %S                     // %S = stablehlo.broadcast_in_dim %s
    %3 = stablehlo.convert %w : (tensor<32x64xi8>) -> tensor<32x64xf32>
    %4 = stablehlo.multiply %3, %T                     // %T = stablehlo.broadcast_in_dim %t, dims = [0]
    %5 = stablehlo.dot_general %2, %4, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<32x64xf32>) -> tensor<8x32xf32>
After:
    %0 = stablehlo.subtract (stablehlo.convert %q : … -> tensor<8x64xi16>), 3
    %1 = stablehlo.dot_general %0, (stablehlo.convert %w : … -> tensor<32x64xi16>), … -> tensor<8x32xi32>
    %5 = stablehlo.multiply (stablehlo.convert %1 : … -> tensor<8x32xf32>), (%S of the result * %T of the result)

Sums of integers are exact, so the result has one rounding, and one for the scales, where sums in f32 have many. Programs that are
written in i32 are as they were, bit for bit. Bytes stay bytes; differences of bytes and zero points are i16, and so is the other operand
then. Moves and pads with 0 between a convert and the contraction are done to the small integers.

Must hold: nothing. Declined: an operand that is not made so, sums in f32 that could leave i32, zero points and scales that change along
what is summed, integers above 16 bits, unsigned ones of 16, an `algorithm` that asks for a type; in f32 few rows, columns or channels, and
what Winograd's algorithm computes faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.ops import CONTRACTIONS, Kind, named
from ..common.rewriting import attributes_of, defining_op, producer, value_of
from ..registry import register_pass
from .support import build, constants
from .support.dimensions import ConvDims, DotDims
from .support.direct_convolution import direct_convolution, suits_winograd
from .support.driver import rewrite
from .support.scales import kept_dims, on_result, scale_of

_RANGES = {"i8": (-128, 127), "ui8": (0, 255), "i16": (-32768, 32767)}
_MOVES = named(Kind.MOVEMENT)
_SUMS = {"stablehlo.add": 1, "stablehlo.subtract": -1}
_LEAST = 4
"""Rows, columns and channels."""
_MOST = 8
"""Ops from a convert to a contraction: sums of more integers are wide ones, and a long program is not walked for each contraction."""
_LARGEST_SUM = (1 << 31) - 1


@register_pass("multiply-in-integers", "lets contractions of small integers that were converted multiply these", ops=CONTRACTIONS)
def multiply_in_integers(module: ir.Operation) -> bool:
    return rewrite(module, dict.fromkeys(CONTRACTIONS, (_contraction,)))


@dataclass(frozen=True)
class _Range:
    """The integers that a value's elements may be, and the type that they come from: the narrowest that has them."""

    low: int
    high: int
    element: str

    @property
    def largest(self) -> int:
        return max(-self.low, self.high)

    def plus(self, other: _Range, sign: int) -> _Range | None:
        """Of a sum (sign 1) or a difference (-1)."""
        low, high = (other.low, other.high) if sign > 0 else (-other.high, -other.low)
        least, most = _RANGES["i16"]
        low, high = self.low + low, self.high + high
        return _Range(low, high, "i16") if least <= low and high <= most else None


@dataclass(frozen=True)
class _Operand:
    """`integers` times `scale`, which has one number a channel along the dimension `axis` of the operand, or one for all; None for 1."""

    integers: ir.Value
    range: _Range
    scale: ir.Value | None = None
    axis: int | None = None


def _contraction(op: ir.Operation) -> list[ir.Value] | None:
    wide = build.element_of(op.results[0])
    if "algorithm" in op.attributes or str(wide) not in ("f32", "i32") or any(build.element_of(v) != wide for v in op.operands):
        return None
    left, right = _operand(op, 0), _operand(op, 1)
    if left is None or right is None or (str(wide) == "f32" and not (_fits(op, left.range, right.range) and _pays(op))):
        return None
    elements = [left.range.element, right.range.element]
    alike = elements[0] == elements[1] or (op.name == "stablehlo.dot_general" and "i16" not in elements)
    narrow = [ir.Type.parse(element if alike else "i16") for element in elements]
    values = [_emitted(operand.integers, element) for operand, element in zip((left, right), narrow)]
    kind = build.tensor(build.shape_of(op.results[0]), ir.IntegerType.get_signless(32))
    total = build.convert(value_of(op.name, kind, values, **attributes_of(op)), wide)
    scales = [on_result(op, side, operand.scale, operand.axis) for side, operand in enumerate((left, right)) if operand.scale is not None]
    if scales:
        total = build.multiply(total, scales[0] if len(scales) == 1 else build.multiply(*scales))
    return [total]


def _fits(op: ir.Operation, left: _Range, right: _Range) -> bool:
    """Whether all sums are in i32."""
    shape = build.shape_of(op.operands[1])
    if op.name == "stablehlo.dot_general":
        depth = prod(shape[d] for d in DotDims.of(op).contracting[1])
    else:
        depth = prod(shape) // max(1, shape[ConvDims.of(op).second[1]])
    return depth * left.largest * right.largest <= _LARGEST_SUM


def _pays(op: ir.Operation) -> bool:
    """Whether integers are multiplied faster than f32: not so few rows, columns or channels of a group that packing them costs more, nor
    what Winograd's algorithm computes, unless there is an instruction for bytes."""
    shapes, target = [build.shape_of(v) for v in op.operands], target_of(op)
    if op.name == "stablehlo.dot_general":
        dims = DotDims.of(op)
        return min(prod(shape[d] for d in dims.free(side)) for side, shape in enumerate(shapes)) >= _LEAST
    first, second = ConvDims.of(op).first[1], ConvDims.of(op).second[1]
    groups = ir.IntegerAttr(op.attributes["feature_group_count"]).value
    if min(shapes[1][first], shapes[1][second] // max(1, groups)) < _LEAST:
        return False
    conv = None if target.int8_dot or target.amx_int8 else direct_convolution(op, target)
    return conv is None or not suits_winograd(op, conv)


def _operand(op: ir.Operation, side: int) -> _Operand | None:
    """What an operand of a contraction is made of; None where that is no small integers, or scaled along what is summed."""
    value = op.operands[side]
    multiplied = producer(value, "stablehlo.multiply")
    if multiplied is None:
        found = _range(value)
        return None if found is None else _Operand(value, found)
    for integer, factor in (multiplied.operands, list(multiplied.operands)[::-1]):
        found, spread = _range(integer), scale_of(factor)
        if found is not None and spread is not None and (spread[1] is None or spread[1] in kept_dims(op, side)):
            return _Operand(integer, found, *spread)
    return None


def _range(value: ir.Value, among: int = _MOST) -> _Range | None:
    """What is known of the elements of f32 or i32, if small integers are all they are made of, in few ops, `among` so many in a row."""
    op = defining_op(value)
    if op is None or not among:
        return None
    if op.name == "stablehlo.convert":
        element = str(build.element_of(op.operands[0]))
        return _Range(*_RANGES[element], element) if element in _RANGES else None
    if op.name in _MOVES or (op.name == "stablehlo.pad" and constants.splat_value(op.operands[1]) == 0):
        return _range(op.operands[0], among - 1)
    if op.name not in _SUMS:
        return None
    left, right = op.operands
    first = _constant(left) or _range(left, among - 1)
    second = None if first is None else _constant(right) or _range(right, among - 1)
    return None if first is None or second is None else first.plus(second, _SUMS[op.name])


def _constant(value: ir.Value) -> _Range | None:
    """Of a constant whose elements are one small integer."""
    number = constants.splat_value(value)
    least, most = _RANGES["i16"]
    return _Range(int(number), int(number), "i16") if number is not None and least <= number <= most and number == int(number) else None


def _emitted(value: ir.Value, element: ir.Type) -> ir.Value:
    """`value` computed in small integers."""
    op = defining_op(value)
    assert op is not None
    if op.name == "stablehlo.convert":
        return build.convert(op.operands[0], element)
    kind = build.tensor(build.shape_of(value), element)
    if op.name == "stablehlo.constant":
        return build.full(kind, int(constants.splat_value(value) or 0))
    operands = [_emitted(op.operands[0], element)]
    if op.name == "stablehlo.pad":
        operands.append(build.zero([], element))
    elif op.name in _SUMS:
        operands.append(_emitted(op.operands[1], element))
    return value_of(op.name, kind, operands, **attributes_of(op))
