"""New ops in AOTAutograd's joint graph."""

from __future__ import annotations

from typing import Any

from torch.fx import Node
from torch.fx.node import map_arg


def called(after: Node, op: Any, *args: Any, **kwargs: Any) -> Node:
    """A call of an op where nodes are inserted now, of values that are known; it has what is told of `after`, but for its result."""
    values, named = map_arg((args, kwargs), lambda each: each.meta["val"])
    made = after.graph.call_function(op, args, kwargs)
    made.meta = {name: told for name, told in after.meta.items() if name != "tensor_meta"} | {"val": op(*values, **named)}
    return made
