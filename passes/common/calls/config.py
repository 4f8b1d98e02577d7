"""The configuration of a custom call, in whichever attribute it stands: JAX writes `mhlo.backend_config`, StableHLO `backend_config`."""

from __future__ import annotations

import json
from typing import Any

from torch_mlir import ir


def config_of(op: ir.Operation) -> dict[str, Any]:
    """The configuration as a dictionary, empty if it is none."""
    for name in ("mhlo.backend_config", "backend_config"):
        if name in op.attributes and isinstance(op.attributes[name], ir.DictAttr):
            return {each.name: _plain(each.attr) for each in ir.DictAttr(op.attributes[name])}
    return {}


def config_text(op: ir.Operation) -> str:
    """The configuration as text: a dictionary as JSON, a text as it is."""
    found = op.attributes["backend_config"] if "backend_config" in op.attributes else None
    if isinstance(found, ir.StringAttr) and found.value:
        return found.value
    config = config_of(op)
    return json.dumps(config) if config else ""


def _plain(attribute: ir.Attribute) -> Any:
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr | ir.StringAttr):
        return attribute.value
    if isinstance(attribute, ir.DictAttr):
        return {each.name: _plain(each.attr) for each in attribute}
    if isinstance(attribute, ir.ArrayAttr):
        return [_plain(each) for each in attribute]
    if isinstance(
        attribute, ir.DenseI64ArrayAttr | ir.DenseI32ArrayAttr | ir.DenseF64ArrayAttr | ir.DenseF32ArrayAttr | ir.DenseBoolArrayAttr
    ):
        return list(attribute)
    return str(attribute)
