"""The body of a reduction, split into what each element contributes and how two partial results are combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from .reductions import neutral_element
from .rewriting import defining_op, ops_in

SEQUENTIAL = "hloom.sequential"
"""On a linalg.generic: its steps are taken in order, "up" or "down"; what its body makes of an element and the results so far is no
reduction."""
_IDEMPOTENT = {
    "arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf", "arith.maxsi", "arith.minsi", "arith.maxui", "arith.minui",
    "arith.andi", "arith.ori",
}  # fmt: skip
"""Ops that may combine an element twice."""

_COMMUTATIVE = _IDEMPOTENT | {"arith.addf", "arith.mulf", "arith.addi", "arith.muli", "arith.xori"}

_LONG = 16
"""Ops that combine partial results, logarithms and the like written out."""


@dataclass(frozen=True)
class Combiner:
    """`ops` turn the accumulators and as many `values` (what `before` computes for an element) into new accumulators."""

    before: list[ir.Operation]
    ops: list[ir.Operation]
    values: list[ir.Value]
    returned: list[ir.Value]

    @property
    def names(self) -> list[str]:
        """For each result the name of the op that combines accumulator and value; "" where more than one op does."""
        found = []
        for value, result in zip(self.values, self.returned):
            op = defining_op(result)
            simple = op is not None and len(op.operands) == 2 and value in list(op.operands) and len(list(op.regions)) == 0
            found.append(op.name if op is not None and simple else "")
        return found

    @property
    def commutative(self) -> bool:
        """Whether the order of the elements does not matter, as far as is known."""
        return all(name in _COMMUTATIVE for name in self.names)

    @property
    def idempotent(self) -> bool:
        """Whether combining an element twice does no harm."""
        return all(name in _IDEMPOTENT for name in self.names)

    def neutral(self) -> list[ir.Value] | None:
        """The values that change nothing, where the combining ops are known."""
        found = [neutral_element(name, value.type) for name, value in zip(self.names, self.values)]
        if any(attribute is None for attribute in found):
            return None
        return [arith.constant(value.type, attribute) for value, attribute in zip(self.values, found)]


def goes_down(op: ir.Operation) -> bool:
    """Whether a generic's steps are taken from the last to the first."""
    return SEQUENTIAL in op.attributes and ir.StringAttr(op.attributes[SEQUENTIAL]).value == "down"


def is_long(combiner: Combiner | None) -> bool:
    """Whether partial results are combined by many ops, or by none that is known."""
    return combiner is None or len(combiner.ops) > _LONG


def split(block: ir.Block, inputs: int, count: int) -> Combiner | None:
    """The combiner of the reduction or scan with that body, so many inputs and `count` accumulators after them, or None where partial
    results cannot be combined by ops of its body."""
    if SEQUENTIAL in block.owner.attributes:
        return None
    accumulators = list(block.arguments)[inputs : inputs + count]
    ops = ops_in(block)[:-1]
    dependent = set(accumulators)
    before, combining = [], []
    for o in ops:
        if any(v in dependent for v in o.operands):
            combining.append(o)
            dependent.update(o.results)
        else:
            before.append(o)
    inside = set(block.arguments) | {r for o in before for r in o.results if o.name != "arith.constant"}
    crossing = {v for o in combining for v in o.operands if v in inside and v not in dependent}
    values = []
    for accumulator in accumulators:
        partners = {
            v
            for o in combining
            if accumulator in list(o.operands)
            for v in o.operands
            if v in crossing and v.type == accumulator.type and len([w for w in o.operands if w in crossing]) == 1
        }
        if len(partners) != 1:
            return None
        values.append(partners.pop())
    if set(values) != crossing or len(set(values)) != len(accumulators):
        return None
    returned = list(list(block.operations)[-1].operation.operands)[: len(accumulators)]
    if any(o.regions and len(list(o.regions)) for o in combining) or not all(v in dependent for v in returned):
        return None
    return Combiner(before, _with_constants(before, combining), values, list(returned))


def _with_constants(before: list[ir.Operation], combining: list[ir.Operation]) -> list[ir.Operation]:
    """Ops that combine partial results, and before them the constants of the body that they read."""
    read = {value for op in combining for value in op.operands}
    return [*(op for op in before if op.name == "arith.constant" and op.results[0] in read), *combining]


def split_scan(block: ir.Block, inputs: int, count: int) -> Combiner | None:
    """The same of a scan, whose body may begin anew at the first element, and take the elements that it combines more than once."""
    returned = list(ops_in(block)[-1].operands)[:count]
    chosen = [defining_op(value) for value in returned]
    if SEQUENTIAL in block.owner.attributes or not all(op is not None and op.name == "arith.select" and begins_anew(op) for op in chosen):
        return split(block, inputs, count)
    known = set(list(block.arguments)[inputs : inputs + count])
    before: list[ir.Operation] = []
    combining: list[ir.Operation] = []
    for op in ops_in(block)[:-1]:
        dependent = not known.isdisjoint(op.operands)
        (combining if dependent else before).append(op)
        known.update(op.results if dependent else [])
    firsts, values, totals = zip(*(op.operands for op in chosen if op is not None))
    derived = _computed_of(before, values)
    combining = [op for op in [*derived, *combining] if op not in chosen]
    known.update(result for op in derived for result in op.results)
    inside = set(block.arguments) | {result for op in before for result in op.results if op.name != "arith.constant"}
    used = {value for op in combining for value in op.operands if value in inside}
    if len(set(firsts)) > 1 or not used <= set(values) | known or any(list(op.regions) for op in combining):
        return None
    if any(value in known for value in values) or len(set(values)) != count:  # of one value in two places it cannot be told which is meant
        return None
    return Combiner(before, _with_constants(before, combining), list(values), list(totals))


def _computed_of(before: list[ir.Operation], values: Sequence[ir.Value]) -> list[ir.Operation]:
    """The ops that make something else of the elements alone, an f32 of a bf16: what is combined later makes it of partial results."""
    found: list[ir.Operation] = []
    known = set(values)
    for op in before:
        if list(op.operands) and known.issuperset(op.operands) and known.isdisjoint(op.results):
            found.append(op)
            known.update(op.results)
    return found


def begins_anew(select: ir.Operation) -> bool:
    """Whether it selects by whether an index is 0: a scan's first element."""
    op = defining_op(select.operands[0])
    if op is None or op.name != "arith.cmpi" or ir.IntegerAttr(op.attributes["predicate"]).value != arith.CmpIPredicate.eq:
        return False
    index, zero = map(defining_op, op.operands)
    is_index = index is not None and index.name == "linalg.index"
    return is_index and zero is not None and zero.name == "arith.constant" and ir.IntegerAttr(zero.attributes["value"]).value == 0
