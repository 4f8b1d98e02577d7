"""Applies rewrite rules to a module until none applies, dropping what nothing uses.

A rule takes an op and returns the values that replace its results, or None where it does not apply. It may build ops (the insertion point
stands before the op, with its location) and must leave every other op as it is; the driver replaces and erases. A replaced op's handle is
never used again, so none goes stale. Rules see a block's ops in order: a chain collapses in one sweep.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torch_mlir import ir

from ...common.custom_calls import NUMBERS
from ...common.ops import Kind, kind_of
from ...common.rewriting import attributes_of, clone_with, create, functions, is_used, ops_in, replace

Rule = Callable[[ir.Operation], "Sequence[ir.Value] | None"]
Rules = Mapping[str, Sequence[Rule]]

MAX_SWEEPS = 64
_SIDE_EFFECTS = {"stablehlo.return", "func.return", "func.call"}


def merged(*tables: Rules) -> dict[str, list[Rule]]:
    """One table of rules out of several; earlier tables' rules are tried first."""
    rules: dict[str, list[Rule]] = {}
    for table in tables:
        for name, entries in table.items():
            rules.setdefault(name, []).extend(entries)
    return rules


def rewrite(module: ir.Operation, rules: Rules) -> bool:
    """Applies `rules` in every function to a fixed point. Returns whether anything changed."""
    changed = False
    for function in functions(module):
        for _ in range(MAX_SWEEPS):
            if not any([_sweep(block, rules) for block in function.regions[0].blocks]):
                break
            changed = True
            drop_dead(function)
    return changed


def _sweep(block: ir.Block, rules: Rules) -> bool:
    changed = False
    for op in ops_in(block):
        for region in op.regions:
            for inner in region.blocks:
                changed |= _sweep(inner, rules)
        changed |= _apply(op, rules.get(op.name, ()))
    return changed


def _apply(op: ir.Operation, rules: Sequence[Rule]) -> bool:
    if not rules:
        return False
    with op.location, ir.InsertionPoint(op):
        for rule in rules:
            values = rule(op)
            if values is None:
                continue
            replace(op, values)
            return True
    return False


def drop_dead(root: ir.Operation) -> bool:
    """Erases ops under `root` that have no effect and whose results have no uses. Returns whether there were any."""
    dropped = False
    for region in root.regions:
        for block in region.blocks:
            for op in reversed(ops_in(block)):
                if is_dead(op):
                    op.erase()
                    dropped = True
                elif len(op.regions):
                    dropped |= drop_dead(op)
    return dropped


def is_dead(op: ir.Operation) -> bool:
    if any(is_used(result) for result in op.results):
        return False
    return op.name.startswith(("stablehlo.", "chlo.", "arith.")) and not has_effect(op)


def has_effect(op: ir.Operation) -> bool:
    """Whether the op, or one in a region of it, does more than compute its results."""
    if op.name in _SIDE_EFFECTS or (op.name == "stablehlo.custom_call" and NUMBERS not in op.attributes):
        return True
    if kind_of(op) is not Kind.CONTROL:
        return False
    inner = (o for region in op.regions for block in region.blocks for o in ops_in(block))
    return any(o.name not in ("stablehlo.return",) and has_effect(o) for o in inner)


def clone_into(block: ir.Block, mapping: dict[ir.Value, ir.Value]) -> list[ir.Value]:
    """Clones a block's ops at the insertion point, `mapping` standing for its arguments. Returns the values its terminator yields.

    `mapping` gains the clones of the block's values. Values from outside the block that it lacks are captured as they are.
    """
    *body, terminator = ops_in(block)
    for op in body:
        clone_with(op, mapping)
    return [mapping.get(value, value) for value in terminator.operands]


def with_region(op: ir.Operation, operands: Sequence[ir.Value], types: Sequence[ir.Type], **changed: ir.Attribute) -> ir.Operation:
    """The op on other operands, with other result types and attributes, and a copy of its region."""
    new = create(op.name, types, operands, regions=1, **{**attributes_of(op), **changed})
    old = op.regions[0].blocks[0]
    kinds = [argument.type for argument in old.arguments]
    block = new.regions[0].blocks.append(*kinds, arg_locs=[op.location] * len(kinds))
    with ir.InsertionPoint(block):
        create("stablehlo.return", [], clone_into(old, dict(zip(old.arguments, block.arguments))))
    return new
