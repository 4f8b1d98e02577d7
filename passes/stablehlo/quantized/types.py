"""Quantized types: an integer q stands for (q - zero point) * scale, with one of each for a tensor or for every index along an axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import quant

from hloom.runtime.dtypes import NAMES

from ...common.rewriting import any_element, element_of
from ..support import build


@dataclass(frozen=True)
class QuantizedType:
    """`axis`: along which scales and zero points differ; None for one of each."""

    storage: ir.Type
    expressed: ir.Type
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    least: int
    largest: int
    axis: int | None = None

    @property
    def mapping(self) -> tuple[object, ...]:
        """What integers stand for, wherever the axis is."""
        return self.storage, self.expressed, self.scales, self.zero_points, self.least, self.largest


def spread(numbers: Sequence[float], axis: int | None, shape: list[int], element: ir.Type) -> ir.Value:
    """Scales or zero points, one or those along an axis, as a tensor of that shape."""
    if axis is None:
        return build.full(build.tensor(shape, element), numbers[0])
    kind = build.tensor([len(numbers)], element)
    constant = build.constant(ir.DenseElementsAttr.get([build.scalar(element, number) for number in numbers], kind))
    return build.broadcast(constant, shape, [axis])


def quantized_type(element: ir.Type) -> QuantizedType | None:
    """What is quantized of an element type; None for any other, and for a quantized one that is not uniform or not stored as hloom does."""
    if isinstance(element, quant.UniformQuantizedType):
        scales, zero_points, axis = [element.scale], [element.zero_point], None
    elif isinstance(element, quant.UniformQuantizedPerAxisType):
        scales, zero_points, axis = element.scales, element.zero_points, element.quantized_dimension
    else:
        return None
    width = element.storage_type_integral_width
    storage = ir.IntegerType.get_signless(width) if element.is_signed else ir.IntegerType.get_unsigned(width)
    if str(storage) not in NAMES:
        return None
    limits = element.storage_type_min, element.storage_type_max
    expressed = element.expressed_type
    single = np.float64 if expressed == ir.F64Type.get() else np.float32
    return QuantizedType(storage, expressed, tuple(float(single(s)) for s in scales), tuple(zero_points), *limits, axis)


def quantized_element(value: ir.Value) -> QuantizedType | None:
    """What is quantized of a tensor's elements, None for any other."""
    return quantized_type(element_of(value)) if isinstance(value.type, ir.RankedTensorType) else None


def stored_element(element: ir.Type) -> ir.Type:
    """The type of the integers of a quantized type; any other as it is."""
    kind = quantized_type(element)
    return element if kind is None else kind.storage


def has_quantized_types(module: ir.Operation) -> bool:
    """Whether a value under `module` has quantized elements."""
    return any_element(module, lambda element: quantized_type(element) is not None)
