"""legalize-constants: arith.constant of tensors becomes stablehlo.constant.

Before:
    %0 = arith.constant dense<7> : tensor<1xi64>
After:
    %0 = stablehlo.constant dense<7> : tensor<1xi64>

A complex one becomes stablehlo.complex of two.

Must hold: nothing. Declined: scalars that are no tensors (`arith.constant 7 : i64`), which no StableHLO op reads.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.rewriting import element_of, replace, value_of, walk
from ..registry import register_pass
from .complex.constants import constant as complex_parts
from .support import build


@register_pass("legalize-constants", "turns arith.constant of tensors into stablehlo.constant", ops=("arith.constant",))
def legalize_constants(module: ir.Operation) -> None:
    for op in walk(module, "arith.constant"):
        if isinstance(op.results[0].type, ir.RankedTensorType):
            with op.location, ir.InsertionPoint(op):
                replace(op, [_constant(op)])


def _constant(op: ir.Operation) -> ir.Value:
    """The bindings do not read a complex attribute: one is built of its parts."""
    kind = op.results[0].type
    if not isinstance(element_of(op.results[0]), ir.ComplexType):
        return build.constant(op.attributes["value"])
    [parts] = complex_parts(op, [])
    return value_of("stablehlo.complex", kind, parts)
