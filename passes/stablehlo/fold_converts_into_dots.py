"""fold-converts-into-dots: contractions of half-precision values read them as they are; the sum is still taken in f32.

Before:
    %0 = stablehlo.convert %x : (tensor<8x16xbf16>) -> tensor<8x16xf32>
    %1 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x16xbf16>) -> tensor<16x4xbf16>
    %2 = stablehlo.convert %1 : (tensor<16x4xbf16>) -> tensor<16x4xf32>
    %3 = stablehlo.dot_general %0, %2, contracting_dims = [1] x [0] : (tensor<8x16xf32>, tensor<16x4xf32>) -> tensor<8x4xf32>
After:
    %3 = stablehlo.dot_general %x, %1, contracting_dims = [1] x [0] : (tensor<8x16xbf16>, tensor<16x4xbf16>) -> tensor<8x4xf32>

Results do not change: the product of two halves is exact in f32. Reshapes, transposes, broadcasts, pads with 0 and slices between convert
and contraction move to the narrow type. Holds for dot_general and convolution; both operands must come from one of f16 and bf16. Must hold:
nothing. Declined: one operand that is no such convert, converts from integers or from f32, results of another type than the convert's.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.ops import CONTRACTIONS, Kind, named
from ..common.rewriting import attributes_of, defining_op, value_of
from ..registry import register_pass
from .support import build, constants
from .support.driver import rewrite

_HALF = {"f16", "bf16"}
_MOVES = named(Kind.MOVEMENT)


@register_pass("fold-converts-into-dots", "lets dots and convolutions read half-precision operands without a convert", ops=CONTRACTIONS)
def fold_converts_into_dots(module: ir.Operation) -> bool:
    return rewrite(module, dict.fromkeys(CONTRACTIONS, (_contraction,)))


def _contraction(op: ir.Operation) -> list[ir.Value] | None:
    sources = [_half_source(v) for v in op.operands]
    if None in sources or len(set(map(str, sources))) != 1:
        return None
    operands = [_narrowed(v, sources[0]) for v in op.operands]
    return [value_of(op.name, op.results[0].type, operands, **attributes_of(op))]


def _half_source(value: ir.Value) -> ir.Type | None:
    """The half-precision type from which `value` was converted to f32, maybe before it was moved about."""
    op = defining_op(value)
    while op is not None and (op.name in _MOVES or _is_zero_pad(op)):
        op = defining_op(op.operands[0])
    if op is None or op.name != "stablehlo.convert" or str(build.element_of(op.results[0])) != "f32":
        return None
    source = build.element_of(op.operands[0])
    return source if str(source) in _HALF else None


def _is_zero_pad(op: ir.Operation) -> bool:
    return op.name == "stablehlo.pad" and constants.splat_value(op.operands[1]) == 0


def _narrowed(value: ir.Value, half: ir.Type) -> ir.Value:
    """`value` computed in the half type: the same moves, of what was converted."""
    op = defining_op(value)
    assert op is not None
    if op.name == "stablehlo.convert":
        return op.operands[0]
    operands = [_narrowed(op.operands[0], half)]
    if op.name == "stablehlo.pad":
        operands.append(build.zero([], half))
    return value_of(op.name, build.tensor(build.shape_of(value), half), operands, **attributes_of(op))
