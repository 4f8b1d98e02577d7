"""legalize-quantized: quantized types as their integers, and ops on them as the specification says.

Before:
    func.func public @main(%x: tensor<4x8x!quant.uniform<i8:f32, 0.5:3>>, %w: tensor<8x2x!quant.uniform<i8:f32, 0.25>>)
        -> tensor<4x2x!quant.uniform<i8:f32, 2.0:-1>> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
      %1 = stablehlo.tanh %0 : tensor<4x2x!quant.uniform<i8:f32, 2.0:-1>>
After:
    func.func public @main(%x: tensor<4x8xi8>, %w: tensor<8x2xi8>) -> tensor<4x2xi8> {
      %s = (stablehlo.dot_general %x, %w : tensor<4x2xi32>) - 3 * sums of the columns of %w
      %0 = round_nearest_even (clamp -128 (convert %s * 0.0625 + -1) 127)
      %1 = quantize (stablehlo.tanh (dequantize %0))          // dequantize: (q - -1) * 2.0; quantize: x / 2.0 + -1, clamped, rounded

An op is dequantize, op, quantize (`quantized/arithmetic.py` has both in the specification's words); contractions of bytes are in integers
(`quantized/contractions.py`); what moves or orders elements of one type does so with the integers; sums are quantized once, at their end.
A float operand beside a quantized one (hybrid ops) stays what it is.
Must hold: no calls but of functions in the module. Declined, with UnsupportedOpError: custom calls of quantized types.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ..common.rewriting import inner_ops
from ..registry import register_pass
from .quantized.rules import RULES, express_reduction, expressed
from .quantized.types import has_quantized_types, quantized_type
from .support.driver import rewrite
from .support.type_conversion import MOVED, MOVEMENT, Conversion, convert_types

_DECLINED = frozenset(["stablehlo.custom_call", "stablehlo.tuple", "stablehlo.get_tuple_element"])
_REDUCTIONS = ("stablehlo.reduce", "stablehlo.reduce_window")
_REMEDY = "dequantize its operands before it"


@register_pass("legalize-quantized", "replaces quantized types by their integers, and ops on them by what the specification says")
def legalize_quantized(module: ir.Operation) -> bool:
    if not has_quantized_types(module):
        return False
    rewrite(module, {name: [express_reduction] for name in _REDUCTIONS})
    names = {op.name for op in inner_ops(module)} - (MOVED - MOVEMENT) - _DECLINED
    rules = {name: RULES.get(name, expressed) for name in names | RULES.keys()}
    convert_types(module, Conversion(_parts, rules, remedy=_REMEDY))
    return True


def _parts(kind: ir.Type) -> Sequence[ir.Type] | None:
    if not isinstance(kind, ir.RankedTensorType):
        return None
    found = quantized_type(kind.element_type)
    return None if found is None else [ir.RankedTensorType.get(kind.shape, found.storage, kind.encoding)]
