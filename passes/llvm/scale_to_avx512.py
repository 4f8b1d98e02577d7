"""scale-to-avx512: scaling by 2^n, as the math library writes it, becomes AVX-512's vscalef.

Before, on vectors (see `@hloom_exp_scale_f32`), t = 1.5 * 2^23 + 254 + n:

    %n = arith.bitcast %t : vector<64xf32> to vector<64xi32>
    %half = arith.shrui %n, %c1
    %a = arith.bitcast (arith.shli %half, %c23)
    %b = arith.bitcast (arith.shli (arith.subi %n, %half), %c23)
    %y = arith.mulf (arith.mulf %q, %a), %b : vector<64xf32>

After, 16 lanes (8 of f64) at a time:

    %n = arith.subf %t, %shifter : vector<64xf32>
    %q0 = vector.extract_strided_slice %q ..., %n0 = vector.extract_strided_slice %n ...
    %y0 = llvm.call_intrinsic "llvm.x86.avx512.mask.scalef.ps.512"(%q0, %n0, ...)
    ... vector.insert_strided_slice ...

Nine operations become two; the bits of the result are the same. Must hold: nothing. Declined: targets without AVX-512; scalars; vectors
whose element count is no multiple of a register's lanes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import i64_attr, intrinsic, producer, replace, value_of, walk
from ..common.vectors import splat
from ..registry import register_pass

_CURRENT_DIRECTION = 4  # rounding as the control register says


@dataclass(frozen=True)
class _Format:
    lanes: int
    shifter: float  # t - shifter = n
    intrinsic: str
    mask_width: int


_FORMATS = {
    "f32": _Format(16, 1.5 * 2**23 + 254, "llvm.x86.avx512.mask.scalef.ps.512", 16),
    "f64": _Format(8, 1.5 * 2**52 + 2046, "llvm.x86.avx512.mask.scalef.pd.512", 8),
}


@register_pass("scale-to-avx512", "turns scaling by powers of two into AVX-512 vscalef", ops=("arith.shli",))
def scale_to_avx512(module: ir.Operation) -> bool:
    target, changed = target_of(module), False
    if target.machine != "x86_64" or target.vector_bits != 512:
        return False
    for op in walk(module, "arith.mulf"):
        type_ = op.results[0].type
        format_ = _FORMATS.get(str(type_.element_type)) if isinstance(type_, ir.VectorType) else None
        if format_ is None or type_.scalable or math.prod(type_.shape) % format_.lanes:
            continue
        if match := _scaling(op):
            with ir.InsertionPoint(op), op.location:
                replace(op, [_scalef(*match, format_)])
            changed = True
    return changed


def _scaling(op: ir.Operation) -> tuple[ir.Value, ir.Value] | None:
    """(q, t) where `op` is (q * a) * b with a and b built from the halves of t's low bits, else None."""
    inner = producer(op.operands[0], "arith.mulf")
    half_field, rest_field = inner and _exponent_field(inner.operands[1]), _exponent_field(op.operands[1])
    half, rest = half_field and producer(half_field, "arith.shrui"), rest_field and producer(rest_field, "arith.subi")
    if inner is None or half is None or rest is None or rest.operands[1] != half.results[0] or rest.operands[0] != half.operands[0]:
        return None
    bits = producer(half.operands[0], "arith.bitcast")
    return (inner.operands[0], bits.operands[0]) if bits else None


def _exponent_field(value: ir.Value) -> ir.Value | None:
    """What is shifted into the exponent of `value`, if it is built so."""
    cast = producer(value, "arith.bitcast")
    shift = cast and producer(cast.operands[0], "arith.shli")
    return shift.operands[0] if shift else None


def _scalef(q: ir.Value, t: ir.Value, format_: _Format) -> ir.Value:
    vector = ir.VectorType(q.type)
    element, count = vector.element_type, math.prod(vector.shape)
    flat, register = ir.VectorType.get([count], element), ir.VectorType.get([format_.lanes], element)
    n = value_of("arith.subf", vector, [t, splat(vector, format_.shifter)])
    q, n = (value_of("vector.shape_cast", flat, [v]) for v in (q, n))
    zero, result = splat(register, 0.0), splat(flat, 0.0)
    all_lanes = splat(ir.IntegerType.get_signless(format_.mask_width), -1)
    rounding = splat(ir.IntegerType.get_signless(32), _CURRENT_DIRECTION)
    for start in range(0, count, format_.lanes):
        parts = [_slice(v, start, register) for v in (q, n)]
        scaled = intrinsic(format_.intrinsic, register, [*parts, zero, all_lanes, rounding])
        result = value_of("vector.insert_strided_slice", flat, [scaled, result], offsets=_i64s(start), strides=_i64s(1))
    return value_of("vector.shape_cast", vector, [result])


def _slice(vector: ir.Value, start: int, register: ir.VectorType) -> ir.Value:
    sizes = _i64s(register.shape[0])
    return value_of("vector.extract_strided_slice", register, [vector], offsets=_i64s(start), sizes=sizes, strides=_i64s(1))


def _i64s(value: int) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([i64_attr(value)])
