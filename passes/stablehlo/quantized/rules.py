"""What becomes of ops on quantized types: rules for the conversion of types.

An op with no rule of its own is done on what the integers stand for: dequantize, op, quantize. What moves elements, or chooses between
them by their order, does so with the integers where all of them stand for the same.
"""

from __future__ import annotations

from torch_mlir import ir

from ...common.rewriting import attributes_of, create, element_of, ops_in
from ..support import build
from ..support.type_conversion import MOVEMENT, Parts, Rule
from .arithmetic import dequantize, quantize
from .contractions import in_integers
from .types import QuantizedType, quantized_element

_ORDERED = frozenset(f"stablehlo.{name}" for name in "clamp compare maximum minimum".split())
"""Larger integers stand for larger numbers: scales are positive."""


def expressed(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """Dequantize, op, quantize."""
    values = [_dequantized(parts[0], quantized_element(old)) for parts, old in zip(operands, op.operands)]
    made = create(op.name, [_expressed_type(result) for result in op.results], values, **attributes_of(op))
    return [[_quantized(value, quantized_element(old))] for value, old in zip(made.results, op.results)]


def _dequantized(value: ir.Value, kind: QuantizedType | None) -> ir.Value:
    return value if kind is None else dequantize(value, kind)


def _quantized(value: ir.Value, kind: QuantizedType | None) -> ir.Value:
    return value if kind is None else quantize(value, kind)


def _expressed_type(value: ir.Value) -> ir.Type:
    kind = quantized_element(value)
    return value.type if kind is None else build.tensor(build.shape_of(value), kind.expressed)


def _stored_type(value: ir.Value) -> ir.Type:
    kind = quantized_element(value)
    return value.type if kind is None else build.tensor(build.shape_of(value), kind.storage)


def _of_integers(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """The op on the integers where all stand for the same."""
    kinds = [kind for kind in map(quantized_element, (*op.operands, *op.results)) if kind is not None]
    along_axis = op.name in _ORDERED and any(kind.axis is not None for kind in kinds)
    if along_axis or len({kind.mapping for kind in kinds}) > 1:
        return expressed(op, operands)
    attributes = attributes_of(op)
    if op.name == "stablehlo.compare":
        attributes.pop("compare_type", None)
    made = create(op.name, [_stored_type(result) for result in op.results], [parts[0] for parts in operands], **attributes)
    return [[value] for value in made.results]


def _contraction(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    found = in_integers(op, operands[0][0], operands[1][0])
    return expressed(op, operands) if found is None else [[found]]


def _to_quantized(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """From floats, or from another quantized type."""
    value = _dequantized(operands[0][0], quantized_element(op.operands[0]))
    return [[_quantized(value, quantized_element(op.results[0]))]]


def _to_float(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    value = _dequantized(operands[0][0], quantized_element(op.operands[0]))
    return [[build.convert(value, element_of(op.results[0]))]]


def _bitcast(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """Of the integers."""
    value, kind = operands[0][0], _stored_type(op.results[0])
    return [[build.bitcast(value, kind)]]


def _constant(op: ir.Operation, operands: list[Parts]) -> list[Parts]:
    """Its attribute has the integers, signless or not."""
    value, kind = build.constant(op.attributes["value"]), _stored_type(op.results[0])
    return [[build.bitcast(value, kind)]]


RULES: dict[str, Rule] = {
    **dict.fromkeys(MOVEMENT | _ORDERED, _of_integers),
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.constant": _constant,
    "stablehlo.convolution": _contraction,
    "stablehlo.dot_general": _contraction,
    "stablehlo.uniform_dequantize": _to_float,
    "stablehlo.uniform_quantize": _to_quantized,
}
"""By the ops' names."""

_SUMS = frozenset(["stablehlo.add", "stablehlo.multiply"])


def express_reduction(op: ir.Operation) -> list[ir.Value] | None:
    """A reduction by a sum or product of one quantized type, done on what its integers stand for: quantized once, at its end."""
    kind, block = quantized_element(op.results[0]), op.regions[0].blocks[0]
    ops = ops_in(block)
    if kind is None or kind.axis is not None or len(op.results) != 1 or len(ops) != 2 or ops[0].name not in _SUMS:
        return None
    if set(ops[0].operands) != set(block.arguments) or list(ops[1].operands) != list(ops[0].results):
        return None
    values = [create("stablehlo.uniform_dequantize", [_expressed_type(v)], [v]).results[0] for v in op.operands]
    new = create(op.name, [_expressed_type(op.results[0])], values, regions=1, **attributes_of(op))
    scalar = build.tensor([], kind.expressed)
    body = new.regions[0].blocks.append(scalar, scalar, arg_locs=[op.location] * 2)
    with ir.InsertionPoint(body):
        create("stablehlo.return", [], [build.elementwise(ops[0].name.removeprefix("stablehlo."), *body.arguments)])
    return [create("stablehlo.uniform_quantize", [op.results[0].type], [new.results[0]]).results[0]]
