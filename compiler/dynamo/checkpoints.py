"""AOTAutograd's joint graph cut into forward and backward, where activation checkpoints have random ops made again.

Before, in a checkpoint, where all is marked to be made again in the backward:
    native_dropout = aten.native_dropout(x, 0.1, True);  out = native_dropout[0]
After:
    native_dropout = aten.native_dropout(x, 0.1, True);  mask = native_dropout[1]        # not marked: the forward saves the mask
    out = x * mask * (1 / 0.9)                                                           # marked

torch would have the forward save the state of its generator, for each random op, and the backward draw once more from there. hloom's
programs draw from a generator of their own. So what is drawn is saved: of a dropout a byte an element, of another op its results.

An op that could draw and does not, attention without a dropout, is made again like any other. torch tells random ops by a tag, so
such an op is cut under a stand-in, which has none:
    attention = aten._scaled_dot_product_flash_attention_for_cpu(q, k, v, 0.0)   ->   _Quiet(aten._scaled…)(q, k, v, 0.0)   ->   as before
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._functorch.partitioners import must_recompute
from torch.fx import GraphModule, Node

from .attention_weights import DROPOUT, mark_attention
from .compared_values import mark_compared
from .joint_graph import called

_MARKS = ("recompute", "ac_graph_id")


def partition(joint: GraphModule, inputs: Sequence[Any], **options: Any) -> tuple[GraphModule, GraphModule]:
    """What AOTAutograd calls."""
    mark_attention(joint, options["num_fwd_outputs"])
    mark_compared(joint, options["num_fwd_outputs"])
    random = [node for node in joint.graph.nodes if must_recompute(node) and _is_random(node)]
    for node in random:
        if not _draws(node):
            node.target = _Quiet(node.target)
            continue
        marks = _unmarked(node)
        if node.target is DROPOUT:
            _by_mask(node, marks)
        for part in node.users:
            if part.target is operator.getitem:
                _unmarked(part)
    if random:
        joint.graph.eliminate_dead_code()
        joint.recompile()
    cut = min_cut_rematerialization_partition(joint, inputs, **options)
    if random:
        for each in cut:
            _loud(each)
    return cut


class _Quiet:
    """Stands for an op that draws nothing while a graph is cut."""

    def __init__(self, op: torch._ops.OpOverload) -> None:
        self.op, self.__name__, self.__module__ = op, op.name().replace("::", "_").replace(".", "_"), __name__

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.op(*args, **kwargs)


def _loud(module: GraphModule) -> None:
    for node in module.graph.nodes:
        if isinstance(node.target, _Quiet):
            node.target = node.target.op
    module.recompile()


def _is_random(node: Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in node.target.tags


def _draws(node: Node) -> bool:
    """Whether an op that can draw does: by its rate, and by whether it is of training."""
    values = {each.name: each.default_value for each in node.target._schema.arguments}  # type: ignore[union-attr]
    values |= dict(zip(values, node.args, strict=False)) | dict(node.kwargs)
    if node.target is DROPOUT:
        return values["p"] not in (0, 1) and values["train"] is not False
    return values.get("dropout_p") != 0 and values.get("training") is not False


def _unmarked(node: Node) -> dict[str, Any]:
    return {name: node.meta.pop(name) for name in _MARKS if name in node.meta}


def _by_mask(node: Node, marks: dict[str, Any]) -> None:
    """The dropout's result as a product with its mask, which is marked."""
    results, masks = ([user for user in node.users if user.args[1] == part] for part in (0, 1))
    for mask in masks:
        _unmarked(mask)
    if not results:
        return
    x, rate, _ = node.args
    graph, of_x = node.graph, x.meta["val"]  # type: ignore[union-attr]

    def call(op: Any, *args: Any, **kwargs: Any) -> Node:
        made = called(results[0], op, *args, **kwargs)
        made.meta |= marks
        return made

    with graph.inserting_before(node.next), of_x.fake_mode:
        mask = graph.call_function(operator.getitem, (node, 1))
        mask.meta["val"] = node.meta["val"][1]
        kept = call(torch.ops.aten._to_copy.default, mask, dtype=of_x.dtype)
        product = call(torch.ops.aten.mul.Tensor, x, kept)
        out = call(torch.ops.aten.mul.Tensor, product, 1 / (1 - rate))  # type: ignore[operator]
    for result in results:
        result.replace_all_uses_with(out)
