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

from ..common.rewriting import element_of
from ..registry import register_pass
from .support import build
from .support.driver import clone_into, rewrite
from .support.pointwise import evaluated, is_pointwise


@register_pass("legalize-map", "turns maps into elementwise ops, or loops over the elements", ops=("stablehlo.map",))
def legalize_map(module: ir.Operation) -> None:
    rewrite(module, {"stablehlo.map": [_mapped]})


def _mapped(op: ir.Operation) -> list[ir.Value]:
    block = op.regions[0].blocks[0]
    return evaluated(block, list(op.operands)) if is_pointwise(block) else _in_turn(op)


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
