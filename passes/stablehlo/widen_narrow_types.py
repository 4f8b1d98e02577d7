"""widen-narrow-types: integers and floats of less than a byte, and floats of one, as bytes; arithmetic on them in wider types.

Before:
    func.func public @main(%x: tensor<4xi4>, %y: tensor<4xf8E4M3FN>, %z: tensor<4xf8E4M3FN>) -> (tensor<4xi4>, tensor<4xf8E4M3FN>) {
      %0 = stablehlo.add %x, %x : tensor<4xi4>
      %1 = stablehlo.add %y, %z : tensor<4xf8E4M3FN>
After:
    func.func public @main(%x: tensor<4xi8>, %y: tensor<4xui8>, %z: tensor<4xui8>) -> (tensor<4xi8>, tensor<4xui8>) {
      %x1 = %x << 4 >> 4                                        // at the interface the upper bits are anything
      %0 = (stablehlo.add %x1, %x1 : tensor<4xi8>) << 4 >> 4    // wrapped
      %1 = code of (stablehlo.add value of %y, value of %z : tensor<4xf32>)
      return %0 & 15, %1

An element is one byte, as ml_dtypes has it: integers extended to it (zeros above them at the interface), floats as their codes
(`narrow/floats.py` has the integer arithmetic between codes and f32). What moves elements stays as it is; what computes does so on f32 or
on bytes, and rounds or wraps after each op; reductions by one op and contractions do that once, at their end. Packed forms are made by
`bitcast_convert` alone (`narrow/bitcasts.py`), those of i1 too. A dot of f8E4M3FN and f8E5M2 on a CUDA target whose tensor cores multiply
them reads its bytes as such floats, by a bitcast before it, and sums in f32 (`narrow/tensor_cores.py`).
Must hold: no calls but of functions in the module. Declined, with UnsupportedOpError: custom calls and tuples of such types.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from hloom.dialects.storage import is_i1

from ..common.rewriting import element_of, inner_ops
from ..registry import register_pass
from .narrow import bitcasts
from .narrow.plain import plain_rules
from .narrow.reductions import widen_reduction
from .narrow.rules import RULES, widened
from .narrow.types import has_narrow_types, lowest_bits, narrow_type, wrap
from .support import build
from .support.driver import rewrite
from .support.type_conversion import MOVED, Conversion, Edge, Parts, convert_types

_REDUCTIONS = ("stablehlo.reduce", "stablehlo.reduce_window", "stablehlo.all_reduce", "stablehlo.reduce_scatter")
_DECLINED = frozenset(["stablehlo.custom_call", "stablehlo.tuple", "stablehlo.get_tuple_element"])
_REMEDY = "convert to types of 8 bits or more (floats of 16) before it"


@register_pass("widen-narrow-types", "stores integers and floats of up to 8 bits as bytes, and computes with wider types")
def widen_narrow_types(module: ir.Operation) -> bool:
    changed = rewrite(module, {"stablehlo.bitcast_convert": [_bitcast_of_i1]})
    if not has_narrow_types(module):
        return changed
    rewrite(module, {**plain_rules(set(RULES)), **{name: [widen_reduction] for name in _REDUCTIONS}})
    names = {op.name for op in inner_ops(module) if any(map(_is_narrow, _types(op)))}
    rules = {name: RULES.get(name, widened) for name in names - MOVED - _DECLINED}
    convert_types(module, Conversion(_parts, rules, Edge(_stored, _load, _store), _REMEDY))
    return True


def _types(op: ir.Operation) -> list[ir.Type]:
    """Of its operands, results and the arguments of its regions."""
    arguments = [argument for region in op.regions for block in region.blocks for argument in block.arguments]
    return [value.type for group in (op.operands, op.results, arguments) for value in group]


def _is_narrow(kind: ir.Type) -> bool:
    return isinstance(kind, ir.RankedTensorType) and narrow_type(kind.element_type) is not None


def _bitcast_of_i1(op: ir.Operation) -> list[ir.Value] | None:
    """Between i1 and wider elements, of which none is narrow."""
    (operand,), result = op.operands, op.results[0]
    elements = element_of(operand), element_of(result)
    if not any(map(is_i1, elements)) or all(map(is_i1, elements)) or _is_narrow(operand.type) or _is_narrow(result.type):
        return None
    return [bitcasts.bitcast(operand, *elements, build.shape_of(result))]


def _parts(kind: ir.Type) -> Sequence[ir.Type] | None:
    return [_stored(kind)] if _is_narrow(kind) else None


def _stored(kind: ir.Type) -> ir.Type:
    tensor = ir.RankedTensorType(kind)
    narrow = narrow_type(tensor.element_type)
    assert narrow is not None
    return ir.RankedTensorType.get(tensor.shape, narrow.storage, tensor.encoding)


def _load(argument: ir.Value, kind: ir.Type) -> Parts:
    """The upper bits of an argument may be anything."""
    narrow = narrow_type(ir.RankedTensorType(kind).element_type)
    assert narrow is not None
    return [argument if narrow.form else wrap(argument, narrow)]


def _store(parts: Parts, kind: ir.Type) -> ir.Value:
    narrow = narrow_type(ir.RankedTensorType(kind).element_type)
    assert narrow is not None
    return lowest_bits(parts[0], narrow.bits) if narrow.signed else parts[0]
