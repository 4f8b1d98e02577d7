"""dot_general and convolution of quantized operands in integers (support/integer_products.py).

On the right the specification has no zero point, but unsigned bytes are moved by 128 to be signed ones, and get one.

The result is the sum times one f32, the product of the operands' scales over the result's, moved by the result's zero point, clamped and
rounded: one rounding where the sum of products in f32 has many.
"""

from __future__ import annotations

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ...common.rewriting import element_of
from ..support import build
from ..support.dimensions import DotDims
from ..support.integer_products import IntegerProduct, as_signed, depth_of
from .arithmetic import to_storage
from .types import QuantizedType, quantized_element, spread

_LONGEST = 1 << 15
"""So many products of bytes and their correction do not overflow i32."""


def in_integers(op: ir.Operation, lhs: ir.Value, rhs: ir.Value) -> ir.Value | None:
    """The stored result of a contraction of these stored operands; None for one that is not computed in integers."""
    left, right, result = (quantized_element(value) for value in (*op.operands, op.results[0]))
    if left is None or right is None or result is None or not _is_simple(op, left, right, result):
        return None
    points = left.zero_points[0], 0
    if op.name == "stablehlo.dot_general" or not _are_bytes_alike(left, right):
        (lhs, first), (rhs, second) = as_signed(lhs, points[0]), as_signed(rhs, 0)
        points = first, second
    total = IntegerProduct(op, (lhs, rhs), points).total()
    return _rescaled(op, total, left, right, result)


def _is_simple(op: ir.Operation, left: QuantizedType, right: QuantizedType, result: QuantizedType) -> bool:
    """Bytes, one scale on the left, on the right those of the result's channels and no zero point; of a convolution signed bytes there, or
    unsigned ones on both sides."""
    if left.storage.width > 8 or right.storage.width > 8 or left.axis is not None or any(right.zero_points):
        return False
    if op.name == "stablehlo.convolution" and right.storage.is_unsigned and not _are_bytes_alike(left, right):
        return False
    channel, place = _channel(op)
    return right.axis in (None, channel) and result.axis in (None, place) and depth_of(op) <= _LONGEST


def _are_bytes_alike(left: QuantizedType, right: QuantizedType) -> bool:
    return left.storage == right.storage and left.storage.width == 8


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
