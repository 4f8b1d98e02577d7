"""A sort's comparator: its scalar code, and the integer key that it compares, if it does no more than that.

A comparator that says whether one function of an element is less (or greater) than the same function of another orders the elements as
unsigned integers: `f(a) < f(b)` where f(x) is an integer, and where it is a float, whose bits are mapped so that they ascend with it, both
zeros alike. f is whatever the program computes, such as JAX's -0 → 0 and NaN → one NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith

from ..rewriting import defining_op, integer, ops_in
from ..scalar_region import ScalarRegion
from ..scalars import FLOAT_PREDICATES, INTEGER_PREDICATES, Scalars, is_float

_LESS = {"arith.cmpi": ("slt", "ult"), "arith.cmpf": ("olt",)}
_GREATER = {"arith.cmpi": ("sgt", "ugt"), "arith.cmpf": ("ogt",)}
_NUMBERS = {"arith.cmpi": INTEGER_PREDICATES, "arith.cmpf": FLOAT_PREDICATES}


class Comparator:
    """`outside`: what stands in the kernel for values from outside the region."""

    def __init__(self, block: ir.Block, outside: dict[ir.Value, ir.Value]):
        self.block, self.region = block, ScalarRegion(block, outside)
        (self.answer,) = self.region.answers

    def less(self, left: Sequence[ir.Value], right: Sequence[ir.Value]) -> ir.Value:
        """Whether one element comes before another."""
        return self.evaluate([value for pair in zip(left, right) for value in pair], self.answer)

    def evaluate(self, arguments: Sequence[ir.Value], wanted: ir.Value) -> ir.Value:
        """A scalar of the region for these arguments; what it does not need becomes dead code."""
        return self.region.evaluate(arguments, [wanted])[0]


@dataclass(frozen=True)
class Key:
    """The value `wanted` of a comparator's region, compared with the like of the other element by `predicate`."""

    comparator: Comparator
    wanted: ir.Value
    signed: bool
    descending: bool

    @property
    def bits(self) -> int:
        return self.wanted.type.width

    def of(self, s: Scalars, elements: Sequence[ir.Value]) -> ir.Value:
        """An integer that, without sign, ascends as the comparator orders the elements."""
        value = self.comparator.evaluate([element for element in elements for _ in "ab"], self.wanted)
        if is_float(value.type):
            positive = s.op("arith.addf", value, s.constant(value.type, 0.0))  # -0 becomes 0
            value = ascending(s, arith.bitcast(ir.IntegerType.get_signless(value.type.width), positive))
        if self.signed:
            value = s.op("arith.xori", value, s.constant(value.type, 1 << (self.bits - 1)))
        return s.op("arith.xori", value, s.constant(value.type, -1)) if self.descending else value


def key_of(comparator: Comparator) -> Key | None:
    """The key that a comparator compares; None if it does something else."""
    op = defining_op(comparator.answer)
    if op is None or op.name not in _NUMBERS or op.parent.operation != comparator.block.owner.operation:
        return None
    predicate = next(name for name, number in _NUMBERS[op.name].items() if number == integer(op, "predicate"))
    if predicate not in _LESS[op.name] + _GREATER[op.name]:
        return None
    left, right = op.operands
    side = side_of(comparator.block, left, right)
    if side is None:
        return None
    descending = (predicate in _GREATER[op.name]) != (side == 1)
    return Key(comparator, left, predicate[0] in "so", descending)


def side_of(block: ir.Block, left: ir.Value, right: ir.Value) -> int | None:
    """Which element `left` of a comparator's block is computed from, where `right` is computed alike from the other; else None."""
    forms = _Forms(block)
    sides = forms.sides(left), forms.sides(right)
    if forms.of(left) is None or forms.of(left) != forms.of(right) or sides not in (({0}, {1}), ({1}, {0})):
        return None
    return 0 if sides[0] == {0} else 1


class _Forms:
    """The form of each scalar of a region: a number, the same for values that are computed alike from the two elements."""

    def __init__(self, block: ir.Block):
        self.numbers: dict[object, int] = {}
        self.known: dict[ir.Value, tuple[int, frozenset[int]] | None] = {a: self._element(a) for a in block.arguments}
        for op in ops_in(block)[:-2]:
            for number, result in enumerate(op.results):
                self.known[result] = self._form(op, number)

    def of(self, value: ir.Value) -> int | None:
        found = self._find(value)
        return None if found is None else found[0]

    def sides(self, value: ir.Value) -> set[int]:
        """Which of the two elements it is computed from."""
        found = self._find(value)
        return set() if found is None else set(found[1])

    def _find(self, value: ir.Value) -> tuple[int, frozenset[int]] | None:
        return self.known[value] if value in self.known else (self._number(value), frozenset())

    def _form(self, op: ir.Operation, number: int) -> tuple[int, frozenset[int]] | None:
        if op.name == "tensor.extract":
            return self._element(op.operands[0])
        found = [self._find(value) for value in op.operands]
        if len(op.regions) or None in found:
            return None
        inner = [form for form in found if form is not None]
        attributes = tuple((name, op.attributes[name]) for name in op.attributes)
        form = self._number((op.name, number, attributes, tuple(each for each, _ in inner), op.results[number].type))
        return form, frozenset().union(*(sides for _, sides in inner))

    def _element(self, argument: ir.Value) -> tuple[int, frozenset[int]]:
        operand, side = divmod(ir.BlockArgument(argument).arg_number, 2)
        return self._number(("element", operand)), frozenset([side])

    def _number(self, form: object) -> int:
        return self.numbers.setdefault(form, len(self.numbers))


def ascending(s: Scalars, bits: ir.Value) -> ir.Value:
    """A float's bits as a signed integer that ascends with it; and back."""
    sign = s.op("arith.shrsi", bits, s.constant(bits.type, bits.type.width - 1))
    return s.op("arith.xori", bits, s.op("arith.shrui", sign, s.constant(bits.type, 1)))
