"""How tensors lie in buffers: dense and row-major, i1 as one byte holding 0 or 1, integers without sign."""

from __future__ import annotations

from math import prod

from torch_mlir import ir

Slice = tuple[int, int, int]
"""Bytes of a program's buffer: its number, the byte offset, the size."""


def is_i1(element: ir.Type) -> bool:
    return isinstance(element, ir.IntegerType) and element.width == 1


def storage_element(element: ir.Type) -> ir.Type:
    """The element type of a buffer that holds a tensor of `element`s: i1 → i8, ui8 → i8, others as they are."""
    if not isinstance(element, ir.IntegerType):
        return element
    return ir.IntegerType.get_signless(8 if element.width == 1 else element.width, context=element.context)


def element_bytes(element: ir.Type) -> int:
    """Bytes of one element of a tensor of `element`s in its buffer."""
    if isinstance(element, ir.ComplexType):
        return 2 * element_bytes(element.element_type)
    if is_i1(element):
        return 1
    if isinstance(element, ir.IndexType):
        return 8
    if not isinstance(element, ir.IntegerType | ir.FloatType) or element.width % 8:
        raise ValueError(f"no buffer layout for elements of type {element}")
    return element.width // 8


def storage_type(tensor: ir.Type) -> ir.MemRefType:
    """The memref that holds a tensor."""
    shaped = ir.ShapedType(tensor)
    return ir.MemRefType.get(shaped.shape, storage_element(shaped.element_type), loc=ir.Location.unknown(tensor.context))


def byte_size(shaped: ir.Type) -> int:
    """Bytes of a static tensor or memref of identity layout."""
    shaped = ir.ShapedType(shaped)
    return prod(shaped.shape) * element_bytes(shaped.element_type)
