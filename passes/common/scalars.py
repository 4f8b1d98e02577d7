"""Emits scalar arith and math ops at the insertion point; constants go to the top of the function, each once."""

from __future__ import annotations

import math

from torch_mlir import ir

from .rewriting import create, defining_op, element_of, value_of

INTEGER_PREDICATES = {name: n for n, name in enumerate("eq ne slt sle sgt sge ult ule ugt uge".split())}
FLOAT_PREDICATES = {name: n for n, name in enumerate("false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true".split())}


def is_float(kind: ir.Type) -> bool:
    return isinstance(kind, ir.FloatType)


def is_integer(kind: ir.Type) -> bool:
    return isinstance(kind, ir.IntegerType)


def is_unsigned(kind: ir.Type) -> bool:
    """Unsigned in stablehlo's sense: ui8 … ui64, and i1."""
    return isinstance(kind, ir.IntegerType) and (kind.is_unsigned or kind.width == 1)


def signless(kind: ir.Type) -> ir.Type:
    """The type without its sign; of tensors and of elements."""
    if isinstance(kind, ir.RankedTensorType):
        return ir.RankedTensorType.get(list(kind.shape), signless(kind.element_type))
    return ir.IntegerType.get_signless(kind.width) if isinstance(kind, ir.IntegerType) else kind


class Scalars:
    """Emission of scalar code in one function."""

    def __init__(self, function: ir.Operation):
        self._entry = function.regions[0].blocks[0]
        self._known: dict[tuple[ir.Type, ir.Attribute], ir.Value] = {}

    def attribute(self, kind: ir.Type, attribute: ir.Attribute) -> ir.Value:
        """The arith.constant of that type and value."""
        key = (kind, attribute)
        if key not in self._known:
            with ir.InsertionPoint.at_block_begin(self._entry):
                self._known[key] = value_of("arith.constant", kind, value=attribute)
        return self._known[key]

    def constant(self, kind: ir.Type, value: float | int) -> ir.Value:
        if is_float(kind):
            return self.attribute(kind, ir.FloatAttr.get(kind, float(value)))
        return self.attribute(kind, integer_attribute(kind, int(value)))

    def index(self, value: int) -> ir.Value:
        return self.constant(ir.IndexType.get(), value)

    def op(self, name: str, *operands: ir.Value) -> ir.Value:
        """An op whose result has its first operand's type."""
        return value_of(name, operands[0].type, operands)

    def cast(self, name: str, kind: ir.Type, operand: ir.Value) -> ir.Value:
        return operand if operand.type == kind else value_of(name, kind, [operand])

    def cmpi(self, predicate: str, x: ir.Value, y: ir.Value) -> ir.Value:
        return _compare("arith.cmpi", INTEGER_PREDICATES[predicate], x, y)

    def cmpf(self, predicate: str, x: ir.Value, y: ir.Value) -> ir.Value:
        return _compare("arith.cmpf", FLOAT_PREDICATES[predicate], x, y)

    def select(self, condition: ir.Value, x: ir.Value, y: ir.Value) -> ir.Value:
        return value_of("arith.select", x.type, [condition, x, y])

    def clamp_index(self, x: ir.Value, low: int, high: int) -> ir.Value:
        """A signed index clamped into [low, high]."""
        if low == high:
            return self.index(low)
        return self.op("arith.minsi", self.op("arith.maxsi", x, self.index(low)), self.index(high))

    def to_index(self, x: ir.Value, kind: ir.Type) -> ir.Value:
        """An integer of the stablehlo type `kind` as an index; what an index cannot hold (ui64 above its maximum) becomes the maximum."""
        if not is_unsigned(kind):
            return value_of("arith.index_cast", ir.IndexType.get(), [x])
        if x.type.width == 64:
            x = self.op("arith.minui", x, self.constant(x.type, (1 << 63) - 1))
        return value_of("arith.index_castui", ir.IndexType.get(), [x])

    def extract(self, source: ir.Value, point: list[ir.Value]) -> ir.Value:
        return value_of("tensor.extract", signless(element_of(source)), [source, *point])


def _compare(name: str, predicate: int, x: ir.Value, y: ir.Value) -> ir.Value:
    i64 = ir.IntegerType.get_signless(64)
    return value_of(name, ir.IntegerType.get_signless(1), [x, y], predicate=ir.IntegerAttr.get(i64, predicate))


def integer_attribute(kind: ir.Type, value: int) -> ir.Attribute:
    if isinstance(kind, ir.IntegerType):
        value &= (1 << kind.width) - 1
        if kind.width > 1 and value >> (kind.width - 1):
            value -= 1 << kind.width
    return ir.IntegerAttr.get(kind, value)


def signless_attribute(attribute: ir.Attribute) -> ir.Attribute:
    """A scalar attribute with its type's sign removed."""
    if isinstance(attribute, ir.FloatAttr):
        return attribute
    return integer_attribute(signless(ir.IntegerAttr(attribute).type), int(ir.IntegerAttr(attribute).value))


def constant_integer(value: ir.Value) -> int | None:
    """The value of an integer arith.constant, else None."""
    op = defining_op(value)
    if op is None or op.name != "arith.constant" or not isinstance(op.attributes["value"], ir.IntegerAttr):
        return None
    return int(ir.IntegerAttr(op.attributes["value"]).value)


def float_bits(kind: ir.Type) -> tuple[int, int]:
    """(exponent bits, mantissa bits) of a float type."""
    return {"f16": (5, 10), "bf16": (8, 7), "f32": (8, 23), "f64": (11, 52)}[str(kind)]


def half_below(kind: ir.Type) -> float:
    """The largest value below 0.5."""
    return 0.5 - math.ldexp(1.0, -2 - float_bits(kind)[1])


def yields(values: list[ir.Value]) -> None:
    create("linalg.yield", [], values)
