"""The function that a group becomes: its tiles from `lo` to `hi`, on memrefs of one dimension."""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import attributes_of, create, i64_attr
from ...common.storage import buffer_type


def open_kernel(group: ir.Operation, tiles: int) -> tuple[ir.Operation, ir.Block]:
    """An empty kernel of `group`, right before it and under its name: its op, and a block of (lo, hi, arguments…, results…)."""
    kind = ir.FunctionType(ir.TypeAttr(group.attributes["function_type"]).value)
    index = ir.IndexType.get()
    arguments = [index, index, *(buffer_type(t) for t in [*kind.inputs, *kind.results])]
    attributes = {n: a for n, a in attributes_of(group).items() if n.startswith("hloom.")}
    attributes |= {"hloom.inputs": i64_attr(len(kind.inputs)), "hloom.tiles": i64_attr(tiles)}
    with ir.InsertionPoint(group):
        kernel = create(
            "func.func",
            regions=1,
            sym_name=group.attributes["sym_name"],
            function_type=ir.TypeAttr.get(ir.FunctionType.get(arguments, [])),
            sym_visibility=ir.StringAttr.get("private"),
            **attributes,
        )
    return kernel, kernel.regions[0].blocks.append(*arguments)
