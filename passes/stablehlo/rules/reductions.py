"""Rules of reductions.

    %0 = reduce(transpose(%x) [0, 2, 1]) over [2]    →    reduce(%x) over [1]

What is reduced need not be transposed first: where it lies is told by the dimensions. Declined where others read the transposed value.

    %0 = reduce(%x) over [3];  %1 = transpose(%x) [1, 0, 2, 3]    →    %0 = transpose(reduce(%1) over [3]) [1, 0, 2]

Where all others read rows in another order, as the softmax of heads that share keys does (JAX), rows are reduced in that, and one kernel
does both.

Along dimensions of one element nothing is reduced. Whether all elements are -inf is whether their maximum is, which is mostly known
already: softmax asks both of masked scores. A NaN makes both false.
"""

from __future__ import annotations

import math

from torch_mlir import ir

from ...common.rewriting import has_one_use, i64_array, integers, keyword, ops_in, producer
from ..support import build, constants
from ..support.driver import Rule, with_region
from .one_hot import sum_of_one_hot


def _all_minus_infinity(op: ir.Operation) -> list[ir.Value] | None:
    """all(x == -inf) is max(x) == -inf."""
    if len(op.results) != 1 or ops_in(op.regions[0].blocks[0])[0].name != "stablehlo.and":
        return None
    view = producer(op.operands[0], "stablehlo.reshape")
    equal = producer(view.operands[0] if view is not None else op.operands[0], "stablehlo.compare")
    if equal is None or keyword(equal, "comparison_direction") != "EQ" or constants.splat_value(op.operands[1]) is not True:
        return None
    x, least = equal.operands
    element = build.element_of(x)
    if not isinstance(element, ir.FloatType) or constants.splat_value(least) != -math.inf:
        return None
    x = build.reshape(x, build.shape_of(op.operands[0]))
    start = build.full(build.tensor([], element), -math.inf)
    (highest,) = build.reduce([x], [start], integers(op, "dimensions"), lambda a, b: [build.elementwise("maximum", a, b)])
    return [build.compare("EQ", highest, build.full_like(highest, -math.inf))]


def _of_one_element(op: ir.Operation) -> list[ir.Value] | None:
    """A reduction along dimensions of one element combines each with the start (JAX's gradients of what is broadcast along these)."""
    body = ops_in(op.regions[0].blocks[0])
    shape, along = build.shape_of(op.operands[0]), integers(op, "dimensions")
    if len(op.results) != 1 or len(body) != 2 or len(body[0].operands) != 2 or any(shape[d] != 1 for d in along):
        return None
    if {*body[0].operands} != {*op.regions[0].blocks[0].arguments} or build.element_of(op.operands[0]) != build.element_of(op.results[0]):
        return None
    x = build.reshape(op.operands[0], build.shape_of(op.results[0]))
    return [build.elementwise(body[0].name.removeprefix("stablehlo."), build.broadcast(op.operands[1], build.shape_of(x), []), x)]


def _of_transposed(op: ir.Operation) -> list[ir.Value] | None:
    """The reduction of what was transposed, along the dimensions that it had before; what is left is transposed."""
    count = len(op.results)
    transposes = [producer(value, "stablehlo.transpose") for value in op.operands[:count]]
    orders = {tuple(integers(each, "permutation")) if each is not None and has_one_use(each.results[0]) else () for each in transposes}
    (order, *others) = orders
    if others or not order:
        return None
    reduced = integers(op, "dimensions")
    left = [d for i, d in enumerate(order) if i not in reduced]
    kept = sorted(left)
    values = [each.operands[0] for each in transposes if each is not None]
    kinds = [build.tensor([build.shape_of(values[0])[d] for d in kept], build.element_of(result)) for result in op.results]
    made = with_region(op, [*values, *op.operands[count:]], kinds, dimensions=i64_array(sorted(order[d] for d in reduced)))
    return [build.transpose(result, [kept.index(d) for d in left]) for result in made.results]


def _of_rows_in_order(op: ir.Operation) -> list[ir.Value] | None:
    """The reduction of rows in the order in which all others read them, transposed back."""
    x, reduced = op.operands[0], integers(op, "dimensions")
    rank = len(build.shape_of(x))
    others = [use.owner.operation for use in x.uses if use.owner.operation != op]
    transposes = [other for other in others if other.name == "stablehlo.transpose" and other.block == op.block]
    orders = {tuple(integers(other, "permutation")) for other in transposes}
    if len(op.results) != 1 or len(orders) != 1 or any(other not in transposes and other.name != op.name for other in others):
        return None
    (order,) = orders
    left = rank - len(reduced)
    if list(reduced) != list(range(left, rank)) or list(order[left:]) != list(reduced):
        return None
    if op.is_before_in_block(transposes[0]):
        transposes[0].move_before(op)  # another one would be the reduction's alone, and go into it
    kind = build.tensor([build.shape_of(x)[d] for d in order[:left]], build.element_of(op.results[0]))
    made = with_region(op, [transposes[0].results[0], op.operands[1]], [kind])
    return [build.transpose(made.results[0], [order.index(d) for d in range(left)])]


REDUCTIONS: dict[str, list[Rule]] = {
    "stablehlo.reduce": [_all_minus_infinity, _of_one_element, sum_of_one_hot, _of_transposed, _of_rows_in_order]
}
