"""A body of scalar ops, evaluated on whole tensors."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ...common.ops import is_elementwise
from ...common.rewriting import attributes_of, create, element_of, ops_in
from . import build


def is_pointwise(block: ir.Block) -> bool:
    """Whether all ops of a body are constants, and elementwise ones of scalars."""
    return all(map(_is_pointwise, ops_in(block)[:-1]))


def _is_pointwise(op: ir.Operation) -> bool:
    scalars = all(isinstance(v.type, ir.RankedTensorType) and not v.type.shape for v in (*op.operands, *op.results))
    return scalars and (op.name == "stablehlo.constant" or is_elementwise(op))


def evaluated(block: ir.Block, arguments: Sequence[ir.Value], wanted: Sequence[ir.Value] | None = None) -> list[ir.Value]:
    """What a pointwise body returns, or the values `wanted` of it, for each element of the arguments, which have one shape."""
    shape = build.shape_of(arguments[0])
    mapping = dict(zip(block.arguments, arguments))

    def spread(value: ir.Value) -> ir.Value:
        """An operand; one from outside the body is the same for every element."""
        return mapping[value] if value in mapping else build.broadcast(value, shape, [])

    *body, returned = ops_in(block)
    for inner in body:
        result = inner.results[0]
        kind = build.tensor(shape, element_of(result))
        if inner.name == "stablehlo.constant":
            mapping[result] = build.splat(kind, ir.DenseElementsAttr(inner.attributes["value"]).get_splat_value())
            continue
        mapping[result] = create(inner.name, [kind], [spread(v) for v in inner.operands], **attributes_of(inner)).results[0]
    return [spread(value) for value in (returned.operands if wanted is None else wanted)]
