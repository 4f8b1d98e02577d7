"""Exponentials of scores less their row's maximum, by the hardware's power of 2 with what scores are scaled by as part of its factor.

    m = max(f(s)),  e = exp(f(s) - m)        f(s) = select(p, s * c, -inf), c > 0
    r = max(g(s)),  e = exp2((g(s) - r) * (c log2(e))),  m = r * c           g(s) = select(p, s, -inf)

A product by a positive constant keeps the order of scores, rounding does too: the maximum of the products is the product of the maximum, to
the bit. So g(s) is what a kernel carries the maximum of. Divisions by a constant are such products. Where scores are not scaled like that,
g is f and c is 1.

Where |m| log2(e) is below 4096, that is one fused multiply-add, exp2(g(s) k - (r k)) with k = c log2(e), and what rounding makes of r k
is a factor of all that is summed of the row: it cancels. Elsewhere such a factor might be no float, and equal scores must not differ from
their maximum. The two forms meet where a row's maximum crosses 4096: its factor, within 1.0001, then stays on the one side of it.

Errors: exp2 as the hardware has it is within 2 ulp, and the rounded exponent adds |f(s) - m| / 2^24 of the result: at most 0.4 ulp of the
largest in the row, which is 1. What is below 2^-126 is 0.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from math import e as EULER
from math import inf, isfinite, log2

from torch_mlir import ir
from torch_mlir.dialects import arith, math
from torch_mlir.dialects.arith import CmpFPredicate

from ...common.axes import TileOp
from ...common.edge import RESHAPES
from ...common.rewriting import defining_op, is_block_argument, ops_in, value_of
from ...common.scalar_body import clone_on
from ...common.vectors import broadcast, elements, from_lanes, is_vector, splat
from ..contraction.contraction import result_number

Scalars = Callable[[TileOp, ir.Value], ir.Value]
"""The value of an op's body at the point."""


_SMALL = 1 << 12
"""Below which the exponent of a maximum is rounded by less than 2^-12, where halves have 11 bits."""


@dataclass(frozen=True)
class Step:
    """An op on the way from the score, which comes by operand `scaled`: it multiplies that by `factor`, or chooses between it and -inf."""

    tile: TileOp
    op: ir.Operation
    scaled: int
    factor: float | None


