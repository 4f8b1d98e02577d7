"""AOTAutograd's joint graph cut into forward and backward, where activation checkpoints have random ops made again.

Before, in a checkpoint, where all is marked to be made again in the backward:
    native_dropout = aten.native_dropout(x, 0.1, True);  out = native_dropout[0]
After:
    native_dropout = aten.native_dropout(x, 0.1, True);  mask = native_dropout[1]        # not marked: the forward saves the mask
    out = x * mask * (1 / 0.9)                                                           # marked

torch would have the forward save the state of its generator, for each random op, and the backward draw once more from there. hloom's
programs draw from a generator of their own. So what is drawn is saved: of a dropout a byte an element, of another op its result.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import torch
from functorch.compile import min_cut_rematerialization_partition
from torch._functorch.partitioners import must_recompute
from torch.fx import GraphModule, Node

_DROPOUT = torch.ops.aten.native_dropout.default
_MARKS = ("recompute", "ac_graph_id")


def partition(joint: GraphModule, inputs: Sequence[Any], **options: Any) -> tuple[GraphModule, GraphModule]:
    """What AOTAutograd calls."""
    drawn = [node for node in joint.graph.nodes if must_recompute(node) and _is_random(node)]
    for node in drawn:
        marks = {name: node.meta.pop(name) for name in _MARKS if name in node.meta}
        if node.target is _DROPOUT and node.args[1] != 1 and node.args[2]:
            _by_mask(node, marks)
    if drawn:
        joint.graph.eliminate_dead_code()
        joint.recompile()
    return min_cut_rematerialization_partition(joint, inputs, **options)


def _is_random(node: Node) -> bool:
    return isinstance(node.target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded in node.target.tags


def _by_mask(node: Node, marks: dict[str, Any]) -> None:
    """The dropout's result as a product with its mask, which is marked."""
    results, masks = ([user for user in node.users if user.args[1] == part] for part in (0, 1))
    for mask in masks:
        for name in _MARKS:
            mask.meta.pop(name, None)
    if not results:
        return
    x, rate, _ = node.args
    graph, of_x = node.graph, x.meta["val"]  # type: ignore[union-attr]

    def call(op: Any, *args: Any, **kwargs: Any) -> Node:
        made = graph.call_function(op, args, kwargs)
        values, named = torch.fx.node.map_arg((args, kwargs), lambda each: each.meta["val"])
        made.meta = {**results[0].meta, **marks, "val": op(*values, **named)}
        return made

    with graph.inserting_before(node.next), of_x.fake_mode:
        mask = graph.call_function(operator.getitem, (node, 1))
        mask.meta["val"] = node.meta["val"][1]
        kept = call(torch.ops.aten._to_copy.default, mask, dtype=of_x.dtype)
        product = call(torch.ops.aten.mul.Tensor, x, kept)
        out = call(torch.ops.aten.mul.Tensor, product, 1 / (1 - rate))  # type: ignore[operator]
    for result in results:
        result.replace_all_uses_with(out)
