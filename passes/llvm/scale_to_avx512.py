"""scale-to-avx512: scaling by 2^n and fractions, as the math library writes them, become AVX-512's vscalef and vreduce.

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

Nine operations become two; the bits of the result are the same. Where n is a floor that is clamped (see `@hloom_exp_weight_f32`), and q
is 0 wherever the clamp tells, vscalef takes the floor itself:

    %n = math.floor %u,  %t = arith.addf (arith.select (arith.cmpf ogt, %low, %n), %low, %n), %shifter
    %q = arith.select (arith.cmpf olt, %u, %c), %zero, %p                     // %low < %c
    becomes scalef(%q, %u)

and u less its floor, where it is no infinity (fastmath<ninf>), is one vreduce. Must hold: nothing. Declined: targets without AVX-512;
scalars; vectors whose element count is no multiple of a register's lanes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch_mlir import ir

from hloom.dialects.target import target_of

from ..common.rewriting import i64_attr, integer, intrinsic, producer, replace, value_of, walk
from ..common.scalars import FLOAT_PREDICATES
from ..common.vectors import splat
from ..registry import register_pass

_CURRENT_DIRECTION = 4  # rounding as the control register says
_BELOW_FLOOR = 9  # what vreduce leaves: the part above the floor, without an exception where it is rounded


@dataclass(frozen=True)
class _Format:
    lanes: int
    shifter: float  # t - shifter = n
    suffix: str
    mask_width: int


_FORMATS = {
    "f32": _Format(16, 1.5 * 2**23 + 254, "ps.512", 16),
    "f64": _Format(8, 1.5 * 2**52 + 2046, "pd.512", 8),
}


@register_pass("scale-to-avx512", "turns scaling by powers of two, and fractions, into AVX-512 vscalef and vreduce", ops=("arith.shli",))
def scale_to_avx512(module: ir.Operation) -> bool:
    target, changed = target_of(module), False
    if target.machine != "x86_64" or target.vector_bits != 512:
        return False
    products, differences = [], []
    for op in walk(module):
        if (name := op.name) == "arith.mulf":
            products.append(op)
        elif name == "arith.subf":
            differences.append(op)
    for op in products:
        format_ = _format(op.results[0].type)
        if format_ is not None and (match := _scaling(op)):
            with ir.InsertionPoint(op), op.location:
                replace(op, [_scaled(*match, format_)])
            changed = True
    for op in differences:
        format_ = _format(op.results[0].type)
        floor = producer(op.operands[1], "math.floor")
        if format_ is None or floor is None or floor.operands[0] != op.operands[0]:
            continue
        if "ninf" in str(op.attributes["fastmath"]):
            with ir.InsertionPoint(op), op.location:
                replace(op, [_by_registers("reduce", [op.operands[0]], [_i32(_BELOW_FLOOR)], format_)])
            changed = True
    return changed


def _format(type_: ir.Type) -> _Format | None:
    """What whole registers of a vector hold."""
    format_ = _FORMATS.get(str(type_.element_type)) if isinstance(type_, ir.VectorType) and not type_.scalable else None
    return None if format_ is None or math.prod(type_.shape) % format_.lanes else format_


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


def _scaled(q: ir.Value, t: ir.Value, format_: _Format) -> ir.Value:
    exponent = _floored(q, t, format_.shifter)
    if exponent is None:
        exponent = value_of("arith.subf", t.type, [t, splat(t.type, format_.shifter)])
    return _by_registers("scalef", [q, exponent], [], format_)


def _floored(q: ir.Value, t: ir.Value, shifter: float) -> ir.Value | None:
    """What t is the floor of, moved by `shifter`, but for lanes where q is 0: those are clamped."""
    moved, chosen = producer(t, "arith.addf"), producer(q, "arith.select")
    clamped = moved and producer(moved.operands[0], "arith.select")
    if moved is None or clamped is None or chosen is None or _constant(moved.operands[1]) != shifter:
        return None
    floor = producer(clamped.operands[2], "math.floor")
    below, small = producer(clamped.operands[0], "arith.cmpf"), producer(chosen.operands[0], "arith.cmpf")
    if floor is None or below is None or small is None or _constant(chosen.operands[1]) != 0:
        return None
    low, least = _constant(clamped.operands[1]), _constant(small.operands[1])
    clamps = list(below.operands) == list(clamped.operands)[1:] and integer(below, "predicate") == FLOAT_PREDICATES["ogt"]
    zeroes = small.operands[0] == floor.operands[0] and integer(small, "predicate") == FLOAT_PREDICATES["olt"]
    return floor.operands[0] if clamps and zeroes and low is not None and least is not None and low < least else None


def _constant(value: ir.Value) -> float | None:
    """The number that all lanes hold, if that is known."""
    op = producer(value, "arith.constant")
    attribute = None if op is None else op.attributes["value"]
    if isinstance(attribute, ir.DenseElementsAttr) and attribute.is_splat:
        attribute = attribute.get_splat_value()
    return ir.FloatAttr(attribute).value if isinstance(attribute, ir.FloatAttr) else None


def _by_registers(name: str, operands: list[ir.Value], controls: list[ir.Value], format_: _Format) -> ir.Value:
    """The intrinsic of that name on vectors, a register at a time."""
    vector = ir.VectorType(operands[0].type)
    element, count = vector.element_type, math.prod(vector.shape)
    flat, register = ir.VectorType.get([count], element), ir.VectorType.get([format_.lanes], element)
    operands = [value_of("vector.shape_cast", flat, [v]) for v in operands]
    zero, result = splat(register, 0.0), splat(flat, 0.0)
    all_lanes = splat(ir.IntegerType.get_signless(format_.mask_width), -1)
    for start in range(0, count, format_.lanes):
        parts = [_slice(v, start, register) for v in operands]
        given = [*parts, *controls, zero, all_lanes, _i32(_CURRENT_DIRECTION)]
        made = intrinsic(f"llvm.x86.avx512.mask.{name}.{format_.suffix}", register, given)
        result = value_of("vector.insert_strided_slice", flat, [made, result], offsets=_i64s(start), strides=_i64s(1))
    return value_of("vector.shape_cast", vector, [result])


def _i32(number: int) -> ir.Value:
    return splat(ir.IntegerType.get_signless(32), number)


def _slice(vector: ir.Value, start: int, register: ir.VectorType) -> ir.Value:
    sizes = _i64s(register.shape[0])
    return value_of("vector.extract_strided_slice", register, [vector], offsets=_i64s(start), sizes=sizes, strides=_i64s(1))


def _i64s(value: int) -> ir.ArrayAttr:
    return ir.ArrayAttr.get([i64_attr(value)])
