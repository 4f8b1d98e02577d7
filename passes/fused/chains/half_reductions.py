"""Maxima and sums of halves as those of the same numbers in f32, of which kernels that reduce tile by tile know no others.

Maxima are the same; sums are rounded once.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import element_of, integers, ops_in
from ...stablehlo.support.build import convert, elementwise, full, reduce, tensor
from ...stablehlo.support.constants import splat_value
from .masks import NEUTRAL


def reduces(op: ir.Operation) -> bool:
    """Whether an op is a maximum or a sum of one array, with nothing to start from."""
    if op.name != "stablehlo.reduce" or len(op.results) != 1:
        return False
    body = ops_in(op.regions[0].blocks[0])
    return len(body) == 2 and body[0].name in NEUTRAL and splat_value(op.operands[1]) == NEUTRAL[body[0].name]


def is_of_halves(op: ir.Operation) -> bool:
    """Whether a reduction is one of halves."""
    return reduces(op) and str(element_of(op.results[0])) in ("f16", "bf16")


def widen_reductions(function: ir.Operation) -> None:
    """Has a function reduce halves in f32."""
    for op in filter(is_of_halves, ops_in(function.regions[0].blocks[0])):
        result, f32 = op.results[0], ir.F32Type.get()
        name = ops_in(op.regions[0].blocks[0])[0].name
        with ir.InsertionPoint(op), op.location:
            start, x = full(tensor([], f32), NEUTRAL[name]), convert(op.operands[0], f32)
            combine = name.removeprefix("stablehlo.")
            (wide,) = reduce([x], [start], integers(op, "dimensions"), lambda a, b, combine=combine: [elementwise(combine, a, b)])
            result.replace_all_uses_with(convert(wide, element_of(result)))
        op.erase()
