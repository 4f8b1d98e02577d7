"""Data movement with an affine input map: slice, reverse, transpose, broadcast, reshape. Consumers compose the maps."""

from __future__ import annotations

from collections.abc import Callable

from torch_mlir import ir

from ...common.rewriting import integers
from . import generic
from .lowering import Lowering
from .views import reshape


def _keeps_splat(low: Lowering, op: ir.Operation) -> bool:
    """Moving the elements of a splat changes nothing."""
    attribute = low.splat(op.operands[0])
    if attribute is not None:
        low.set_splat(op.results[0], attribute)
    return attribute is not None


def _slice(low: Lowering, op: ir.Operation) -> None:
    kind = op.results[0].type
    starts, strides = integers(op, "start_indices"), integers(op, "strides")
    expressions = [d * stride + start for d, start, stride in zip(generic.dims(range(len(starts))), starts, strides)]
    low.set(op.results[0], low.moved(kind, op.operands[0], expressions))


def _reverse(low: Lowering, op: ir.Operation) -> None:
    kind = op.results[0].type
    expressions = generic.dims(range(len(kind.shape)))
    for d in integers(op, "dimensions"):
        expressions[d] = ir.AffineExpr.get_add(expressions[d] * -1, ir.AffineExpr.get_constant(kind.shape[d] - 1))
    low.set(op.results[0], low.moved(kind, op.operands[0], expressions))


def _transpose(low: Lowering, op: ir.Operation) -> None:
    permutation = integers(op, "permutation")
    expressions = generic.dims([permutation.index(d) for d in range(len(permutation))])
    low.set(op.results[0], low.moved(op.results[0].type, op.operands[0], expressions))


def _broadcast(low: Lowering, op: ir.Operation) -> None:
    shape = list(op.operands[0].type.shape)
    targets = generic.dims(integers(op, "broadcast_dimensions"))
    zero = ir.AffineExpr.get_constant(0)
    expressions = [zero if extent == 1 else d for extent, d in zip(shape, targets)]
    low.set(op.results[0], low.moved(op.results[0].type, op.operands[0], expressions))


def _reshape(low: Lowering, op: ir.Operation) -> None:
    low.set(op.results[0], reshape(low.tensor(op.operands[0]), list(op.results[0].type.shape)))


def _moving(lower: Callable[[Lowering, ir.Operation], None]) -> Callable[[Lowering, ir.Operation], None]:
    def emit(low: Lowering, op: ir.Operation) -> None:
        if not _keeps_splat(low, op):
            lower(low, op)

    return emit


LOWERINGS = {
    "stablehlo.slice": _moving(_slice),
    "stablehlo.reverse": _moving(_reverse),
    "stablehlo.transpose": _moving(_transpose),
    "stablehlo.broadcast_in_dim": _moving(_broadcast),
    "stablehlo.reshape": _moving(_reshape),
}
