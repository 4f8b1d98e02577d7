"""legalize-map: the ops of a map's body on whole tensors; a loop over the elements where the body has other than elementwise ops.

Before:
    %0 = "stablehlo.map"(%x) ({
    ^bb0(%a: tensor<f32>):
      %two = stablehlo.constant dense<2.0> : tensor<f32>
      %1 = stablehlo.multiply %a, %two : tensor<f32>
      stablehlo.return %1
    }) <{dimensions = array<i64: 0>}> : (tensor<8xf32>) -> tensor<8xf32>
After:
    %two = stablehlo.constant dense<2.0> : tensor<8xf32>
    %0 = stablehlo.multiply %x, %two : tensor<8xf32>

Must hold: nothing. Declined: nothing.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.ops import is_elementwise
from ..common.rewriting import attributes_of, create, element_of, ops_in
from ..registry import register_pass
from .support import build
from .support.driver import clone_into, rewrite


@register_pass("legalize-map", "turns maps into elementwise ops, or loops over the elements", ops=("stablehlo.map",))
def legalize_map(module: ir.Operation) -> None:
    rewrite(module, {"stablehlo.map": [_mapped]})


def _mapped(op: ir.Operation) -> list[ir.Value]:
    *body, _ = ops_in(op.regions[0].blocks[0])
    return _at_once(op) if all(map(_is_pointwise, body)) else _in_turn(op)


def _is_pointwise(op: ir.Operation) -> bool:
    scalars = all(isinstance(v.type, ir.RankedTensorType) and not v.type.shape for v in (*op.operands, *op.results))
    return scalars and (op.name == "stablehlo.constant" or is_elementwise(op))


def _at_once(op: ir.Operation) -> list[ir.Value]:
    block, shape = op.regions[0].blocks[0], build.shape_of(op.results[0])
    mapping = dict(zip(block.arguments, op.operands))

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
    return [spread(value) for value in returned.operands]


def _in_turn(op: ir.Operation) -> list[ir.Value]:
    block, shape = op.regions[0].blocks[0], build.shape_of(op.results[0])
    count, index = build.prod(shape), ir.IntegerType.get_signless(64)
    operands = [build.reshape(value, [count]) for value in op.operands]

    def step(at: ir.Value, *made: ir.Value) -> list[ir.Value]:
        scalars = [build.reshape(build.dynamic_slice(value, [at], [1]), []) for value in operands]
        values = clone_into(block, dict(zip(block.arguments, scalars)))
        return [build.dynamic_update_slice(whole, build.reshape(v, [1]), [at]) for whole, v in zip(made, values)]

    made = build.count_loop(count, [build.zero([count], element_of(result)) for result in op.results], step, index)
    return [build.reshape(value, shape) for value in made]
