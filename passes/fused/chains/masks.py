"""Which columns of a row a mask leaves out, found by algebra: from column `row + ahead` on a value is known to be one number.

    p = iota(columns) - iota(rows) <= 0        holds before column row + 1
    s = x + select(p, 0, -inf)                 is -inf from there on, whatever x is
    w = exp(s - max(s)) / sum(...)             is 0 there; max and sum are as if the columns were not there

An x that is NaN or +inf makes no -inf of the sum; such elements of what is masked are taken to be left out. Rows of which nothing is left
are as before: one column at least is computed.

    s = select(p, x, -2e38)    is as -inf where p leaves each row a column, whose x is no such number: exp(s - max(s)) is 0 all the same
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, inf, prod

import numpy as np
from torch_mlir import ir

from hloom.dialects.storage import element_bytes

from ...common.dense_constants import constant_bytes
from ...common.rewriting import keyword, ops_in
from ...stablehlo.support.build import shape_of
from ...stablehlo.support.constants import splat_value
from .chain import Groups
from .values import Place, Values

NEUTRAL = {"stablehlo.maximum": -inf, "stablehlo.add": 0.0}
"""The numbers that reductions of rows by these may leave out."""
_NEGATED = {"LT": "GE", "GE": "LT", "LE": "GT", "GT": "LE"}
_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}
_MOST_CONSTANT = 1 << 24
_LOW = -1e30
"""Scores of this size are taken to be masked ones."""
_SCALINGS = ("convert", "divide", "multiply", "tanh")


@dataclass(frozen=True)
class Tail:
    """From column `row + ahead` on a value is `number`."""

    ahead: float
    number: float


class Masks(Values):
    """Reads masks, and what is made of them."""

    def __init__(self, groups: Groups, function: ir.Operation, operands: Sequence[ir.Value | None]):
        super().__init__(groups, function, operands)
        self.known: dict[Place, Tail | None] = {}

    def ahead(self, second: ir.Operation, function: ir.Operation) -> int | None:
        """From which column on, counted from a row's own number, nothing of the group depends on what the second contraction sums."""
        left = second.operands[0]
        rank = len(shape_of(left))
        if rank < 2:
            return None
        reductions = [op for op in ops_in(function.regions[0].blocks[0]) if op.name == "stablehlo.reduce"]
        places = [_last_two(op.operands[0], shape_of(left)[-2:]) for op in reductions]
        if any(place is None for place in places):
            return None
        return self.ahead_of([Place(left, rank - 2, rank - 1)], [(op, place) for op, place in zip(reductions, places) if place is not None])

    def ahead_of(self, read: Sequence[Place], reduced: Sequence[tuple[ir.Operation, Place]]) -> int | None:
        """The same of what several contractions read of these rows and columns, and of what is reduced along the columns."""
        first = [*read, *(place for _, place in reduced)][0]
        shape = shape_of(first.value)
        self.extents = shape[first.column or 0], shape[first.row or 0]
        tails = [*(_tail_of(self, place, 0.0) for place in read), *(self._reduced(*each) for each in reduced)]
        if any(tail is None for tail in tails):
            return None
        found = max(tail.ahead for tail in tails if tail is not None)
        return int(found) if abs(found) < 1 << 30 else None

    def _reduced(self, op: ir.Operation, place: Place) -> Tail | None:
        """The tail of what is reduced along the columns, if it does not matter there."""
        body = ops_in(op.regions[0].blocks[0])
        neutral = NEUTRAL.get(body[0].name) if len(body) == 2 and len(op.results) == 1 else None
        return None if neutral is None else _tail_of(self, place, neutral)

    def tail(self, place: Place) -> Tail | None:
        """What is known of a value's last columns."""
        if place not in self.known:
            self.known[place] = None
            self.known[place] = self._find_tail(place)
        return self.known[place]

    def _find_tail(self, place: Place) -> Tail | None:
        op = self.maker(place)
        if isinstance(op, Place):
            return self.tail(op)
        if op is None or place.column is None:
            splat = None if op is None else splat_value(op.results[0])
            return None if splat is None else Tail(-inf, float(splat))
        if op.name == "stablehlo.constant":
            return _constant_tail(op, place)
        operands = [Place(v, place.row, place.column) for v in op.operands]
        found = _TAILS.get(op.name.removeprefix("stablehlo."))
        return found(self, operands) if found is not None else None

    def bound(self, place: Place, negated: bool = False) -> float | None:
        """Before which column, counted from a row's own number, a predicate holds at most; `negated`: does not hold."""
        op = self.maker(place)
        if isinstance(op, Place):
            return self.bound(op, negated)
        if op is None:
            return None
        operands = [Place(v, place.row, place.column) for v in op.operands]
        if op.name == "stablehlo.not":
            return self.bound(operands[0], not negated)
        if op.name in ("stablehlo.and", "stablehlo.or"):
            found = [self.bound(each, negated) for each in operands]
            bounds = [each for each in found if each is not None]
            if (op.name == "stablehlo.and") != negated:
                return min(bounds, default=None)
            return max(bounds) if len(bounds) == len(found) else None
        if op.name == "stablehlo.compare":
            return self._compared(op, operands, negated)
        if op.name == "stablehlo.constant" and place.column is not None:
            tail = _constant_tail(op, place, 1.0 if negated else 0.0)
            return None if tail is None else tail.ahead
        return None

    def is_comparison(self, place: Place) -> bool:
        """Whether a predicate is one comparison, which rows and columns alone decide."""
        op = self.maker(place)
        return self.is_comparison(op) if isinstance(op, Place) else op is not None and op.name == "stablehlo.compare"

    def is_made_of_dot(self, place: Place) -> bool:
        """Whether a value is a contraction's, scaled or so, and masked by nothing."""
        op = self.maker(place)
        if isinstance(op, Place):
            return self.is_made_of_dot(op)
        if op is None or op.name.removeprefix("stablehlo.") not in ("dot_general", *_SCALINGS):
            return False
        x, *others = (Place(v, place.row, place.column) for v in op.operands)
        scaled = all(splat_value(each.value) is not None for each in others)
        return op.name == "stablehlo.dot_general" or (scaled and self.is_made_of_dot(x))

    def _compared(self, op: ir.Operation, operands: list[Place], negated: bool) -> float | None:
        x, y = (self.affine(each) for each in operands)
        direction = keyword(op, "comparison_direction")
        if x is None or y is None or (negated and direction not in _NEGATED) or direction == "NE":
            return None
        column, row, constant = (a - b for a, b in zip(x, y))
        direction = _NEGATED[direction] if negated else direction
        if column < 0:
            column, row, constant, direction = -column, -row, -constant, _MIRRORED.get(direction, direction)
        if column == 0 or row != -column or direction not in ("LT", "LE", "EQ"):
            return None
        return floor(-constant / column) + 1 if direction != "LT" else -floor(constant / column)


