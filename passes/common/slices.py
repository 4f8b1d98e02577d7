"""Builders of tensor.extract_slice and its inverses with unit strides. Offsets and sizes are ints or values; results are signless."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from torch_mlir import ir

from .rewriting import DYNAMIC, create, element_of, i64_array, split_mixed, value_of
from .scalars import signless

Mixed: TypeAlias = "Sequence[int | ir.Value]"


def tensor_type(sizes: Mixed, element: ir.Type) -> ir.RankedTensorType:
    """A tensor type whose dimensions that are values are dynamic."""
    return ir.RankedTensorType.get([s if isinstance(s, int) else DYNAMIC for s in sizes], element)


def extract_slice(source: ir.Value, offsets: Mixed, sizes: Mixed) -> ir.Value:
    """Without a sign, as all of linalg: an argument of a group loses its own when the group is lowered."""
    operands, place = _place([source], offsets, sizes)
    return value_of("tensor.extract_slice", tensor_type(sizes, signless(element_of(source))), operands, **place)


def insert_slice(value: ir.Value, destination: ir.Value, offsets: Mixed, sizes: Mixed) -> ir.Value:
    operands, place = _place([value, destination], offsets, sizes)
    return value_of("tensor.insert_slice", signless(destination.type), operands, **place)


def parallel_insert_slice(value: ir.Value, destination: ir.Value, offsets: Mixed, sizes: Mixed) -> None:
    """In the terminator of an scf.forall."""
    operands, place = _place([value, destination], offsets, sizes)
    create("tensor.parallel_insert_slice", [], operands, **place)


def _place(tensors: list[ir.Value], offsets: Mixed, sizes: Mixed) -> tuple[list[ir.Value], dict[str, Any]]:
    """The operands and attributes of a slice op on `tensors`."""
    static_offsets, dynamic_offsets = split_mixed(offsets)
    static_sizes, dynamic_sizes = split_mixed(sizes)
    segments = [*[1] * len(tensors), len(dynamic_offsets), len(dynamic_sizes), 0]
    return [*tensors, *dynamic_offsets, *dynamic_sizes], {
        "static_offsets": static_offsets,
        "static_sizes": static_sizes,
        "static_strides": i64_array([1] * len(sizes)),
        "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments),
    }
