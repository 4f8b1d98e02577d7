"""Whether the updates of a scatter may be applied in any order, and by what: plain stores, atomics."""

from __future__ import annotations

from enum import Enum
from math import prod

from torch_mlir import ir

from ...common.rewriting import defining_op, ops_in
from ...common.scalar_region import ScalarRegion
from ...common.scatter_windows import Windows

ORDERLESS = frozenset(f"arith.{name}" for name in "addi muli andi ori xori maxsi maxui minsi minui maximumf minimumf".split())
"""Of these the same comes of any order, to the last bit: sums of floats are not among them."""


class Order(Enum):
    """How updates that meet at one place are applied."""

    UNIQUE = "stores"
    ANY = "atomics"
    KEPT = "in order"


def order_of(op: ir.Operation, windows: Windows) -> Order:
    if _unique(op) or prod(windows.updates[d] for d in windows.over if d not in windows.batch.values()) == 1:
        return Order.UNIQUE
    region = ScalarRegion(op.regions[0].blocks[0], {})
    return Order.ANY if all(_orderless(op, region, number) for number in range(len(op.results))) else Order.KEPT


def _unique(op: ir.Operation) -> bool:
    return "unique_indices" in op.attributes and ir.BoolAttr(op.attributes["unique_indices"]).value


def _orderless(op: ir.Operation, region: ScalarRegion, number: int) -> bool:
    """Whether result `number` is the same in whatever order the updates come."""
    answer, count = region.answers[number], len(op.results)
    made = defining_op(answer)
    if made is not None and made.name in ORDERLESS:
        return {region.argument(value) for value in made.operands} == {number, count + number}
    return _same_for_all(op, region, answer)


def _same_for_all(op: ir.Operation, region: ScalarRegion, answer: ir.Value) -> bool:
    """Whether a scalar of the region is the same for all updates: it depends on constants alone."""
    count, inside, pending = len(op.results), set(ops_in(region.block)), [answer]
    while pending:
        made = defining_op(pending.pop())
        if made is None or made not in inside:
            continue
        argument = region.argument(made.results[0])
        if argument is None:
            pending.extend(made.operands)
        elif argument < count or defining_op(op.operands[argument + 1]) is None:
            return False
    return True
