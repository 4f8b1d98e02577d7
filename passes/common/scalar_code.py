"""Elementwise stablehlo ops as scalar arith and math ops, with stablehlo's meaning on every value.

Where stablehlo leaves a result open (integer division by zero, float to integer out of range) it is what XLA computes: x / 0 is all ones,
x % 0 is x, INT_MIN / -1 is INT_MIN, and conversions saturate with NaN to 0. arith calls these undefined, hence the selects.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.storage import is_i1

from .rewriting import element_of, keyword
from .scalars import Scalars, constant_integer, float_bits, half_below, is_float, is_unsigned

Emit = Callable[[Scalars, ir.Operation, list[ir.Value]], ir.Value]


@dataclass(frozen=True)
class Typed:
    """One op, by the kind of element. Unsigned falls back to the integer's op, i1 to the unsigned's."""

    on_float: str
    on_integer: str
    on_unsigned: str = ""
    on_bool: str = ""

    def name(self, kind: ir.Type) -> str:
        if is_float(kind):
            return self.on_float
        return (self.on_bool if is_i1(kind) else "") or (self.on_unsigned if is_unsigned(kind) else "") or self.on_integer

    def __call__(self, s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
        return s.op(self.name(element_of(op.operands[0])), *args)


def one(name: str) -> Typed:
    """That op, whatever the element."""
    return Typed(name, name)


def atan2(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    """MLIR folds math.atan2 of two zeros to NaN: there the angle is that of a one with x's sign."""
    y, x = args
    zero = s.constant(x.type, 0)
    at_origin = s.op("arith.andi", s.cmpf("oeq", y, zero), s.cmpf("oeq", x, zero))
    beside = s.op("math.copysign", s.constant(x.type, 1), x)
    return s.op("math.atan2", y, s.select(at_origin, beside, x))


