"""Calls of outside code with complex operands or results: it sees their bytes; and transforms, whose parts stay apart."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from ...common.rewriting import attributes_of, create, i64_array, integers, keyword
from ..support.type_conversion import Parts
from .edges import is_complex, join, parts_of, split, stored


def custom_call(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """The call on joined values; `hloom.types` has the types that it had. The parts are the fastest dimension of every layout."""
    attributes = attributes_of(op)
    before = ir.FunctionType.get([v.type for v in op.operands], [v.type for v in op.results])
    attributes["hloom.types"] = ir.TypeAttr.get(before)
    for name, kinds in (("operand_layouts", before.inputs), ("result_layouts", before.results)):
        if name in attributes:
            attributes[name] = ir.ArrayAttr.get([_layout(*pair) for pair in zip(ir.ArrayAttr(attributes[name]), kinds)])
    values = [join(parts, v.type) if is_complex(v.type) else parts[0] for parts, v in zip(operands, op.operands)]
    kinds = [stored(kind) if is_complex(kind) else kind for kind in before.results]
    new = create(op.name, kinds, values, **attributes)
    return [split(value, kind) if is_complex(kind) else [value] for value, kind in zip(new.results, before.results)]


def _layout(layout: ir.Attribute, kind: ir.Type) -> ir.Attribute:
    if not is_complex(kind):
        return layout
    order = np.array([ir.RankedTensorType(kind).rank, *ir.DenseIntElementsAttr(layout)], np.int64)
    return ir.DenseElementsAttr.get(order, type=ir.IndexType.get())


def fft(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """A call of @hloom.fft on planar parts, with kind and lengths in the attribute `hloom.fft`."""
    kind = op.results[0].type
    results = parts_of(kind) or [kind]
    known = {"fft_type": ir.StringAttr.get(keyword(op, "fft_type")), "fft_length": i64_array(integers(op, "fft_length"))}
    target = ir.StringAttr.get("hloom.fft")
    values = [value for parts in operands for value in parts]
    new = create("stablehlo.custom_call", results, values, call_target_name=target, **{"hloom.fft": ir.DictAttr.get(known)})
    return [list(new.results)]
