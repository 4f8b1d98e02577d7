"""multiply-in-integers: contractions of what was converted from small integers multiply those integers, and sum them in i32.

Before (a dequantized product, as torch's and ONNX's quantized programs are written; %s: one number, %t: one a channel):
    %0 = stablehlo.convert %q : (tensor<8x64xui8>) -> tensor<8x64xf32>
    %1 = stablehlo.subtract %0, 3.0
    %2 = stablehlo.multiply %1, %S                     // %S = stablehlo.broadcast_in_dim %s
    %3 = stablehlo.convert %w : (tensor<32x64xi8>) -> tensor<32x64xf32>
    %4 = stablehlo.multiply %3, %T                     // %T = stablehlo.broadcast_in_dim %t, dims = [0]
    %5 = stablehlo.dot_general %2, %4, contracting_dims = [1] x [1] : (tensor<8x64xf32>, tensor<32x64xf32>) -> tensor<8x32xf32>
After (where there is an instruction for bytes):
    %0 = stablehlo.dot_general %q, %w, … : (tensor<8x64xui8>, tensor<32x64xi8>) -> tensor<8x32xi32>
    %1 = stablehlo.subtract %0, 3 * (the sums of %w's rows)
    %5 = stablehlo.multiply (stablehlo.convert %1 : … -> tensor<8x32xf32>), (%S of the result * %T of the result)

Sums of integers are exact, so the result has one rounding, and one for the scales, where sums in f32 have many. Programs that are
written in i32 are as they were, bit for bit. Where there is no instruction for bytes, differences of bytes and zero points are i16, and so
is the other operand then; so are those of a convolution's kernels. A zero point that is not known, one for all or one a row or channel, is
multiplied with the sums of the other operand, in the program's type. Moves and pads with 0 between a convert and the contraction are done
to the small integers.

Must hold: nothing. Declined: an operand that is not made so, sums in f32 that could leave i32, zero points and scales that change along
what is summed, integers above 16 bits, unsigned ones of 16, an `algorithm` that asks for a type, unknown zero points of a convolution's
kernels and of an image that is padded; in f32 few rows, columns or channels, and what Winograd's algorithm computes faster.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
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
from .support.integer_products import IntegerProduct, as_signed, depth_of, is_padded
from .support.scales import kept_dims, on_result, scale_of

_RANGES = {"i8": (-128, 127), "ui8": (0, 255), "i16": (-32768, 32767)}
_BYTES = ("i8", "ui8")
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
class _Spread:
    """One number a channel along the dimension `axis` of an operand, or one for all."""

    values: ir.Value
    axis: int | None


@dataclass(frozen=True)
class _Operand:
    """`integers` less `point` and `unknown`, times `scale`; None for 0 and 1. `moves` were done after all that, the last one first."""

    integers: ir.Value
    range: _Range
    """Of the integers less `point`."""
    element: str
    """The type that the integers have in the product, unless the other's is wider."""
    point: int = 0
    unknown: _Spread | None = None
    scale: _Spread | None = None
    moves: tuple[ir.Operation, ...] = ()


def _contraction(op: ir.Operation) -> list[ir.Value] | None:
    wide = build.element_of(op.results[0])
    if "algorithm" in op.attributes or str(wide) not in ("f32", "i32") or any(build.element_of(v) != wide for v in op.operands):
        return None
    left, right = _operand(op, 0), _operand(op, 1)
    if left is None or right is None or not _has_sums(op, left, right):
        return None
    if str(wide) == "f32" and not (_fits(op, left.range, right.range) and _pays(op)):
        return None
    product = _product(op, left, right)
    total = build.convert(product.total(), wide)
    unknown = [None if side.unknown is None else _of_result(op, number, side.unknown, wide) for number, side in enumerate((left, right))]
    for number, point in enumerate(unknown):
        if point is not None:
            total = build.subtract(total, build.multiply(build.convert(product.sums(1 - number), wide), point))
    if unknown[0] is not None and unknown[1] is not None:
        both = build.multiply(build.multiply(*unknown), build.full_like(total, product.depth))
        total = build.add(total, both)
    scales = [_of_result(op, number, side.scale, wide) for number, side in enumerate((left, right)) if side.scale is not None]
    if scales:
        total = build.multiply(total, scales[0] if len(scales) == 1 else build.multiply(*scales))
    return [total]


def _product(op: ir.Operation, left: _Operand, right: _Operand) -> IntegerProduct:
    """Of operands whose types may be multiplied: alike, but for the signs of a dot's bytes."""
    values, points = zip(*((_moved(side), side.point) for side in (left, right)))
    elements = [str(build.element_of(value)) for value in values]
    if op.name == "stablehlo.convolution" and elements == ["ui8", "i8"] and _has_bytes(op):
        values, points = zip(as_signed(values[0], points[0]), (values[1], points[1]))
    elif elements[0] != elements[1] and (op.name == "stablehlo.convolution" or "i16" in elements):
        values = tuple(build.convert(value, ir.IntegerType.get_signless(16)) for value in values)
    return IntegerProduct(op, values, points)


def _moved(operand: _Operand) -> ir.Value:
    value = _emitted(operand.integers, ir.Type.parse(operand.element))
    for move in reversed(operand.moves):
        value = value_of(move.name, build.tensor(build.shape_of(move.results[0]), build.element_of(value)), [value], **attributes_of(move))
    return value


def _of_result(op: ir.Operation, side: int, spread: _Spread, wide: ir.Type) -> ir.Value:
    return on_result(op, side, build.convert(spread.values, wide), spread.axis)


