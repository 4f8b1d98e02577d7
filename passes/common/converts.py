"""Conversions between element types, and rounding to fewer bits, as scalar arith ops."""

from __future__ import annotations

from torch_mlir import ir

from hloom.dialects.storage import is_i1

from .rewriting import element_of, integer
from .scalars import Scalars, float_bits, is_float, is_unsigned, signless


def convert(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    """Float to integer saturates, NaN becomes 0; anything to i1 is x != 0."""
    (x,), source, target = args, element_of(op.operands[0]), element_of(op.results[0])
    result = signless(target)
    if source == target:
        return x
    if is_i1(target):
        zero = s.constant(x.type, 0)
        return s.cmpf("une", x, zero) if is_float(source) else s.cmpi("ne", x, zero)
    if is_float(source):
        return _float_to_float(s, x, result) if is_float(target) else _float_to_integer(s, x, result, is_unsigned(target))
    if is_float(target):
        return s.cast("arith.uitofp" if is_unsigned(source) else "arith.sitofp", result, x)
    return integer_to_integer(s, x, source, result)


def integer_to_integer(s: Scalars, x: ir.Value, source: ir.Type, result: ir.Type) -> ir.Value:
    """Modulo 2^n; `source` says whether `x` has a sign."""
    if result.width < x.type.width:
        return s.cast("arith.trunci", result, x)
    return s.cast("arith.extui" if is_unsigned(source) else "arith.extsi", result, x)


def _float_to_float(s: Scalars, x: ir.Value, target: ir.Type) -> ir.Value:
    source_width, target_width = x.type.width, target.width
    if source_width == target_width:  # f16 and bf16: each is exact in f32
        x, source_width = s.cast("arith.extf", ir.F32Type.get(), x), 32
    if source_width == 64 and target_width == 16:
        x = _round_to_odd(s, x)
    return s.cast("arith.extf" if target_width > source_width else "arith.truncf", target, x)


def _round_to_odd(s: Scalars, x: ir.Value) -> ir.Value:
    """An f64 as f32 such that rounding that to f16 or bf16 rounds once: inexact values are truncated and their last bit is set.

    CPUs have no such instruction from f64, and a call into a run-time library would not vectorise.
    """
    i32 = ir.IntegerType.get_signless(32)
    nearest = s.cast("arith.truncf", ir.F32Type.get(), x)
    back = s.cast("arith.extf", x.type, nearest)
    bits = s.cast("arith.bitcast", i32, nearest)
    too_far = s.cmpf("ogt", s.op("math.absf", back), s.op("math.absf", x))
    towards_zero = s.select(too_far, s.op("arith.subi", bits, s.constant(i32, 1)), bits)
    odd = s.op("arith.ori", towards_zero, s.constant(i32, 1))
    return s.cast("arith.bitcast", nearest.type, s.select(s.cmpf("one", back, x), odd, bits))


def _float_to_integer(s: Scalars, x: ir.Value, target: ir.Type, unsigned: bool) -> ir.Value:
    if x.type.width < 32:  # the bounds below may be no f16
        x = s.cast("arith.extf", ir.F32Type.get(), x)
    width = target.width
    lowest, highest = (0, (1 << width) - 1) if unsigned else (-1 << (width - 1), (1 << (width - 1)) - 1)
    if width < 24:  # floats have the bounds
        return s.cast("arith.trunci", target, s.cast("arith.fptosi", ir.IntegerType.get_signless(32), _within(s, x, lowest, highest)))
    too_high = s.cmpf("oge", x, s.constant(x.type, float(highest + 1)))
    too_low = s.cmpf("ole", x, s.constant(x.type, -1.0)) if unsigned else s.cmpf("olt", x, s.constant(x.type, float(lowest)))
    outside = s.op("arith.ori", s.op("arith.ori", too_high, too_low), s.cmpf("uno", x, x))
    inside = s.select(outside, s.constant(x.type, 0), x)
    result = s.cast("arith.fptoui" if unsigned else "arith.fptosi", target, inside)
    result = s.select(too_high, s.constant(target, highest), result)
    return s.select(too_low, s.constant(target, lowest), result)


def _within(s: Scalars, x: ir.Value, lowest: int, highest: int) -> ir.Value:
    """x between the bounds; NaN is 0. Of two compared, x86's minima and maxima give the second where one is NaN."""
    low, high = s.constant(x.type, float(lowest)), s.constant(x.type, float(highest))
    if lowest:
        x = s.select(s.cmpf("uno", x, x), s.constant(x.type, 0), x)
    x = s.select(s.cmpf("ogt", x, low), x, low)
    return s.select(s.cmpf("olt", x, high), x, high)


def bitcast(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    """The same bits as a type of the same width."""
    return s.cast("arith.bitcast", signless(element_of(op.results[0])), args[0])


def reduce_precision(s: Scalars, op: ir.Operation, args: list[ir.Value]) -> ir.Value:
    """Rounded to a float of so many bits: to nearest even, overflow to infinity, underflow to a zero of the same sign."""
    (x,), exponent, mantissa = args, integer(op, "exponent_bits"), integer(op, "mantissa_bits")
    own_exponent, own_mantissa = float_bits(x.type)
    bits_type = ir.IntegerType.get_signless(1 + own_exponent + own_mantissa)

    def number(value: int) -> ir.Value:
        return s.constant(bits_type, value)

    bits = s.cast("arith.bitcast", bits_type, x)
    sign_mask = 1 << (own_exponent + own_mantissa)
    if mantissa < own_mantissa:
        dropped = own_mantissa - mantissa
        last = s.op("arith.andi", s.op("arith.shrui", bits, number(dropped)), number(1))
        bits = s.op("arith.addi", bits, s.op("arith.addi", number((1 << (dropped - 1)) - 1), last))
        bits = s.op("arith.andi", bits, number(~((1 << dropped) - 1)))
    if exponent < own_exponent:
        bias, own_bias = (1 << (exponent - 1)) - 1, (1 << (own_exponent - 1)) - 1
        field = s.op("arith.andi", bits, number(((1 << own_exponent) - 1) << own_mantissa))
        sign = s.op("arith.andi", bits, number(sign_mask))
        infinity = s.op("arith.ori", sign, number(((1 << own_exponent) - 1) << own_mantissa))
        overflow = s.cmpi("ugt", field, number((own_bias + bias) << own_mantissa))
        underflow = s.cmpi("ule", field, number((own_bias - bias) << own_mantissa))
        bits = s.select(overflow, infinity, s.select(underflow, sign, bits))
    rounded = s.cast("arith.bitcast", x.type, bits)
    nan = s.cmpf("uno", x, x)
    return s.select(nan, x if mantissa else s.constant(x.type, float("inf")), rounded)
