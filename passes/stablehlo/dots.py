"""Dots that are simpler than dots."""

from __future__ import annotations

from torch_mlir import ir

from . import build
from .constants import splat_value
from .dimensions import DotDims
from .driver import Rule

_HALVES = ("f16", "bf16")


def _with_ones(op: ir.Operation) -> list[ir.Value] | None:
    """A product with ones sums the other operand along what is contracted, as the gradient of a sum does. Halves are summed in f32."""
    ones = next((side for side, value in enumerate(op.operands) if splat_value(value) == 1), None)
    if ones is None:
        return None
    dims, kind = DotDims.of(op), ir.RankedTensorType(op.results[0].type)
    other = 1 - ones
    element = ir.F32Type.get() if str(kind.element_type) in _HALVES else kind.element_type
    operand = op.operands[other]
    if not isinstance(element, (ir.FloatType, ir.IntegerType)) or element.width < build.element_of(operand).width or element.width == 1:
        return None
    total = build.sum_along(build.convert(operand, element), dims.contracting[other])
    left_over = sorted((*dims.batch[other], *dims.free(other)))
    total = build.transpose(total, [left_over.index(d) for d in (*dims.batch[other], *dims.free(other))])
    batches, left = len(dims.batch[0]), len(dims.free(0))
    kept = [*range(batches), *range(batches + (0 if other == 0 else left), batches + (left if other == 0 else kind.rank - batches))]
    return [build.broadcast(build.convert(total, kind.element_type), list(kind.shape), kept)]


DOTS: dict[str, list[Rule]] = {"stablehlo.dot_general": [_with_ones]}
