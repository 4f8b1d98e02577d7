"""What of a body is left where loops' indices are known to lie between two places: selects take one of two, nothing reads the other.

select (%i < 64), (%x[%i] + %a), (%y[%i - 64] * %b)          for %i in 0 to 64: a load and a sum are left of five ops
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from torch_mlir import ir

from ...common.rewriting import defining_op, ops_in
from ...common.scalars import constant_integer
from .comparisons import PREDICATES, truth

Span = tuple[int, int]
_WAYS: dict[str, Callable[[int, int], int]] = {
    "arith.addi": int.__add__, "arith.subi": int.__sub__, "arith.muli": int.__mul__, "arith.maxsi": max, "arith.minsi": min,
    "arith.andi": min, "arith.ori": max,
}  # fmt: skip
"""What ops make of numbers; of truths the last two, which are not asked for other numbers."""


@dataclass(frozen=True)
class Piece:
    """Of a loop: the index, and `base` where there is one, lie from `low` to `high`."""

    base: ir.Value | None
    low: int
    high: int


def ops_left(block: ir.Block, pieces: Mapping[int, Piece]) -> int:
    """How many ops of the body, constants not among them, are left in these pieces of its loops."""
    chosen = _chosen(block, pieces)
    ops = ops_in(block)
    pending, live = list(ops[-1].operands), {ops[-1]}
    while pending:
        value = pending.pop()
        while value in chosen:
            value = chosen[value]
        op = defining_op(value)
        if op is not None and op not in live and op.name != "arith.constant" and op.operation.block == block:
            live.add(op)
            pending.extend(op.operands)
    return len(live) - 1


def _chosen(block: ir.Block, pieces: Mapping[int, Piece]) -> dict[ir.Value, ir.Value]:
    """What selects give of which the pieces tell the condition."""
    spans: dict[ir.Value, Span] = {}
    based: dict[ir.Value, Piece] = {}
    chosen: dict[ir.Value, ir.Value] = {}
    for op in ops_in(block):
        if op.name == "linalg.index":
            piece = pieces.get(ir.IntegerAttr(op.attributes["dim"]).value)
            if piece is not None and piece.base is None:
                spans[op.results[0]] = piece.low, piece.high
            elif piece is not None:
                based[op.results[0]] = piece
        elif op.name == "arith.addi" and op.operands[0] in based and op.operands[1] == based[op.operands[0]].base:
            spans[op.results[0]] = based[op.operands[0]].low, based[op.operands[0]].high
        elif op.name == "arith.select" and (truth := spans.get(op.operands[0])) in ((0, 0), (1, 1)):
            chosen[op.results[0]] = op.operands[1 if truth == (1, 1) else 2]
        elif len(op.operands) == 2 and (span := span_of(op, *(known_span(value, spans) for value in op.operands))) is not None:
            spans[op.results[0]] = span
    return chosen


def _is_bitwise(op: ir.Operation) -> bool:
    """Whether an op makes bits of numbers that are more than a truth."""
    return op.name in ("arith.andi", "arith.ori") and not ir.IntegerType(op.results[0].type).width == 1


def known_span(value: ir.Value, spans: Mapping[ir.Value, Span]) -> Span | None:
    number = None if value in spans else constant_integer(value)
    return spans.get(value) if number is None else (number, number)


_MOST = 1 << 63
"""No index is larger. A power squares its base again and again, whether or not the result is taken."""


def span_of(op: ir.Operation, a: Span | None, b: Span | None) -> Span | None:
    """Where what an op makes of two numbers lies; a truth from 0 to 1."""
    if a is None or b is None or _is_bitwise(op):
        return None
    if op.name == "arith.cmpi":
        holds = truth(PREDICATES[ir.IntegerAttr(op.attributes["predicate"]).value], a[0] - b[1], a[1] - b[0])
        return None if holds is None else (int(holds[0]), int(holds[1]))
    if op.name in ("arith.divui", "arith.remui"):
        return _divided(op.name, a, b[0]) if b[0] == b[1] > 0 and a[0] >= 0 else None
    if op.name not in _WAYS:
        return None
    ends = [_WAYS[op.name](x, y) for x in a for y in b]
    return (min(ends), max(ends)) if max(map(abs, ends)) < _MOST else None


def _divided(name: str, a: Span, divisor: int) -> Span:
    low, high = (number // divisor for number in a)
    if name == "arith.divui":
        return low, high
    return (a[0] - low * divisor, a[1] - low * divisor) if low == high else (0, divisor - 1)
