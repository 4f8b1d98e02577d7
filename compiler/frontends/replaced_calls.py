"""Custom calls for which hloom.custom_call was given a StableHLO module: calls of that module's entry, which the program then holds."""

from __future__ import annotations

import os
from typing import Any

from torch_mlir import ir

from hloom.passes.common.custom_calls import target_of_call
from hloom.passes.common.rewriting import create, functions, replace, symbol_name, walk
from hloom.passes.errors import InvalidProgramError
from hloom.runtime.custom_calls import replacements

from ..validate import prepare
from .mlir_text import import_mlir, import_module


def replace_calls(module: ir.Module) -> None:
    """Replaces the calls of such targets in the module, and in what replaces them.

    Raises InvalidProgramError where the entry does not take and give what a call does.
    """
    if not replacements:
        return
    entries: dict[str, ir.Operation] = {}
    while calls := walk(module.operation, _is_replaced):
        for op in calls:
            target = target_of_call(op)
            if target not in entries:
                entries[target] = _adopted(module, target)
            _replace(op, target, entries[target])


def _is_replaced(op: ir.Operation) -> bool:
    return op.name == "stablehlo.custom_call" and target_of_call(op) in replacements


def _adopted(module: ir.Module, target: str) -> ir.Operation:
    """The entry of the target's module, now a function of this one, as are the functions beside it."""
    other = _read(replacements[target], module.context)
    prepare(other)
    taken = {symbol_name(function) for function in functions(module.operation)}
    entry = None
    for function in functions(other.operation):
        name, number = symbol_name(function), 0
        entry = function if name == "main" else entry
        while (new := f"custom_call.{target}.{name}{f'.{number}' if number else ''}") in taken:
            number += 1
        ir.SymbolTable.replace_all_symbol_uses(name, new, other.operation)
        function.attributes["sym_name"] = ir.StringAttr.get(new)
        function.attributes["sym_visibility"] = ir.StringAttr.get("private")
    for function in functions(other.operation):
        function.detach_from_parent()
        module.body.append(function)
    assert entry is not None, "prepare has named one so"
    return entry


def _read(source: Any, context: ir.Context) -> ir.Module:
    if isinstance(source, str | bytes | bytearray | os.PathLike):
        return import_mlir(source, context).module
    if isinstance(source, ir.Module | ir.Operation | ir.OpView):
        return import_module(source, context).module
    remedy = "register a C function, a Python function, or a StableHLO module"
    raise InvalidProgramError(f"a {type(source).__name__} is not a function for a custom call", remedy=remedy)


def _replace(op: ir.Operation, target: str, entry: ir.Operation) -> None:
    signature = ir.FunctionType(ir.TypeAttr(entry.attributes["function_type"]).value)
    given, made = [value.type for value in op.operands], [value.type for value in op.results]
    if list(signature.inputs) != given or list(signature.results) != made:
        call = f"({', '.join(map(str, given))}) -> ({', '.join(map(str, made))})"
        remedy = "register a module whose entry takes and gives just that"
        message = f"@{target} is {call} here, and what it was registered with is {signature}"
        raise InvalidProgramError(message, op=op.name, loc=str(op.location), stage="input", remedy=remedy)
    with op.location, ir.InsertionPoint(op):
        call = create("func.call", made, list(op.operands), callee=ir.FlatSymbolRefAttr.get(symbol_name(entry)))
        replace(op, list(call.results))
