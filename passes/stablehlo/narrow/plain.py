"""CHLO's other spellings of ops that have rules of their own on narrow types: those with broadcasts, and constants."""

from __future__ import annotations

from functools import partial

from torch_mlir import ir

from ...common.rewriting import attributes_of, create, element_of, value_of
from ..support import build
from ..support.driver import Rule
from ..support.spread import spread
from .types import narrow_element

_BROADCAST = "chlo.broadcast_"


def plain_rules(names: set[str]) -> dict[str, list[Rule]]:
    """For the ops of those names that are spelled otherwise."""
    spelled = {_BROADCAST + name.partition(".")[2]: name for name in names}
    rules: dict[str, list[Rule]] = {old: [partial(_spread, name=name)] for old, name in spelled.items()}
    return {"chlo.constant": [_constant], "chlo.constant_like": [_constant], **rules}


def _spread(op: ir.Operation, name: str) -> list[ir.Value] | None:
    if not any(narrow_element(value) for value in (*op.operands, *op.results)):
        return None
    attributes = {key: value for key, value in attributes_of(op).items() if key != "broadcast_dimensions"}
    return list(create(name, [op.results[0].type], spread(op), **attributes).results)


def _constant(op: ir.Operation) -> list[ir.Value] | None:
    result, value = op.results[0], op.attributes["value"]
    if narrow_element(result) is None:
        return None
    if op.name == "chlo.constant_like":
        value = ir.DenseElementsAttr.get_splat(build.tensor(build.shape_of(result), element_of(result)), value)
    return [value_of("stablehlo.constant", result.type, value=value)]
