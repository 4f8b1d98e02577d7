"""Sums along a dimension in which one element at most is not zero.

    %s = select(iota [1] == broadcast(%i) [0], %a, 0)   : tensor<64x1000xf32>      // the gradient of a cross-entropy
    %r = reduce add (%s * broadcast(%b) [0]) over [1]   : tensor<64xf32>
    →  %r = select(0 <= %i && %i < 1000, %a', 0) * %b

%a is the same along the dimension, as is what the select is multiplied with or divided by on the way; negations and conversions are, too,
done to the one element. What was a pass over each row is a number of it. Declined: other operands, and sums over several dimensions.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import defining_op, element_of, integer, integers, keyword, producer
from ..support import build, constants
from ..support.combining import combining_op

_ALIKE = ("stablehlo.negate", "stablehlo.convert")
_SCALED = ("stablehlo.multiply", "stablehlo.divide")


def sum_of_one_hot(op: ir.Operation) -> list[ir.Value] | None:
    along = integers(op, "dimensions")
    if len(along) != 1 or combining_op(op) != "stablehlo.add":
        return None
    if not isinstance(element_of(op.results[0]), ir.FloatType) or constants.splat_value(op.operands[1]) != 0:
        return None
    if element_of(op.operands[0]) != element_of(op.results[0]) or not _is_one_hot(op.operands[0], along[0]):
        return None
    return [_summed(op.operands[0], along[0])]


def _is_one_hot(value: ir.Value, dim: int) -> bool:
    """Whether at most one element along `dim` is not zero, and _summed can tell which."""
    maker = defining_op(value)
    if maker is None:
        return False
    if maker.name in _ALIKE:
        x = maker.operands[0]
        return _index(x, dim) is not None or (isinstance(element_of(x), ir.FloatType) and _is_one_hot(x, dim))
    if maker.name in _SCALED:
        hot, factor = _factors(maker, dim)
        return hot is not None and factor is not None
    if maker.name != "stablehlo.select" or constants.splat_value(maker.operands[2]) != 0 or not _is_constant(maker.operands[1], dim):
        return False
    return _index(maker.operands[0], dim) is not None


def _factors(maker: ir.Operation, dim: int) -> tuple[ir.Value | None, ir.Value | None]:
    """Of a product or a quotient what has one element along `dim`, and what is the same there."""
    left, right = maker.operands
    pairs = [(left, right), (right, left)] if maker.name == "stablehlo.multiply" else [(left, right)]
    return next(((hot, factor) for hot, factor in pairs if _is_constant(factor, dim) and _is_one_hot(hot, dim)), (None, None))


def _index(chosen: ir.Value, dim: int) -> ir.Value | None:
    """The index that is compared with the place along `dim`."""
    equal = producer(chosen, "stablehlo.compare")
    if equal is None or keyword(equal, "comparison_direction") != "EQ":
        return None
    element = element_of(equal.operands[0])
    if not isinstance(element, ir.IntegerType) or build.shape_of(chosen)[dim] > build.extreme(element, 1):
        return None  # places of a type that does not count so far come again
    for place, index in (equal.operands, reversed(equal.operands)):
        numbers = producer(place, "stablehlo.iota")
        if numbers is not None and integer(numbers, "iota_dimension") == dim and _is_constant(index, dim):
            return index
    return None


def _is_constant(value: ir.Value, dim: int) -> bool:
    """Whether elements along `dim` are known to be the same."""
    spread = producer(value, "stablehlo.broadcast_in_dim")
    return constants.splat_attribute(value) is not None or (spread is not None and dim not in integers(spread, "broadcast_dimensions"))


def _one_of(value: ir.Value, dim: int) -> ir.Value:
    """What is the same along `dim`, without that dimension."""
    shape = _without(value, dim)
    splat, spread = constants.splat_attribute(value), producer(value, "stablehlo.broadcast_in_dim")
    if splat is not None or spread is None:
        return build.splat(build.tensor(shape, element_of(value)), splat)
    return build.broadcast(spread.operands[0], shape, [d - (d > dim) for d in integers(spread, "broadcast_dimensions")])


def _without(value: ir.Value, dim: int) -> list[int]:
    return [n for d, n in enumerate(build.shape_of(value)) if d != dim]


def _summed(value: ir.Value, dim: int) -> ir.Value:
    """The sum along `dim` of what _is_one_hot."""
    maker = value.owner.operation
    name, x = maker.name.removeprefix("stablehlo."), maker.operands[0]
    if maker.name in _ALIKE:
        kind = build.tensor(_without(value, dim), element_of(value))
        return build.elementwise(name, _inside(x, dim) if _index(x, dim) is not None else _summed(x, dim), result=kind)
    if maker.name in _SCALED:
        hot, factor = _factors(maker, dim)
        return build.elementwise(name, _summed(hot, dim), _one_of(factor, dim))
    number = _one_of(maker.operands[1], dim)
    return build.select(_inside(x, dim), number, build.full_like(number, 0.0))


def _inside(chosen: ir.Value, dim: int) -> ir.Value:
    """Whether the index is one of the places."""
    index = _one_of(_index(chosen, dim), dim)
    first, end = (build.full_like(index, number) for number in (0, build.shape_of(chosen)[dim]))
    return build.elementwise("and", build.compare("GE", index, first), build.compare("LT", index, end))