def _last_two(value: ir.Value, extents: Sequence[int]) -> Place | None:
    """The last two dimensions of a value, as rows and columns, if they are so many."""
    rank = len(shape_of(value))
    return Place(value, rank - 2, rank - 1) if rank >= 2 and shape_of(value)[-2:] == list(extents) else None


def _tail_of(masks: Masks, place: Place, number: float) -> Tail | None:
    """The tail of a value if it is this number."""
    tail = masks.tail(place)
    return tail if tail is not None and tail.number == number else None


def _first_of(masks: Masks, operands: list[Place], number: float) -> Tail | None:
    """That of the operand which is this number soonest."""
    tails = [tail for each in operands if (tail := _tail_of(masks, each, number)) is not None]
    return min(tails, key=lambda tail: tail.ahead, default=None)


def _multiplied(masks: Masks, operands: list[Place]) -> Tail | None:
    zero = _first_of(masks, operands, 0.0)
    if zero is not None:
        return zero
    for x, y in (operands, operands[::-1]):
        scale = masks.tail(y)
        if scale is not None and scale.ahead == -inf and scale.number > 0:
            return _tail_of(masks, x, -inf)
    return None


def _exponential(masks: Masks, operands: list[Place]) -> Tail | None:
    tail = _tail_of(masks, operands[0], -inf)
    return None if tail is None else Tail(tail.ahead, 0.0)


def _selected(masks: Masks, operands: list[Place]) -> Tail | None:
    """Both alike; or one, where the predicate leaves the other out."""
    predicate, yes, no = operands
    tails = [masks.tail(yes), masks.tail(no)]
    if tails[0] is not None and tails[1] is not None and tails[0].number == tails[1].number:
        return Tail(max(tail.ahead for tail in tails if tail is not None), tails[0].number)
    for tail, seen, negated in zip(tails[::-1], (yes, no), (False, True)):
        bound = masks.bound(predicate, negated) if tail is not None else None
        if tail is not None and bound is not None:
            low = (
                tail.number <= _LOW and bound >= 1 and tail.ahead == -inf and masks.is_comparison(predicate) and masks.is_made_of_dot(seen)
            )
            return Tail(max(bound, tail.ahead), -inf if low else tail.number)
    return None


_TAILS: dict[str, Callable[[Masks, list[Place]], Tail | None]] = {
    "add": lambda masks, operands: _first_of(masks, operands, -inf),
    "subtract": lambda masks, operands: _tail_of(masks, operands[0], -inf),
    "divide": lambda masks, operands: _tail_of(masks, operands[0], 0.0),
    "multiply": _multiplied,
    "exponential": _exponential,
    "select": _selected,
    "convert": lambda masks, operands: masks.tail(operands[0]),
}


def _constant_tail(op: ir.Operation, place: Place, number: float | None = None) -> Tail | None:
    """The tail of a constant of rows and columns: of `number`, or of what its last column has in the first row."""
    kind = ir.RankedTensorType(op.results[0].type)
    splat = splat_value(op.results[0])
    if splat is not None:
        return Tail(-inf, float(splat)) if number is None or float(splat) == number else None
    if place.row is None or place.column is None or prod(kind.shape) > _MOST_CONSTANT or str(kind.element_type) not in ("f32", "i1"):
        return None
    raw = np.frombuffer(constant_bytes(op.attributes["value"]), np.float32 if element_bytes(kind.element_type) == 4 else np.int8)
    array = np.moveaxis(raw.reshape(kind.shape), (place.row, place.column), (-2, -1)).reshape(
        -1, kind.shape[place.row], kind.shape[place.column]
    )
    last = float(array[0, 0, -1]) if number is None else number
    rows, columns = np.nonzero((array != last).any(0))
    return Tail(float((columns - rows).max() + 1) if rows.size else -inf, last)


def share_of(rows: int, columns: int, ahead: int) -> float:
    """Of all elements those that a mask leaves."""
    return sum(min(columns, max(0, row + ahead)) for row in range(rows)) / max(1, rows * columns)
