"""Complex values where something outside sees their bytes: a last dimension of two, the real and the imaginary part."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ..support import build
from ..support.type_conversion import Parts


def is_complex(kind: ir.Type) -> bool:
    return isinstance(kind, ir.RankedTensorType) and isinstance(kind.element_type, ir.ComplexType)


def parts_of(kind: ir.Type) -> Sequence[ir.Type] | None:
    """The type of the real and that of the imaginary part."""
    return [build.tensor(kind.shape, kind.element_type.element_type)] * 2 if is_complex(kind) else None


def stored(kind: ir.Type) -> ir.Type:
    tensor = ir.RankedTensorType(kind)
    return build.tensor([*tensor.shape, 2], tensor.element_type.element_type)


def split(value: ir.Value, kind: ir.Type) -> Parts:
    """The parts of a value of that type, of which `value` has the bytes."""
    shape = list(ir.RankedTensorType(kind).shape)
    return [build.reshape(build.slice_dim(value, len(shape), part, part + 1), shape) for part in range(2)]


def join(parts: Parts, kind: ir.Type) -> ir.Value:
    shape = [*build.shape_of(parts[0]), 1]
    return build.concatenate([build.reshape(part, shape) for part in parts], len(shape) - 1)
