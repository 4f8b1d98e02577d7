"""How the updates of a scatter are applied on a GPU where several meet at one place: read off its body and what it promises."""

from __future__ import annotations

from enum import Enum
from math import prod

from torch_mlir import ir

from .rewriting import defining_op, element_of, is_block_argument, ops_in
from .scatter_windows import Windows

ATTRIBUTE = "hloom.order"
"""Of a scatter that stays what it is up to its kernel."""
SORTED, UNORDERED = "hloom.sorted", "hloom.unordered"
"""Marks of a scatter whose indices sort-scatters has sorted; of one whose updates may come in any order, as a policy says."""
_OF_INTEGERS = frozenset(f"stablehlo.{name}" for name in "add multiply and or xor maximum minimum".split())
_OF_FLOATS = frozenset(["stablehlo.maximum", "stablehlo.minimum"])
"""Of these the same comes of any order, to the last bit: sums of floats are not among them."""


class Order(Enum):
    """How updates that meet at one place are applied."""

    UNIQUE = "stores"
    ANY = "atomics"
    RUNS = "sorted"
    KEPT = "in order"


def order_of(op: ir.Operation) -> Order:
    """The order of a stablehlo.scatter."""
    windows = Windows.of(op)
    if SORTED in op.attributes:
        return Order.RUNS
    if _unique(op) or prod(windows.updates[d] for d in windows.over if d not in windows.batch.values()) == 1:
        return Order.UNIQUE
    orderless = _apart if UNORDERED in op.attributes else _orderless
    answers = ops_in(op.regions[0].blocks[0])[-1].operands
    return Order.ANY if all(orderless(op, answer, number) for number, answer in enumerate(answers)) else Order.KEPT


def _unique(op: ir.Operation) -> bool:
    return "unique_indices" in op.attributes and ir.BoolAttr(op.attributes["unique_indices"]).value


def _orderless(op: ir.Operation, answer: ir.Value, number: int) -> bool:
    """Whether result `number` is the same in whatever order the updates come."""
    made, arguments = defining_op(answer), op.regions[0].blocks[0].arguments
    names = _OF_FLOATS if isinstance(element_of(answer), ir.FloatType) else _OF_INTEGERS
    if made is not None and made.name in names:
        return set(made.operands) == {arguments[number], arguments[len(op.results) + number]}
    return all(_same_for_all(op, argument) for argument in _read(op, answer))


def _apart(op: ir.Operation, answer: ir.Value, number: int) -> bool:
    """Whether what result `number` becomes does not depend on other results: an atomic changes one."""
    return all(argument == number or argument >= len(op.results) for argument in _read(op, answer))


def _read(op: ir.Operation, answer: ir.Value) -> set[int]:
    """The arguments of the body that a value of it depends on."""
    body, found, pending = op.regions[0].blocks[0], set(), [answer]
    while pending:
        value = pending.pop()
        if is_block_argument(value):
            if value in list(body.arguments):
                found.add(ir.BlockArgument(value).arg_number)
        else:
            made = value.owner.operation
            pending.extend(made.operands)
    return found


def _same_for_all(op: ir.Operation, argument: int) -> bool:
    """Whether an argument of the body is the same for all updates: one of updates that are one constant."""
    if argument < len(op.results):
        return False
    made = defining_op(op.operands[argument + 1])
    value = made.attributes["value"] if made is not None and made.name == "stablehlo.constant" else None
    return isinstance(value, ir.DenseElementsAttr) and value.is_splat
