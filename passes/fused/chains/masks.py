"""Which columns of a row a mask leaves out, found by algebra: from column `row + ahead` on a value is known to be one number.

    p = iota(columns) - iota(rows) <= 0        holds before column row + 1
    s = x + select(p, 0, -inf)                 is -inf from there on, whatever x is
    w = exp(s - max(s)) / sum(...)             is 0 there; max and sum are as if the columns were not there

An x that is NaN or +inf makes no -inf of the sum; such elements of what is masked are taken to be left out. Rows of which nothing is left
are as before: one column at least is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import floor, inf, prod

import numpy as np
from torch_mlir import ir

from hloom.dialects.storage import element_bytes

from ...common.dense_constants import constant_bytes
from ...common.rewriting import defining_op, integer, integers, is_block_argument, keyword, ops_in
from ...stablehlo.support.constants import splat_value
from .chain import Groups, callee, returned

_NEUTRAL = {"stablehlo.maximum": -inf, "stablehlo.add": 0.0}
_NEGATED = {"LT": "GE", "GE": "LT", "LE": "GT", "GT": "LE"}
_MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE"}
_MOST_CONSTANT = 1 << 24


@dataclass(frozen=True)
class Place:
    """A value and which of its dimensions are rows and columns; None where it is the same along them."""

    value: ir.Value
    row: int | None
    column: int | None


@dataclass(frozen=True)
class Tail:
    """From column `row + ahead` on a value is `number`."""

    ahead: float
    number: float


class Masks:
    """Reads values of a group and, where these are its arguments, of the groups that make them."""

    def __init__(self, groups: Groups, function: ir.Operation, operands: Sequence[ir.Value]):
        self.groups = groups
        self.operands: dict[ir.Operation, Sequence[ir.Value]] = {function: operands}
        self.known: dict[Place, Tail | None] = {}

    def ahead(self, second: ir.Operation, function: ir.Operation) -> int | None:
        """From which column on, counted from a row's own number, nothing of the group depends on what the second contraction sums."""
        left = second.operands[0]
        rank = len(_shape(left))
        if rank < 2:
            return None
        start = Place(left, rank - 2, rank - 1)
        if _tail_of(self, start, 0.0) is None:
            return None
        tails = [self.tail(start)]
        for op in ops_in(function.regions[0].blocks[0]):
            if op.name == "stablehlo.reduce":
                tails.append(self._reduced(op, _shape(left)))
        if any(tail is None for tail in tails):
            return None
        found = max(tail.ahead for tail in tails if tail is not None)
        return int(found) if abs(found) < 1 << 30 else None

    def _reduced(self, op: ir.Operation, shape: list[int]) -> Tail | None:
        """The tail of what is reduced along the columns, if it does not matter there."""
        operand = op.operands[0]
        rank = len(_shape(operand))
        if len(op.results) != 1 or rank < 2 or _shape(operand)[-2:] != shape[-2:]:
            return None
        body = ops_in(op.regions[0].blocks[0])
        neutral = _NEUTRAL.get(body[0].name) if len(body) == 2 else None
        return None if neutral is None else _tail_of(self, Place(operand, rank - 2, rank - 1), neutral)

    def tail(self, place: Place) -> Tail | None:
        """What is known of a value's last columns."""
        if place not in self.known:
            self.known[place] = None
            self.known[place] = self._find_tail(place)
        return self.known[place]

    def _find_tail(self, place: Place) -> Tail | None:
        op = self._maker(place)
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
        op = self._maker(place)
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

    def affine(self, place: Place) -> tuple[int, int, int] | None:
        """(a, b, c) of an integer that is a · column + b · row + c."""
        op = self._maker(place)
        if isinstance(op, Place):
            return self.affine(op)
        if op is None or not _counts(op.results[0]):
            return None
        if op.name == "stablehlo.iota":
            along = integer(op, "iota_dimension")
            return (1, 0, 0) if along == place.column else (0, 1, 0) if along == place.row else None
        splat = splat_value(op.results[0])
        if splat is not None:
            return (0, 0, splat) if isinstance(splat, int) else None
        found = [self.affine(Place(v, place.row, place.column)) for v in op.operands]
        terms = [each for each in found if each is not None]
        if not terms or len(terms) != len(found):
            return None
        if op.name == "stablehlo.convert":
            return terms[0]
        if op.name in ("stablehlo.add", "stablehlo.subtract"):
            sign = 1 if op.name == "stablehlo.add" else -1
            a, b, c = (x + sign * y for x, y in zip(*terms))
            return a, b, c
        return None

    def _maker(self, place: Place) -> ir.Operation | Place | None:
        """The op that makes a value; or the value that it is a view of, or that a group is called with."""
        value = place.value
        if is_block_argument(value):
            argument = ir.BlockArgument(value)
            given = self.operands.get(argument.owner.owner.operation)
            return None if given is None else Place(given[argument.arg_number], place.row, place.column)
        op = defining_op(value)
        if op is None:
            return None
        if op.name == "func.call":
            function = self.groups.get(callee(op))
            if function is None:
                return None
            self.operands[function] = list(op.operands)
            return Place(returned(function).operands[ir.OpResult(value).result_number], place.row, place.column)
        if op.name == "stablehlo.broadcast_in_dim":
            dims, shape = integers(op, "broadcast_dimensions"), _shape(op.operands[0])
            at = {d: i for i, d in enumerate(dims) if shape[i] != 1}
            return Place(op.operands[0], _at(at, place.row), _at(at, place.column))
        if op.name == "stablehlo.reshape":
            return _before_reshape(op, place)
        return op


def _at(places: dict[int, int], dim: int | None) -> int | None:
    return None if dim is None else places.get(dim)


def _before_reshape(op: ir.Operation, place: Place) -> Place | None:
    """Where rows and columns lie before a reshape that leaves both as they are."""
    before, after = _shape(op.operands[0]), _shape(op.results[0])
    at = {(n, prod(before[d + 1 :])): d for d, n in enumerate(before)}
    found = [None if d is None else at.get((after[d], prod(after[d + 1 :]))) for d in (place.row, place.column)]
    if any(new is None and d is not None for new, d in zip(found, (place.row, place.column))):
        return None
    return Place(op.operands[0], *found)


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
    for tail, negated in zip(tails[::-1], (False, True)):
        bound = masks.bound(predicate, negated) if tail is not None else None
        if tail is not None and bound is not None:
            return Tail(max(bound, tail.ahead), tail.number)
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


def _shape(value: ir.Value) -> list[int]:
    return list(ir.RankedTensorType(value.type).shape)


def _counts(value: ir.Value) -> bool:
    """Whether the elements are integers that the numbers of rows and columns, and their differences, do not leave."""
    element = ir.RankedTensorType(value.type).element_type
    return isinstance(element, ir.IntegerType) and element.width >= 32 and not element.is_unsigned
