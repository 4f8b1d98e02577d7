"""Groups made of several: the bodies of called functions behind each other in one, and its name."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from torch_mlir import ir

from ...common.rewriting import clone_with, create, functions, ops_in, symbol_name
from .chain import callee, returned


def function_of(
    calls: Sequence[ir.Operation], groups: Mapping[str, ir.Operation], operands: Sequence[ir.Value]
) -> tuple[ir.Operation, dict[ir.Operation, ir.Operation]]:
    """A function of `operands` with the bodies of what is called, in that order, that returns what the last call does; and the copies of
    their ops."""
    last, parts = calls[-1], [groups[callee(call)] for call in calls]
    results, location = [value.type for value in last.results], parts[-1].location
    kind = ir.FunctionType.get([value.type for value in operands], results)
    with ir.InsertionPoint(parts[-1]), location:
        function = create(
            "func.func",
            regions=1,
            sym_name=ir.StringAttr.get("group"),
            function_type=ir.TypeAttr.get(kind),
            sym_visibility=ir.StringAttr.get("private"),
        )
    block = function.regions[0].blocks.append(*kind.inputs, arg_locs=[location] * len(operands))
    values, copies = dict(zip(operands, block.arguments)), {}
    with ir.InsertionPoint(block):
        for call, part in zip(calls, parts):
            mapping = {a: values[v] for a, v in zip(part.regions[0].blocks[0].arguments, call.operands)}
            for op in ops_in(part.regions[0].blocks[0])[:-1]:
                copies[op] = clone_with(op, mapping)
            values.update(zip(call.results, (mapping[v] for v in returned(part).operands)))
        with location:
            create("func.return", [], [values[v] for v in last.results])
    return function, copies


def named(module: ir.Operation, function: ir.Operation, made: dict[str, str], prefix: str) -> str:
    """A name for the function; that of an equal one, which then stands for it, and the function is gone. `made`: the names by text."""
    text = function.get_asm(enable_debug_info=False, use_local_scope=True)
    if text in made:
        function.erase()
        return made[text]
    taken = {symbol_name(each) for each in functions(module)}
    number = next(n for n in range(len(taken) + 1) if f"{prefix}_{n}" not in taken)
    name = made[text] = f"{prefix}_{number}"
    function.attributes["sym_name"] = ir.StringAttr.get(name)
    return name


def call_in_place(call: ir.Operation, name: str, operands: Sequence[ir.Value]) -> ir.Operation:
    """The call of `name` in place of a call, which is gone."""
    with ir.InsertionPoint(call), call.location:
        new = create("func.call", [value.type for value in call.results], operands, callee=ir.FlatSymbolRefAttr.get(name))
    for old, value in zip(call.results, new.results):
        old.replace_all_uses_with(value)
    call.erase()
    return new
