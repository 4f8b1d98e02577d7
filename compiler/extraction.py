"""A part of a program as a program of its own."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from hloom.passes.common.rewriting import captured_values, clone_with, create


def outer_values(ops: Sequence[ir.Operation]) -> list[ir.Value]:
    """What `ops` and their regions read that is defined outside of them, each once, in order of use."""
    made = {value for op in ops for value in op.results}
    return list(dict.fromkeys(value for op in ops for value in (*op.operands, *captured_values(op)) if value not in made))


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
            clone_with(op, mapping)
        create("func.return", operands=[mapping[value] for value in results])
    return module
