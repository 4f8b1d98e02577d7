"""Rules of reductions.

    %0 = reduce(transpose(%x) [0, 2, 1]) over [2]    →    reduce(%x) over [1]

What is reduced need not be transposed first: where it lies is told by the dimensions. Declined where others read the transposed value.

    %0 = reduce(%x) over [3];  %1 = transpose(%x) [1, 0, 2, 3]    →    %0 = transpose(reduce(%1) over [3]) [1, 0, 2]

Where all others read rows in another order, as the softmax of heads that share keys does (JAX), rows are reduced in that, and one kernel
does both.

    %0 = reduce(concatenate(%x, %y) along 1) over [1]    →    %0 = reduce(%x + %y) over [1]

What is stacked to be summed (`jnp.stack(…).mean(0)`) is summed piece by piece, halves in f32, and never stacked. Declined where the pieces
differ in size, where there are more than `_MOST_PIECES`, and where others read the whole.

    %0 = reduce(concatenate(%x, %y) along 0) over [1]    →    %0 = concatenate(reduce(%x) over [1], reduce(%y) over [1]) along 0

On CPUs, where a kernel that reads few pieces across their borders takes each at all places.

Along dimensions of one element nothing is reduced. Whether all elements are -inf is whether their maximum is, which is mostly known
already: softmax asks both of masked scores. A NaN makes both false.
"""

from __future__ import annotations

import math
from functools import partial, reduce

from torch_mlir import ir

from hloom.dialects.target import target_of

from ...common.rewriting import has_one_use, i64_array, integer, integers, keyword, producer
from ..support import build, constants
from ..support.combining import combining_op
from ..support.driver import Rule, with_region
from .one_hot import sum_of_one_hot
from .turned import of_turned

_ANY_ORDER = ("add", "multiply", "maximum", "minimum", "and", "or", "xor")
_MOST_PIECES = 256
"""Of more the code is long, and a loop over the pieces as good."""
_MOST_APART = 8
"""Each is a kernel."""


def _all_minus_infinity(op: ir.Operation) -> list[ir.Value] | None:
    """all(x == -inf) is max(x) == -inf."""
    if combining_op(op) != "stablehlo.and":
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


def _combiner(op: ir.Operation) -> str | None:
    """The one op by which a reduction combines its elements with what it has; None where it is not one, or of several values."""
    combining = combining_op(op) if len(op.results) == 1 else None
    if combining is None or build.element_of(op.operands[0]) != build.element_of(op.results[0]):
        return None
    return combining.removeprefix("stablehlo.")


def _of_one_element(op: ir.Operation) -> list[ir.Value] | None:
    """A reduction along dimensions of one element combines each with the start (JAX's gradients of what is broadcast along these)."""
    shape, combiner = build.shape_of(op.operands[0]), _combiner(op)
    if combiner is None or any(shape[d] != 1 for d in integers(op, "dimensions")):
        return None
    x = build.reshape(op.operands[0], build.shape_of(op.results[0]))
    return [build.elementwise(combiner, build.broadcast(op.operands[1], build.shape_of(x), []), x)]


def _of_concatenated(op: ir.Operation) -> list[ir.Value] | None:
    """The reduction of what pieces of one size make together."""
    combiner, whole = _combiner(op), producer(op.operands[0], "stablehlo.concatenate")
    if combiner not in _ANY_ORDER or whole is None or not has_one_use(whole.results[0]) or len(whole.operands) > _MOST_PIECES:
        return None
    pieces = list(whole.operands)
    if integer(whole, "dimension") not in integers(op, "dimensions") or len({piece.type for piece in pieces}) != 1:
        return None
    element = build.element_of(pieces[0])
    wide = build.accumulator(element) if combiner in ("add", "multiply") else element
    together = reduce(partial(build.elementwise, combiner), (build.convert(piece, wide) for piece in pieces))
    start = build.convert(op.operands[1], wide)
    (result,) = build.reduce([together], [start], integers(op, "dimensions"), lambda a, b: [build.elementwise(combiner, a, b)])
    return [build.convert(result, element)]


def _of_pieces_apart(op: ir.Operation) -> list[ir.Value] | None:
    """The reductions of what pieces make beside each other, put together."""
    combiner, whole = _combiner(op), producer(op.operands[0], "stablehlo.concatenate")
    if combiner is None or whole is None or not has_one_use(whole.results[0]) or len(whole.operands) > _MOST_APART:
        return None
    axis, reduced = integer(whole, "dimension"), integers(op, "dimensions")
    if axis in reduced or target_of(op).kind != "cpu":
        return None
    made = [
        build.reduce([piece], [op.operands[1]], reduced, lambda a, b: [build.elementwise(combiner, a, b)])[0] for piece in whole.operands
    ]
    return [build.concatenate(made, axis - sum(d < axis for d in reduced))]


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
    "stablehlo.reduce": [
        _all_minus_infinity,
        _of_one_element,
        _of_concatenated,
        _of_pieces_apart,
        sum_of_one_hot,
        _of_transposed,
        of_turned,
        _of_rows_in_order,
    ]
}
