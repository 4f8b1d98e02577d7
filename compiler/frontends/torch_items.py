"""Numbers that a program reads from its tensors, as x[i] does with a 0-d integer tensor i: torch exports x.select(0, i.item()).

Before, in the exported graph:
    item = aten.item(i)
    select = aten.select.int(x, 0, item)
After:
    select = aten.index.Tensor(x, [i])

Other uses of such a number: torch_selections.py. A result that is one is read where the results are (torch.py).
"""

from __future__ import annotations

import torch
from torch.fx import Node

ITEMS = (torch.ops.aten.item.default, torch.ops.aten._local_scalar_dense.default)


def without_items(exported: torch.export.ExportedProgram) -> torch.export.ExportedProgram:
    """The program without such places: itself if it has no such numbers, else a new one."""
    if not any(node.target in ITEMS for node in exported.graph.nodes):
        return exported
    exported = exported.run_decompositions({})  # a copy: the program may be the user's own
    for node in filter(_selects, list(exported.graph.nodes)):
        x, dim, item = node.args
        node.target, node.args = torch.ops.aten.index.Tensor, (x, [*[None] * (dim % x.meta["val"].dim()), item.args[0]])
        if not item.users:
            exported.graph.erase_node(item)
    exported.graph_module.recompile()
    return exported


def _selects(node: Node) -> bool:
    return node.target is torch.ops.aten.select.int and isinstance(node.args[2], Node) and node.args[2].target in ITEMS
