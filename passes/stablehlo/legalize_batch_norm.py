"""legalize-batch-norm: batch_norm_inference as elementwise ops.

Before:
    %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) <{epsilon = 1.0e-5 : f32, feature_index = 1 : i64}>
After:
    %s = scale / sqrt(variance + epsilon)                      // over the features alone
    %0 = (%x - broadcast(mean)) * broadcast(%s) + broadcast(offset)

Must hold: nothing. Declined: batch_norm_training and batch_norm_grad.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import integer
from ..registry import register_pass
from .support import build
from .support.driver import rewrite


@register_pass("legalize-batch-norm", "turns batch_norm_inference into elementwise ops")
def legalize_batch_norm(module: ir.Operation) -> None:
    rewrite(module, {"stablehlo.batch_norm_inference": [_inference]})


def _inference(op: ir.Operation) -> list[ir.Value]:
    x, scale, offset, mean, variance = op.operands
    element, shape, feature = build.element_of(x), build.shape_of(x), integer(op, "feature_index")
    epsilon = build.splat(variance.type, build.scalar(element, ir.FloatAttr(op.attributes["epsilon"]).value))
    deviation = build.elementwise("sqrt", build.elementwise("add", variance, epsilon))
    factor = build.elementwise("divide", scale, deviation)
    centred = build.elementwise("subtract", x, build.broadcast(mean, shape, [feature]))
    scaled = build.elementwise("multiply", centred, build.broadcast(factor, shape, [feature]))
    return [build.elementwise("add", scaled, build.broadcast(offset, shape, [feature]))]
