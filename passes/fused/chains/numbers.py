"""Numbers of the rows of large values: what reductions make, as operands of other groups, and as results of the group that has them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from torch_mlir import ir

from ...common.rewriting import body_ops, callee_of, create, erase_unused
from .bodies import function_of, named
from .chain import returned
from .half_reductions import widen_reductions
from .regions import Region, reductions

Operand: TypeAlias = "ir.Value | int"
"""What a group reads; an integer is a reduction of its region's makers, by its place among all of them, which another group makes."""


def read_numbers(function: ir.Operation, numbers: Sequence[int]) -> list[Operand]:
    """Has a function read, as its last arguments, what these of its reductions make; returns what they are."""
    reduced, block = reductions(function), function.regions[0].blocks[0]
    for number in numbers:
        result = reduced[number].results[0]
        result.replace_all_uses_with(block.add_argument(result.type, reduced[number].location))
    return list(numbers)


def numbers_kept(region: Region, module: ir.Operation, groups: dict[str, ir.Operation], made: dict[str, str]) -> dict[int, ir.Value]:
    """By its number, each reduction of the rows that a region keeps: another call, which returns them all, makes for the chain what theirs
    made. `made`: the names of new functions by their text."""
    call, gone = region.kept[-1], set(region.gone)
    operands = list(dict.fromkeys(call.operands))
    uses = [(value, use.owner.operation, use.operand_number) for value in call.results for use in value.uses]
    stays = [(value, user, place) for value, user, place in uses if user not in gone]
    results = list(dict.fromkeys(value for value, _, _ in stays))
    function, _ = function_of([call], groups, operands, results)
    widen_reductions(function)
    return_values(function, [*returned(function).operands, *(op.results[0] for op in reductions(function))])
    group = groups[callee_of(call)]
    for name in filter(lambda name: name.startswith("hloom."), group.attributes):
        function.attributes[name] = group.attributes[name]
    kinds = [value.type for value in returned(function).operands]
    name = named(module, function, made, "rows")
    groups.setdefault(name, function)
    with ir.InsertionPoint(call), call.location:
        new = list(create("func.call", kinds, operands, callee=ir.FlatSymbolRefAttr.get(name)).results)
    for value, user, place in stays:
        user.operands[place] = new[results.index(value)]
    return dict(zip(region.numbers_of_kept(groups), new[len(results) :]))


def return_values(function: ir.Operation, values: Sequence[ir.Value]) -> None:
    """Has a function return these."""
    old = returned(function)
    with ir.InsertionPoint(old), old.location:
        create("func.return", [], values)
    old.erase()
    _set_type(function)


def without_unused(function: ir.Operation, operands: Sequence[Operand]) -> list[Operand]:
    """Erases what no result needs, arguments too; returns the operands that are left."""
    block = function.regions[0].blocks[0]
    erase_unused(body_ops(function))
    operands = list(operands)
    for number in reversed(range(len(operands))):
        if not list(block.arguments[number].uses):
            block.erase_argument(number)
            del operands[number]
    _set_type(function)
    return operands


def _set_type(function: ir.Operation) -> None:
    """Writes the type that a function's arguments and results have."""
    block = function.regions[0].blocks[0]
    kind = ir.FunctionType.get([argument.type for argument in block.arguments], [value.type for value in returned(function).operands])
    function.attributes["function_type"] = ir.TypeAttr.get(kind)
