"""Attention that is written out keeps no matrix for its gradients: forward and backward make scores and weights each for themselves.

Before, in AOTAutograd's joint graph:
    scores = aten.bmm(q, kt);  weights = aten._softmax(scores, -1, False);  out = aten.bmm(weights, v)      # torch saves the weights
After:
    scores = aten.bmm(q, kt);  largest = aten.amax(scores);  exps = aten.exp(scores - largest);  total = aten.sum(exps)
    weights = exps / total;  out = aten.bmm(weights, v)
    # all but the numbers of rows is marked to be made again in the backward, so that the forward saves q, k, v, largest and total

The matrix has an element for each pair of a row and a column, so it is what grows with the square of the tokens, and each of the two
programs has it only a block of rows at a time. What the product costs a second time is less than what memory costs, for heads are narrow.

Marked: all between the products before a softmax and those behind it that is as large as the matrix; a product before it where it is larger
than what it multiplies. What is drawn (a dropout's mask) is saved, as in checkpoints.
Declined: matrices that are results of the forward, which are in memory anyway; those that no gradient reads; what stands in a checkpoint of
the user's.
"""

from __future__ import annotations

import math

import torch
from torch.fx import GraphModule, Node
from torch.utils.checkpoint import CheckpointPolicy

from .joint_graph import called, closure, results_of_forward

_aten = torch.ops.aten
PRODUCTS = (_aten.bmm.default, _aten.mm.default, _aten.baddbmm.default, _aten.addmm.default, _aten.convolution.default)
SOFTMAX = _aten._softmax.default
DROPOUT = _aten.native_dropout.default
_GRAPH_ID = 0
"""Before those of the user's checkpoints, whose numbers begin at 1."""


def mark_attention(joint: GraphModule, num_fwd_outputs: int) -> None:
    """Marks the matrices between products, as torch.utils.checkpoint marks what is to be made again."""
    softmaxes = [node for node in joint.graph.nodes if node.target is SOFTMAX and "recompute" not in node.meta]
    if not softmaxes:
        return
    results = results_of_forward(joint, num_fwd_outputs)
    tangents = [node for node in joint.graph.nodes if node.op == "placeholder" and "tangents" in node.name]
    gradients = closure(tangents, lambda node: node.users)
    for softmax in softmaxes:
        if softmax in gradients:
            continue
        matrix = _matrix(softmax, gradients)
        if matrix & results or not any(user in gradients for node in matrix for user in node.users):
            continue
        for node in (matrix - {softmax}) | _by_numbers_of_rows(softmax):
            node.meta |= {"recompute": CheckpointPolicy.MUST_RECOMPUTE, "ac_graph_id": _GRAPH_ID}
    joint.recompile()


def _by_numbers_of_rows(softmax: Node) -> set[Node]:
    """Puts a softmax's parts in its place; returns those as large as it."""
    scores, dim, _ = softmax.args
    result = softmax.meta["val"]
    with softmax.graph.inserting_before(softmax), result.fake_mode:
        wide = called(softmax, _aten._to_copy.default, scores, dtype=torch.promote_types(result.dtype, torch.float32))
        largest = called(softmax, _aten.amax.default, wide, [dim], True)
        exps = called(softmax, _aten.exp.default, less := called(softmax, _aten.sub.Tensor, wide, largest))
        total = called(softmax, _aten.sum.dim_IntList, exps, [dim], True)
        weights = called(softmax, _aten.div.Tensor, exps, total)
        rounded = called(softmax, _aten._to_copy.default, weights, dtype=result.dtype)
    softmax.replace_all_uses_with(rounded)
    softmax.graph.erase_node(softmax)
    return {wide, less, exps, weights, rounded}


def _matrix(softmax: Node, gradients: set[Node]) -> set[Node]:
    """What is as large as a softmax's result, from the products that make it to those that read it; without either, nothing."""
    size = _size(softmax)

    def is_part(node: Node) -> bool:
        return _size(node) >= size and node.op == "call_function" and node not in gradients and "recompute" not in node.meta

    before = closure([softmax], lambda node: () if node.target in PRODUCTS else filter(is_part, node.all_input_nodes))
    behind = closure([softmax], lambda node: (user for user in node.users if is_part(user) and user.target not in PRODUCTS))
    made = {node for node in before if node.target in PRODUCTS}
    larger = {node for node in made if _size(node) > sum(_size(each) for each in node.all_input_nodes)}
    read = any(user.target in PRODUCTS and user not in gradients for node in behind for user in node.users)
    return (before - made) | larger | behind if larger and read else set()


def _size(node: Node) -> int:
    """The elements of a node's tensor; of a dropout, its first result's. An open size counts as what it is now. 0 of other ops of several
    results."""
    value = node.meta.get("val")
    if node.target is DROPOUT:
        value = value[0]  # type: ignore[index]
    if not isinstance(value, torch.Tensor):
        return 0
    return math.prod(size if isinstance(size, int) else size.node.hint or 0 for size in value.shape)
