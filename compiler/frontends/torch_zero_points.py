"""Zero points of a quantised program's weights, a buffer with one for each channel (torchao's pt2e): constants where all are 0.

So symmetric quantisers leave them, and only then a product of the weights is one of bytes (`multiply-in-integers`).
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch.fx import Graph, Node

_READERS = "quantized_decomposed.dequantize_per_channel"
"""Ops (quantized_graphs.py) whose third argument zero points are."""
_PLACE = 2


def zero_points(graph: Graph, value_of: Callable[[Node], torch.Tensor | None]) -> dict[Node, torch.Tensor]:
    """The placeholders that are nothing but such zero points, all 0. `value_of`: of a placeholder, its tensor if that stays what it is from
    call to call."""
    found = {}
    for node in graph.nodes:
        value = value_of(node) if node.op == "placeholder" and _is_zero_point(node) else None
        if value is not None and not value.is_floating_point() and not value.count_nonzero():
            found[node] = value
    return found


def make_zeros(graph: Graph, node: Node, value: torch.Tensor) -> None:
    """Has the readers of a placeholder that is such a value read zeros that the graph makes."""
    with graph.inserting_after(node):
        zeros = graph.call_function(torch.ops.aten.zeros.default, (list(value.shape),), {"dtype": value.dtype, "device": value.device})
    zeros.meta = dict(node.meta)
    node.replace_all_uses_with(zeros)


def _is_zero_point(node: Node) -> bool:
    return bool(node.users) and all(str(user.target).startswith(_READERS) and _only_points(user, node) for user in node.users)


def _only_points(reader: Node, node: Node) -> bool:
    return [place for place, value in enumerate(reader.args) if value is node] == [_PLACE] and node not in reader.kwargs.values()
