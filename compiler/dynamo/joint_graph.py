"""What is asked of AOTAutograd's joint graph, and new ops in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from torch.fx import GraphModule, Node
from torch.fx.node import map_arg


def called(after: Node, op: Any, *args: Any, **kwargs: Any) -> Node:
    """A call of an op where nodes are inserted now, of values that are known; it has what is told of `after`, but for its result."""
    values, named = map_arg((args, kwargs), lambda each: each.meta["val"])
    made = after.graph.call_function(op, args, kwargs)
    made.meta = {name: told for name, told in after.meta.items() if name != "tensor_meta"} | {"val": op(*values, **named)}
    return made


def results_of_forward(joint: GraphModule, num_fwd_outputs: int) -> set[Node]:
    (output,) = (node for node in joint.graph.nodes if node.op == "output")
    return {node for node in output.args[0][:num_fwd_outputs] if isinstance(node, Node)}  # type: ignore[index]


def closure(start: Iterable[Node], following: Callable[[Node], Iterable[Node]]) -> set[Node]:
    """The nodes that are reached from those of the start, which are in it."""
    found, todo = set(), list(start)
    while todo:
        node = todo.pop()
        if node not in found:
            found.add(node)
            todo.extend(following(node))
    return found