class Exponents:
    """The maximum that is carried of a row, and exponentials against it."""

    def __init__(self, ops: Mapping[ir.Value, TileOp], score: ir.Value, tile: TileOp, term: ir.Value):
        """`term` is the value in the body of `tile` that the maximum is taken of."""
        self._ops, self._score = ops, score
        self.steps = self._steps(tile, term)
        self.factor = log2(EULER)
        for step in self.steps or []:
            self.factor *= 1.0 if step.factor is None else step.factor
        if not isfinite(self.factor) or not self.factor:
            self.steps, self.factor = None, log2(EULER)

    def carried(self, tile: TileOp, value: ir.Value, score: ir.Value, scalar: Scalars, first: Container[ir.Operation]) -> ir.Value | None:
        """g(s) of a value in the body of `tile` that is an f(s) with the factors of the maximum's; None of others.

        The choices in `first` are known to be their first value.
        """
        if self.steps is None:
            return scalar(tile, value)
        steps = self._steps(tile, value)
        if steps is None or _factors(steps) != _factors(self.steps):
            return None
        for step in steps:
            if step.factor is None and not (step.scaled == 1 and step.op in first):
                condition, lowest = scalar(step.tile, step.op.operands[0]), splat(score.type, -inf)
                if is_vector(score):
                    condition = broadcast(condition, len(elements(score)))
                score = arith.select(condition, *((score, lowest) if step.scaled == 1 else (lowest, score)))
        return score

    def maximum(self, carried: ir.Value) -> ir.Value:
        """The maximum that the program knows."""
        for step in self.steps or []:
            if step.factor is not None:
                constant = arith.constant(carried.type, _constant(self._ops, step.tile, step.op.operands[1 - step.scaled]))
                carried = clone_on(step.op, [carried, constant] if step.scaled == 0 else [constant, carried])[0]
        return carried

    def against(self, value: ir.Value, carried: ir.Value, small: bool = False) -> ir.Value:
        """exp(f(s) - m), by what stands for both; times what rounding makes of m, the same for all s, where that is `small`."""
        factor = splat(value.type, self.factor)
        if small:
            less = arith.negf(arith.mulf(carried, splat(carried.type, self.factor)))
            exponent = math.fma(value, factor, broadcast(less, len(elements(value))) if is_vector(value) else less)
        else:
            exponent = arith.mulf(arith.subf(value, broadcast(carried, len(elements(value))) if is_vector(value) else carried), factor)
        return from_lanes([power_of_2(each) for each in elements(exponent)]) if is_vector(exponent) else power_of_2(exponent)

    def shift(self, old: ir.Value, new: ir.Value, small: bool) -> ir.Value:
        """What multiplies sums against one maximum to be those against another."""
        if not small:
            return self.against(old, new)
        factor = splat(old.type, self.factor)
        return power_of_2(arith.subf(arith.mulf(old, factor), arith.mulf(new, factor)))

    def is_small(self, carried: ir.Value) -> ir.Value:
        """Whether rounding the maximum's exponent changes results by less than halves can tell."""
        size = math.absf(arith.mulf(carried, splat(carried.type, self.factor)))
        return arith.cmpf(CmpFPredicate.OLT, size, splat(carried.type, _SMALL))

    def _steps(self, tile: TileOp, value: ir.Value) -> list[Step] | None:
        """The ops from the score to a value, innermost first; None where there are others on the way."""
        if is_block_argument(value):
            number = ir.BlockArgument(value).arg_number
            return self._steps_outside([*tile.inputs, *tile.inits][number])
        op = defining_op(value)
        assert op is not None
        for scaled, factor in self._choices(tile, op):
            inner = self._steps(tile, op.operands[scaled])
            if inner is not None:
                return [*inner, Step(tile, op, scaled, factor)]
        return None

    def _steps_outside(self, value: ir.Value) -> list[Step] | None:
        while value != self._score and not is_block_argument(value) and value.owner.name in RESHAPES:
            value = value.owner.operands[0]
        if value == self._score:
            return []
        tile = self._ops.get(value)
        if tile is None or tile.op.name != "linalg.generic" or not all(tile.parallel):
            return None
        return self._steps(tile, ops_in(tile.op.regions[0].blocks[0])[-1].operands[result_number(tile, value)])

    def _choices(self, tile: TileOp, op: ir.Operation) -> list[tuple[int, float | None]]:
        """Which operands an op scales (or chooses), and by what."""
        numbers = [None if c is None else ir.FloatAttr(c).value for c in (_constant(self._ops, tile, v) for v in op.operands)]
        if op.name == "arith.select":
            return [(n, None) for n in (1, 2) if numbers[3 - n] == -inf]
        if op.name == "arith.divf":
            return [(0, 1 / c) for c in numbers[1:] if c is not None and 0 < c < inf]
        if op.name == "arith.mulf":
            return [(n, c) for n, c in ((0, numbers[1]), (1, numbers[0])) if c is not None and 0 < c < inf]
        return []


def _factors(steps: Sequence[Step]) -> list[tuple[str, float]]:
    return [(step.op.name, step.factor) for step in steps if step.factor is not None]


def _constant(ops: Mapping[ir.Value, TileOp], tile: TileOp, value: ir.Value) -> ir.FloatAttr | None:
    """The float that a value in an op's body is known to be."""
    if is_block_argument(value) and value.owner == tile.op.regions[0].blocks[0]:
        value = [*tile.inputs, *tile.inits][ir.BlockArgument(value).arg_number]
    if value in ops and ops[value].op.name == "linalg.fill":
        value = ops[value].inputs[0]
    op = None if is_block_argument(value) else defining_op(value)
    if op is None or op.name != "arith.constant":
        return None
    attribute = op.attributes["value"]
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        attribute = attribute.get_splat_value()
    return attribute if isinstance(attribute, ir.FloatAttr) else None


def power_of_2(exponent: ir.Value) -> ir.Value:
    return value_of("math.exp2", exponent.type, [exponent], fastmath=ir.Attribute.parse("#arith.fastmath<afn>"))
