"""Reads at an index along the lanes that is clamped, which only lanes take in which it lies inside: neighbours, masked. No gather.

    %i = arith.subi %lane, %start;  %c = clamp %i to [0, 99];  %inside = arith.cmpi eq, %i, %c
    arith.select %inside, (extract %x[%c]), %y        →        m = lanes from -%start to 100 - %start
                                                               arith.select m, (vector.maskedload %x[-%start], m), %y

So are updates of a part that begins where an index tells, gradients of slices from there on, and paddings that are not cut (segments.py).

Or what joined rows, read from where an index tells, have of each (a roll by such a number): %i < 100 says as much of min (%i, 99).

Must hold: wherever what is read is used, or what floats are computed of it, selects take it under conditions that say that the index lies
inside. In other lanes it is 0.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from ...common.linear_index import LinearIndex
from ...common.rewriting import defining_op, integer
from ...common.scalars import constant_integer
from ...common.vectors import splat, vector_of
from .comparisons import PREDICATES
from .lanes import Lanes, Rep

_CLAMPS = ("arith.maxsi", "arith.minsi")
Span = tuple[float, float]
Spans = dict[ir.Value, dict[ir.Value, Span]]
"""Where an index lies wherever a value is taken, by both."""
_ANY: Span = (-inf, inf)
_TRUE: dict[str, Span] = {"slt": (-inf, -1), "sle": (-inf, 0), "sgt": (1, inf), "sge": (0, inf), "eq": (0, 0)}
_FALSE: dict[str, Span] = {"slt": _TRUE["sge"], "sle": _TRUE["sgt"], "sgt": _TRUE["sle"], "sge": _TRUE["slt"], "ne": _TRUE["eq"]}
"""Where the difference of two numbers lies of which a comparison holds, or does not."""


@dataclass(frozen=True)
class Clamp:
    """What was clamped, which goes on by one from lane to lane, and to where."""

    index: LinearIndex
    low: int | None
    high: int | None

    @staticmethod
    def of(op: ir.Operation, operands: list[Rep], known: dict[ir.Value, Clamp]) -> Clamp | None:
        """What an op makes of an index, or of one that is clamped on the other side."""
        if op.name not in _CLAMPS or not isinstance(operands[1], LinearIndex) or not operands[1].is_constant:
            return None
        first, bound = operands[0], operands[1].constant
        before = Clamp(first, None, None) if isinstance(first, LinearIndex) and first.lanes == 1 else None
        if isinstance(first, ir.Value):
            before = known.get(first)
        if before is None:
            return None
        if op.name == "arith.maxsi":
            return replace(before, low=bound) if before.low is None and before.high is None else None
        return replace(before, high=bound) if before.high is None and (before.low is None or before.low <= bound) else None

    def inside(self, lanes: Lanes) -> ir.Value:
        """A mask of the lanes in which nothing was clamped."""
        kind = vector_of(lanes.count, ir.IntegerType.get_signless(1))
        start, mask = self.index.uniform(), None
        if self.high is not None:
            mask = vector.create_mask(kind, [(LinearIndex(constant=self.high + 1) - start).value()])
        if self.low is not None:
            before = vector.create_mask(kind, [(LinearIndex(constant=self.low) - start).value()])
            behind = arith.xori(before, splat(kind, 1))
            mask = behind if mask is None else arith.andi(mask, behind)
        assert mask is not None
        return mask


def is_guarded(extract: ir.Operation, clamped: ir.Value, clamp: Clamp, known: Spans) -> bool:
    """Whether what is read at `clamped` is taken only where it is what was clamped. `known` is kept for the other reads of a body."""
    root, more = _sum(_origin(clamped))
    if root is None:
        return False
    low, high = _taken(extract.results[0], root, known.setdefault(root, {}))
    return (clamp.low is None or low + more >= clamp.low) and (clamp.high is None or high + more <= clamp.high)


def _taken(value: ir.Value, root: ir.Value, known: dict[ir.Value, Span]) -> Span:
    """From where to where `root` is wherever a value is taken; from inf to -inf where nobody takes it. `known`: that of other values."""
    pending = [] if value in known else [value]
    while pending:
        uses = [_use(use.owner.operation, use.operand_number, root) for use in pending[-1].uses]
        behind = [made for _, made in uses if made is not None and made not in known]
        if behind:
            pending += behind
            continue
        spans = [span if made is None else _both(span, known[made]) for span, made in uses]
        known[pending.pop()] = min((low for low, _ in spans), default=inf), max((high for _, high in spans), default=-inf)
    return known[value]


def _use(op: ir.Operation, number: int, root: ir.Value) -> tuple[Span, ir.Value | None]:
    """Where `root` is if an op takes its operand, and what it makes of it that may not be taken in turn."""
    if op.name == "arith.select" and number > 0:
        return _asked(op.operands[0], number == 1, root), op.results[0]
    computes = op.name.startswith("arith.") and op.name.endswith("f") and isinstance(op.results[0].type, ir.FloatType)
    return _ANY, op.results[0] if computes else None


def _asked(condition: ir.Value, holds: bool, root: ir.Value) -> Span:
    """Where `root` lies if a condition holds, or does not."""
    op = defining_op(condition)
    if op is not None and op.name == ("arith.andi" if holds else "arith.ori"):
        return _both(*(_asked(each, holds, root) for each in op.operands))
    if op is None or op.name != "arith.cmpi":
        return _ANY
    bound = constant_integer(op.operands[1])
    known = (_TRUE if holds else _FALSE).get(PREDICATES[integer(op, "predicate")], _ANY)
    for index, clamped in (list(op.operands), list(op.operands)[::-1]):
        one, more = _sum(index)
        if one is None or one != root:
            continue
        if bound is not None:
            return known[0] + bound - more, known[1] + bound - more
        if known == _TRUE["eq"] and _origin(clamped) == index:
            return _bounds(clamped, more)
    return _ANY


def _bounds(clamped: ir.Value, more: int) -> Span:
    """Where what is clamped lies, less `more`, if that changes nothing."""
    op = defining_op(clamped)
    bound = constant_integer(op.operands[1]) if op is not None and op.name in _CLAMPS else None
    if op is None or bound is None:
        return _ANY
    here = (bound - more, inf) if op.name == "arith.maxsi" else (-inf, bound - more)
    return _both(here, _bounds(op.operands[0], more))


def _both(a: Span, b: Span) -> Span:
    return max(a[0], b[0]), min(a[1], b[1])


def _sum(value: ir.Value) -> tuple[ir.Value | None, int]:
    """A value as another one and a constant; None and a constant if that is all."""
    if (number := constant_integer(value)) is not None:
        return None, number
    op = defining_op(value)
    number = constant_integer(op.operands[1]) if op is not None and op.name in ("arith.addi", "arith.subi") else None
    if op is None or number is None:
        return value, 0
    root, more = _sum(op.operands[0])
    return root, more + (number if op.name == "arith.addi" else -number)


def _origin(clamped: ir.Value) -> ir.Value:
    """What was clamped."""
    op = defining_op(clamped)
    return _origin(op.operands[0]) if op is not None and op.name in _CLAMPS else clamped
