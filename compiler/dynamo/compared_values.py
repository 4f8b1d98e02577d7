"""Floats that a gradient compares for equality are those that the forward computed.

    extreme = aten.amax(x);  is_extreme = aten.eq(x, extreme);  gradient = is_extreme * tangent / aten.sum(is_extreme)

A gradient finds where an extreme stands by comparing. Forward and backward are two programs, which may round sums of the same numbers
otherwise: an x that the backward makes again equals the extreme nowhere, and the gradient is 0 / 0. So what the forward computes of what
is compared, and of what that is a view of, is saved, or how it compared.

Declined: what stands in a checkpoint of the user's, which makes the extreme again from the same x.
"""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node
from torch.utils.checkpoint import CheckpointPolicy

from .joint_graph import closure, results_of_forward

_COMPARISONS = (torch.ops.aten.eq.Tensor, torch.ops.aten.ne.Tensor)


def mark_compared(joint: GraphModule, num_fwd_outputs: int) -> None:
    """Marks what the forward computes of what is compared, as torch.utils.checkpoint marks what is to be saved."""
    comparisons = [node for node in joint.graph.nodes if node.target in _COMPARISONS]
    if not comparisons:
        return
    forward = closure(results_of_forward(joint, num_fwd_outputs), lambda node: node.all_input_nodes)
    operands = (operand for node in comparisons for operand in node.all_input_nodes)
    for node in closure(operands, lambda node: () if node in forward and not _is_view(node) else node.all_input_nodes) & forward:
        if node.op == "call_function" and _is_float(node) and "recompute" not in node.meta:
            node.meta["recompute"] = CheckpointPolicy.MUST_SAVE


def _is_view(node: Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and node.target.is_view


def _is_float(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and (value.is_floating_point() or value.is_complex())
