"""divide-as-floats: whole numbers of up to 32 bits are divided as floats, a register at a time.

Before, on vectors:
    %q = arith.divsi %x, %y : vector<16xi32>
After:
    %a, %b = arith.sitofp %x, %y : vector<16xi32> to vector<16xf64>
    %q = arith.fptosi (arith.divf %a, %b) : vector<16xf64> to vector<16xi32>

and a remainder is %x less the product of %q and %y. f64 divides numbers of 32 bits, f32 those of 16 and 8. No bits are lost: a quotient
that is not whole is at least 1 / |y| below the next whole number, and rounding moves it by less where |x| < 2^53 (f32: 2^24).

Processors have no division of whole numbers by registers, so that LLVM divides one element after the other.

Must hold: nothing. Declined: wider numbers; constant divisors, which LLVM multiplies by; scalars.
"""

from __future__ import annotations

from torch_mlir import ir

from ..common.bf16 import with_element
from ..common.rewriting import producer, replace, value_of, walk
from ..registry import register_pass

_UNSIGNED = {"arith.divsi": False, "arith.divui": True, "arith.remsi": False, "arith.remui": True}
_CASTS = {False: ("arith.sitofp", "arith.fptosi"), True: ("arith.uitofp", "arith.fptoui")}


@register_pass("divide-as-floats", "divides whole numbers of up to 32 bits as floats", ops=frozenset(_UNSIGNED))
def divide_as_floats(module: ir.Operation) -> bool:
    ops = walk(
        module, lambda op: op.name in _UNSIGNED and _is_narrow(op.results[0].type) and not producer(op.operands[1], "arith.constant")
    )
    for op in ops:
        x, y = op.operands
        with ir.InsertionPoint(op), op.location:
            quotient = _quotient(x, y, _UNSIGNED[op.name])
            if op.name.startswith("arith.rem"):
                quotient = value_of("arith.subi", x.type, [x, value_of("arith.muli", x.type, [quotient, y])])
        replace(op, [quotient])
    return bool(ops)


def _is_narrow(kind: ir.Type) -> bool:
    if not isinstance(kind, ir.VectorType) or kind.scalable:
        return False
    return isinstance(kind.element_type, ir.IntegerType) and 8 <= kind.element_type.width <= 32


def _quotient(x: ir.Value, y: ir.Value, is_unsigned: bool) -> ir.Value:
    to_float, from_float = _CASTS[is_unsigned]
    wide = ir.F64Type.get() if ir.VectorType(x.type).element_type.width > 16 else ir.F32Type.get()
    floats = with_element(x.type, wide)
    quotient = value_of("arith.divf", floats, [value_of(to_float, floats, [each]) for each in (x, y)])
    return value_of(from_float, x.type, [quotient])
