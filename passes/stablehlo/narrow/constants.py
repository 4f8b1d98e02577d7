"""Constants of narrow types as constants of bytes."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from hloom.runtime.dtypes import numpy_dtype

from ...common.dense_constants import constant_bytes
from ..support import build
from ..support.constants import write
from .types import NarrowType, narrow_type


def stored_constant(attribute: ir.Attribute, narrow: NarrowType) -> ir.Value:
    """A constant with the elements of a dense or dense_resource attribute as they are stored."""
    shape = list(ir.ShapedType(attribute.type).shape)
    unused = 8 - narrow.bits
    high = codes_of(attribute).astype(np.uint8) << unused
    stored: np.ndarray = high.view(np.int8 if narrow.signed else np.uint8) >> unused
    return write(stored.reshape(shape), build.tensor(shape, narrow.storage))


def codes_of(attribute: ir.Attribute) -> np.ndarray:
    """A byte for each element, flat. The bindings give neither a buffer nor elements of these types, but their text is exact."""
    shaped = ir.ShapedType(attribute.type)
    count = int(np.prod(shaped.shape, dtype=object))
    if not isinstance(attribute, ir.DenseElementsAttr):
        return np.frombuffer(constant_bytes(attribute), np.uint8)
    text = str(attribute)
    elements = text[len("dense<") : text.rindex("> : ")]
    if elements.startswith('"0x'):
        found = np.frombuffer(bytes.fromhex(elements[3:-1]), np.uint8)
    else:
        tokens = elements.replace("[", " ").replace("]", " ").replace(",", " ").split()
        found = np.array([_code(token, shaped.element_type) for token in tokens], np.uint8)
    return np.repeat(found, count) if found.size == 1 else found


def _code(token: str, element: ir.Type) -> int:
    """The byte of an element in a dense attribute's text."""
    if token.startswith("0x"):
        return int(token, 16)
    narrow = narrow_type(element)
    if narrow is not None and narrow.form is None:
        return int(token) & 0xFF
    return int(np.array(token, np.float64).astype(np.float32).astype(numpy_dtype(str(element))).view(np.uint8))
