"""legalize-constants: arith.constant of tensors becomes stablehlo.constant.

Before:
    %0 = arith.constant dense<7> : tensor<1xi64>
After:
    %0 = stablehlo.constant dense<7> : tensor<1xi64>

Must hold: nothing. Declined: scalars that are no tensors (`arith.constant 7 : i64`), which no StableHLO op reads.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import replace, walk
from ..registry import register_pass
from .support import build


@register_pass("legalize-constants", "turns arith.constant of tensors into stablehlo.constant", ops=("arith.constant",))
def legalize_constants(module: ir.Operation) -> None:
    for op in walk(module, "arith.constant"):
        if isinstance(op.results[0].type, ir.RankedTensorType):
            with op.location, ir.InsertionPoint(op):
                replace(op, [build.constant(op.attributes["value"])])
