"""Dots that are simpler than dots."""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from ...common.rewriting import attributes_of, create, defining_op, integers
from ..support import build
from ..support.constants import splat_value
from ..support.dimensions import DotDims
from ..support.driver import Rule

_HALVES = ("f16", "bf16")


def _as_its_algorithm_says(op: ir.Operation) -> list[ir.Value] | None:
    """Operands in f32 that an algorithm rounds to halves are converted to these; of halves that are summed in f32 it says nothing more.

    JAX's gradients of products of bf16 with results in f32 are such: the gradient of the result is f32, and to be multiplied as bf16.
    """
    if "algorithm" not in op.attributes:
        return None
    told = _stablehlo.DotAlgorithm(op.attributes["algorithm"])
    kinds = [told.lhs_precision_type, told.rhs_precision_type]
    once = told.lhs_component_count == told.rhs_component_count == told.num_primitive_operations == 1
    if not once or str(told.accumulation_type) != "f32" or any(str(kind) not in _HALVES for kind in kinds):
        return None
    elements = [build.element_of(value) for value in op.operands]
    if any(element != kind and str(element) != "f32" for element, kind in zip(elements, kinds)):
        return None
    operands = [build.convert(value, kind) for value, kind in zip(op.operands, kinds)]
    attributes = {name: value for name, value in attributes_of(op).items() if name != "algorithm"}
    return list(create(op.name, [op.results[0].type], operands, **attributes).results)


def _with_one_number(op: ir.Operation) -> list[ir.Value] | None:
    """A product with a matrix whose elements are all one number sums the other operand, times that, along what is contracted, as the
    gradients of sums and means do. Halves are summed in f32."""
    alike = next((side for side, value in enumerate(op.operands) if _is_one_number(value)), None)
    if alike is None:
        return None
    dims, kind = DotDims.of(op), ir.RankedTensorType(op.results[0].type)
    other = 1 - alike
    element = ir.F32Type.get() if str(kind.element_type) in _HALVES else kind.element_type
    operand = op.operands[other]
    if not isinstance(element, (ir.FloatType, ir.IntegerType)) or element.width < build.element_of(operand).width or element.width == 1:
        return None
    summed = build.convert(operand, element)
    if splat_value(op.operands[alike]) != 1:
        summed = build.multiply(summed, _spread(op.operands[alike], build.shape_of(operand), element))
    total = build.sum_along(summed, dims.contracting[other])
    left_over = sorted((*dims.batch[other], *dims.free(other)))
    total = build.transpose(total, [left_over.index(d) for d in (*dims.batch[other], *dims.free(other))])
    batches, left = len(dims.batch[0]), len(dims.free(0))
    kept = [*range(batches), *range(batches + (0 if other == 0 else left), batches + (left if other == 0 else kind.rank - batches))]
    return [build.broadcast(build.convert(total, kind.element_type), list(kind.shape), kept)]


def _is_one_number(value: ir.Value) -> bool:
    """Whether all elements are one number: of a constant, or a scalar that is broadcast."""
    op = defining_op(value)
    scalar = op is not None and op.name == "stablehlo.broadcast_in_dim" and not build.shape_of(op.operands[0])
    return scalar or splat_value(value) is not None


def _spread(value: ir.Value, shape: list[int], element: ir.Type) -> ir.Value:
    """The number that all elements of a value are, in another shape and type."""
    number, op = splat_value(value), defining_op(value)
    if number is not None:
        return build.full(build.tensor(shape, element), number)
    assert op is not None
    return build.broadcast(build.convert(op.operands[0], element), shape, [])


def _with_shared_right(op: ir.Operation) -> list[ir.Value] | None:
    """Batches that share their right operand are rows of one product: dot(x[b, m, k], broadcast(w[k, n])) → dot(x[(b, m), k], w).

    Where that keeps the order of the result: the batches come last among those of the dot, and before the rows in the left operand.
    """
    broadcast = defining_op(op.operands[1])
    if broadcast is None or broadcast.name != "stablehlo.broadcast_in_dim":
        return None
    shape, source = build.shape_of(broadcast.results[0]), broadcast.operands[0]
    kept = integers(broadcast, "broadcast_dimensions")
    dims = DotDims.of(op)
    lefts, rights = dims.batch
    count = next((i for i, d in enumerate(reversed(rights)) if d in kept), len(rights))  # the last batches, as many as are shared
    rows = list(lefts[len(lefts) - count :])
    if not count or sorted((*rows, *dims.free(0))) != [*rows, *dims.free(0)]:
        return None
    remaining = [d for d in range(len(shape)) if d not in rights[len(rights) - count :]]
    right = build.broadcast(source, [shape[d] for d in remaining], [remaining.index(d) for d in kept])
    batch = lefts[: len(lefts) - count], tuple(remaining.index(d) for d in rights[: len(rights) - count])
    contracting = dims.contracting[0], tuple(remaining.index(d) for d in dims.contracting[1])
    return [DotDims(batch, contracting, (dims.ranks[0], len(remaining))).emit(op, op.operands[0], right, op.results[0].type)]


DOTS: dict[str, list[Rule]] = {"stablehlo.dot_general": [_as_its_algorithm_says, _with_one_number, _with_shared_right]}
