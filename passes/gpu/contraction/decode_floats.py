"""Floats of 8 bits as f32 in the bodies of a group, for kernels that have no instruction for them.

    %0 = arith.bitcast %in : i8 to f8E5M2            %0 = arith.bitcast ((arith.extui %in : i16) << 8) : i16 to f16
    %1 = arith.extf %0 : f8E5M2 to f32               %1 = arith.extf %0 : f16 to f32

An f8E5M2 is the upper byte of an f16. An f8E4M3FN has a bit less of exponent: its bits but the sign, moved down by one, are an f16 of a
256th; its one NaN is none of f16's.
"""

from __future__ import annotations

from torch_mlir import ir
from torch_mlir.dialects import arith
from torch_mlir.dialects.arith import CmpIPredicate

from ...common.byte_floats import sees_float
from ...common.rewriting import replace, walk
from ...common.vectors import splat

_NAN = 0x7F


def decode_floats(function: ir.Operation) -> bool:
    """Whether there were any. Values of such floats become values of bytes."""
    views = walk(function, sees_float)
    if not views:
        return False
    extensions = [(op, _DECODERS[str(op.operands[0].type)]) for op in walk(function, "arith.extf") if str(op.operands[0].type) in _DECODERS]
    for value in _values(function):
        kind, byte = value.type, ir.IntegerType.get_signless(8)
        if str(kind) in _DECODERS:
            value.set_type(byte)
        elif isinstance(kind, ir.RankedTensorType) and str(kind.element_type) in _DECODERS:
            value.set_type(ir.RankedTensorType.get(kind.shape, byte))
    for view in views:
        replace(view, [view.operands[0]])
    for extension, decode in extensions:
        with ir.InsertionPoint(extension), extension.location:
            replace(extension, [decode(extension.operands[0])])
    return True


def _values(function: ir.Operation) -> list[ir.Value]:
    ops = walk(function)
    arguments = [argument for op in ops for region in op.regions for block in region.blocks for argument in block.arguments]
    return [*arguments, *(result for op in ops for result in op.results)]


def _f8e5m2(code: ir.Value) -> ir.Value:
    return arith.extf(ir.F32Type.get(), arith.bitcast(ir.F16Type.get(), arith.shli(_wide(code), _number(8))))


def _f8e4m3fn(code: ir.Value) -> ir.Value:
    wide, f32 = _wide(code), ir.F32Type.get()
    magnitude = arith.andi(wide, _number(_NAN))
    sign = arith.shli(arith.andi(wide, _number(_NAN + 1)), _number(8))
    half = arith.bitcast(ir.F16Type.get(), arith.ori(sign, arith.shli(magnitude, _number(7))))
    is_nan = arith.cmpi(CmpIPredicate.eq, magnitude, _number(_NAN))
    return arith.select(is_nan, splat(f32, float("nan")), arith.mulf(arith.extf(f32, half), splat(f32, 256)))


_DECODERS = {"f8E5M2": _f8e5m2, "f8E4M3FN": _f8e4m3fn}


def _wide(code: ir.Value) -> ir.Value:
    return arith.extui(ir.IntegerType.get_signless(16), code)


def _number(value: int) -> ir.Value:
    return splat(ir.IntegerType.get_signless(16), value)
