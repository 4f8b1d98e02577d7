"""A part of a program as a program of its own."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from torch_mlir import ir

from hloom.passes.common.rewriting import create, replace_operands, walk


def outer_values(ops: Iterable[ir.Operation]) -> list[ir.Value]:
    """What `ops` and their regions read that is defined outside of them, each once, in order of use."""
    nested = [inner for op in ops for inner in walk(op)]
    made = {value for op in nested for value in op.results}
    made.update(value for op in nested for region in op.regions for block in region.blocks for value in block.arguments)
    return list(dict.fromkeys(value for inner in nested for value in inner.operands if value not in made))


def extracted(ops: Sequence[ir.Operation], arguments: Sequence[ir.Value], results: Sequence[ir.Value]) -> ir.Module:
    """A module whose @main takes `arguments`, holds clones of `ops` and returns `results`."""
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        kind = ir.FunctionType.get([v.type for v in arguments], [v.type for v in results])
        main = create("func.func", regions=1, sym_name=ir.StringAttr.get("main"), function_type=ir.TypeAttr.get(kind))
    body = main.regions[0].blocks.append(*[v.type for v in arguments])
    mapping: dict[ir.Value, ir.Value] = dict(zip(arguments, body.arguments))
    with ir.InsertionPoint(body):
        for op in ops:
            clone = op.clone()
            replace_operands(clone, mapping)
            mapping.update(zip(op.results, clone.results))
        create("func.return", operands=[mapping[value] for value in results])
    return module
