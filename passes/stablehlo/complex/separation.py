"""Reductions and scatters whose parts do not depend on each other, as a sum's do: one for each.

%0:2 = reduce(%re, %im) (a, b, c, d) { a + c, b + d }      becomes two reductions, each of a form that later passes know.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import attributes_of, clone_with, create, ops_in, replace, walk

_NAMES = {"stablehlo.reduce", "stablehlo.reduce_window", "stablehlo.scatter"}


def separate(module: ir.Operation) -> bool:
    """Takes apart what can be in the whole module."""
    changed = False
    for op in walk(module, lambda op: op.name in _NAMES and len(op.results) > 1):
        read = _parts_read(op)
        groups = [] if read is None else _groups([read[value] | {part} for part, value in enumerate(_returned(op))])
        if read is None or len(groups) < 2:
            continue
        values: dict[int, ir.Value] = {}
        with op.location, ir.InsertionPoint(op):
            for group in groups:
                values.update(zip(group, _part(op, group, read)))
        replace(op, [values[part] for part in range(len(op.results))])
        changed = True
    return changed


def _returned(op: ir.Operation) -> list[ir.Value]:
    return list(ops_in(op.regions[0].blocks[0])[-1].operands)


def _parts_read(op: ir.Operation) -> dict[ir.Value, set[int]] | None:
    """The operands, by number, on which each value of the body depends.

    None for a body that has regions, or gives back a value from outside.
    """
    block, count = op.regions[0].blocks[0], len(op.results)
    read = {argument: {number % count} for number, argument in enumerate(block.arguments)}
    for inner in ops_in(block)[:-1]:
        if len(inner.regions):
            return None
        together = set().union(*(read.get(value, set()) for value in inner.operands))
        read.update((result, together) for result in inner.results)
    return read if all(value in read for value in _returned(op)) else None


def _groups(sets: list[set[int]]) -> list[list[int]]:
    """The numbers in groups, so that no set lies in two."""
    groups: list[set[int]] = []
    for found in sets:
        touched = [group for group in groups if group & found]
        groups = [group for group in groups if not group & found] + [found.union(*touched)]
    return sorted(map(sorted, groups))


def _part(op: ir.Operation, group: list[int], read: dict[ir.Value, set[int]]) -> list[ir.Value]:
    """The op on the operands of that group alone."""
    count, operands = len(op.results), list(op.operands)
    shared = operands[count:-count] if op.name == "stablehlo.scatter" else []
    taken = [operands[number] for number in group] + shared + [operands[number - count] for number in group]
    new = create(op.name, [op.results[number].type for number in group], taken, 1, **attributes_of(op))
    old = op.regions[0].blocks[0]
    arguments = [old.arguments[start + number] for start in (0, count) for number in group]
    block = new.regions[0].blocks.append(*[argument.type for argument in arguments], arg_locs=[op.location] * len(arguments))
    mapping = dict(zip(arguments, block.arguments))
    with ir.InsertionPoint(block):
        for inner in ops_in(old)[:-1]:
            if all(read[result] <= set(group) for result in inner.results):
                clone_with(inner, mapping)
        returned = _returned(op)
        create("stablehlo.return", [], [mapping[returned[number]] for number in group])
    return list(new.results)
