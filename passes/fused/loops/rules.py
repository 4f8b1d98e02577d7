"""How an element of an op's result depends on elements of its operands: a rule for each kind of op, as generators (trace.py).

Where an element lies in an operand is what the planner's access maps say (planner/access.py). Declined, with LOOP_BODY: ops of which an
element has no scalar code, or that read too many elements for it.
"""

from __future__ import annotations

import itertools
from math import prod

from torch_mlir import ir

from ...common.index_expression import Expr, Point
from ...common.ops import Kind, is_elementwise, kind_of
from ...common.rewriting import element_of, has_one_use, integer, is_block_argument, ops_in
from ...stablehlo.support import constants
from ..planner.access import facts_of
from ..planner.codes import Code
from ..planner.records import Value
from .nodes import Computed, Dot, Folded, Known, Position, Start
from .trace import Obstacle, Rule, Tracer

MOST_SUMMED = 32
"""A reduction or contraction of more elements is no scalar code."""
_KNOWN_ELEMENTS = 1 << 12


def follow(tracer: Tracer, op: ir.Operation, point: Point) -> Rule:
    """The node of the element at `point` of the op's result."""
    if is_elementwise(op):
        return (yield from _elementwise(tracer, op, point))
    if op.name in _RULES:
        return (yield from _RULES[op.name](tracer, op, point))
    if kind_of(op) is Kind.MOVEMENT:
        return (yield op.operands[0], _where(op, point)[0])
    if op.name == "stablehlo.dynamic_update_slice" and is_block_argument(op.operands[0]) and not has_one_use(op.operands[0]):
        raise Obstacle(Code.LOOP_ALIAS, "a carry is read while parts of it are overwritten", op.results[0])
    if kind_of(op) is Kind.INDEXING:
        name = op.name.removeprefix("stablehlo.")
        raise Obstacle(Code.LOOP_CROSS_TILE, f"an element may come from anywhere in its operand ({name})", op.results[0])
    raise Obstacle(Code.LOOP_BODY, f"{op.name.removeprefix('stablehlo.')} in its body is not code of one element", op.results[0])


def _where(op: ir.Operation, point: Point, starts: tuple[int, ...] = (), ranges: Point = ()) -> list[Point]:
    """Where the operands' elements lie; `starts` are the numbers of run-time indices, `ranges` places in what is reduced."""
    numbers = [0] * (len(op.operands) - len(starts)) + list(starts)
    operands = [_record(value, number) for value, number in zip(op.operands, numbers)]
    facts = facts_of(op, 0, operands, [_record(value, 0) for value in op.results])
    return [access.at((*point, *ranges)) for access in facts.maps]


def _record(value: ir.Value, number: int) -> Value:
    kind = ir.RankedTensorType(value.type)
    return Value(number, tuple(kind.shape), str(kind.element_type), 0, None, "")


def _elementwise(tracer: Tracer, op: ir.Operation, point: Point) -> Rule:
    operands = []
    for value in op.operands:
        operands.append((yield value, point if ir.RankedTensorType(value.type).rank == len(point) else ()))
    return tracer.add(Computed, operands, op=op)


def _constant(tracer: Tracer, op: ir.Operation, point: Point) -> Rule:
    yield from ()
    value = op.results[0]
    splat = constants.splat_attribute(value)
    if splat is not None:
        return tracer.add(Known, attribute=splat)
    known = constants.read(value, _KNOWN_ELEMENTS) if all(index.is_constant for index in point) else None
    if known is None:
        return tracer.element(value, point)
    element = element_of(value)
    number = known[tuple(index.constant for index in point)].item()
    made = ir.FloatAttr.get(element, number) if isinstance(element, ir.FloatType) else ir.IntegerAttr.get(element, int(number))
    return tracer.add(Known, attribute=made)


def _iota(tracer: Tracer, op: ir.Operation, point: Point) -> Rule:
    yield from ()
    index = point[integer(op, "iota_dimension")]
    element = element_of(op.results[0])
    return tracer.add(Position, tracer.starts((index,)), index=index, element=element, varies=bool(index.dims))


def _concatenate(tracer: Tracer, op: ir.Operation, point: Point) -> Rule:
    axis, start = integer(op, "dimension"), 0
    for value in op.operands:
        extent = ir.RankedTensorType(value.type).shape[axis]
        if start <= point[axis].low and point[axis].high < start + extent:
            return (yield value, (*point[:axis], point[axis] - start, *point[axis + 1 :]))
        start += extent
    raise Obstacle(Code.LOOP_CROSS_TILE, "a tile would lie over several parts of a concatenation", op.results[0])


def _dynamic_slice(tracer: Tracer, op: ir.Operation, point: Point) -> Rule:
    source, *olds = op.operands
    shape, sizes = (ir.RankedTensorType(value.type).shape for value in (source, op.results[0]))
    numbers = []
    for old, whole, size in zip(olds, shape, sizes):
        start = yield old, ()
        element = element_of(old)
        numbers.append(tracer.add(Start, [start], limit=whole - size, element=element).number)
    return (yield source, _where(op, point, tuple(numbers))[0])


def _ranges(op: ir.Operation) -> list[Point]:
    """The places in what an op reduces, in order."""
    facts = facts_of(op, 0, [_record(value, 0) for value in op.operands], [_record(value, 0) for value in op.results])
    if prod(facts.ranges) > MOST_SUMMED:
        name = op.name.removeprefix("stablehlo.")
        raise Obstacle(Code.LOOP_CROSS_TILE, f"each element needs {prod(facts.ranges)} others ({name})", op.results[0])
    return [tuple(map(Expr, place)) for place in itertools.product(*map(range, facts.ranges))]


def _reduce(tracer: Tracer, op: ir.Operation, point: Point) -> Rule:
    if len(op.results) != 1:
        raise Obstacle(Code.LOOP_BODY, "a reduction in its body has several results", op.results[0])
    source, init = op.operands
    operands = [(yield init, ())]
    for place in _ranges(op):
        operands.append((yield source, _where(op, point, ranges=place)[0]))
    return tracer.add(Folded, operands, op=op)


def _dot_general(tracer: Tracer, op: ir.Operation, point: Point) -> Rule:
    operands = []
    for place in _ranges(op):
        for value, where in zip(op.operands, _where(op, point, ranges=place)):
            operands.append((yield value, where))
    return tracer.add(Dot, operands, op=op)


_RULES = {
    "stablehlo.constant": _constant,
    "stablehlo.iota": _iota,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.reduce": _reduce,
    "stablehlo.dot_general": _dot_general,
}


def region_ops(op: ir.Operation) -> int:
    """How many ops combine two elements of a reduction."""
    return max(1, len(ops_in(op.regions[0].blocks[0])) - 1)
