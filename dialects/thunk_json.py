"""Thunk programs as plain data: what an artifact holds so that a person can read it, or another runtime walk it."""

from __future__ import annotations

from typing import Any

from torch_mlir import ir

from ._support import symbols

_SLICES = {"reads", "writes"}


def programs(module: ir.Operation) -> dict[str, dict[str, Any]]:
    """Every thunk.program of the module by name, as JSON would have it: each op a dictionary of its attributes, its regions lists of ops.

    {"op": "kernel", "callee": "fusion_0", "reads": [[0, 0, 32]], "writes": [[1, 0, 32]], "tiles": 4, "grain": 0, "source": ["tanh"], …}
    """
    return {name: plain(op) for name, op in symbols(module).items() if op.name == "thunk.program"}


def plain(op: ir.Operation) -> dict[str, Any]:
    """An op of a program as a dictionary."""
    data: dict[str, Any] = {"op": op.operation.name.removeprefix("thunk.")}
    for name in op.attributes:
        data[name] = _slices(op.attributes[name]) if name in _SLICES else _plain(op.attributes[name])
    names = [field.name for field in type(op.opview)._fields][-len(op.regions) :] if len(op.regions) else []
    for name, region in zip(names, op.regions):
        data[name] = [plain(inner.operation) for block in region.blocks for inner in block.operations]
    return data


def _slices(attribute: ir.Attribute) -> list[list[int]]:
    flat = list(ir.DenseI64ArrayAttr(attribute))
    return [list(each) for each in zip(flat[::3], flat[1::3], flat[2::3])]


def _plain(attribute: ir.Attribute) -> Any:
    if isinstance(attribute, ir.BoolAttr | ir.IntegerAttr | ir.FloatAttr | ir.StringAttr | ir.FlatSymbolRefAttr):
        return attribute.value
    if isinstance(attribute, ir.DenseI64ArrayAttr | ir.DenseI8ArrayAttr):
        return list(attribute)
    if isinstance(attribute, ir.ArrayAttr):
        return [_plain(item) for item in attribute]
    return str(attribute)
