"""constant and iota."""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from hloom.dialects.storage import is_i1

from ...common.rewriting import integer, linalg_index
from ...common.scalars import is_float, is_integer, signless, signless_attribute
from .lowering import Lowering, unsupported


def _constant(low: Lowering, op: ir.Operation) -> None:
    attribute, kind = op.attributes["value"], op.results[0].type
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        low.set_splat(op.results[0], signless_attribute(attribute.get_splat_value()))
        return
    low.set(op.results[0], low.scalars.attribute(signless(kind), _signless_elements(op, attribute, kind)))


def _signless_elements(op: ir.Operation, attribute: ir.Attribute, kind: ir.Type) -> ir.Attribute:
    element = kind.element_type
    if not is_integer(element) or is_i1(element) or element.is_signless:
        return attribute
    if not isinstance(attribute, ir.DenseIntElementsAttr):
        raise unsupported(op, f"a resource constant of {element} is not compiled")
    count = int(np.prod(list(kind.shape)))
    values = np.array([int(attribute[i]) for i in range(count)], dtype=f"u{element.width // 8}").reshape(list(kind.shape))
    return ir.DenseElementsAttr.get(values.view(f"i{element.width // 8}"), signless=True, type=signless(element))


def _iota(low: Lowering, op: ir.Operation) -> None:
    kind = op.results[0].type
    s, element = low.scalars, signless(kind.element_type)

    def body(_: list[ir.Value]) -> ir.Value:
        index = linalg_index(integer(op, "iota_dimension"))
        if is_float(element):
            return s.cast("arith.uitofp", element, s.cast("arith.index_cast", ir.IntegerType.get_signless(64), index))
        return s.cast("arith.index_cast", element, index)

    low.set(op.results[0], low.parallel(kind, [], body))


LOWERINGS = {"stablehlo.constant": _constant, "stablehlo.iota": _iota}
