"""flatten-tuples: tuples give way to their elements, tokens to nothing, in signatures, calls, loops and branches too.

Before:
    func.func @main(%t: tuple<tensor<4xf32>, tuple<tensor<i32>>>, %k: !stablehlo.token) -> (tensor<i32>, !stablehlo.token) {
      %0 = stablehlo.get_tuple_element %t[1] : (tuple<tensor<4xf32>, tuple<tensor<i32>>>) -> tuple<tensor<i32>>
      %1 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<i32>>) -> tensor<i32>
      return %1, %k
After:
    func.func @main(%t0: tensor<4xf32>, %t10: tensor<i32>) -> tensor<i32> {
      return %t10

The elements of nested tuples stand one after the other, in order. Tokens order effects; a program that hloom compiles has none.
A custom call that gives a tuple gives its elements.
Must hold: nothing. Declined: nothing; UnsupportedOpError names an op whose effects a token orders, and what to do instead.
"""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from ..common.ops import remedy
from ..common.rewriting import functions, integer, walk
from ..errors import UnsupportedOpError
from ..registry import register_pass
from .support.type_conversion import Conversion, Parts, convert_types, retyped

_TOKEN = "!stablehlo.token"
_SOURCES = frozenset(
    f"stablehlo.{name}" for name in "after_all create_token custom_call infeed outfeed recv send tuple get_tuple_element".split()
)
"""Tuples and tokens are results of these, or arguments of functions."""
_EFFECTS = ("infeed", "outfeed", "recv", "send")


@register_pass("flatten-tuples", "replaces tuples by their elements, drops tokens")
def flatten_tuples(module: ir.Operation) -> None:
    if has_tuples(module):
        convert_types(module, Conversion(_elements, _RULES))


def has_tuples(module: ir.Operation) -> bool:
    """Whether there is a tuple or a token in the module."""
    for function in functions(module):
        kind = ir.FunctionType(ir.TypeAttr(function.attributes["function_type"]).value)
        if any(map(_is_flattened, (*kind.inputs, *kind.results))):
            return True
    return any(_is_flattened(result.type) for op in walk(module, lambda op: op.name in _SOURCES) for result in op.results)


def _is_flattened(kind: ir.Type) -> bool:
    return isinstance(kind, ir.TupleType) or str(kind) == _TOKEN


def _elements(kind: ir.Type) -> Sequence[ir.Type] | None:
    if isinstance(kind, ir.TupleType):
        return [part for i in range(kind.num_types) for part in _parts(kind.get_type(i))]
    return [] if not isinstance(kind, ir.RankedTensorType) and str(kind) == _TOKEN else None


def _parts(kind: ir.Type) -> Sequence[ir.Type]:
    parts = _elements(kind)
    return [kind] if parts is None else parts


def _tuple(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    return [[value for parts in operands for value in parts]]


def _tuple_element(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    whole, index = ir.TupleType(op.operands[0].type), integer(op, "index")
    first = sum(len(_parts(whole.get_type(i))) for i in range(index))
    return [operands[0][first : first + len(_parts(whole.get_type(index)))]]


def _token(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    return [[]]


def _refused(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    target = f" @{ir.StringAttr(op.attributes['call_target_name']).value}" if "call_target_name" in op.attributes else ""
    what = f"hloom does not compile {op.name}{target}"
    raise UnsupportedOpError(what, op=op.name, loc=str(op.location), stage="input", remedy=remedy(op.name))


def _custom_call(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """Results in place of a tuple: a layout or an alias counts a tuple's elements as it counts results."""
    if any(str(value.type) == _TOKEN for value in (*op.operands, *op.results)):
        return _refused(op, operands)
    return retyped(op, operands, Conversion(_elements))


_RULES = {
    "stablehlo.tuple": _tuple,
    "stablehlo.get_tuple_element": _tuple_element,
    "stablehlo.after_all": _token,
    "stablehlo.create_token": _token,
    "stablehlo.custom_call": _custom_call,
    **{f"stablehlo.{name}": _refused for name in _EFFECTS},
}
