"""Rules of control flow whose way is known: the branch taken, or the loop that never turns, is inlined."""

from __future__ import annotations

from torch_mlir import ir

from . import constants, driver
from .driver import Rule

Values = "list[ir.Value] | None"


def _if(op: ir.Operation) -> Values:
    known = constants.splat_value(op.operands[0])
    return None if known is None else driver.clone_into(op.regions[0 if known else 1].blocks[0], {})


def _case(op: ir.Operation) -> Values:
    """An index out of range takes the last branch."""
    known = constants.constant_index(op.operands[0])
    last = len(op.regions) - 1
    if last == 0:
        known = 0
    if known is None:
        return None
    return driver.clone_into(op.regions[known if 0 <= known <= last else last].blocks[0], {})


def _while(op: ir.Operation) -> Values:
    """A condition that is false for the initial values."""
    (block,) = op.regions[0].blocks
    *body, terminator = [view.operation for view in block.operations]
    if len(body) > 2:
        return None
    mapping = dict(zip(block.arguments, op.operands))
    for inner in body:
        if inner.name != "stablehlo.compare":
            return None
        if any(constants.constant_index(mapping.get(v, v)) is None for v in inner.operands):
            return None
    if body:
        from .loops import holds

        left, right = (constants.constant_index(mapping.get(v, v)) for v in body[0].operands)
        known: bool | float | int | None = holds(body[0], left, right) if len(body) == 1 else None
    else:
        known = constants.splat_value(mapping.get(terminator.operands[0], terminator.operands[0]))
    return list(op.operands) if known is False or known == 0 and known is not None else None


CONTROL: dict[str, list[Rule]] = {"stablehlo.if": [_if], "stablehlo.case": [_case], "stablehlo.while": [_while]}