def negate(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    (x,) = args
    return s.op("arith.negf", x) if is_float(x.type) else s.op("arith.subi", s.constant(x.type, 0), x)


def invert(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    return s.op("arith.xori", args[0], s.constant(args[0].type, -1))


def sign(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    (x,) = args
    zero, one = s.constant(x.type, 0), s.constant(x.type, 1)
    if is_float(x.type):  # NaN and both zeros are their own sign
        return s.select(s.cmpf("one", x, zero), s.op("math.copysign", one, x), x)
    nonzero = s.select(s.cmpi("ne", x, zero), one, zero)
    return s.select(s.cmpi("slt", x, zero), s.constant(x.type, -1), nonzero)


def divide(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    x, y = args
    if is_float(x.type):
        return s.op("arith.divf", x, y)
    by_zero, divisor = _safe_divisor(s, op, x, y)
    quotient = s.op("arith.divui" if is_unsigned(element_of(op.operands[0])) else "arith.divsi", x, divisor)
    return quotient if by_zero is None else s.select(by_zero, s.constant(x.type, -1), quotient)


def remainder(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    x, y = args
    if is_float(x.type):
        return s.op("arith.remf", x, y)
    by_zero, divisor = _safe_divisor(s, op, x, y)
    rest = s.op("arith.remui" if is_unsigned(element_of(op.operands[0])) else "arith.remsi", x, divisor)
    return rest if by_zero is None else s.select(by_zero, x, rest)


def _safe_divisor(s: Scalars, op: ir.Operation, x: ir.Value, y: ir.Value) -> tuple[ir.Value | None, ir.Value]:
    """Whether y is zero, and y made 1 where dividing by it is undefined: INT_MIN / 1 is INT_MIN and INT_MIN % 1 is 0, as wanted of -1."""
    known = constant_integer(y)
    if known is not None and known not in (0, -1):
        return None, y
    by_zero = s.cmpi("eq", y, s.constant(y.type, 0))
    undefined = by_zero
    if not is_unsigned(element_of(op.operands[0])):
        lowest = s.cmpi("eq", x, s.constant(x.type, -1 << (x.type.width - 1)))
        overflow = s.op("arith.andi", lowest, s.cmpi("eq", y, s.constant(y.type, -1)))
        undefined = s.op("arith.ori", by_zero, overflow)
    return by_zero, s.select(undefined, s.constant(y.type, 1), y)


def shift(name: str) -> Emit:
    """A shift whose amount may reach the width: all bits (or all but the sign) have left then."""

    def emit(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
        x, amount = args
        width = x.type.width
        known = constant_integer(amount)
        if known is not None and 0 <= known < width:
            return s.op(name, x, amount)
        fits = s.cmpi("ult", amount, s.constant(x.type, width))
        bounded = s.select(fits, amount, s.constant(x.type, width - 1))
        shifted = s.op(name, x, bounded)
        return shifted if name == "arith.shrsi" else s.select(fits, shifted, s.constant(x.type, 0))

    return emit


def power(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    x, y = args
    if is_float(x.type):
        return s.op("math.powf", x, y)
    signed = not is_unsigned(element_of(op.operands[0]))
    known = constant_integer(y)
    one, zero = s.constant(x.type, 1), s.constant(x.type, 0)
    bits = x.type.width if known is None or known < 0 else max(1, known.bit_length())
    result, square = one, x
    for bit in range(bits):  # squaring; unrolled, because a branch in the body would not vectorise
        wanted = s.op("arith.andi", s.op("arith.shrui", y, s.constant(y.type, bit)), one)
        result = s.select(s.cmpi("ne", wanted, zero), s.op("arith.muli", result, square), result)
        square = s.op("arith.muli", square, square)
    if not signed or (known is not None and known >= 0):
        return result
    minus_one = s.constant(x.type, -1)
    odd = s.cmpi("ne", s.op("arith.andi", y, one), zero)
    inverse = s.select(s.cmpi("eq", x, minus_one), s.select(odd, minus_one, one), s.select(s.cmpi("eq", x, one), one, zero))
    return s.select(s.cmpi("slt", y, zero), inverse, result)


def round_away(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    """trunc(x + copysign(the float below 0.5, x)): exact for every x, and made of ops that CPUs have."""
    (x,) = args
    return s.op("math.trunc", s.op("arith.addf", x, s.op("math.copysign", s.constant(x.type, half_below(x.type)), x)))


def is_finite(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    (x,) = args
    return s.cmpf("olt", s.op("math.absf", x), s.constant(x.type, float("inf")))


def logistic(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    (x,) = args
    one = s.constant(x.type, 1)
    return s.op("arith.divf", one, s.op("arith.addf", one, s.op("math.exp", s.op("arith.negf", x))))


def clamp(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    low, x, high = args
    kind = element_of(op.operands[1])
    largest, least = ("maximumf", "minimumf") if is_float(kind) else ("maxui", "minui") if is_unsigned(kind) else ("maxsi", "minsi")
    return s.op(f"arith.{least}", s.op(f"arith.{largest}", x, low), high)


def compare(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    x, y = args
    direction = keyword(op, "comparison_direction").lower()
    kind = element_of(op.operands[0])
    if not is_float(kind):
        sign = "" if direction in ("eq", "ne") else "u" if is_unsigned(kind) else "s"
        return s.cmpi(sign + direction, x, y)
    if "compare_type" in op.attributes and keyword(op, "compare_type") == "TOTALORDER":
        sign = "" if direction in ("eq", "ne") else "s"
        return s.cmpi(sign + direction, _total_order(s, x), _total_order(s, y))
    return s.cmpf("une" if direction == "ne" else "o" + direction, x, y)


def _total_order(s: Scalars, x: ir.Value) -> ir.Value:
    """An integer ordered as IEEE's totalOrder: the bits, with all but the sign inverted where that is set."""
    width = 1 + sum(float_bits(x.type))
    bits = s.cast("arith.bitcast", ir.IntegerType.get_signless(width), x)
    sign = s.op("arith.shrsi", bits, s.constant(bits.type, width - 1))
    return s.op("arith.xori", bits, s.op("arith.shrui", sign, s.constant(bits.type, 1)))


def select(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    return s.select(*args)
