"""A reduction of what was transposed, cut into more dimensions and computed with what is broadcast, in the order that it had before.

    %0 = transpose(%x) [1, 0] : 900x1000;  %1 = reshape(%0) : 900x125x8     →     %1 = reshape(%x) : 125x8x900
    %2 = shift_left(%1, broadcast(%bits) [2]);  %3 = reduce(%2) over [2]          %2 = shift_left(%1, broadcast(%bits) [1])
                                                                                  %3 = transpose(reduce(%2) over [1]) [1, 0]

So are bits packed along columns (`jnp.packbits(x, axis=0)`), which JAX does along rows of a transpose, and blocks of one reduced. What is
left is transposed, and less. Declined where others read a value on the way; reshapes that join dimensions, or have some of one element.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from ...common.ops import is_elementwise
from ...common.rewriting import attributes_of, defining_op, has_one_use, i64_array, integer, integers, producer, value_of
from ..support import build, constants
from ..support.driver import with_region


@dataclass(frozen=True)
class _Turned:
    """`value` has the dimensions of what is read, in the order `order`, in which they lie one after the other before the transpose."""

    value: ir.Value
    order: list[int]

    def shape(self, value: ir.Value) -> list[int]:
        return [build.shape_of(value)[d] for d in self.order]


def of_turned(op: ir.Operation) -> list[ir.Value] | None:
    """The reduction of values in the order that they had before a transpose; what is left is transposed."""
    if len(op.results) != 1 or defining_op(op.operands[0]) is None:
        return None
    make = _before(op.operands[0])
    if make is None:
        return None
    found = make()
    reduced = integers(op, "dimensions")
    left = [found.order.index(d) for d in range(len(found.order)) if d not in reduced]
    kept = sorted(left)
    kind = build.tensor([build.shape_of(found.value)[d] for d in kept], build.element_of(op.results[0]))
    along = i64_array(sorted(found.order.index(d) for d in reduced))
    made = with_region(op, [found.value, op.operands[1]], [kind], dimensions=along)
    return [build.transpose(made.results[0], [kept.index(d) for d in left])]


def _before(value: ir.Value) -> Callable[[], _Turned] | None:
    """What makes a value in that order; None where it is not computed of a transpose that is cut, or others read it."""
    op = defining_op(value)
    if op is None or not has_one_use(value):
        return None
    if op.name == "stablehlo.reshape":
        return _cut(op)
    if not is_elementwise(op):
        return None
    computed = [operand for operand in op.operands if not _is_spread(operand)]
    inner = _before(computed[0]) if len(computed) == 1 else None
    if inner is None:
        return None

    def make() -> _Turned:
        found = inner()
        operands = [found.value if operand == computed[0] else _spread(operand, found) for operand in op.operands]
        kind = build.tensor(found.shape(op.results[0]), build.element_of(op.results[0]))
        return _Turned(value_of(op.name, kind, operands, **attributes_of(op)), found.order)

    return make


def _cut(op: ir.Operation) -> Callable[[], _Turned] | None:
    """Of a reshape that cuts dimensions of a transpose."""
    transpose = producer(op.operands[0], "stablehlo.transpose")
    if transpose is None or not has_one_use(op.operands[0]):
        return None
    target = build.shape_of(op.results[0])
    parts = _parts(build.shape_of(op.operands[0]), target)
    if parts is None:
        return None
    permutation = integers(transpose, "permutation")
    order = [part for d in range(len(permutation)) for part in parts[permutation.index(d)]]
    return lambda: _Turned(build.reshape(transpose.operands[0], [target[d] for d in order]), order)


def _parts(source: Sequence[int], target: Sequence[int]) -> list[list[int]] | None:
    """The dimensions of `target` that each of `source` is cut into."""
    found: list[list[int]] = []
    dims = iter(range(len(target)))
    for extent in source:
        part, size = [], 1
        while size < extent and (d := next(dims, None)) is not None:
            part.append(d)
            size *= target[d]
        if size != extent or any(target[d] < 2 for d in part) or not part:
            return None
        found.append(part)
    return found if next(dims, None) is None else None


def _is_spread(value: ir.Value) -> bool:
    return constants.splat_attribute(value) is not None or any(
        producer(value, name) is not None for name in ("stablehlo.broadcast_in_dim", "stablehlo.iota")
    )


def _spread(value: ir.Value, found: _Turned) -> ir.Value:
    """What is broadcast, along the dimensions in that order."""
    if not (shape := build.shape_of(value)):
        return value
    shape, element = [shape[d] for d in found.order], build.element_of(value)
    if (attribute := constants.splat_attribute(value)) is not None:
        return build.splat(build.tensor(shape, element), attribute)
    if (iota := producer(value, "stablehlo.iota")) is not None:
        return build.iota(shape, element, found.order.index(integer(iota, "iota_dimension")))
    source = producer(value, "stablehlo.broadcast_in_dim")
    assert source is not None
    at = [found.order.index(d) for d in integers(source, "broadcast_dimensions")]
    return build.broadcast(source.operands[0], shape, at)
