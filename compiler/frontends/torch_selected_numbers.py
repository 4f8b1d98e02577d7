"""Numbers that a program computes from data (how many elements a mask selects, `x.item()`), as tensors without dimensions.

n = aten.sym_size.int(some, 0);  half = n // 2;  y = aten.div.Scalar(x, half)
  → n = aten.sum(mask);  half = aten.div(n, 2, rounding_mode="floor");  y = aten.div.Tensor(x, half)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import torch
from torch.fx import Node

from .torch_selected import Builder, Mark, Number, aten, dtype_of

_OPS: dict[Any, Any] = {
    operator.add: aten.add.Tensor,
    operator.sub: aten.sub.Tensor,
    operator.mul: aten.mul.Tensor,
    operator.truediv: aten.div.Tensor,
    operator.mod: aten.remainder.Tensor,
    operator.pow: aten.pow.Tensor_Tensor,
    operator.neg: aten.neg.default,
    operator.eq: aten.eq.Tensor,
    operator.ne: aten.ne.Tensor,
    operator.lt: aten.lt.Tensor,
    operator.le: aten.le.Tensor,
    operator.gt: aten.gt.Tensor,
    operator.ge: aten.ge.Tensor,
    operator.and_: aten.bitwise_and.Tensor,
    operator.or_: aten.bitwise_or.Tensor,
    torch.sym_max: aten.maximum.default,
    torch.sym_min: aten.minimum.default,
    torch.sym_not: aten.logical_not.default,
    torch.sym_ite: aten.where.self,
}
_TO_WHOLE = {
    math.trunc: aten.trunc.default,
    math.floor: aten.floor.default,
    math.ceil: aten.ceil.default,
    torch.sym_int: aten.trunc.default,
}


def is_of_numbers(op: Any) -> bool:
    """Whether it computes numbers of numbers."""
    return op in _OPS or op in _TO_WHOLE or op in (operator.floordiv, torch.sym_sum, torch.sym_float)


def computed(b: Builder, node: Node, given: tuple[Any, ...]) -> Number:
    """What the node gives; `given` are numbers."""
    if node.target is torch.sym_sum:
        first, *others = [tensor_of(b, each) for each in given[0]]
        for each in others:
            first = b.call(aten.add.Tensor, first, each)
        return Number(first)
    values = [tensor_of(b, each) for each in given]
    if node.target in _TO_WHOLE:
        of_float = dtype_of(values[0]).is_floating_point
        return Number(b.cast(b.call(_TO_WHOLE[node.target], values[0]), torch.int64) if of_float else values[0])
    if node.target in (torch.sym_float, operator.truediv):
        values = [b.cast(value, torch.float64) for value in values]
    if node.target is torch.sym_float:
        return Number(values[0])
    if node.target is operator.floordiv:
        return Number(b.call(aten.div.Tensor_mode, *values, rounding_mode="floor"))
    return Number(b.call(_OPS[node.target], *values), _mark_of(node, given))


def tensor_of(b: Builder, value: Any) -> Node:
    """A number as a tensor without dimensions: one of the program's data, one of its sizes, or one that is known."""
    if isinstance(value, Number):
        return value.value
    if isinstance(value, Node):
        is_float = isinstance(value.meta["val"], (float, torch.SymFloat))
        return b.call(aten.scalar_tensor.default, value, dtype=torch.float64 if is_float else torch.int64, device=b.device)
    dtype = torch.bool if isinstance(value, bool) else torch.int64 if isinstance(value, int) else torch.float64
    return b.constant(value, dtype)


def _mark_of(node: Node, given: tuple[Any, ...]) -> Mark | None:
    """Of a count times a number: so many elements for each that is marked."""
    if node.target is not operator.mul:
        return None
    marks = [each.mark for each in given if isinstance(each, Number) and each.mark]
    times = [each for each in given if isinstance(each, int) and each > 0]
    return Mark(marks[0].mask, marks[0].each * times[0]) if len(marks) == len(times) == 1 else None


def with_tensors(b: Builder, node: Node, args: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """The op and its arguments with tensors for the numbers among them: another overload, if this one takes numbers there."""
    numbers = {name for name, value in args.items() if isinstance(value, Number)}
    op = node.target
    if not numbers:
        return op, args
    packet = op.overloadpacket  # type: ignore[union-attr]
    overloads = [op, *(getattr(packet, name) for name in packet.overloads())]
    found = next((each for each in overloads if _takes(each, args, numbers)), None)
    if found is None:
        b.refused("a number that the program computes from data")
    kinds = {each.name: str(each.type) for each in found._schema.arguments}
    real = getattr(node.meta["val"], "dtype", torch.int64)
    return found, {name: _given(b, value, kinds[name], real) for name, value in args.items()}


def _takes(op: Any, args: dict[str, Any], numbers: set[str]) -> bool:
    kinds = {each.name: str(each.type) for each in op._schema.arguments}
    return kinds.keys() == args.keys() and all("Tensor" in kinds[name] for name in numbers)


def _given(b: Builder, value: Any, kind: str, result: torch.dtype) -> Any:
    if "Tensor" not in kind or not isinstance(value, (Number, int, float)):
        return value
    made = tensor_of(b, value)
    return b.cast(made, result) if result.is_floating_point or result.is_complex else made


Rule = Callable[[Builder, Node, dict[str, Any]], Any]
"""What an op of Selected and Numbers gives: a Selected, a node where all sizes are known, or a tuple of these."""
