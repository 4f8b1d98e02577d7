"""Values of a group, and of the groups that make them, by row and column: what each is made by, and integers that are linear in both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from torch_mlir import ir

from ...common.rewriting import callee_of, defining_op, element_of, integer, integers, is_block_argument, keyword
from ...stablehlo.support.build import shape_of
from ...stablehlo.support.constants import splat_value
from .chain import Groups, returned

Affine: TypeAlias = tuple[int, int, int]


@dataclass(frozen=True)
class Place:
    """A value and which of its dimensions are rows and columns; None where it is the same along them."""

    value: ir.Value
    row: int | None
    column: int | None


class Values:
    """Reads values of a group and, where these are its arguments, of the groups that make them."""

    def __init__(self, groups: Groups, function: ir.Operation, operands: Sequence[ir.Value | None]):
        """`operands`: what the function is called with; None for what is not there yet."""
        self.groups = groups
        self.operands: dict[ir.Operation, Sequence[ir.Value | None]] = {function: operands}
        self.extents = 0, 0
        """Of columns and rows."""

    def affine(self, place: Place) -> Affine | None:
        """(a, b, c) of an integer that is a · column + b · row + c."""
        op = self.maker(place)
        if isinstance(op, Place):
            return self.affine(op)
        if op is None or not _counts(op.results[0]):
            return None
        if op.name == "stablehlo.iota":
            along = integer(op, "iota_dimension")
            if shape_of(op.results[0])[along] == 1:
                return 0, 0, 0
            return (1, 0, 0) if along == place.column else (0, 1, 0) if along == place.row else None
        splat = splat_value(op.results[0])
        if splat is not None:
            return (0, 0, splat) if isinstance(splat, int) else None
        operands = [Place(v, place.row, place.column) for v in op.operands]
        if op.name == "stablehlo.select":
            holds = self._always(operands[0])
            return None if holds is None else self.affine(operands[1 if holds else 2])
        if op.name == "stablehlo.gather":
            return self._looked_up(op, operands[1])
        found = [self.affine(each) for each in operands]
        terms = [each for each in found if each is not None]
        return _combined(op.name, terms) if terms and len(terms) == len(found) else None

    def _range(self, number: Affine) -> tuple[int, int]:
        """The least and the largest value."""
        *factors, constant = number
        ends = [sorted((0, factor * (extent - 1))) for factor, extent in zip(factors, self.extents)]
        return constant + sum(low for low, _ in ends), constant + sum(high for _, high in ends)

    def _always(self, place: Place) -> bool | None:
        """Whether a comparison holds everywhere, or nowhere; None where that depends, or is not known."""
        op = self.maker(place)
        if isinstance(op, Place):
            return self._always(op)
        if op is None or op.name != "stablehlo.compare":
            return None
        x, y = (self.affine(Place(v, place.row, place.column)) for v in op.operands)
        if x is None or y is None:
            return None
        low, high = self._range(_combined("stablehlo.subtract", [x, y]) or x)
        direction = keyword(op, "comparison_direction")
        return {"LT": _decided(high < 0, low >= 0), "GE": _decided(low >= 0, high < 0)}.get(direction)

    def _looked_up(self, op: ir.Operation, indices: Place) -> Affine | None:
        """What a line of numbers 0, 1, 2, … has at places within it: the places."""
        source, at = op.operands[0], self.affine(indices)
        made = defining_op(source)
        line = made is not None and made.name == "stablehlo.iota" and len(shape_of(source)) == 1
        alike = shape_of(op.results[0]) == shape_of(op.operands[1])
        if not line or not alike or at is None:
            return None
        low, high = self._range(at)
        return at if low >= 0 and high < shape_of(source)[0] else None

    def maker(self, place: Place) -> ir.Operation | Place | None:
        """The op that makes a value; or the value that it is a view of, or that a group is called with."""
        value = place.value
        if is_block_argument(value):
            argument = ir.BlockArgument(value)
            operands = self.operands.get(argument.owner.owner.operation)
            given = None if operands is None else operands[argument.arg_number]
            return None if given is None else Place(given, place.row, place.column)
        op = defining_op(value)
        if op is None:
            return None
        if op.name == "func.call":
            function = self.groups.get(callee_of(op))
            if function is None:
                return None
            self.operands[function] = list(op.operands)
            return Place(returned(function).operands[ir.OpResult(value).result_number], place.row, place.column)
        if op.name == "stablehlo.broadcast_in_dim":
            dims, shape = integers(op, "broadcast_dimensions"), shape_of(op.operands[0])
            at = {d: i for i, d in enumerate(dims) if shape[i] != 1}
            return Place(op.operands[0], _at(at, place.row), _at(at, place.column))
        if op.name == "stablehlo.transpose":
            before = integers(op, "permutation")
            return Place(op.operands[0], *(None if d is None else before[d] for d in (place.row, place.column)))
        if op.name == "stablehlo.reshape":
            return _before_reshape(op, place)
        return op


def _combined(name: str, terms: list[Affine]) -> Affine | None:
    """What an op makes of such numbers."""
    if name == "stablehlo.convert":
        return terms[0]
    if name in ("stablehlo.add", "stablehlo.subtract"):
        sign = 1 if name == "stablehlo.add" else -1
        a, b, c = (x + sign * y for x, y in zip(*terms))
        return a, b, c
    if name == "stablehlo.multiply":
        for (column, row, factor), (a, b, c) in (terms, terms[::-1]):
            if column == row == 0:
                return factor * a, factor * b, factor * c
    return None


def _decided(yes: bool, no: bool) -> bool | None:
    return True if yes else False if no else None


def _at(places: dict[int, int], dim: int | None) -> int | None:
    return None if dim is None else places.get(dim)


def _before_reshape(op: ir.Operation, place: Place) -> Place | None:
    """Where rows and columns lie before a reshape that leaves both as they are."""
    before, after = shape_of(op.operands[0]), shape_of(op.results[0])
    at = {(n, prod(before[d + 1 :])): d for d, n in enumerate(before)}
    found = [None if d is None else at.get((after[d], prod(after[d + 1 :]))) for d in (place.row, place.column)]
    if any(new is None and d is not None for new, d in zip(found, (place.row, place.column))):
        return None
    return Place(op.operands[0], *found)


def _counts(value: ir.Value) -> bool:
    """Whether the elements are integers that the numbers of rows and columns, and their differences, do not leave."""
    element = element_of(value)
    return isinstance(element, ir.IntegerType) and element.width >= 32 and not element.is_unsigned
