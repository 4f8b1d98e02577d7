"""Rules of control flow whose way is known: the branch taken, or the loop that never turns, is inlined."""

from __future__ import annotations

from torch_mlir import ir

from ..support import constants, driver
from ..support.driver import Rule
from . import loops

Values = list[ir.Value] | None


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
    counter = loops.find_counter(op)
    never = constants.splat_value(loops.terminator(loops.condition_block(op)).operands[0]) is False
    return list(op.operands) if never or (counter is not None and counter.trips == 0) else None


CONTROL: dict[str, list[Rule]] = {"stablehlo.if": [_if], "stablehlo.case": [_case], "stablehlo.while": [_while]}
