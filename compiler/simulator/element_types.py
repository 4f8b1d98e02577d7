"""The element types of MLIR, as generated code names them."""

from __future__ import annotations

from torch_mlir import ir


def element_type(kind: ir.Type) -> ir.Type:
    return kind.element_type if isinstance(kind, ir.ShapedType | ir.VectorType | ir.MemRefType) else kind


def element_name(kind: ir.Type) -> str:
    """The name of a type's elements, as generated code and DTYPES spell it."""
    return str(element_type(kind))


def vector_shape(kind: ir.Type) -> list[int]:
    """The shape of a vector type; [] for a scalar."""
    return list(kind.shape) if isinstance(kind, ir.VectorType) else []
