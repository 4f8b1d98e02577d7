"""Constants as NumPy arrays and back. i1 is numpy.bool_, bf16 is ml_dtypes.bfloat16; resource blobs stay where they are."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from torch_mlir import ir

from ...common.folding import dtype_of
from ...common.rewriting import defining_op
from . import build


def elements_attribute(value: ir.Value) -> ir.Attribute | None:
    """The attribute of the constant that produces `value`, or None."""
    op = defining_op(value)
    return op.attributes["value"] if op is not None and op.name == "stablehlo.constant" else None


def splat_attribute(value: ir.Value) -> ir.Attribute | None:
    """The attribute of the one element that all of a constant's elements are, or None."""
    attribute = elements_attribute(value)
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        return attribute.get_splat_value()
    return None


def splat_value(value: ir.Value) -> float | int | bool | None:
    """The number that all elements of a constant are, or None."""
    attribute = splat_attribute(value)
    return None if attribute is None else number(attribute)


def number(attribute: ir.Attribute) -> float | int | bool | None:
    """The Python number of a float, integer or i1 attribute."""
    if isinstance(attribute, ir.BoolAttr):
        return bool(attribute.value)
    if isinstance(attribute, ir.FloatAttr):
        return float(attribute.value)
    if not isinstance(attribute, ir.IntegerAttr):
        return None
    kind = attribute.type
    if isinstance(kind, ir.IntegerType) and kind.width == 64 and kind.is_unsigned:
        return int(str(attribute).split(" ")[0])
    value = attribute.value
    return bool(value) if isinstance(kind, ir.IntegerType) and kind.width == 1 else value


def read(value: ir.Value, limit: int) -> np.ndarray | None:
    """The array of a constant with at most `limit` elements, or None. A splat of any size is an array with stride 0."""
    attribute = elements_attribute(value)
    if not isinstance(attribute, ir.DenseElementsAttr):
        return None
    dtype, shape = dtype_of(build.element_of(value)), build.shape_of(value)
    if dtype is None:
        return None
    if attribute.is_splat:
        return np.broadcast_to(np.asarray(number(attribute.get_splat_value())).astype(dtype), shape)
    if build.count_of(value) > limit:
        return None
    if dtype == ml_dtypes.bfloat16:
        return _read_bfloat16(str(attribute)).reshape(shape)
    return np.array(attribute).reshape(shape).astype(dtype)


def _read_bfloat16(text: str) -> np.ndarray:
    """The elements of a dense bf16 attribute, of which the bindings give neither a buffer nor elements: from its text, which is exact."""
    elements = text[len("dense<") : text.rindex("> : ")]
    if elements.startswith('"0x'):
        return np.frombuffer(bytes.fromhex(elements[3:-1]), np.uint16).view(ml_dtypes.bfloat16)
    tokens = elements.replace("[", " ").replace("]", " ").replace(",", " ").split()
    bits = [int(t, 16) if t.startswith("0x") else int(np.float32(t).astype(ml_dtypes.bfloat16).view(np.uint16)) for t in tokens]
    return np.array(bits, np.uint16).view(ml_dtypes.bfloat16)


def write(array: np.ndarray, kind: ir.Type) -> ir.Value:
    """A constant of tensor type `kind` with the elements of `array`."""
    element = ir.RankedTensorType(kind).element_type
    if array.size and not np.any(array != array.flat[0]) and not _mixes_zeros(array):
        return build.full(kind, array.flat[0])
    data = np.ascontiguousarray(array)
    if data.dtype == ml_dtypes.bfloat16:
        return build.constant(ir.DenseElementsAttr.get(data.view(np.uint16), type=element, shape=list(data.shape)))
    if data.dtype == np.bool_:
        return build.constant(ir.DenseElementsAttr.get(data, type=element))
    signless = isinstance(element, ir.IntegerType) and element.is_signless
    return build.constant(ir.DenseElementsAttr.get(data, signless=signless))


def _mixes_zeros(array: np.ndarray) -> bool:
    return array.dtype.kind in "fV" and bool(np.any(np.signbit(array) != np.signbit(array.flat[0])))


def constant_index(value: ir.Value) -> int | None:
    """The value of an integer scalar constant."""
    known = splat_value(value)
    return int(known) if known is not None and isinstance(build.element_of(value), ir.IntegerType) else None
