"""dot_general and convolution of quantized operands in integers.

    sum((a - za) * (b - zb)) = sum(a * b) - za * sum(b) - zb * sum(a) + n * za * zb

is exact in i32: sum(a * b) is a product of the bytes as they are, the others are sums of columns and rows; those whose factor is 0 are not
there. On the right the specification has no zero point, but unsigned bytes are moved by 128 to be signed ones, and get one.

The result is the sum times one f32, the product of the operands' scales over the result's, moved by the result's zero point, clamped and
rounded: one rounding where the sum of products in f32 has many. A convolution is padded with the zero point first.
"""

from __future__ import annotations

from math import prod

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ...common.rewriting import attributes_of, create, element_of, integers, padding_pairs
from ..support import build
from ..support.dimensions import DotDims
from .arithmetic import to_storage
from .types import QuantizedType, quantized_element, spread

_LONGEST = 1 << 15
"""So many products of bytes and their correction do not overflow i32."""


def in_integers(op: ir.Operation, lhs: ir.Value, rhs: ir.Value) -> ir.Value | None:
    """The stored result of a contraction of these stored operands; None for one that is not computed in integers."""
    left, right, result = (quantized_element(value) for value in (*op.operands, op.results[0]))
    if left is None or right is None or result is None or not _is_simple(op, left, right, result):
        return None
    image, zero_point, other_point = lhs, left.zero_points[0], 0
    if op.name == "stablehlo.dot_general" or not _are_bytes_alike(left, right):
        image, zero_point = _as_signed(lhs, zero_point)
        rhs, other_point = _as_signed(rhs, other_point)
    attributes = attributes_of(op)
    if zero_point and op.name == "stablehlo.convolution":
        image = _padded(op, image, zero_point)
        attributes = {name: value for name, value in attributes.items() if name not in ("padding", "lhs_dilation")}
    i32 = ir.IntegerType.get_signless(32)
    kind = build.tensor(build.shape_of(op.results[0]), i32)
    total = create(op.name, [kind], [image, rhs], **attributes).results[0]
    if zero_point:
        sums = _dot_sums(op, rhs, 1) if op.name == "stablehlo.dot_general" else _kernel_sums(op, rhs)
        factor = build.full(kind, zero_point)
        total = build.subtract(total, build.multiply(sums, factor))
    if other_point:
        total = build.subtract(total, build.multiply(_dot_sums(op, image, 0), build.full(kind, other_point)))
    if zero_point and other_point:
        total = build.add(total, build.full(kind, _summed(op) * zero_point * other_point))
    return _rescaled(op, total, left, right, result)


def _is_simple(op: ir.Operation, left: QuantizedType, right: QuantizedType, result: QuantizedType) -> bool:
    """Bytes, one scale on the left, on the right those of the result's channels and no zero point; of a convolution signed bytes there, or
    unsigned ones on both sides."""
    if left.storage.width > 8 or right.storage.width > 8 or left.axis is not None or any(right.zero_points):
        return False
    if op.name == "stablehlo.convolution" and right.storage.is_unsigned and not _are_bytes_alike(left, right):
        return False
    channel, place = _channel(op)
    return right.axis in (None, channel) and result.axis in (None, place) and _summed(op) <= _LONGEST


def _are_bytes_alike(left: QuantizedType, right: QuantizedType) -> bool:
    return left.storage == right.storage and left.storage.width == 8


def _summed(op: ir.Operation) -> int:
    """How many products a sum has."""
    rhs = build.shape_of(op.operands[1])
    if op.name == "stablehlo.dot_general":
        return prod(rhs[d] for d in _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"]).rhs_contracting_dimensions)
    numbers = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    return prod(rhs) // max(1, rhs[numbers.kernel_output_feature_dimension])


def _channel(op: ir.Operation) -> tuple[int | None, int | None]:
    """The dimension of the right operand that is its output features, or the last free one, and that of the result."""
    if op.name == "stablehlo.convolution":
        numbers = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
        return numbers.kernel_output_feature_dimension, numbers.output_feature_dimension
    free = _free(op)
    return (free[-1], len(build.shape_of(op.results[0])) - 1) if free else (None, None)


def _free(op: ir.Operation) -> list[int]:
    """The free dimensions of the right operand."""
    return DotDims.of(op).free(1)


def _as_signed(value: ir.Value, zero_point: int) -> tuple[ir.Value, int]:
    """Integers as i8: unsigned ones of 8 bits, and their zero point, are moved by 128."""
    element = element_of(value)
    i8 = ir.IntegerType.get_signless(8)
    if not element.is_unsigned or element.width < 8:
        return (build.convert(value, i8), zero_point) if element.is_unsigned else (value, zero_point)
    flipped = build.elementwise("xor", value, build.full_like(value, 128))
    return build.elementwise("bitcast_convert", flipped, result=build.tensor(build.shape_of(value), i8)), zero_point - 128


def _dot_sums(op: ir.Operation, operand: ir.Value, side: int) -> ir.Value:
    """The sums of an operand over what is contracted, at the points of the result."""
    dims, shape = DotDims.of(op), build.shape_of(op.results[0])
    sums = build.sum_along(build.convert(operand, ir.IntegerType.get_signless(32)), list(dims.contracting[side]))
    first = len(dims.batch[0]) + (len(dims.free(0)) if side else 0)
    kept = sorted((*dims.batch[side], *dims.free(side)))
    places = [dims.batch[side].index(d) if d in dims.batch[side] else first + dims.free(side).index(d) for d in kept]
    order = sorted(range(len(kept)), key=places.__getitem__)
    return build.broadcast(build.transpose(sums, order), shape, sorted(places))


def _kernel_sums(op: ir.Operation, kernel: ir.Value) -> ir.Value:
    """The sum of each output feature's kernel, at the points of the result."""
    numbers = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    others = [d for d in range(len(build.shape_of(kernel))) if d != numbers.kernel_output_feature_dimension]
    sums = build.sum_along(build.convert(kernel, ir.IntegerType.get_signless(32)), others)
    return build.broadcast(sums, build.shape_of(op.results[0]), [numbers.output_feature_dimension])


def _padded(op: ir.Operation, image: ir.Value, zero_point: int) -> ir.Value:
    """The image padded and dilated with its zero point."""
    numbers = _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])
    spatial, shape = list(numbers.input_spatial_dimensions), build.shape_of(image)
    pairs, base = padding_pairs(op, len(spatial)), integers(op, "lhs_dilation", [1] * len(spatial))
    low, high, interior = ([0] * len(shape) for _ in range(3))
    for dim, (before, after), step in zip(spatial, pairs, base):
        low[dim], high[dim], interior[dim] = before, after, step - 1
    element = element_of(image)
    filling = build.full(build.tensor([], element), zero_point)
    return build.pad(image, filling, low, high, interior)


def _rescaled(op: ir.Operation, total: ir.Value, left: QuantizedType, right: QuantizedType, result: QuantizedType) -> ir.Value:
    """Integer sums as the stored result."""
    count = max(len(right.scales), len(result.scales))
    ratios = np.float64(left.scales[0]) * np.resize(right.scales, count) / np.resize(result.scales, count)
    factors = tuple(float(ratio) for ratio in ratios.astype(np.float32))
    if set(factors) == {1.0} and not any(result.zero_points) and result.storage == element_of(total):
        return total
    axis = None if count == 1 else _channel(op)[1]
    scaled = build.convert(total, ir.F32Type.get())
    scaled = build.multiply(scaled, spread(factors, axis, build.shape_of(total), ir.F32Type.get()))
    return to_storage(scaled, result)
