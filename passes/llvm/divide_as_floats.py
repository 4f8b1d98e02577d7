"""divide-as-floats: whole numbers are divided as floats, a register at a time.

Before, on vectors:
    %q = arith.divsi %x, %y : vector<16xi32>
After:
    %a, %b = arith.sitofp %x, %y : vector<16xi32> to vector<16xf64>
    %q = arith.fptosi (arith.divf %a, %b) : vector<16xf64> to vector<16xi32>

and a remainder is %x less the product of %q and %y. f64 divides numbers of 32 bits, f32 those of 16 and 8. No bits are lost: a quotient
that is not whole is at least 1 / |y| below the next whole number, and rounding moves it by less where |x| < 2^53 (f32: 2^24).

Numbers of 64 bits are divided in two steps, by the inverse of %y as an f64, which AVX-512 converts:
    %p = the whole number next to %x / %y               // off by less than 2^13
    %r = %x - %p * %y                                   // exact: at most |y| / 2 + 2^13
    %q = %p + the whole number next to %r / %y          // the nearest one, but for ties
    %q moves to 0 by 1 where %x - %q * %y lies on the other side of 0 from %x

Processors have no division of whole numbers by registers, so that LLVM divides one element after the other.

Must hold: nothing. Declined: numbers of 64 bits without AVX-512; constant divisors, which LLVM multiplies by; indices; scalars.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith

from hloom.dialects.target import target_of

from ..common.bf16 import with_element
from ..common.rewriting import producer, replace, value_of, walk
from ..common.vectors import splat
from ..registry import register_pass

_UNSIGNED = {"arith.divsi": False, "arith.divui": True, "arith.remsi": False, "arith.remui": True}
_CASTS = {False: ("arith.sitofp", "arith.fptosi"), True: ("arith.uitofp", "arith.fptoui")}
_GREATEST = {False: 2.0**63 - 2.0**10, True: 2.0**64 - 2.0**11}
"""The f64 below what 64 bits cannot hold."""


@register_pass("divide-as-floats", "divides whole numbers as floats", ops=frozenset(_UNSIGNED))
def divide_as_floats(module: ir.Operation) -> bool:
    target = target_of(module)
    widest = 64 if target.machine == "x86_64" and target.vector_bits == 512 else 32
    ops = walk(module, lambda op: op.name in _UNSIGNED and 0 < _width(op) <= widest and not producer(op.operands[1], "arith.constant"))
    for op in ops:
        x, y = op.operands
        with ir.InsertionPoint(op), op.location:
            quotient = (_wide_quotient if _width(op) > 32 else _quotient)(x, y, _UNSIGNED[op.name])
            if op.name.startswith("arith.rem"):
                quotient = _less(x, quotient, y)
        replace(op, [quotient])
    return bool(ops)


def _width(op: ir.Operation) -> int:
    """The bits of a number; 0 if `op` is not about registers of whole bytes."""
    kind = op.results[0].type
    if not isinstance(kind, ir.VectorType) or kind.scalable or not isinstance(kind.element_type, ir.IntegerType):
        return 0
    return kind.element_type.width if kind.element_type.width >= 8 else 0


def _quotient(x: ir.Value, y: ir.Value, is_unsigned: bool) -> ir.Value:
    to_float, from_float = _CASTS[is_unsigned]
    wide = ir.F64Type.get() if ir.VectorType(x.type).element_type.width > 16 else ir.F32Type.get()
    floats = with_element(x.type, wide)
    quotient = value_of("arith.divf", floats, [value_of(to_float, floats, [each]) for each in (x, y)])
    return value_of(from_float, x.type, [quotient])


def _wide_quotient(x: ir.Value, y: ir.Value, is_unsigned: bool) -> ir.Value:
    """1 / y as an f64, and the products with it, are each off by a 2^-53rd: the first quotient by less than |x / y| * 2^-50, and 1/2."""
    floats = with_element(x.type, ir.F64Type.get())
    inverse = value_of("arith.divf", floats, [splat(floats, 1.0), value_of(_CASTS[is_unsigned][0], floats, [y])])
    near = _times(x, inverse, is_unsigned)
    rest = _less(x, near, y)
    quotient = value_of("arith.addi", x.type, [near, _times(rest, inverse, is_unsigned=False)])
    rest, zero, one = _less(x, quotient, y), splat(x.type, 0), splat(x.type, 1)
    if not is_unsigned:
        crossed = arith.cmpi(arith.CmpIPredicate.slt, value_of("arith.xori", x.type, [rest, x]), zero)
        is_off = value_of("arith.andi", crossed.type, [crossed, arith.cmpi(arith.CmpIPredicate.ne, rest, zero)])
        sign = value_of("arith.shrsi", x.type, [value_of("arith.xori", x.type, [x, y]), splat(x.type, 63)])
        return _moved(quotient, is_off, value_of("arith.ori", x.type, [sign, one]))
    quotient = _moved(quotient, arith.cmpi(arith.CmpIPredicate.slt, rest, zero), one)
    # the rest of a division by 2^63 or more may be beyond what has a sign
    once = value_of("arith.extui", x.type, [arith.cmpi(arith.CmpIPredicate.uge, x, y)])
    return value_of("arith.select", x.type, [arith.cmpi(arith.CmpIPredicate.slt, y, zero), once, quotient])


def _times(x: ir.Value, inverse: ir.Value, is_unsigned: bool) -> ir.Value:
    """The whole number next to the product."""
    to_float, from_float = _CASTS[is_unsigned]
    product = value_of("arith.mulf", inverse.type, [value_of(to_float, inverse.type, [x]), inverse])
    product = value_of("arith.minnumf", inverse.type, [product, splat(inverse.type, _GREATEST[is_unsigned])])
    return value_of(from_float, x.type, [value_of("math.roundeven", inverse.type, [product])])


def _less(x: ir.Value, quotient: ir.Value, y: ir.Value) -> ir.Value:
    return value_of("arith.subi", x.type, [x, value_of("arith.muli", x.type, [quotient, y])])


def _moved(quotient: ir.Value, is_off: ir.Value, step: ir.Value) -> ir.Value:
    return value_of("arith.select", quotient.type, [is_off, value_of("arith.subi", quotient.type, [quotient, step]), quotient])
