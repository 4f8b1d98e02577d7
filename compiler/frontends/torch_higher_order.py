"""Ops that stay whole until AOTAutograd has parted forward and backward, whose definition is torch code: then the code takes their place.

flex = higher_order.flex_attention(q, k, v, score_mod, (…, mask_mod), scale, …);  out = flex[0]
    → mm = aten.matmul(q, kᵀ);  … score_mod's and mask_mod's ops over all scores …;  out = aten.matmul(weights, v)

Of attention torch has an op for the backward pass, which reads what the forward pass saves for it: the result and the logarithms of sums.
As products and a softmax, AOTAutograd would find that both compute scores, and have the forward pass save these, or their rows' sums
computed twice. So they stay whole until it has parted them.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import torch
import torch.utils._pytree as torch_pytree
from torch._guards import detect_fake_mode
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.fx import Graph, GraphModule, Node
from torch.fx.experimental.proxy_tensor import make_fx

from .torch_lowerings.attention import attention, attention_backward
from .torch_lowerings.flex_attention import flex_attention
from .torch_nodes import copied_graph
from .torch_registry import all_decompositions

_DEFINITIONS: dict[Any, Callable[..., Any]] = {torch.ops.higher_order.flex_attention: flex_attention}
_WHOLE: dict[Any, Callable[..., Any]] = {
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default: attention,
    torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default: attention_backward,
}
_KEPT = ("nn_module_stack", "fwd_nn_module_stack", "stack_trace")


def stay_whole(decompositions: Mapping[Any, Callable[..., Any]]) -> dict[Any, Callable[..., Any]]:
    """The decompositions without those of these ops."""
    return {op: function for op, function in decompositions.items() if op not in _WHOLE}


def without_higher_order(module: GraphModule, parted: bool = False) -> GraphModule:
    """A copy with the definition in place of each such op; the module itself where it has none. `parted`: it is AOTAutograd's, and ops may
    have stayed whole.
    """
    definitions = {**_DEFINITIONS, **_WHOLE} if parted else _DEFINITIONS
    if not any(node.target in definitions for node in module.graph.nodes):
        return module
    made = copy.copy(module)
    made.graph = copied_graph(module.graph)
    for node in [node for node in made.graph.nodes if node.target in definitions]:
        _inline(made, made.graph, node, definitions[node.target])
    return made


def _functions(module: GraphModule, node: Node) -> dict[Node, Any]:
    """The functions among the op's arguments."""
    leaves = torch_pytree.tree_leaves((node.args, node.kwargs))
    named = {leaf: getattr(module, str(leaf.target)) for leaf in leaves if isinstance(leaf, Node) and leaf.op == "get_attr"}
    return {leaf: value for leaf, value in named.items() if not isinstance(value, torch.Tensor)}


def _inline(module: GraphModule, graph: Graph, node: Node, code: Callable[..., Any]) -> None:
    leaves, spec = torch_pytree.tree_flatten((node.args, node.kwargs))
    functions = _functions(module, node)
    given = {leaf: leaf.meta["val"] for leaf in leaves if isinstance(leaf, Node) and leaf not in functions}

    def definition(*values: Any) -> Any:
        made = {**functions, **dict(zip(given, values))}
        args, kwargs = torch_pytree.tree_unflatten([made.get(leaf, leaf) if isinstance(leaf, Node) else leaf for leaf in leaves], spec)
        return code(*args, **kwargs)

    mode = detect_fake_mode(list(given.values())) or FakeTensorMode()
    with mode, torch.no_grad():
        traced = make_fx(definition, decomposition_table=all_decompositions())(*given.values())
    copies: dict[Node, Node] = dict(zip((inner for inner in traced.graph.nodes if inner.op == "placeholder"), given))
    with graph.inserting_before(node):
        results: Any = graph.graph_copy(traced.graph, copies)
    for inner, copied in copies.items():
        if inner.op == "placeholder":
            continue
        if inner.op == "get_attr":
            copied.target = f"{node.name}_{inner.target}"
            setattr(module, copied.target, getattr(traced, str(inner.target)))
        copied.meta = {**inner.meta, **{name: node.meta[name] for name in _KEPT if name in node.meta}, "original_aten": node.target}
    for user in list(node.users):  # each takes one of the results
        user.replace_all_uses_with(results[user.args[1]])
        graph.erase_node(user)
    graph.erase_node(node)
    for leaf in functions:
        if not leaf.users:
            graph.erase_node(leaf)
