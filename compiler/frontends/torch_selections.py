"""Programs without tensors whose size depends on data, where these serve what has a known size: what is selected by a mask is computed of
all elements, and what counts is chosen in the end.

Before:
    some = aten.index.Tensor(x, [mask])                  # f32[u0]
    made = aten.mul.Tensor(some, 2)                      # f32[u0]
    out = aten.index_put.default(x, [mask], made);  total = aten.sum.default(made)
After:
    made = aten.mul.Tensor(x, 2)
    out = aten.where.self(mask, made, x);           total = aten.sum.default(aten.where.self(mask, made, 0))

Rules for ops are in torch_selected_ops.py, torch_selected_views.py and torch_selected_places.py; any elementwise op is computed of all
places. What asserts a size is left out. Results of such a size are cut where a call can (torch_sized_results.py).
Declined, with an error of the op that has no rule: such results elsewhere, and rows of two masks side by side.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
import torch.utils._pytree as torch_pytree
from torch._guards import detect_fake_mode
from torch.fx import Graph, GraphModule, Node
from torch.fx.node import map_arg

from . import torch_selected_views  # noqa: F401  registers its rules
from .torch_items import ITEMS
from .torch_registry import depends_on_data
from .torch_selected import Builder, Number, Selected, aten
from .torch_selected_numbers import computed, is_of_numbers
from .torch_selected_ops import rule_of
from .torch_selected_places import sourced
from .torch_sized_results import given_back

_ASSERTS = (
    aten._assert_scalar.default,
    aten._assert_tensor_metadata.default,
    aten.sym_constrain_range_for_size.default,
    aten.sym_constrain_range.default,
    torch._check,
)


def without_selections(module: GraphModule, cuts: bool = False) -> None:
    """Changes the module's graph, and those that its ops call. `cuts`: whether who calls the graph cuts its results to a size.

    Raises UnsupportedOpError, and leaves graphs that compute the same.
    """
    for each in module.modules():
        if isinstance(each, GraphModule) and any(map(_begins, each.graph.nodes)):
            values = [node.meta.get("val") for node in each.graph.nodes]
            mode = detect_fake_mode([value for value in torch_pytree.tree_leaves(values) if isinstance(value, torch.Tensor)])
            with mode, torch.no_grad():  # type: ignore[union-attr]
                try:
                    _Selections(each.graph, cuts and each is module).run()
                finally:
                    each.recompile()


def _begins(node: Node) -> bool:
    return node.op == "call_function" and (sourced(node.target, node.args) or node.target in ITEMS)


class _Selections:
    def __init__(self, graph: Graph, cuts: bool):
        self.graph, self.cuts = graph, cuts
        self.b = Builder(graph)
        self.made: dict[Node, Any] = {}
        """What nodes are whose size depends on data, and numbers of data: Selected, Number, tuples with such."""
        self.asserts: list[Node] = []

    def run(self) -> None:
        for node in list(self.graph.nodes):
            self.b.node = node
            with self.graph.inserting_before(node):
                self.visit(node)
        for node in reversed(self.asserts):
            self.graph.erase_node(node)
        self.graph.eliminate_dead_code()

    def visit(self, node: Node) -> None:
        given = [self.made[each] for each in node.all_input_nodes if each in self.made]
        if node.op == "output":
            for each in node.all_input_nodes:
                self.give(node, each, self.made.get(each))
            return
        if node.op != "call_function":
            if isinstance(value := node.meta.get("val"), torch.Tensor) and depends_on_data(value):
                self.b.refused("the gradient of a result whose size depends on data")
            self.b.know(node)
        elif node.target in _ASSERTS and given:
            self.asserts.append(node)
        elif given or _begins(node):
            self.take(node, self.result(node))
        else:
            self.b.know(node)

    def give(self, output: Node, node: Node, made: Any) -> None:
        """Gives a result of the graph the size that it has."""
        self.b.node = node
        if self.cuts and isinstance(made, (Selected, Number)):
            output.replace_input_with(node, given_back(self.b, made))
        elif isinstance(made, Selected):  # numbers are refused where results are read
            self.b.refused("a result whose size depends on data")

    def result(self, node: Node) -> Any:
        """What the node is."""
        args, kwargs = map_arg((node.args, node.kwargs), lambda each: each)
        args, kwargs = torch_pytree.tree_map(self.known, (args, kwargs))
        if node.target in ITEMS:
            return Number(self.b.view(args[0], []))
        if node.target is operator.getitem:
            return args[0][args[1]]
        if is_of_numbers(node.target):
            return computed(self.b, node, args)
        if not isinstance(node.target, torch._ops.OpOverload):
            self.b.refused("what it takes has a size that depends on data")
        return rule_of(node.target)(self.b, node, bound(node.target, args, kwargs))

    def known(self, value: Any) -> Any:
        return self.made.get(value, value) if isinstance(value, Node) else value

    def take(self, node: Node, result: Any) -> None:
        """From here on the node is that."""
        if isinstance(result, (Selected, Number, tuple)):
            self.made[node] = result
            return
        if not isinstance(result, Node):
            node.replace_all_uses_with(result)
            return
        before, after = node.meta["val"], result.meta["val"]
        if isinstance(before, torch.Tensor) and not depends_on_data(before) and before.stride() != after.stride():
            copied = self.graph.call_function(aten.clone.default, (result,))  # lies as eager's
            copied.meta = {**result.meta, "val": before}
            result = copied
        node.replace_all_uses_with(result)


def bound(op: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """All arguments by their names."""
    known = {each.name: each.default_value for each in op._schema.arguments}
    return known | dict(zip(known, args)) | kwargs
