"""Ops along dimensions of tensors that have none, which torch-mlir does not survive: they are taken as one element along one dimension.

Before:
    sum_1 = aten.sum.dim_IntList(x, [], True)      # x: f32[]
After:
    row = aten.view_copy(x, [1]);  sum_1 = aten.sum.dim_IntList(row, [0], True);  scalar = aten.view_copy(sum_1, [])
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import Graph, Node

from .torch_registry import overloads

_ALONG = {
    op
    for name in """sum.dim_IntList mean.dim prod.dim_int any.dim any.dims all.dim all.dims var.correction std.correction logsumexp
    softmax.int log_softmax.int _softmax _log_softmax linalg_vector_norm norm.ScalarOpt_dim amax amin
    cumsum cumprod logcumsumexp flip gather scatter.src scatter.value index_select""".split()
    for op in overloads(f"aten.{name}")
}
_view = torch.ops.aten.view_copy.default
"""Of hloom's own lowering: torch-mlir takes its views back."""


def give_scalars_a_dimension(graph: Graph) -> None:
    for node in [node for node in graph.nodes if node.op == "call_function" and node.target in _ALONG and _is_scalar(node.args[0])]:
        with graph.inserting_before(node):
            args: tuple[Any, ...] = tuple(map(_with_dimension, node.args))
            row = graph.call_function(node.target, args, node.kwargs)
            values: Any = torch.fx.node.map_arg(args, lambda each: each.meta["val"])
            row.meta = _meta(node, node.target(*values, **node.kwargs))
            scalar = _viewed(row, [])
        node.replace_all_uses_with(scalar)
        graph.erase_node(node)


def _is_scalar(value: Any) -> bool:
    return isinstance(value, Node) and isinstance(tensor := value.meta.get("val"), torch.Tensor) and not tensor.dim()


def _with_dimension(argument: Any) -> Any:
    """A tensor of one element along one dimension; of no dimensions that one."""
    return _viewed(argument, [1]) if _is_scalar(argument) else [0] if argument == [] else argument


def _viewed(node: Node, shape: list[int]) -> Node:
    view = node.graph.call_function(_view, (node, shape))
    view.meta = _meta(node, node.meta["val"].view(shape))
    return view


def _meta(node: Node, value: torch.Tensor) -> dict[str, Any]:
    """What the node says of itself, of another value: `tensor_meta` would tell of the old one."""
    return {**{name: of for name, of in node.meta.items() if name != "tensor_meta"}, "val": value}
