"""Results of a graph that lie in one another's memory, as in eager: of `y = x + 1; return y, y[0]` what is written to one is read of both.

AOTAutograd sees to views of what wants gradients, and leaves others to the backend. A view of an operand it makes anew of the one that it
was given; of one whose sizes are open it takes the strides, and where in memory it begins, from what the backend returns.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch.fx import Node
from torch.utils._pytree import tree_leaves

View = tuple[tuple[int, ...], tuple[int, ...], int]
"""Sizes, strides, and where in memory it begins."""


def shared_results(values: Sequence[Any]) -> dict[Node, Node]:
    """The results that are views of another one or overlap, and what they are views of. Parts that lie apart may as well be copies."""
    owners = {value: _owner(value) for value in values if isinstance(value, Node)}
    found: dict[Node, Node] = {}
    for owner in dict.fromkeys(owners.values()):
        views = [value for value, of in owners.items() if of is owner is not value]
        if views and owner.op == "call_function" and _is_dense(owner.meta["val"]):
            overlap = sum(view.meta["val"].numel() for view in views) > owner.meta["val"].numel()
            found |= dict.fromkeys(views if owner in owners or overlap else (), owner)
    return found


def views_of_operands(values: Sequence[Any], changed: Mapping[Node, Any]) -> dict[Node, Node]:
    """The results that are views of operands, and of which; of one that is `changed`, views of its new value."""
    held = {value: operand for operand, value in changed.items() if isinstance(value, Node) and _lie_alike(value, operand)}
    found: dict[Node, Node] = {}
    for value in values:
        if isinstance(value, Node) and (owner := _owner(value)) is not value:
            operand = held.get(owner, owner if owner not in changed else None)
            if operand is not None and operand.op == "placeholder":
                found[value] = operand
    return found


def within(value: Node, operand: Node, operands: Sequence[Node]) -> tuple[int, tuple[int, ...], tuple[int, ...], int]:
    """A view of an operand: the operand's number, sizes, strides, and how far behind the operand's beginning it begins."""
    sizes, strides, begin = view_of(value)
    return operands.index(operand), sizes, strides, begin - view_of(operand)[2]


def _lie_alike(value: Node, operand: Node) -> bool:
    return _kind(value.meta["val"]) == _kind(operand.meta["val"]) and view_of(value)[:2] == view_of(operand)[:2]


def view_of(node: Node) -> View:
    value = node.meta["val"]
    return tuple(value.shape), tuple(value.stride()), value.storage_offset()


def _owner(node: Node) -> Node:
    """What the value is a view of."""
    while (source := _source(node)) is not None:
        node = source
    return node


def _source(node: Node) -> Node | None:
    """What it is a view of, of the same kind of elements; None where it is no view, or not one of memory that is read as it is."""
    if node.target is operator.getitem and isinstance(node.args[0], Node):
        return _source(node.args[0])
    if not isinstance(node.target, torch._ops.OpOverload) or not node.args or not isinstance(node.args[0], Node):
        return None
    source, views = node.args[0], tree_leaves(node.meta.get("val"))
    if not any(each.alias_info is not None and not each.alias_info.is_write for each in node.target._schema.returns):
        return None
    alike = isinstance(source.meta.get("val"), torch.Tensor) and all(_kind(view) == _kind(source.meta["val"]) for view in views)
    return source if alike else None


def _kind(value: Any) -> Any:
    return (value.dtype, value.is_conj(), value.is_neg()) if isinstance(value, torch.Tensor) else None


def _is_dense(value: torch.Tensor) -> bool:
    step = 1
    for stride, extent in sorted((stride, extent) for stride, extent in zip(value.stride(), value.shape) if extent > 1):
        if stride != step:
            return False
        step *= extent
    return value.layout is torch.strided and value.numel() > 0
