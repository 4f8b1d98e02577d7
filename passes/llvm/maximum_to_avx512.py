"""maximum-to-avx512: maxima and minima of floats by what AVX-512 has for them, exact for NaN and the signs of zeros.

Before, on vectors:

    %m = arith.maximumf %a, %b : vector<32xf32>
    %r = vector.reduction <maximumf>, %m : vector<32xf32> into f32

After, 16 lanes (8 of f64) at a time:

    %m0 = llvm.call_intrinsic "llvm.x86.avx512.mask.range.ps.512"(%a0, %b0, ...)       // +0 of two zeros; the other one, if one is NaN
    %n0 = llvm.call_intrinsic "llvm.x86.avx512.mask.fixupimm.ps.512"(%m0, %a0, ...)    // %a0 where that is NaN
    %x0 = llvm.call_intrinsic "llvm.x86.avx512.mask.fixupimm.ps.512"(%n0, %b0, ...)    // %b0 where that is NaN
    %s = arith.maximumf (vector.extract_strided_slice %m, the first half), (the second half)    // and so on, until one lane is left

LLVM's own code blends both operands by the sign of the first one, and again where one is NaN: six instructions, three masks, each of which
waits for the one before. A constant 0 needs no vfixupimm, nor does a maximum of numbers (arith.maxnumf), which is vrange alone. Must hold:
nothing. Declined: targets without AVX-512; scalars; a constant operand other than 0, which is one instruction to LLVM; operands that are
known to be no NaN; vectors of no whole registers; reductions of a number of lanes that is no power of two.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import vector

from hloom.dialects.target import target_of

from ..common.rewriting import defining_op, intrinsic, replace, value_of, walk
from ..common.vectors import element_of, extract, part, splat, vector_of
from ..registry import register_pass

_OPS = ("arith.maximumf", "arith.minimumf", "arith.maxnumf", "arith.minnumf")
_OF_NUMBERS = _OPS[2:]
_CURRENT_DIRECTION = 4  # rounding as the control register says
_MINIMUM, _MAXIMUM = 4, 5  # vrange, with the sign of what it chose
_NAN_STAYS = 0x21  # vfixupimm's table: a quiet NaN is returned, a signalling one made quiet; all else is what was there


@register_pass("maximum-to-avx512", "turns maxima and minima of floats into AVX-512 vrange and vfixupimm", ops=("vector.reduction", *_OPS))
def maximum_to_avx512(module: ir.Operation) -> bool:
    target, changed = target_of(module), False
    if target.machine != "x86_64" or target.vector_bits != 512:
        return False
    found = walk(module, lambda op: op.name == "vector.reduction" or op.name in _OPS)
    for op in found:
        if op.name == "vector.reduction" and (name := _reduction_name(op)):
            with ir.InsertionPoint(op), op.location:
                replace(op, [_halved(op, name)])
            changed = True
    for op in walk(module, lambda op: op.name in _OPS) if changed else found:
        if op.name in _OPS and (register := _register(op)):
            with ir.InsertionPoint(op), op.location:
                replace(op, [_by_registers(op, register)])
            changed = True
    return changed


def _reduction_name(op: ir.Operation) -> str | None:
    """The op that the reduction is of, if it is a maximum or minimum of f32 or f64 over 2, 4, 8, … lanes."""
    lanes = ir.VectorType(op.operands[0].type).shape[0]
    if not isinstance(op.results[0].type, (ir.F32Type, ir.F64Type)) or lanes < 2 or lanes & (lanes - 1):
        return None
    return next((name for name in _OPS if f"<{name.removeprefix('arith.')}>" in str(op.attributes["kind"])), None)


def _halved(op: ir.Operation, name: str) -> ir.Value:
    """The reduction by halves. A register of 128 bits stays whole, its lanes are moved."""
    total, *start = op.operands
    kind = ir.VectorType(total.type)
    count, least = kind.shape[0], min(kind.shape[0], 128 // _bits(kind.element_type))
    while count > least:
        count //= 2
        total = value_of(name, vector_of(count, kind.element_type), [part(total, 0, count), part(total, count, count)])
    while count > 1:
        count //= 2
        moved = vector.shuffle(total, total, [(lane + count) % least for lane in range(least)])
        total = value_of(name, total.type, [total, moved])
    result = extract(total, 0)
    return value_of(name, result.type, [*start, result]) if start else result


def _bits(element: ir.Type) -> int:
    return ir.FloatType(element).width


@dataclass(frozen=True)
class _Register:
    """A register of so many lanes of `element`, and what vrange is asked for."""

    lanes: int
    element: ir.Type
    wanted: int

    def extremes(self, pairs: Iterable[tuple[ir.Value, ir.Value]], variable: list[bool]) -> Iterator[ir.Value]:
        """The greater, or the smaller, in each lane, pair by pair. A NaN of what is `variable` stays."""
        kind, width = vector_of(self.lanes, self.element), self.lanes * _bits(self.element)
        table = splat(vector_of(self.lanes, ir.IntegerType.get_signless(_bits(self.element))), _NAN_STAYS)
        wanted, neither, zeros = _i32(self.wanted), _i32(0), splat(kind, 0.0)
        all_lanes = splat(ir.IntegerType.get_signless(max(8, self.lanes)), -1)
        rest = [all_lanes, _i32(_CURRENT_DIRECTION)] if width == 512 else [all_lanes]
        suffix = f"{'ps' if _bits(self.element) == 32 else 'pd'}.{width}"
        for pair in pairs:
            total = intrinsic(f"llvm.x86.avx512.mask.range.{suffix}", kind, [*pair, wanted, zeros, *rest])
            for operand in itertools.compress(pair, variable):
                total = intrinsic(f"llvm.x86.avx512.mask.fixupimm.{suffix}", kind, [total, operand, table, neither, *rest])
            yield total


def _i32(number: int) -> ir.Value:
    return splat(ir.IntegerType.get_signless(32), number)


def _register(op: ir.Operation) -> _Register | None:
    """What the vectors of the op are cut into, or None where LLVM's own code is as good or they are no whole registers."""
    kind = op.results[0].type
    if not isinstance(kind, ir.VectorType) or kind.scalable or not isinstance(kind.element_type, (ir.F32Type, ir.F64Type)):
        return None
    if any((constant := _constant(operand)) is not None and constant != 0 for operand in op.operands):
        return None
    bits = math.prod(kind.shape) * _bits(kind.element_type)
    if "nnan" in str(op.attributes["fastmath"]) or not (bits % 512 == 0 or bits in (128, 256)):
        return None
    return _Register(min(512, bits) // _bits(kind.element_type), kind.element_type, _MAXIMUM if "max" in op.name else _MINIMUM)


def _constant(value: ir.Value) -> float | None:
    """The number that all lanes hold, if that is known."""
    made = defining_op(value)
    if made is not None and made.name == "vector.broadcast":
        made = defining_op(made.operands[0])
    if made is None or made.name != "arith.constant":
        return None
    attribute = made.attributes["value"]
    if isinstance(attribute, ir.DenseElementsAttr):
        if not attribute.is_splat:
            return None
        attribute = attribute.get_splat_value()
    return ir.FloatAttr(attribute).value


def _by_registers(op: ir.Operation, register: _Register) -> ir.Value:
    kind = ir.VectorType(op.results[0].type)
    flat = vector_of(math.prod(kind.shape), element_of(kind))
    a, b = (value_of("vector.shape_cast", flat, [operand]) for operand in op.operands)
    variable = [op.name not in _OF_NUMBERS and _constant(operand) is None for operand in op.operands]
    result, starts = splat(flat, 0.0), range(0, flat.shape[0], register.lanes)
    pairs = ((part(a, start, register.lanes), part(b, start, register.lanes)) for start in starts)
    for start, made in zip(starts, register.extremes(pairs, variable)):
        result = vector.insert_strided_slice(made, result, [start], [1])
    return value_of("vector.shape_cast", kind, [result])