def _has_sums(op: ir.Operation, left: _Operand, right: _Operand) -> bool:
    """Whether there are the sums that unknown zero points are multiplied by: not those of windows, nor of kernels of which a part reads
    padding."""
    if op.name == "stablehlo.dot_general":
        return True
    return right.unknown is None and (left.unknown is None or not is_padded(op))


def _has_points(op: ir.Operation, side: int) -> bool:
    """Whether bytes and their zero point go apart into the product."""
    return _has_bytes(op) and (op.name == "stablehlo.dot_general" or side == 0)


def _has_bytes(op: ir.Operation) -> bool:
    """Whether there is an instruction that multiplies bytes."""
    target = target_of(op)
    return target.int8_dot or target.amx_int8 or target.kind == "cuda"


def _fits(op: ir.Operation, left: _Range, right: _Range) -> bool:
    """Whether all sums are in i32."""
    return depth_of(op) * left.largest * right.largest <= _LARGEST_SUM


def _pays(op: ir.Operation) -> bool:
    """Whether integers are multiplied faster than f32: not so few rows, columns or channels of a group that packing them costs more, nor
    what Winograd's algorithm computes, unless there is an instruction for bytes."""
    shapes, target = [build.shape_of(v) for v in op.operands], target_of(op)
    if op.name == "stablehlo.dot_general":
        dims = DotDims.of(op)
        return min(prod(shape[d] for d in dims.free(side)) for side, shape in enumerate(shapes)) >= _LEAST
    channels, features = shapes[1][ConvDims.of(op).first[1]], shapes[1][ConvDims.of(op).second[1]]
    groups = ir.IntegerAttr(op.attributes["feature_group_count"]).value
    if features < _LEAST * groups or (channels if groups > 1 else depth_of(op)) < _LEAST:
        return False
    conv = None if target.int8_dot or target.amx_int8 else direct_convolution(op, target)
    return conv is None or not suits_winograd(op, conv)


def _operand(op: ir.Operation, side: int) -> _Operand | None:
    """What an operand of a contraction is made of; None where that is no small integers, or changed along what is summed."""
    value, moves = op.operands[side], []
    if (found := _scaled(op, side, value)) is not None:
        return found
    while (move := defining_op(value)) is not None and move.name in _MOVES:
        moves.append(move)
        value = move.operands[0]
    found = _scaled(op, side, value) if moves else None
    if found is None or any(spread is not None and spread.axis is not None for spread in (found.unknown, found.scale)):
        return None
    return replace(found, moves=tuple(moves))


def _scaled(op: ir.Operation, side: int, value: ir.Value) -> _Operand | None:
    multiplied = producer(value, "stablehlo.multiply")
    if multiplied is None:
        return _less_point(op, side, value)
    for integers, factor in (multiplied.operands, list(multiplied.operands)[::-1]):
        found, scale = _less_point(op, side, integers), _spread(op, side, factor)
        if found is not None and scale is not None:
            return replace(found, scale=scale)
    return None


def _less_point(op: ir.Operation, side: int, value: ir.Value) -> _Operand | None:
    known = _range(value)
    if known is not None:
        apart = _bytes_and_point(op, value) if known.element == "i16" and _has_points(op, side) else None
        return _Operand(value, known, known.element) if apart is None else _Operand(apart[0], known, *apart[1:])
    converted = producer(value, "stablehlo.convert")
    difference = producer(value if converted is None else converted.operands[0], "stablehlo.subtract")
    found = None if difference is None else _range(difference.operands[0])
    unknown = None if difference is None or found is None else _spread(op, side, difference.operands[1])
    if difference is None or found is None or unknown is None:
        return None
    return _Operand(difference.operands[0], found, found.element, unknown=unknown)


def _spread(op: ir.Operation, side: int, value: ir.Value) -> _Spread | None:
    found = scale_of(value)
    return _Spread(*found) if found is not None and (found[1] is None or found[1] in kept_dims(op, side)) else None


def _bytes_and_point(contraction: ir.Operation, value: ir.Value) -> tuple[ir.Value, str, int] | None:
    """Bytes, their type, and what they are less, of a sum or difference of bytes and a constant: for a convolution, which is padded with
    it, a byte too."""
    op = defining_op(value)
    if op is None or op.name not in _SUMS:
        return None
    integers, constant = op.operands
    found, number = _range(integers), _constant(constant)
    if found is None or number is None or found.element not in _BYTES:
        return None
    point, (low, high) = -_SUMS[op.name] * number.low, _RANGES[found.element]
    if contraction.name == "stablehlo.convolution" and not low <= point <= high:
        return None
    return integers, found.element, point


def _range(value: ir.Value, among: int = _MOST) -> _Range | None:
    """What is known of the elements of f32, i32 or i64, if they are made of small integers alone, in few ops, `among` so many in a row."""
    op = defining_op(value)
    if op is None or not among:
        return None
    if op.name == "stablehlo.convert":
        element = build.element_of(op.operands[0])
        if str(element) in _RANGES:
            return _Range(*_RANGES[str(element)], str(element))
        return _range(op.operands[0], among - 1) if isinstance(element, ir.IntegerType) and element.width > 16 else None
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
        is_small = str(build.element_of(op.operands[0])) in _RANGES
        return build.convert(op.operands[0], element) if is_small else _emitted(op.operands[0], element)
    kind = build.tensor(build.shape_of(value), element)
    if op.name == "stablehlo.constant":
        return build.full(kind, int(constants.splat_value(value) or 0))
    operands = [_emitted(op.operands[0], element)]
    if op.name == "stablehlo.pad":
        operands.append(build.zero([], element))
    elif op.name in _SUMS:
        operands.append(_emitted(op.operands[1], element))
    return value_of(op.name, kind, operands, **attributes_of(op))
